"""Weights of items that were not drawn alike: each stands for as many as its chance of being drawn says.

Means are those of Hájek (1971): Σ w·y ÷ Σ w, w = 1 ÷ the chance of being drawn; their errors by linearization
(Särndal, Swensson and Wretman 1992, section 5.7).
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.intervals import FEWEST, student
from concord.statistics.ratings import Bools, Floats, Ints

MOST_STRATA = 20
"""More different weights than these are no strata."""


def effective(weights: Floats) -> float:
    """How many items of equal weight say as much: (Σ w)² ÷ Σ w² (Kish 1965); 0 without any."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def weights_of_strata(strata: Ints, sampled: Bools) -> Floats:
    """The weight of each drawn item, its stratum's items per drawn one; 0 of the others.

    `strata` numbers each item's stratum.
    """
    stratum_sizes = np.bincount(strata)
    of_drawn = np.bincount(strata[sampled], minlength=len(stratum_sizes))
    return np.where(sampled, stratum_sizes[strata] / np.maximum(of_drawn[strata], 1), 0.0)


FEWEST_COMPARED = 20
"""Items with, and without, people below which it is not asked whether they were drawn alike."""


def sampling_gap(scores: Floats, sampled: Bools) -> float:
    """Two-sided p that a judge scores drawn items as it does the others, by their means (nan: none).

    A score more at each end of what was seen stands on both sides, so that equal scores leave room. 1 for few
    items.
    """
    with_people = scores[sampled & ~np.isnan(scores)]
    unsampled = scores[~sampled & ~np.isnan(scores)]
    if min(len(with_people), len(unsampled)) < FEWEST_COMPARED:
        return 1.0
    ends = [float(np.nanmin(scores)), float(np.nanmax(scores))]
    sides = [np.concatenate([side, ends]) for side in (with_people, unsampled)]
    error = math.sqrt(sum(float(side.var(ddof=1)) / len(side) for side in sides))
    if error <= 0:
        return 1.0
    from scipy import special

    return float(2 * special.ndtr(-abs(float(sides[0].mean() - sides[1].mean())) / error))


def weighted_error(values: Floats, weights: Floats, strata: Ints | None = None) -> float:
    """The standard error of a weighted mean of `values`; with `strata`, within these.

    Infinite for fewer than two values.
    """
    if len(values) < 2 or float(weights.sum()) <= 0:
        return math.inf
    ones = np.ones(len(values))
    codes = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    return _ratio(values, ones, weights, codes, ones)[1]


@dataclass(frozen=True, eq=False)
class DrawnAnswers:
    """People's and a judge's answers, 0 or 1, to items drawn by weight, and half items of each kind.

    `times` is 1 for an item and ½ for each of those added: where a judge gives an answer in a stratum, half
    an item that people pass and half an item that they fail.
    """

    people: Floats
    judge: Floats
    weights: Floats
    strata: Ints
    times: Floats

    @classmethod
    def from_answers(cls, people: Floats, judge: Floats, weights: Floats, strata: Ints | None) -> Self:
        """The answers and their half items. Without strata items of equal weight are one, if few differ."""
        if strata is None:
            distinct, strata = np.unique(weights, return_inverse=True)
            strata = strata if len(distinct) <= MOST_STRATA else np.zeros(len(weights), dtype=np.int64)
        kinds = sorted({*zip(strata.tolist(), judge.tolist(), strict=True)})
        unseen = [
            (
                answer,
                judge_answer,
                float(weights[(strata == stratum) & (judge == judge_answer)].mean()),
                stratum,
            )
            for stratum, judge_answer in kinds
            for answer in (0.0, 1.0)
        ]
        unseen_rows = np.array(unseen, dtype=np.float64).reshape(-1, 4).T
        return cls(
            np.concatenate([people, unseen_rows[0]]),
            np.concatenate([judge, unseen_rows[1]]),
            np.concatenate([weights, unseen_rows[2]]),
            np.concatenate([strata, unseen_rows[3].astype(np.int64)]),
            np.concatenate([np.ones(len(people)), np.full(len(unseen), 0.5)]),
        )


def weighted_share(
    hits: Bools,
    subset: Bools,
    sampled: DrawnAnswers,
    empty_reason: str = "no item",
) -> Estimate:
    """The weighted share of the items `subset` that are `hits`, both of the items and then the half ones of a
    draw; `empty_reason` says why there is none.

    The interval is that of the share with half an item more of every kind, whose heavy items a small draw may
    not have seen: value ± Student's t. None below `FEWEST` items.
    """
    observed = sampled.times == 1
    n = int((subset & observed).sum())
    if not n:
        return undefined(empty_reason, n=0)
    parts = hits.astype(np.float64), subset.astype(np.float64)
    subset_weights = sampled.weights * subset * observed
    value = float(subset_weights @ parts[0]) / float(subset_weights.sum())
    if n < FEWEST:
        return estimate(value, n=n, reason=f"no interval: {too_few(n, FEWEST)}")
    centre, error = _ratio(*parts, sampled.weights, sampled.strata, sampled.times)
    half = student(max(effective(sampled.weights[subset & observed]) - 1, 1)) * error
    low = max(centre - half, 0.0)
    high = min(centre + half, 1.0)
    method = "weighted; half an item added of every kind"
    return estimate(value, min(low, value), max(high, value), n=n, method=method)


def _ratio(
    numerator: Floats, denominator: Floats, weights: Floats, strata: Ints, times: Floats
) -> tuple[float, float]:
    """Σ w·under·over ÷ Σ w·under and its error within strata; each item counts so many `times`."""
    total = float((times * weights * denominator).sum())
    value = float((times * weights * denominator * numerator).sum()) / total
    parts = weights * denominator * (numerator - value)
    variance = 0.0
    for stratum in np.unique(strata):
        in_stratum = strata == stratum
        n = float(times[in_stratum].sum())
        mean = float(np.average(parts[in_stratum], weights=times[in_stratum]))
        # One item shows no spread: it counts from the mean of all.
        residuals = parts[in_stratum] - (mean if n > 1 else 0)
        variance += float((times[in_stratum] * residuals**2).sum()) * (n / (n - 1) if n > 1 else 1)
    return value, math.sqrt(variance) / total
