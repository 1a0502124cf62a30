"""Position bias by hand, and whose answers name a pair."""

import pandas as pd
import pytest

from concord.statistics.position import first_and_second, shares_of_first
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import study


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (("A", "B"), (0, 1)),
        (("B", "A", "tie"), (1, 0)),
        (("model_a", "model_b", "tie"), (0, 1)),
        (("Response 1", "Response 2"), (0, 1)),
        (("left", "right"), (0, 1)),
        (("fail", "pass"), None),
        (("a", "c"), None),
        ((), None),
    ],
)
def test_which_answers_are_the_first_and_the_second(labels, places):
    assert first_and_second(labels) == places


def test_the_share_of_the_first_by_hand():
    """Of ten pairs people choose the first in five, the judge in eight; a tie (2) is half."""
    people = [0.0] * 5 + [1.0] * 5
    judge = [0.0] * 7 + [2.0] * 2 + [1.0]
    table = read_ratings(study({"a": people}, {"j": judge}))
    [one] = shares_of_first(table, "quality", (0.0, 1.0), resamples=200)
    assert (one.judged, one.rated, one.difference.value) == pytest.approx((0.8, 0.5, 0.3))
    assert one.difference.low < 0.3 < one.difference.high


def test_without_pairs_in_common_there_is_none():
    rows = pd.DataFrame(
        [(0, "q", "a", "human", 1.0), (1, "q", "j", "judge", 1.0)],
        columns=["unit", "criterion", "rater", "kind", "score"],
    )
    assert shares_of_first(read_ratings(rows), "q", (0.0, 1.0)) == []
