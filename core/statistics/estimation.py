"""What people would say of a whole log, by group: judges' counts of all of it, corrected by people's items.

Each group is corrected by the items of people that lie in it, so that a judge that is biased in one group
moves no other. The difference of two groups has the interval of Zou and Donner (2008), from those of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from concord.estimate import Estimate, estimate, undefined
from concord.statistics.corrected import Corrected, Moments, corrected_by_moments
from concord.statistics.inclusion import effective, weighted_error
from concord.statistics.intervals import Ends, bounded_mean, student
from concord.statistics.ratings import Bools, Floats, Ints

UNLIKE = 3.0
"""Standard errors between a log and the sample of it from which on they are called unlike."""


@dataclass(frozen=True, eq=False)
class SampledItems:
    """The items of a sample that people and a judge scored.

    `weights` are how many items of the log each stands for and `strata` its stratum, None for a random draw.
    """

    people: Floats
    judge: Floats
    weights: Floats | None = None
    strata: Ints | None = None

    def subset(self, selection: Bools) -> SampledItems:
        """Those of a group."""
        return SampledItems(
            self.people[selection],
            self.judge[selection],
            None if self.weights is None else self.weights[selection],
            None if self.strata is None else self.strata[selection],
        )


@dataclass(frozen=True)
class GroupEstimate:
    """A group of a log: its mean as people would give it, the judge's alone, and how near the judge comes.

    `closeness` is the mean of 1 − |people − judge| ÷ width of the scale: of two answers the share that is
    equal.
    """

    corrected: Corrected
    closeness: Estimate


def group_estimate(sample: SampledItems, every_score: Moments, scale: Ends) -> GroupEstimate:
    """The estimate of a group from people's items in it and the judge's moments of all of it."""
    return GroupEstimate(
        corrected_by_moments(
            sample.people,
            sample.judge,
            every_score,
            scale=scale,
            weights=sample.weights,
            strata=sample.strata,
        ),
        closeness(sample, scale),
    )


def closeness(sample: SampledItems, scale: Ends) -> Estimate:
    """How near a judge comes to people; undefined without items, without an interval for one."""
    near = 1 - np.abs(sample.people - sample.judge) / (scale[1] - scale[0])
    return _mean(near, sample, (0.0, 1.0))


def _mean(values: Floats, sample: SampledItems, scale: Ends) -> Estimate:
    n = len(values)
    if not n:
        return undefined("no item with annotators", n=0)
    if n < 2:
        return estimate(float(values[0]), n=n, reason="no interval: 1 item")
    weights = np.ones(n) if sample.weights is None else sample.weights
    value = min(max(float(weights @ values) / float(weights.sum()), scale[0]), scale[1])
    error = weighted_error(values, weights, sample.strata)
    low, high = bounded_mean(value, error, max(int(effective(weights)), 2), scale)
    return estimate(value, low, high, n=n, method="a bounded mean")


def difference(one: Estimate, second: Estimate) -> Estimate:
    """One estimate less another of other items, with the interval of Zou and Donner (2008).

    From d = a − b and the intervals of both: d − √((a − aₗ)² + (bᵤ − b)²) to d + √((aᵤ − a)² + (b − bₗ)²).
    Undefined where one is; without an interval where one has none.
    """
    n = (one.n or 0) + (second.n or 0)
    if one.value is None or second.value is None:
        return undefined(one.reason if one.value is None else second.reason, n=n)
    value = one.value - second.value
    if one.low is None or one.high is None or second.low is None or second.high is None:
        return estimate(value, n=n, reason="no interval: a group has none")
    below = math.hypot(one.value - one.low, second.high - second.value)
    upper = math.hypot(one.high - one.value, second.value - second.low)
    return estimate(value, value - below, value + upper, n=n, method="Zou and Donner (2008)")


def unlike_mean(sample: Floats, weights: Floats | None, every_score: Moments) -> float:
    """By how many standard errors the mean of a sample differs from that of all it was drawn from.

    0 for fewer than 20 items, and where they do not vary.
    """
    if len(sample) < 20 or every_score.n < 20:
        return 0.0
    inner = np.ones(len(sample)) if weights is None else weights
    mean = float(inner @ sample) / float(inner.sum())
    error = math.sqrt(every_score.variance / max(effective(inner), 1))
    return abs(mean - every_score.mean) / error if error > 0 else 0.0


def unlike_shares(
    sample: Sequence[str], weights: Floats | None, counts: Mapping[str, int]
) -> tuple[str, float]:
    """The value whose share in a sample differs most from that in the log, in standard errors."""
    total = sum(counts.values())
    worst = ("", 0.0)
    inner = np.ones(len(sample)) if weights is None else weights
    if len(sample) < 20 or not total:
        return worst
    names = np.array(sample, dtype=object)
    for value, count in counts.items():
        share = count / total
        error = math.sqrt(share * (1 - share) / max(effective(inner), 1))
        share_in_sample = float(inner[names == value].sum() / inner.sum())
        if error > 0 and abs(share_in_sample - share) / error > worst[1]:
            worst = (value, abs(share_in_sample - share) / error)
    return worst


def simultaneous(count: int) -> float:
    """How much wider an interval is that holds together with those of `count` comparisons (Bonferroni)."""
    level = 1 - 0.05 / max(count, 1)
    return student(math.inf, level) / student(math.inf)


def wanted_items(groups: Mapping[str, Estimate], shares: Mapping[str, float], total: int) -> dict[str, int]:
    """How to share out `total` further items of people over groups: as their half-widths times √n say.

    A group's spread is taken from its interval, half-width × √n ÷ 1.96; a group without an interval counts
    with the largest one. In proportion to spread × share of the log (Neyman 1934), so that the figure of all
    gains most. Nothing for no groups.
    """
    spread: dict[str, float] = {}
    for name, figure in groups.items():
        if figure.half_width is not None and figure.n:
            spread[name] = figure.half_width * math.sqrt(figure.n)
    largest = max(spread.values(), default=1.0)
    need = {name: spread.get(name, largest) * shares.get(name, 0.0) for name in groups}
    full = sum(need.values())
    if full <= 0:
        return {}
    return {name: round(total * value / full) for name, value in need.items()}
