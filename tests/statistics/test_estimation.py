"""What people would say of a whole log by group: corrected in each group, with differences of groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

from concord.estimate import Estimate, undefined
from concord.statistics.corrected import Moments, corrected_by_moments, corrected_mean
from concord.statistics.estimation import (
    SampledItems,
    closeness,
    difference,
    group_estimate,
    simultaneous,
    unlike_mean,
    unlike_shares,
    wanted_items,
)


def test_moments_of_counts_are_those_of_the_scores():
    scores = np.array([1.0] * 3 + [4.0] * 2 + [5.0])
    by_counts = Moments.of_counts({1.0: 3, 4.0: 2, 5.0: 1})
    # (3·1 + 2·4 + 5) / 6 = 16/6; variance (3·(1 − 8/3)² + 2·(4 − 8/3)² + (5 − 8/3)²) / 6
    assert by_counts.mean == pytest.approx(8 / 3)
    assert by_counts.variance == pytest.approx((3 * (5 / 3) ** 2 + 2 * (4 / 3) ** 2 + (7 / 3) ** 2) / 6)
    assert by_counts == pytest.approx(Moments.from_scores(scores)) or vars(by_counts) == pytest.approx(
        vars(Moments.from_scores(scores))
    )
    assert Moments.of_counts({}).n == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_corrected_by_moments_is_that_of_the_scores(weighted):
    rng = np.random.default_rng(5)
    judge = rng.integers(1, 6, 300).astype(float)
    people = np.clip(judge[:60] + rng.integers(-1, 2, 60), 1, 5)
    more = {"weights": rng.uniform(1, 9, 60), "strata": rng.integers(0, 3, 60)} if weighted else {}
    whole = corrected_mean(people, judge[:60], judge[60:], scale=(1, 5), **more)
    counts = {float(value): int((judge == value).sum()) for value in np.unique(judge)}
    by_moments = corrected_by_moments(people, judge[:60], Moments.of_counts(counts), scale=(1, 5), **more)
    assert by_moments.value.value == pytest.approx(whole.value.value)
    assert by_moments.value.interval == pytest.approx(whole.value.interval)


def test_a_difference_has_the_interval_of_zou_and_donner():
    # d = 0.2; below √(0.1² + 0.04²), above √(0.05² + 0.08²)
    one, other = Estimate(0.7, 0.6, 0.75, 50), Estimate(0.5, 0.42, 0.54, 60)
    result = difference(one, other)
    assert result.value == pytest.approx(0.2)
    assert result.interval == pytest.approx((0.2 - math.hypot(0.1, 0.04), 0.2 + math.hypot(0.05, 0.08)))
    assert result.n == 110
    assert not difference(one, undefined("few", n=2)).defined
    assert difference(one, Estimate(0.5, n=1)).interval is None


def test_closeness_of_two_answers_is_the_share_of_equal_ones():
    sample = SampledItems(np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 0, 0]))
    assert closeness(sample, (0, 1)).value == pytest.approx(3 / 4)
    weighted = SampledItems(sample.people, sample.judge, np.array([1.0, 3, 1, 1]))
    assert closeness(weighted, (0, 1)).value == pytest.approx(3 / 6)
    assert not closeness(SampledItems(np.zeros(0), np.zeros(0)), (0, 1)).defined


def test_further_items_go_where_spread_and_share_are_largest():
    # spread: half-width × √n: .1 × 10 = 1 and .05 × 20 = 1; shares 3 to 1
    groups = {"a": Estimate(0.5, 0.4, 0.6, 100), "b": Estimate(0.5, 0.45, 0.55, 400)}
    assert wanted_items(groups, {"a": 0.75, "b": 0.25}, 100) == {"a": 75, "b": 25}
    assert wanted_items({"a": undefined("none", n=0)}, {"a": 1.0}, 10) == {"a": 10}
    assert wanted_items({}, {}, 10) == {}


def test_a_log_that_is_unlike_its_sample_is_noticed():
    rng = np.random.default_rng(2)
    whole = rng.normal(3, 1, 10_000)
    assert unlike_mean(whole[:200], None, Moments.from_scores(whole)) < 3
    assert unlike_mean(whole[:200] + 1, None, Moments.from_scores(whole)) > 3
    assert unlike_mean(whole[:5] + 9, None, Moments.from_scores(whole)) == 0
    assert unlike_shares(["a"] * 50 + ["b"] * 50, None, {"a": 500, "b": 500})[1] == 0
    value, errors = unlike_shares(["a"] * 90 + ["b"] * 10, None, {"a": 500, "b": 500})
    # |.9 − .5| ÷ √(.25 ÷ 100)
    assert value in ("a", "b")
    assert errors == pytest.approx(8)


def test_intervals_of_several_differences_are_wider_together():
    assert simultaneous(1) == pytest.approx(1)
    assert simultaneous(6) == pytest.approx(2.6383 / 1.95996, abs=1e-3)


@pytest.mark.parametrize("by_answer", [False, True])
def test_a_planted_difference_lies_in_its_interval(by_answer):
    hits, alone, shown = 0, 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = 20_000
        segment = rng.integers(0, 2, n)
        truth = (rng.random(n) < np.where(segment == 1, 0.7, 0.6)).astype(float)
        # Right on nine of ten; on segment 1 it passes a third of what fails besides.
        judge = np.where(rng.random(n) < 0.9, truth, 1 - truth)
        judge = np.where((segment == 1) & (truth == 0) & (rng.random(n) < 0.35), 1.0, judge)
        planted = truth[segment == 1].mean() - truth[segment == 0].mean()
        weights = strata = None
        if by_answer:
            rare = rng.permutation(np.flatnonzero(judge == 0))[:200]
            common = rng.permutation(np.flatnonzero(judge == 1))[:200]
            chosen = np.concatenate([rare, common])
            strata = judge[chosen].astype(int)
            weights = np.where(strata == 0, (judge == 0).sum() / 200, (judge == 1).sum() / 200)
        else:
            chosen = rng.permutation(n)[:400]
        sample = SampledItems(truth[chosen], judge[chosen], weights, strata)
        groups = [
            group_estimate(
                sample.subset(segment[chosen] == value), Moments.from_scores(judge[segment == value]), (0, 1)
            ).corrected
            for value in (0, 1)
        ]
        found = difference(groups[1].value, groups[0].value)
        hits += found.low <= planted <= found.high
        alone += abs(groups[1].judges.value - groups[0].judges.value - planted) < 0.03
        shown += found.low > 0
    assert hits >= 93
    assert alone < 10  # the judge alone is wrong by its bias
    assert shown > 20
