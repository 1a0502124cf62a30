"""Whether judges lean on length: partial rank correlations worked by hand, and what cannot be said."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from concord.statistics.feature_bias import feature_bias
from concord.statistics.ratings import read_ratings
from tests.agreement.frames import ends, flat


def study(people, judge):
    rows = [(i, "f", "ann", "human", s) for i, s in enumerate(people)]
    rows += [(i, "f", "j", "judge", s) for i, s in enumerate(judge) if s is not None]
    return read_ratings(pd.DataFrame(rows, columns=["unit", "criterion", "rater", "kind", "score"]))


def lengths(values):
    return {"length": np.array(values, dtype=float)}


def test_by_hand():
    """Ranks: people 1 2 3 4 5, judge 2 1 3 5 4, length 2 1 4 5 3. With Σd² of n = 5, ρ = 1 − 6Σd²/120:
    judge–length Σd² = 0+0+1+0+1 = 2, ρ = .9; judge–people 1+1+0+1+1 = 4, .8; length–people 1+1+1+1+4 = 8, .6.
    Partial = (.9 − .8·.6)/√((1 − .64)(1 − .36)) = .42/.48 = .875.
    """
    found = feature_bias(
        study([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]), "f", lengths([20, 10, 40, 50, 30]), resamples=0
    )
    [row] = flat(found).to_dict("records")
    assert (row["rater"], row["feature"], row["n"]) == ("j", "length", 5)
    assert row["partial"] == pytest.approx(0.875)
    assert row["people"] == pytest.approx(0.6)


def test_a_resample_is_what_ranks_of_the_drawn_items_give():
    """The ends lie where plain resampling of items, ranked anew, puts them, in 4,000 draws of its own."""
    rng = np.random.default_rng(3)
    people = rng.integers(1, 6, 60).astype(float)
    length = rng.normal(0, 1, 60) + 0.3 * people
    judge = np.clip(np.round(0.5 * people + 0.8 * length + rng.normal(0, 1, 60)), 1, 5)
    found = feature_bias(study(people, judge), "f", lengths(length), resamples=4000)
    row = flat(found).iloc[0]

    def partial(at):
        j, f, p = (rankdata(x[at]) for x in (judge, length, people))
        r = np.corrcoef([j, f, p])
        return (r[0, 1] - r[0, 2] * r[1, 2]) / math.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))

    assert row.partial == pytest.approx(partial(np.arange(60)))
    drawn = [partial(rng.integers(0, 60, 60)) for _ in range(4000)]
    low, high = ends(row.partial, drawn, 60, "z").expected
    assert (row.partial_low, row.partial_high) == pytest.approx((low, high), abs=0.02)
    assert row.partial_low > 0


def test_a_judge_who_likes_what_people_like_leans_on_nothing():
    """Length goes with people's liking, and the judge is people and noise: given people, nothing is left."""
    rng = np.random.default_rng(8)
    people = rng.normal(0, 1, 400)
    found = feature_bias(
        study(people, people + rng.normal(0, 0.7, 400)), "f", lengths(people + rng.normal(0, 0.7, 400))
    )
    row = flat(found).iloc[0]
    assert row.people > 0.7
    assert row.partial_low < 0 < row.partial_high


@pytest.mark.parametrize(
    ("people", "judge", "length", "why"),
    [
        ([1, 2, 3, 4], [1, 2, None, 4], [1, 2, 3, 4], "3 items in common"),
        ([1, 2, 3, 4], [2, 2, 2, 2], [1, 2, 4, 3], "do not vary"),
        ([1, 2, 3, 4], [1, 2, 4, 3], [7, 7, 7, 7], "do not vary"),
        ([1, 2, 3, 4], [1, 2, 3, 4], [2, 1, 4, 3], "without exception"),
        ([1, 2, 3, 4], [2, 1, 4, 3], [1, 2, 3, None], "3 items in common"),
    ],
    ids=["judge missing", "judge constant", "one length", "judge is people", "length unknown"],
)
def test_what_cannot_be_said_has_a_reason(people, judge, length, why):
    row = flat(feature_bias(study(people, judge), "f", lengths(length), resamples=20)).iloc[0]
    assert math.isnan(row.partial)
    assert why in row.reason


def test_effects_by_hand():
    """Judge less people is 0, 0, 1, 1, 2, 2 at lengths 1, 1, 2, 2, 3, 3: one point for each unit of length,
    whose standard deviation is √(4/5), so 0.894 points. Judges have variance 4/6 + 2·people's share: with
    people 1, 3, 1, 3, 1, 3 (variance 1, no slope) the judge has 1, 3, 2, 4, 3, 5, of variance 5/3, so its
    slope of 1 a unit is 0.894/√(5/3) = 0.693 of its own standard deviations.
    """
    people, judge = [1, 3, 1, 3, 1, 3], [1, 3, 2, 4, 3, 5]
    found = feature_bias(study(people, judge), "f", lengths([1, 1, 2, 2, 3, 3]), resamples=0)
    row = flat(found).iloc[0]
    assert row.effect == pytest.approx(math.sqrt(4 / 5))
    assert row.standardised == pytest.approx(math.sqrt(4 / 5) / math.sqrt(5 / 3))
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
    found = flat(feature_bias(given, "f", {}, own={"family": {"j": family}}, resamples=200))
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
