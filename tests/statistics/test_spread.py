"""How far a judge moves for a point of people, and what it likes beyond that."""

import numpy as np
import pytest

from concord.statistics.claims import p_above, p_below
from concord.statistics.ratings import read_ratings
from concord.statistics.resampling import full_sample
from concord.statistics.spread import (
    covariance,
    on_scale,
    partial_covariance,
    spread_estimates,
    spreads,
    tastes,
)
from tests.statistics.frames import study


def rated(judge, people, seed=1, noise=0.6, items=400):
    """People and a judge: `judge` of the quality; a feature that goes with it."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, items)
    length = 0.7 * (quality - 3) + np.sqrt(0.51) * rng.normal(size=items)
    given = {name: (quality + noise * rng.normal(size=items)).tolist() for name in "abc"[:people]}
    own = judge(quality, length) + 0.3 * rng.normal(size=items)
    return read_ratings(study(given, {"j": own.tolist()})), length


def test_a_covariance_by_hand():
    """Of (1, 2), (2, 4), (3, 3): means 2 and 3, products −1·−1 + 0·1 + 1·0 = 1, over 3 items."""
    on = covariance(np.array([1.0, 2, 3, np.nan]), np.array([2.0, 4, 3, 9]))
    assert on(full_sample(4))[0] == pytest.approx(1 / 3)
    # The third item twice: means 9/4 and 3, Σxy = 2 + 8 + 9 + 9 = 28, 28/4 − 27/4 = 1/4.
    assert on(np.array([[1.0], [1.0], [2.0], [5.0]]))[0] == pytest.approx(0.25)


@pytest.mark.parametrize("noise", [0.3, 1.2])
def test_noise_of_people_does_not_hide_how_far_a_judge_moves(noise):
    """The judge moves 0.5 for a point of quality; on people's mean the slope would be 0.5 · 1 / (1 +
    noise²/3).
    """
    table, _ = rated(lambda quality, _: 3 + 0.5 * (quality - 3), 3, noise=noise)
    [spread] = spread_estimates(table, "quality", ["j"])
    figure = spread.slope
    assert figure.low < 0.5 < figure.high
    assert figure.high < 0.7


def test_of_one_person_the_truth_lies_between_two_slopes():
    """x: −1, 0, 1 (people), y: −1, 1, 1 (judge): cov 2/3, var(x) 2/3, var(y) 8/9; slopes 1 and 4/3, 3
    times.
    """
    people, judge = [1.0, 2.0, 3.0] * 3, [1.0, 3.0, 3.0] * 3
    table = read_ratings(study({"a": people}, {"j": judge}))
    scores = table["quality"]
    low, high = (float(way(full_sample(9))[0]) for way in spreads(scores, scores.judges["j"]))
    assert (low, high) == pytest.approx((1.0, 4 / 3))


@pytest.mark.parametrize("people", [1, 3])
def test_a_judge_that_compresses_prefers_nothing(people):
    """It gives longer replies more, and less so than people do: that is its scale."""
    table, length = rated(lambda quality, _: 3 + 0.5 * (quality - 3), people)
    [one] = tastes(table, "quality", length, ["j"])
    assert one.slope.low > 0
    assert not all(p_below(figure, 0.0) < 0.001 for figure in (one.slope, *one.beyond))
    assert not all(p_above(figure, 0.0) < 0.001 for figure in (one.slope, *one.beyond))


@pytest.mark.parametrize("people", [1, 3])
def test_a_preference_is_found_beside_the_scale(people):
    """0.5 points for a standard deviation of length beyond what quality gives, the scale compressed."""
    table, length = rated(lambda quality, length: 3 + 0.5 * (quality - 3) + 0.8 * length, people)
    [one] = tastes(table, "quality", length, ["j"])
    assert all(p_above(figure, 0.0) < 0.001 for figure in (one.slope, *one.beyond))


def test_a_gap_on_the_judges_scale_does_not_move_with_quality():
    table, _ = rated(lambda quality, _: 3 + 0.5 * (quality - 3), 3)
    [gap] = on_scale(table["quality"], table["quality"].judges["j"])
    raw = table["quality"].judges["j"] - table["quality"].target
    best = np.argsort(table["quality"].target)[-100:]
    assert abs(gap[best].mean()) < 0.12
    assert raw[best].mean() < -0.4


def test_a_partial_covariance_by_hand():
    """x: 1, 2, 3, 4, y: 2, 1, 4, 3, z: 0, 0, 1, 1. All of x and y that goes with z is their group's mean:
    left are x −.5, .5, −.5, .5 and y .5, −.5, .5, −.5, whose covariance is −1/4.
    """
    x, y, z = np.array([[1.0, 2, 3, 4], [2.0, 1, 4, 3], [0.0, 0, 1, 1]])
    assert partial_covariance(x, y, z)(full_sample(4))[0] == pytest.approx(-0.25)
    assert covariance(x, y)(full_sample(4))[0] == pytest.approx(0.75)


def test_a_judge_that_ignores_length_moves_as_far_at_one_length():
    """It gives what is left of quality without length: half a point for one of people, but a whole one among
    replies of one length.
    """
    table, length = rated(lambda quality, length: quality - 0.7 * length, 3, items=1500)
    [one] = spread_estimates(table, "quality", ["j"], length)
    assert one.slope.high < 0.7
    assert one.alike.low < 1 < one.alike.high
    [taste] = tastes(table, "quality", length, ["j"])
    assert taste.people.low > 0.5
    assert abs(taste.slope.value) < 0.1
    assert all(figure.high < 0 for figure in taste.beyond)


def test_a_judge_at_random_spreads_its_scores_as_far_as_people():
    """Its slope is 0; the standard deviation of its scores, 1.2, is about that of a person, √(1 + 0.6²)."""
    rng = np.random.default_rng(3)
    table, _ = rated(lambda quality, _: 3 + 1.16 * rng.normal(size=len(quality)), 3)
    [one] = spread_estimates(table, "quality", ["j"])
    assert one.slope.low < 0 < one.slope.high
    assert one.ratio.value == pytest.approx(1.0, abs=0.15)
    assert one.alike is None
