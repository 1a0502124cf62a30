"""Calibration by hand and beside scipy: the curve, the calibration error, players' calibrated means."""

import numpy as np
import pytest

from concord.statistics.calibration import (
    GIVEN,
    GROUPS,
    ISOTONIC,
    calibration,
    calibration_curves,
)
from concord.statistics.ratings import read_ratings

from .frames import fed, study


def table(people, judge, **kwargs):
    return read_ratings(study(people, {"j": judge}), criteria=["quality"], counted=(), **kwargs)


def test_errors_by_hand():
    """The judge says 2 where people do, and 4 where they say 4 and 5: they are 0 and .5 above it.

    Calibration error (20 · 0 + 20 · .5)/40 = .25; squares 0, 0 and 1: RMSE √.25. The curve says about 4.5
    for 4: squares 0 and .25, RMSE √.125, somewhat more out of fold.
    """
    people, judge = [2] * 20 + [4, 5] * 10, [2] * 20 + [4] * 20
    rows = calibration(table({"ann": people}, judge), "quality", resamples=200).rows
    found = {row["curve"]: row for row in rows}
    assert found[GIVEN]["ece"].value == pytest.approx(0.25)
    assert found[GIVEN]["rmse"].value == pytest.approx(0.5)
    assert found[ISOTONIC]["rmse"].value == pytest.approx(np.sqrt(0.125), rel=0.06)
    assert "by construction" in found[ISOTONIC]["ece"].reason


def test_a_constant_shift_is_the_calibration_error():
    rng = np.random.default_rng(0)
    people = rng.integers(1, 5, 200).tolist()
    [given, isotonic] = calibration(
        table({"ann": people}, [score + 1 for score in people]), "quality", resamples=50
    ).rows
    assert given["ece"].value == given["rmse"].value == 1.0
    assert isotonic["rmse"].value == pytest.approx(0, abs=1e-9)


def test_a_calibrated_judge_has_no_error_beyond_chance():
    """Σ|D_b|/n without a sign from other folds would be about √(2/π) · sd/√(items of a group) = .08 here."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        judge = rng.uniform(1, 5, 1000)
        people = (judge + rng.normal(0, 1, 1000)).tolist()
        ratings = table({"ann": people}, judge.tolist())
        found.append(calibration(ratings, "quality", panels=(), resamples=60).rows[0]["ece"])
    assert np.mean([figure.value for figure in found]) < 0.04
    assert sum(figure.low == 0 for figure in found) >= 11


def test_curves_are_measured_on_other_items():
    """A judge by chance: a curve fitted to the same items would be nearer to people than their mean is."""
    rng = np.random.default_rng(7)
    people, judge = rng.integers(1, 6, 60), rng.random(60)
    _, isotonic = calibration(table({"ann": people.tolist()}, judge.tolist()), "quality", resamples=0).rows
    assert isotonic["rmse"].value > people.std()


def test_the_curve_of_a_group_is_what_people_gave_there():
    people, judge = [1, 3] * 10 + [4, 5] * 10, [2] * 20 + [4] * 20
    rows = calibration_curves(table({"ann": people}, judge), "quality", resamples=50).rows
    assert [(row["score"], row["n"], row["people"].value, row["isotonic"]) for row in rows] == [
        (2, 20, 2, 2),
        (4, 20, 4.5, 4.5),
    ]


def test_a_slider_has_groups():
    rng = np.random.default_rng(0)
    judge = rng.uniform(0, 100, 300)
    people = rng.integers(1, 6, 300).tolist()
    rows = calibration_curves(table({"ann": people}, judge.tolist()), "quality", resamples=10).rows
    assert [row["n"] for row in rows] == [30] * GROUPS


def test_another_scale_has_curves_but_no_error_as_given():
    people = [1, 2, 3, 4, 5] * 6
    ratings = table(
        {"ann": people}, [20 * score for score in people], other_scale={"quality": {"j": "of 20 to 100"}}
    )
    given, isotonic = calibration(ratings, "quality", resamples=20).rows
    assert given["ece"].reason == "of 20 to 100"
    assert isotonic["rmse"].value == pytest.approx(0)


@pytest.mark.parametrize(
    ("people", "judge", "why"),
    [
        ([1, 2, 3], [1, 2, 3], "3 items in common"),
        ([1, 2] * 10, [3] * 20, "the same score"),
        ([1] * 20, [None] * 20 + [1], "0 items in common"),
    ],
    ids=["three items", "one score", "no item in common"],
)
def test_what_cannot_be_fitted_has_a_reason(people, judge, why):
    ratings = table({"ann": people}, judge)
    rows = calibration(ratings, "quality", resamples=20).rows
    assert all(why in row[name].reason for row in rows for name in ("ece", "rmse") if row["curve"] == GIVEN)


def test_fed():
    """The mean of GPT-4's five runs, in FED: a curve translates its scores, and RMSE falls."""
    ratings = read_ratings(fed(), criteria=["Overall"], anonymous_people=True)
    rows = [
        row
        for row in calibration(ratings, "Overall", resamples=50).rows
        if row["rater"].startswith("Avg(gpt-4 run 1, gpt-4 run 2, gpt-4 run 3, gpt")
    ]
    assert len(rows) == 2
    people = np.nanstd(ratings["Overall"].target)
    assert all(row["rmse"].value < 0.85 * people for row in rows[1:])
