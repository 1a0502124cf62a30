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


def weights_of_strata(strata: Ints, drawn: Bools) -> Floats:
    """The weight of each drawn item, its stratum's items per drawn one; 0 of the others.

    `strata` numbers each item's stratum.
    """
    every = np.bincount(strata)
    of_drawn = np.bincount(strata[drawn], minlength=len(every))
    return np.where(drawn, every[strata] / np.maximum(of_drawn[strata], 1), 0.0)


FEWEST_COMPARED = 20
"""Items with, and without, people below which it is not asked whether they were drawn alike."""


def drawn_apart(scores: Floats, drawn: Bools) -> float:
    """Two-sided p that a judge scores drawn items as it does the others, by their means (nan: none).

    A score more at each end of what was seen stands on both sides, so that equal scores leave room. 1 for few
    items.
    """
    with_people, others = scores[drawn & ~np.isnan(scores)], scores[~drawn & ~np.isnan(scores)]
    if min(len(with_people), len(others)) < FEWEST_COMPARED:
        return 1.0
    ends = [float(np.nanmin(scores)), float(np.nanmax(scores))]
    sides = [np.concatenate([side, ends]) for side in (with_people, others)]
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
    every = np.ones(len(values))
    codes = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    return _ratio(values, every, weights, codes, every)[1]


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
    def of(cls, people: Floats, judge: Floats, weights: Floats, strata: Ints | None) -> Self:
        """The answers and their half items. Without strata items of equal weight are one, if few differ."""
        if strata is None:
            distinct, strata = np.unique(weights, return_inverse=True)
            strata = strata if len(distinct) <= MOST_STRATA else np.zeros(len(weights), dtype=np.int64)
        kinds = sorted({*zip(strata.tolist(), judge.tolist(), strict=True)})
        added = [
            (answer, given, float(weights[(strata == stratum) & (judge == given)].mean()), stratum)
            for stratum, given in kinds
            for answer in (0.0, 1.0)
        ]
        more = np.array(added, dtype=np.float64).reshape(-1, 4).T
        return cls(
            np.concatenate([people, more[0]]),
            np.concatenate([judge, more[1]]),
            np.concatenate([weights, more[2]]),
            np.concatenate([strata, more[3].astype(np.int64)]),
            np.concatenate([np.ones(len(people)), np.full(len(added), 0.5)]),
        )


def weighted_share(
    hits: Bools,
    among: Bools,
    drawn: DrawnAnswers,
    without: str = "no item",
) -> Estimate:
    """The weighted share of the items `among` that are `hits`, both of the items and then the half ones of a
    draw; `without` says why there is none.

    The interval is that of the share with half an item more of every kind, whose heavy items a small draw may
    not have seen: value ± Student's t. None below `FEWEST` items.
    """
    seen = drawn.times == 1
    n = int((among & seen).sum())
    if not n:
        return undefined(without, n=0)
    parts = hits.astype(np.float64), among.astype(np.float64)
    own = drawn.weights * among * seen
    value = float(own @ parts[0]) / float(own.sum())
    if n < FEWEST:
        return estimate(value, n=n, reason=f"no interval: {too_few(n, FEWEST)}")
    centre, error = _ratio(*parts, drawn.weights, drawn.strata, drawn.times)
    half = student(max(effective(drawn.weights[among & seen]) - 1, 1)) * error
    low, high = max(centre - half, 0.0), min(centre + half, 1.0)
    method = "weighted; half an item added of every kind"
    return estimate(value, min(low, value), max(high, value), n=n, method=method)


def _ratio(over: Floats, under: Floats, weights: Floats, strata: Ints, times: Floats) -> tuple[float, float]:
    """Σ w·under·over ÷ Σ w·under and its error within strata; each item counts so many `times`."""
    total = float((times * weights * under).sum())
    value = float((times * weights * under * over).sum()) / total
    parts, variance = weights * under * (over - value), 0.0
    for stratum in np.unique(strata):
        own = strata == stratum
        n, mean = float(times[own].sum()), float(np.average(parts[own], weights=times[own]))
        # One item shows no spread: it counts from the mean of all.
        apart = parts[own] - (mean if n > 1 else 0)
        variance += float((times[own] * apart**2).sum()) * (n / (n - 1) if n > 1 else 1)
    return value, math.sqrt(variance) / total
