"""The severity of annotators: cases by hand, what cannot be said."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from concord.estimate import undefined
from concord.statistics.ratings import read_ratings
from concord.statistics.study import severities
from tests.statistics.frames import flat, people


def by_rater(given, **options):
    table = read_ratings(people(given), criteria=["quality"])
    return flat(severities(table, "quality", **options)).set_index("rater")


def test_of_two_people_it_is_the_paired_difference():
    rng = np.random.default_rng(0)
    ann, bob = rng.integers(1, 6, (2, 60)).astype(float)
    cells = by_rater({"ann": ann, "bob": bob}, resamples=2000)
    paired = ttest_rel(ann, bob).confidence_interval()
    assert cells.severity["bob"] == pytest.approx((ann - bob).mean())
    low, high = cells.severity_low["bob"], cells.severity_high["bob"]
    assert (low, high) == (pytest.approx(paired.low, abs=0.03), pytest.approx(paired.high, abs=0.03))
    assert cells.severity["ann"] == -cells.severity["bob"]


def test_each_is_compared_with_the_others_the_most_severe_first():
    # Items 0 and 1 by all three, item 2 by ann and bob, item 3 by ann alone, which says nothing.
    given = {"ann": [4, 5, 3, 1], "bob": [2, 3, 2, None], "cy": [3, 1, None, None]}
    cells = by_rater(given, resamples=0)
    # ann: (2.5 − 4) + (2 − 5) + (2 − 3) over 3; bob: (3.5 − 2) + (3 − 3) + (3 − 2) over 3;
    # cy: (3 − 3) + (4 − 1) over 2.
    assert cells.severity.to_dict() == pytest.approx({"cy": 1.5, "bob": 2.5 / 3, "ann": -5.5 / 3})
    assert list(cells.index) == ["cy", "bob", "ann"]
    assert cells.n.to_dict() == {"ann": 3, "bob": 3, "cy": 2}


def test_who_shares_no_item_has_no_severity():
    given = people({"ann": [1, 2, None], "bob": [2, 3, None], "cy": [None, None, 5]})
    rows = severities(read_ratings(given, criteria=["quality"]), "quality", resamples=0).rows
    assert [row["rater"] for row in rows] == ["ann", "bob", "cy"]
    assert rows[2]["severity"] == undefined("has no item in common with another annotator", n=0)


def test_people_without_names_have_none():
    table = read_ratings(people({"1": [1, 2], "2": [2, 1]}), criteria=["quality"], anonymous_people=True)
    assert severities(table, "quality", resamples=0).rows == ()


def test_how_far_severity_moves_the_mean_of_a_player():
    """sy gives each item 1 less than lou. On items 1 to 8 both answer: sy is half a point below the mean of
    both, lou half a point above. Only lou rated a's two further items, each half a point too high: of a's six
    items two move by -0.5, a's mean by -1/6. Nobody's mean moves where both rated all items.
    """
    sy = [2, 3, 4, 2, 3, 4, 1, 2]
    lou = [score + 1 for score in sy]
    players = dict(enumerate(["a"] * 4 + ["b"] * 4 + ["a"] * 2))

    def caption(given, of=players):
        table = read_ratings(people(given), criteria=["quality"])
        return severities(table, "quality", of, resamples=0).caption

    assert caption({"sy": [*sy, None, None], "lou": [*lou, 5, 3]}).startswith(
        "Correcting for severity moves a model's mean by at most 0.17 points (a)."
    )
    assert "moves no model's mean by 0.005 points." in caption({"sy": sy, "lou": lou})
    assert "model's mean" not in caption({"sy": sy, "lou": lou}, {0: "a"})
