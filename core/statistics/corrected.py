"""A mean over items that judges scored, corrected by those that people scored too (PPI++)."""

import math
from dataclasses import dataclass

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.intervals import Ends, bounded_mean, student
from concord.statistics.ratings import Floats

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


def corrected_mean(
    people: Floats,
    judged: Floats,
    others: Floats,
    *,
    scale: Ends | None = None,
) -> Corrected:
    """The corrected mean of people's scores y.

    `judged` holds the judges' scores f of the same n items, `others` of M more.

    θ = λ·mean of f over all n + M + mean of (y − λ·f) over the n, with the λ ≥ 0 of least variance: λ =
    cov(y, f)/var(f). As the n are among all N = n + M, its variance is (var(y) − 2λ·cov(y, f)·M/N +
    λ²·var(f)·M/N)/n (PPI++, Angelopoulos et al. 2023, with the n as part of all; it is the regression
    estimator of survey sampling). Judges may be biased and use another scale. It assumes that people's items
    are a random draw of all.

    With `scale`, the least and greatest score that people can give, the interval is that of a bounded mean
    (`bounded_mean`), and has width where people all say the same. Without it the interval is Student's with
    n − 2 degrees of freedom, one for λ, and there is none where the corrected mean has no error.

    `worth` is n / (1 − r²·M/N) for Pearson's r of people and judges, where r is above 0.

    Where judges do not follow people, or always say the same, λ is 0 and this is people's own mean. Undefined
    for fewer than four items of people. Raises ValueError where people and judges have different items, and
    for a score of people outside `scale`.
    """
    if len(people) != len(judged):
        raise ValueError("people and judges must have scored the same items")
    n, rest = len(people), len(others)
    everything = np.concatenate([judged, others])
    by_people, by_judges = (
        Estimate(float(scores.mean()), n=len(scores)) if len(scores) else undefined("no item", n=0)
        for scores in (people, everything)
    )
    if n < FEWEST:
        few = undefined(too_few(n, of="with people") if n else "no item with people", n=n)
        return Corrected(by_people, by_judges, few, few, few)
    var_people, var_judged = float(people.var(ddof=1)), float(judged.var(ddof=1))
    covariance = float(((people - people.mean()) * (judged - judged.mean())).sum() / (n - 1))
    weight = max(0.0, covariance / var_judged) if var_judged > 1e-12 else 0.0
    share = rest / (n + rest)
    value = float(people.mean() + weight * (everything.mean() - judged.mean()))
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
