"""Calibration by hand: people's mean at each of a judge's scores."""

import numpy as np

from concord.statistics.calibration import GROUPS, calibration_curves
from concord.statistics.ratings import read_ratings

from .frames import study


def table(people, judge, **kwargs):
    return read_ratings(study(people, {"j": judge}), criteria=["quality"], counted=(), **kwargs)


def test_a_group_has_what_people_gave_there():
    """The judge says 2 where people say 1 and 3, and 4 where they say 4 and 5."""
    people, judge = [1, 3] * 10 + [4, 5] * 10, [2] * 20 + [4] * 20
    rows = calibration_curves(table({"ann": people}, judge), "quality", resamples=50).rows
    assert [(row["score"], row["n"], row["people"].value, row["difference"]) for row in rows] == [
        (2, 20, 2, 0),
        (4, 20, 4.5, -0.5),
    ]
    assert rows[1]["people"].low < 4.5 < rows[1]["people"].high


def test_a_slider_has_groups():
    rng = np.random.default_rng(0)
    judge = rng.uniform(0, 100, 300)
    people = rng.integers(1, 6, 300).tolist()
    rows = calibration_curves(table({"ann": people}, judge.tolist()), "quality", resamples=10).rows
    assert [row["n"] for row in rows] == [30] * GROUPS


def test_another_scale_has_means_but_no_difference():
    people = [1, 2, 3, 4, 5] * 6
    ratings = table(
        {"ann": people}, [20 * score for score in people], other_scale={"quality": {"j": "of 20 to 100"}}
    )
    rows = calibration_curves(ratings, "quality", resamples=20).rows
    assert [row["people"].value for row in rows] == [1, 2, 3, 4, 5]
    assert {row["difference"] for row in rows} == {None}


def test_no_item_in_common_has_a_reason():
    ratings = table({"ann": [1] * 20}, [None] * 20 + [1])
    [row] = calibration_curves(ratings, "quality", resamples=20).rows
    assert row["people"].reason == "j and people have no item in common"
