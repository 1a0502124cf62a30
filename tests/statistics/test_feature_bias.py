"""Whether judges lean on length: slopes worked by hand, and what cannot be said."""

import math

import numpy as np
import pandas as pd
import pytest

from concord.statistics.feature_bias import feature_bias
from concord.statistics.ratings import read_ratings
from tests.statistics.frames import ends, flat


def study(people, judge):
    rows = [(i, "f", "ann", "human", s) for i, s in enumerate(people)]
    rows += [(i, "f", "j", "judge", s) for i, s in enumerate(judge) if s is not None]
    return read_ratings(pd.DataFrame(rows, columns=["unit", "criterion", "rater", "kind", "score"]))


def lengths(values):
    return {"length": np.array(values, dtype=float)}


def test_a_resample_is_the_slope_of_the_drawn_items():
    """The ends lie where plain resampling of items puts them, in 4,000 draws of its own."""
    rng = np.random.default_rng(3)
    people = rng.integers(1, 6, 60).astype(float)
    length = rng.normal(0, 1, 60) + 0.3 * people
    judge = np.clip(np.round(0.5 * people + 0.8 * length + rng.normal(0, 1, 60)), 1, 5)
    row = flat(feature_bias(study(people, judge), "f", lengths(length), resamples=4000)).iloc[0]

    def slope(at):
        return np.polyfit(length[at], (judge - people)[at], 1)[0] * length.std(ddof=1)

    assert row.effect == pytest.approx(slope(np.arange(60)))
    drawn = [slope(rng.integers(0, 60, 60)) for _ in range(4000)]
    low, high = ends(row.effect, drawn, 60).expected
    assert (row.effect_low, row.effect_high) == pytest.approx((low, high), abs=0.02)


@pytest.mark.parametrize("noise", [0.2, 1.6])
def test_noise_of_a_judge_is_no_bias(noise):
    """People like what is longer, and the judge likes what people like with another noise than theirs."""
    rng = np.random.default_rng(8)
    quality = rng.normal(0, 1, 400)
    people, length = quality + rng.normal(0, 0.7, 400), quality + rng.normal(0, 0.7, 400)
    given = study(people, quality + rng.normal(0, noise, 400))
    row = flat(feature_bias(given, "f", lengths(length))).iloc[0]
    assert row.effect_low < 0 < row.effect_high


@pytest.mark.parametrize(
    ("people", "judge", "length", "why"),
    [
        ([1, 2, 3, 4], [1, 2, None, 4], [1, 2, 3, 4], "3 items in common"),
        ([1, 2, 3, 4], [1, 2, 4, 3], [7, 7, 7, 7], "does not vary"),
        ([1, 2, 3, 4], [2, 1, 4, 3], [1, 2, 3, None], "3 items in common"),
    ],
    ids=["judge missing", "one length", "length unknown"],
)
def test_what_cannot_be_said_has_a_reason(people, judge, length, why):
    row = flat(feature_bias(study(people, judge), "f", lengths(length), resamples=20)).iloc[0]
    assert math.isnan(row.effect)
    assert why in row.reason


def test_effects_by_hand():
    """Judge less people is 0, 0, 1, 1, 2, 2 at lengths 1, 1, 2, 2, 3, 3: one point for each unit of length,
    whose standard deviation is √(4/5), so 0.894 points.
    """
    people, judge = [1, 3, 1, 3, 1, 3], [1, 3, 2, 4, 3, 5]
    found = feature_bias(study(people, judge), "f", lengths([1, 1, 2, 2, 3, 3]), resamples=0)
    row = flat(found).iloc[0]
    assert row.effect == pytest.approx(math.sqrt(4 / 5))
    assert row.step == "+0.894"


def test_within_players_what_is_the_players_own_is_gone():
    """b's replies are longer and the judge favours b, not length: 0.4 points a character over all, and
    nothing within a player.
    """
    people, judge = [1, 2, 3, 4] * 2, [1, 2, 3, 4, 2, 3, 4, 5]
    length = [1, 2, 2, 1, 3, 4, 4, 3]
    players = dict(enumerate("aaaabbbb"))
    found = feature_bias(study(people, judge), "f", lengths(length), players=players, resamples=0)
    row = flat(found).iloc[0]
    assert row.effect == pytest.approx(4 / 10 * np.std(length, ddof=1))
    assert row.within == pytest.approx(0)


def test_own_family_is_a_difference_of_means():
    """The judge gives its family 1 point more than people do, others 0.25 less: 1.25 apart, yes against no.
    A panel has no family.
    """
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 60).astype(float)
    family = np.tile([1.0, 0.0, 0.0], 20)
    given = study(people, people + np.where(family == 1, 1.0, -0.25))
    found = flat(feature_bias(given, "f", {}, judge_features={"family": {"j": family}}, resamples=200))
    assert len(found) == 1
    assert found.effect[0] == pytest.approx(1.25)
    assert found.step[0] == "yes, against no"


def test_a_feature_of_yes_and_no_needs_four_of_either():
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 30).astype(float)
    found = feature_bias(study(people, people[::-1]), "f", {"ru": (np.arange(30) < 3) * 1.0}, resamples=0)
    assert flat(found).reason[0].startswith("3 items of either kind, at least 4 are needed")


def test_the_interval_holds_the_effect_it_claims():
    """Of 80 studies of 60 items, whose judge gives 0.4 points for a standard deviation of length and where
    people's own noise is large, 90 to 99% of the intervals hold 0.4.
    """
    rng = np.random.default_rng(7)
    held = []
    for _ in range(80):
        quality, length = rng.normal(0, 1, 60), rng.normal(0, 1, 60)
        people = quality + rng.normal(0, 1, 60)
        judge = quality + 0.4 * length + rng.normal(0, 0.5, 60)
        row = flat(feature_bias(study(people, judge), "f", lengths(length), resamples=200)).iloc[0]
        scale = length.std(ddof=1)
        held.append(row.effect_low <= 0.4 * scale <= row.effect_high)
    assert 0.9 <= np.mean(held) <= 0.99
