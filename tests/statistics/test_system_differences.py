"""Systems compared by one judge: differences by hand, and intervals and orders that hold in simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from concord.codes import SystemOrder
from concord.statistics.corrected import corrected_mean
from concord.statistics.system_differences import SystemAnswers, system_differences, system_means

N = 300
ENDS = (0.0, 1.0)


def study(rng, rates, biases, labelled=80):
    """Systems that pass items by their rate, judged by a judge that favours some of them."""
    hard, drawn = rng.random(N) - 0.5, rng.permutation(N)[:labelled]
    systems = {}
    for place, (rate, bias) in enumerate(zip(rates, biases, strict=True)):
        truth = rng.random(N) < np.clip(rate + 0.5 * hard, 0, 1)
        judge = np.where(truth, rng.random(N) < 0.9, rng.random(N) < 0.1 + bias) * 1.0
        people = np.full(N, np.nan)
        people[drawn] = truth[drawn]
        systems[f"s{place}"] = SystemAnswers(people, judge)
    return systems


def test_a_paired_difference_is_the_corrected_mean_of_differences():
    systems = study(np.random.default_rng(1), (0.7, 0.6), (0, 0.1))
    (found,) = system_differences(systems, ENDS)
    one, other = systems.values()
    y, f = one.people - other.people, one.judge - other.judge
    both = np.isfinite(y)
    by_hand = corrected_mean(y[both], f[both], f[~both], scale=(-1.0, 1.0))
    assert found.paired
    assert (found.corrected, found.people, found.judge) == (by_hand.value, by_hand.people, by_hand.judges)
    # λ is the slope of people's differences on the judge's.
    slope = max(0.0, np.cov(y[both], f[both])[0, 1] / f[both].var(ddof=1))
    assert found.corrected.value == pytest.approx(y[both].mean() + slope * (f.mean() - f[both].mean()))


def test_an_unpaired_difference_is_made_of_both_intervals():
    systems = study(np.random.default_rng(2), (0.7, 0.6), (0, 0))
    (found,) = system_differences(systems, ENDS, paired=False)
    one, other = (mean.value for mean in system_means(systems, ENDS).values())
    assert found.corrected.value == pytest.approx(one.value - other.value)
    low = found.corrected.value - math.hypot(one.value - one.low, other.high - other.value)
    high = found.corrected.value + math.hypot(one.high - one.value, other.value - other.low)
    assert found.corrected.interval == pytest.approx((low, high))


def test_items_of_one_system_alone_pair_nothing():
    systems = study(np.random.default_rng(3), (0.7, 0.6), (0, 0))
    one, other = systems.values()
    half = np.arange(N) < N // 2
    apart = {
        name: SystemAnswers(np.where(mine, of.people, np.nan), np.where(mine, of.judge, np.nan))
        for (name, of), mine in zip(systems.items(), (half, ~half), strict=True)
    }
    assert not system_differences(apart, ENDS)[0].paired
    # Labels of other items for each system are no pairs, though the judge's scores are.
    rated = np.isfinite(one.people)
    first = rated & (np.cumsum(rated) <= rated.sum() // 2)
    labelled = {
        "a": SystemAnswers(np.where(first, one.people, np.nan), one.judge),
        "b": SystemAnswers(np.where(first, np.nan, other.people), other.judge),
    }
    (found,) = system_differences(labelled, ENDS)
    assert (found.paired, found.corrected.interval is not None) == (False, True)


def test_without_labels_the_difference_is_the_judges_alone():
    systems = study(np.random.default_rng(4), (0.9, 0.3), (0, 0), labelled=0)
    (found,) = system_differences(systems, ENDS)
    assert (found.order, found.p, found.corrected.value) == (SystemOrder.UNCORRECTED, None, None)
    assert found.judge.value > 0.3


@pytest.mark.parametrize("paired", [True, False])
def test_intervals_hold_though_the_judge_favours_a_system(paired):
    """400 studies of two equal systems; the judge's own difference is always on the favoured one's side."""
    rng = np.random.default_rng(5)
    held = misled = 0
    for _ in range(400):
        systems = study(rng, (0.6, 0.6), (0.3, 0))
        (found,) = system_differences(systems, ENDS, paired=paired)
        low, high = found.corrected.interval
        held += low <= 0 <= high
        misled += found.judge.value > 0
    assert held / 400 >= 0.93
    assert misled / 400 > 0.95


def test_of_many_equal_systems_an_order_is_seldom_stated():
    """150 studies of five equal systems, ten comparisons each: in 5% of them at most one is stated."""
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(150):
        found = system_differences(study(rng, [0.6] * 5, [0, 0.1, 0.2, 0, 0.3]), ENDS)
        assert len(found) == 10
        wrong += any(of.order in (SystemOrder.HIGHER, SystemOrder.LOWER) for of in found)
    assert wrong / 150 <= 0.06


def test_a_clear_order_is_stated_and_pairs_need_fewer_labels():
    rng = np.random.default_rng(7)
    systems = study(rng, (0.85, 0.5, 0.5), (0, 0, 0))
    orders = {(of.first, of.second): of.order for of in system_differences(systems, ENDS)}
    assert orders["s0", "s1"] == SystemOrder.HIGHER
    assert orders["s1", "s2"] == SystemOrder.INCONCLUSIVE
    against = system_differences(systems, ENDS, against="s0")
    assert [(of.first, of.order) for of in against] == [("s1", SystemOrder.LOWER), ("s2", SystemOrder.LOWER)]
    halves = []
    for _ in range(30):
        same = study(rng, (0.6, 0.6), (0, 0))
        halves.append([system_differences(same, ENDS, paired=by)[0].corrected.half_width for by in (1, 0)])
    assert np.mean(halves, axis=0)[0] < np.mean(halves, axis=0)[1]
