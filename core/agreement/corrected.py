"""A mean over many items that judges scored, corrected by the few that people scored too (prediction-powered inference, PPI++)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from core.agreement.ratings import Floats

FEWEST = 4
"""With fewer items of people neither the slope nor its error can be told."""


@dataclass(frozen=True)
class Corrected:
    """What people would give on average, from `n` items that they scored and `rest` further ones that only judges scored.

    `people` is the mean of the n, `judges` of what judges gave to all n + rest; `weight` is how far judges are believed (λ), `worth`
    how many items scored by people would have told as much without any judge. None is undefined, and `reason` says why.
    """

    n: int
    rest: int
    people: float | None
    judges: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    weight: float | None = None
    worth: float | None = None
    reason: str = ""


def corrected_mean(people: Floats, judged: Floats, others: Floats, *, level: float = 0.95) -> Corrected:
    """The corrected mean of people's scores y. `judged` is what judges gave the same n items, `others` what they gave M further ones.

    θ = λ·mean of f over all n + M + mean of (y − λ·f) over the n, with the λ ≥ 0 of least variance: λ = cov(y, f)/var(f). As the n are
    among all N = n + M, its variance is (var(y) − 2λ·cov(y, f)·M/N + λ²·var(f)·M/N)/n (PPI++, Angelopoulos et al. 2023, with the n as
    part of all; it is the regression estimator of survey sampling). The interval is Student's with n − 2 degrees of freedom, one for
    λ. Judges may lean and use another scale. It assumes that people's items are a random draw of all.

    With judges that follow people not at all, or always say the same, λ is 0 and this is people's own mean. Undefined for fewer than
    four items of people. Raises ValueError where people and judges have different items.
    """
    if len(people) != len(judged):
        raise ValueError("people and judges must have scored the same items")
    n, rest = len(people), len(others)
    everything = np.concatenate([judged, others])
    own = Corrected(
        n, rest, float(people.mean()) if n else None, float(everything.mean()) if len(everything) else None
    )
    if n < FEWEST:
        few = f"{n} items with people are too few" if n else "no item with people"
        return Corrected(n, rest, own.people, own.judges, reason=few)
    spread, leaning = float(people.var(ddof=1)), float(judged.var(ddof=1))
    together = float(((people - people.mean()) * (judged - judged.mean())).sum() / (n - 1))
    weight = max(0.0, together / leaning) if leaning > 1e-12 else 0.0
    share = rest / (n + rest)
    value = float(people.mean() + weight * (everything.mean() - judged.mean()))
    left = max(0.0, spread - share * (2 * weight * together - weight**2 * leaning))
    half = float(stats.t.ppf((1 + level) / 2, n - 2)) * math.sqrt(left / n)
    worth = n * spread / left if left > 1e-12 else None
    return Corrected(n, rest, own.people, own.judges, value, value - half, value + half, weight, worth)
