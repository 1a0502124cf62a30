"""Position bias by hand, and whose answers name a pair."""

import numpy as np
import pandas as pd
import pytest

from concord.statistics.position import PairOrders, shares_of_first, side_of, sides
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study

ANSWERS = {0.0: 1.0, 1.0: 0.0, 2.0: 0.5}


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (("A", "B"), (0, 1)),
        (("B", "A", "tie"), (1, 0)),
        (("model_a", "model_b", "tie"), (0, 1)),
        (("Response 1", "Response 2"), (0, 1)),
        (("left", "right"), (0, 1)),
        (("A>>B", "A>B", "A=B", "B>A"), (0, 3)),
        (("A", "B", "C"), (0, 1)),
        (("A", "B", "C", "D"), None),
        (("fail", "pass"), None),
        (("a", "c"), None),
        ((), None),
    ],
)
def test_which_answers_are_the_first_and_the_second(labels, places):
    chosen = sides(labels)
    assert (chosen and (chosen.first, chosen.second)) == places


@pytest.mark.parametrize(
    ("label", "share"),
    [
        ("A is slightly better", 1),
        ("Response B is a bit better", 0),
        ("assistant_a wins", 1),
        ("A is worse", 0),
        ("tie (both bad)", 0.5),
        ("[[A]]", 1),
        ("B<A", 1),
        ("2 >> 1", 0),
        ("both are equal", 0.5),
        ("a good answer", 1),
        ("billing", None),
        ("A and B", None),
    ],
)
def test_what_an_answer_chooses_of_two(label, share):
    assert side_of(label) == share


def test_the_share_of_the_one_shown_first_by_hand():
    """The judge says A, A, B, B; shown first are A, A, A, B: it chooses the one shown first in three of four.

    People say A, B, A, B: had they seen the same, that is A, B, A, B of A, A, A, B, so in three of four, too.
    """
    table = read_ratings(study({"a": [0.0, 1.0, 0.0, 1.0]}, {"j": [0.0, 0.0, 1.0, 1.0]}))
    nothing = np.nan
    orders = {"j": PairOrders(np.array([0.0, 0.0, 1.0, nothing]), np.array([nothing] * 3 + [1.0]))}
    [one] = shares_of_first(table, "quality", ANSWERS, orders, resamples=0)
    assert (one.judged, one.rated) == pytest.approx((0.75, 0.75))


def test_the_share_of_the_first_by_hand():
    """Of ten pairs people choose the first in five, the judge in eight; a tie (2) is half."""
    people = [0.0] * 5 + [1.0] * 5
    judge = [0.0] * 7 + [2.0] * 2 + [1.0]
    table = read_ratings(study({"a": people}, {"j": judge}))
    [one] = shares_of_first(table, "quality", ANSWERS, resamples=200)
    assert (one.judged, one.rated, one.difference.value) == pytest.approx((0.8, 0.5, 0.3))
    assert one.difference.low < 0.3 < one.difference.high


def test_without_pairs_in_common_there_is_none():
    rows = pd.DataFrame(
        [(0, "q", "a", "human", 1.0), (1, "q", "j", "judge", 1.0)],
        columns=["unit", "criterion", "rater", "kind", "score"],
    )
    assert shares_of_first(read_ratings(rows), "q", ANSWERS) == []
