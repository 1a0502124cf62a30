"""Spearman, Kendall's tau-b and Pearson between two scores of the same items, under resampling of items.

A correlation depends on items only through how often each pair of values occurs. Ranks are midranks and are recomputed from the
counts in every resample: ranking once and re-weighting those ranks would be faster and wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse, special

from core.agreement.ratings import DIGITS, Floats
from core.agreement.resampling import Statistic, Weights, gathering

Coefficient = Literal["spearman", "kendall", "pearson"]

FEWEST = 3
"""Two items always lie on a line; a correlation needs at least three."""

FEWEST_FOR_P = 4
FEWEST_FOR_PERFECT = 10
"""Below this many items the t approximation must not be asked about a perfect correlation: it answers 0."""

MOST_LEVELS = 500
"""Tau-b walks through the levels of the coarser score; beyond this many it has no resampled value."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of values of two scores: `x` and `y` are the distinct values, `at_x` and `at_y` each pair's place in them.

    `gather` (pairs × items) sums the weights of the items that show the pair, `by_x` and `by_y` the weights of pairs.
    """

    x: Floats
    y: Floats
    at_x: npt.NDArray[np.integer]
    at_y: npt.NDArray[np.integer]
    gather: sparse.csc_array
    by_x: sparse.csc_array
    by_y: sparse.csc_array

    @property
    def items(self) -> int:
        """How many items have both scores."""
        return int(self.gather.nnz)

    @property
    def undefined(self) -> str:
        """Why no correlation has a value; empty if it has one."""
        if self.items < FEWEST:
            few = {0: "no item", 1: "one item"}.get(self.items, f"{self.items} items")
            return f"{few} in common, at least {FEWEST} are needed"
        return "equal scores on the items in common" if min(len(self.x), len(self.y)) < 2 else ""


def pairs(x: Floats, y: Floats) -> Pairs:
    """Two scores of the same items (nan where missing) as pairs of values, from the items that have both."""
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    levels_x, code_x = np.unique(np.round(x[both], DIGITS), return_inverse=True)
    levels_y, code_y = np.unique(np.round(y[both], DIGITS), return_inverse=True)
    width = max(len(levels_y), 1)
    kind, kinds = pd.factorize(code_x * width + code_y, sort=True)
    pair = np.full(len(x), -1)
    pair[both] = kind
    return _pairs(levels_x, levels_y, *np.divmod(np.asarray(kinds), width), pair)


def _pairs(
    x: Floats,
    y: Floats,
    at_x: npt.NDArray[np.integer],
    at_y: npt.NDArray[np.integer],
    pair: npt.NDArray[np.integer],
) -> Pairs:
    by_x, by_y = gathering(at_x, len(x)).astype(np.float64), gathering(at_y, len(y)).astype(np.float64)
    return Pairs(x, y, at_x, at_y, gathering(pair, len(at_x)), by_x, by_y)


def correlation(pairs: Pairs, coefficient: Coefficient = "spearman") -> Statistic:
    """A coefficient as a statistic of weights (items × resamples); nan where one of the two scores does not vary.

    Raises ValueError for tau-b of two scores that both have more than `MOST_LEVELS` values: see `kendall_possible`.
    """
    if coefficient == "spearman":
        return lambda weights: _spearman(pairs, _gathered(pairs, weights))
    if coefficient == "pearson":
        return lambda weights: _pearson(pairs, _gathered(pairs, weights))
    if not kendall_possible(pairs):
        raise ValueError("tau-b is resampled only for scores of few values")
    return lambda weights: _kendall(pairs, _gathered(pairs, weights))


def kendall_possible(pairs: Pairs) -> bool:
    """Whether tau-b can be resampled: one of the two scores must have few values."""
    return min(len(pairs.x), len(pairs.y)) <= MOST_LEVELS


def _gathered(pairs: Pairs, weights: Weights) -> Floats:
    return np.asarray(pairs.gather @ weights, dtype=np.float64)


def _spearman(pairs: Pairs, weight: Floats) -> Floats:
    rank_x, spread_x = _ranks(pairs.by_x @ weight)
    rank_y, spread_y = _ranks(pairs.by_y @ weight)
    together = np.einsum("pr,pr,pr->r", weight, rank_x[pairs.at_x], rank_y[pairs.at_y])
    return _ratio(together, spread_x, spread_y)


def _ranks(count: Floats) -> tuple[Floats, Floats]:
    """Midranks of the levels less their mean, and their weighted sum of squares. Halves of whole numbers: exact."""
    rank = np.cumsum(count, axis=0) - count / 2 - count.sum(axis=0) / 2
    return rank, np.einsum("lr,lr,lr->r", count, rank, rank)


def _pearson(pairs: Pairs, weight: Floats) -> Floats:
    x, y = _centred(pairs.x), _centred(pairs.y)
    count_x, count_y = pairs.by_x @ weight, pairs.by_y @ weight
    n = np.maximum(weight.sum(axis=0), 1)
    sum_x, sum_y = x @ count_x, y @ count_y
    spread_x = np.where((count_x > 0).sum(axis=0) > 1, np.maximum((x**2) @ count_x - sum_x**2 / n, 0), 0)
    spread_y = np.where((count_y > 0).sum(axis=0) > 1, np.maximum((y**2) @ count_y - sum_y**2 / n, 0), 0)
    together = (x[pairs.at_x] * y[pairs.at_y]) @ weight - sum_x * sum_y / n
    return _ratio(together, spread_x, spread_y)


def _centred(levels: Floats) -> Floats:
    return levels - levels.mean() if len(levels) else levels


def _kendall(pairs: Pairs, weight: Floats) -> Floats:
    """Walk up the levels of the coarser score; of what lies below, the other one smaller is concordant, larger discordant."""
    count_x, count_y = pairs.by_x @ weight, pairs.by_y @ weight
    coarse, fine = (pairs.at_x, pairs.at_y) if len(pairs.x) <= len(pairs.y) else (pairs.at_y, pairs.at_x)
    order = np.argsort(coarse, kind="stable")
    below = np.zeros((max(len(pairs.x), len(pairs.y), 1), weight.shape[1]))
    surplus = np.zeros(weight.shape[1])
    for level in np.split(order, np.flatnonzero(np.diff(coarse[order])) + 1):
        here, at = weight[level], fine[level]
        upto = np.cumsum(below, axis=0)
        surplus += (here * (2 * upto[at] - below[at] - upto[-1])).sum(axis=0)
        below[at] += here
    n = weight.sum(axis=0)
    every = n * (n - 1) / 2
    untied_x = every - (count_x * (count_x - 1) / 2).sum(axis=0)
    untied_y = every - (count_y * (count_y - 1) / 2).sum(axis=0)
    return _ratio(surplus, untied_x, untied_y)


def _ratio(together: Floats, spread_x: Floats, spread_y: Floats) -> Floats:
    scale = np.sqrt(spread_x * spread_y)
    ratio = np.divide(together, scale, out=np.full(len(together), np.nan), where=scale > 0)
    return np.asarray(np.clip(ratio, -1, 1))


def once(pairs: Pairs, coefficient: Coefficient) -> float:
    """A coefficient of the items as they are, each once; nan if a score is constant. Any number of values will do."""
    count = np.asarray(pairs.gather.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    if coefficient == "spearman":
        return float(_spearman(pairs, count)[0])
    if coefficient == "pearson":
        return float(_pearson(pairs, count)[0])
    if kendall_possible(pairs):
        return float(_kendall(pairs, count)[0])
    from scipy import stats  # costs half a second to import, and is needed only here

    times = count.ravel().astype(np.int64)
    x, y = np.repeat(pairs.x[pairs.at_x], times), np.repeat(pairs.y[pairs.at_y], times)
    return float(stats.kendalltau(x, y).statistic)


def spearman(x: Floats, y: Floats) -> float:
    """Spearman of two scores without missing values, once; nan for fewer than three items or a constant score."""
    if len(x) < FEWEST:
        return math.nan
    rank_x, rank_y = midranks(x), midranks(y)
    scale = math.sqrt((rank_x @ rank_x) * (rank_y @ rank_y))
    return float(np.clip(rank_x @ rank_y / scale, -1, 1)) if scale else math.nan


def midranks(x: Floats) -> Floats:
    """Ranks with ties shared, less their mean."""
    _, code, count = np.unique(np.round(x, DIGITS), return_inverse=True, return_counts=True)
    place = np.cumsum(count) - count / 2 - len(x) / 2
    return np.asarray(place[code], dtype=np.float64)


def p_value(rho: float, n: int) -> tuple[float | None, str]:
    """Two-sided p of Spearman's rho by Student's t with n − 2 degrees of freedom (as scipy), or why there is none."""
    if n < FEWEST_FOR_P:
        return None, f"{n} items are too few for a p-value"
    if abs(rho) == 1:
        if n < FEWEST_FOR_PERFECT:
            return None, f"a perfect correlation of {n} items has no p-value by the t approximation"
        return 0.0, ""
    t = rho * math.sqrt((n - 2) / ((1 + rho) * (1 - rho)))
    return float(2 * special.stdtr(n - 2, -abs(t))), ""
