"""A mean over items that judges scored, corrected by those that people scored too (PPI++)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.inclusion import effective, weighted_error
from concord.statistics.intervals import Ends, bounded_mean, student
from concord.statistics.ratings import Floats, Ints

FEWEST = 4
"""Fewer items with people give neither the slope nor its error."""


@dataclass(frozen=True)
class Corrected:
    """An estimate of the mean that people would give to all items.

    `people` is their mean over the items they scored, `judges` the judges' mean over all items, `value` the
    corrected mean. `weight` is λ, the weight of the judges; `worth` is the number of items scored by people
    that would give as narrow an interval without judges.
    """

    people: Estimate
    judges: Estimate
    value: Estimate
    weight: Estimate
    worth: Estimate


@dataclass(frozen=True)
class Moments:
    """Of scores: how many, their mean and their variance (of all, divided by n); nan for none."""

    n: int
    mean: float
    variance: float

    @classmethod
    def from_scores(cls, scores: Floats) -> Self:
        """Those of single scores."""
        if not len(scores):
            return cls(0, math.nan, math.nan)
        return cls(len(scores), float(scores.mean()), float(scores.var()))

    @classmethod
    def of_counts(cls, counts: Mapping[float, int]) -> Self:
        """Those of scores by how often each stands: sums are taken first, and divided once."""
        n = sum(counts.values())
        if not n:
            return cls(0, math.nan, math.nan)
        mean = math.fsum(score * count for score, count in counts.items()) / n
        return cls(n, mean, math.fsum(count * (score - mean) ** 2 for score, count in counts.items()) / n)


def corrected_mean(
    people: Floats,
    judged: Floats,
    unrated: Floats,
    *,
    scale: Ends | None = None,
    weights: Floats | None = None,
    strata: Ints | None = None,
) -> Corrected:
    """The corrected mean of people's scores y.

    `judged` holds the judges' scores f of the same n items, `unrated` of M more.

    θ = λ·mean of f over all n + M + mean of (y − λ·f) over the n, with the λ ≥ 0 of least variance: λ =
    cov(y, f)/var(f). As the n are among all N = n + M, its variance is (var(y) − 2λ·cov(y, f)·M/N +
    λ²·var(f)·M/N)/n (PPI++, Angelopoulos et al. 2023, with the n as part of all; it is the regression
    estimator of survey sampling). Judges may be biased and use another scale. It assumes that people's items
    are a random draw of all, or, with `weights`, that each stands for as many items as its weight says: means
    and λ are then weighted (Hájek 1971), and the error is that of y − λ·f by weight, within `strata` where
    these number the strata of the n items.

    With `scale`, the least and greatest score that people can give, the interval is that of a bounded mean
    (`bounded_mean`), and has width where people all say the same. Without it the interval is Student's with
    n − 2 degrees of freedom, one for λ, and there is none where the corrected mean has no error.

    `worth` is n / (1 − r²·M/N) for Pearson's r of people and judges, where r is above 0.

    Where judges do not follow people, or always say the same, λ is 0 and this is people's own mean. Undefined
    for fewer than four items of people. Raises ValueError where people and judges have different items, and
    for a score of people outside `scale`.
    """
    every_score = Moments.from_scores(np.concatenate([judged, unrated]))
    return corrected_by_moments(people, judged, every_score, scale=scale, weights=weights, strata=strata)


def corrected_by_moments(
    people: Floats,
    judged: Floats,
    every_score: Moments,
    *,
    scale: Ends | None = None,
    weights: Floats | None = None,
    strata: Ints | None = None,
) -> Corrected:
    """As `corrected_mean`, where of the judges' scores of all items, the n among them, moments are known."""
    if len(people) != len(judged):
        raise ValueError("annotators and judges must have scored the same items")
    n = len(people)
    rest = every_score.n - len(people)
    by_people = Estimate(float(people.mean()), n=n) if n else undefined("no item", n=0)
    by_judges = Estimate(every_score.mean, n=every_score.n) if every_score.n else undefined("no item", n=0)
    if n < FEWEST:
        too_few_items = undefined(too_few(n, of="with people") if n else "no item with annotators", n=n)
        return Corrected(by_people, by_judges, too_few_items, too_few_items, too_few_items)
    if weights is not None:
        return _weighted(people, judged, every_score, weights, strata, by_judges, scale)
    var_people = float(people.var(ddof=1))
    var_judged = float(judged.var(ddof=1))
    covariance = float(((people - people.mean()) * (judged - judged.mean())).sum() / (n - 1))
    weight = max(0.0, covariance / var_judged) if var_judged > 1e-12 else 0.0
    share = rest / (n + rest)
    value = float(people.mean() + weight * (every_score.mean - judged.mean()))
    variance = max(0.0, var_people - share * (2 * weight * covariance - weight**2 * var_judged))
    if variance > 1e-12:
        worth = Estimate(n * var_people / variance, n=n)
    else:
        worth = undefined("the corrected mean has no error", n=n)
    return Corrected(
        by_people,
        by_judges,
        _with_interval(value, math.sqrt(variance / n), n, scale),
        Estimate(weight, n=n),
        worth,
    )


def _weighted(
    people: Floats,
    judged: Floats,
    every_score: Moments,
    weights: Floats,
    strata: Ints | None,
    by_judges: Estimate,
    scale: Ends | None,
) -> Corrected:
    """The corrected mean of items that were not drawn alike: see `corrected_mean`."""
    n = len(people)
    total = float(weights.sum())
    mean_people = float(weights @ people) / total
    mean_judged = float(weights @ judged) / total
    deviation = judged - mean_judged
    var_judged = float(weights @ deviation**2) / total
    covariance = float(weights @ ((people - mean_people) * deviation)) / total
    weight = max(0.0, covariance / var_judged) if var_judged > 1e-12 else 0.0
    value = mean_people + weight * (every_score.mean - mean_judged)
    error = weighted_error(people - weight * judged, weights, strata)
    variance = error**2 + weight**2 * every_score.variance / every_score.n
    alone = weighted_error(people, weights, strata) ** 2
    worth = Estimate(n * alone / variance, n=n) if variance > 1e-12 else undefined("no error", n=n)
    size = max(int(effective(weights)), 2)
    figure = replace(_with_interval(value, math.sqrt(variance), size, scale), n=n)
    return Corrected(Estimate(mean_people, n=n), by_judges, figure, Estimate(weight, n=n), worth)


def rogan_gladen(judge: Estimate, sensitivity: Estimate, specificity: Estimate) -> Estimate:
    """The share of yes that people would give, from the judge's share and its sensitivity and specificity.

    (p + sp − 1) ÷ (se + sp − 1) (Rogan and Gladen 1978), with the interval of Lang and Reiczigel (2014), in
    which p, se and sp are drawn a little to one half. It needs no draw of all items: those with people have
    to show how the judge answers a yes and a no, and may hold more yes than all. The value is kept within 0
    and 1. Undefined where a part is, and where the judge is not shown to tell yes from no: se + sp − 1 has
    to be more than two of its errors above 0.
    """
    p = judge.value
    se = sensitivity.value
    sp = specificity.value
    n = judge.n or 0
    yes = sensitivity.n or 0
    no = specificity.n or 0
    if p is None or se is None or sp is None or not (n and yes and no):
        reason = next(
            (part.reason for part in (judge, sensitivity, specificity) if part.value is None), "no item"
        )
        return undefined(reason, n=yes + no)
    z = student(math.inf)
    sampled_rate = (n * p + z**2 / 2) / (n + z**2)
    se_drawn = (yes * se + 1) / (yes + 2)
    sp_drawn = (no * sp + 1) / (no + 2)
    var_se = se_drawn * (1 - se_drawn) / (yes + 2)
    var_sp = sp_drawn * (1 - sp_drawn) / (no + 2)
    youden = se_drawn + sp_drawn - 1
    if youden <= 2 * math.sqrt(var_se + var_sp) or se + sp <= 1:
        return undefined("the judge is not shown to distinguish yes from no", n=yes + no)
    value = min(max((p + sp - 1) / (se + sp - 1), 0.0), 1.0)
    centre = min(max((sampled_rate + sp_drawn - 1) / youden, 0.0), 1.0)
    shift = 2 * z**2 * (centre * var_se - (1 - centre) * var_sp)
    variance = (
        sampled_rate * (1 - sampled_rate) / (n + z**2) + centre**2 * var_se + (1 - centre) ** 2 * var_sp
    )
    half = z * math.sqrt(variance) / youden
    low = max(centre + shift - half, 0.0)
    high = min(centre + shift + half, 1.0)
    method = "Rogan and Gladen (1978), interval of Lang and Reiczigel (2014)"
    return Estimate(value, min(low, value), max(high, value), yes + no, method)


def _with_interval(value: float, error: float, n: int, scale: Ends | None) -> Estimate:
    if scale is not None:
        # The correction may lead a little beyond the scale; the interval still holds the value.
        inside = min(max(value, scale[0]), scale[1])
        low, high = bounded_mean(inside, error, n, scale, weight=1.0)
        method = "PPI++; one more value at each end of the scale"
        return Estimate(value, min(low, value), max(high, value), n, method)
    half = student(n - 2) * error
    if half == 0:
        return estimate(value, n=n, reason="no interval: the corrected mean has no error")
    return Estimate(value, value - half, value + half, n, "PPI++, Student's t")
