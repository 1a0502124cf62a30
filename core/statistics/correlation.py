"""Spearman, Kendall's tau-b and Pearson between two scores of the same items.

Values are those of `scipy.stats`, against which they are tested; its functions take the weights of resamples
only one by one. A correlation depends on items only through how often each pair of values occurs. Ranks are
midranks and are recomputed from the counts in every resample: ranking once and re-weighting those ranks would
be faster and wrong.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from concord.arrays import levels, numbered
from concord.estimate import Estimate, undefined
from concord.statistics.figures import Figure, PointEstimate
from concord.statistics.intervals import CORRELATION, unequal_of_ranks
from concord.statistics.ratings import DIGITS, Floats, Ints
from concord.statistics.resampling import Statistic, Weights, cached_count, deferred, full_sample, gathering

Coefficient = Literal["spearman", "kendall", "pearson"]

FEWEST = 3
"""Two items always lie on a line; a correlation needs at least three."""

FEWEST_FOR_P = 4
FEWEST_FOR_PERFECT = 10
"""With fewer items a perfect correlation has no p-value: the t approximation would give 0."""

EXACT = 12
"""Digits of a point value: what differs behind them is rounding, and equal correlations must be equal."""

MOST_LEVELS = 500
"""Tau-b walks through the levels of the coarser score; beyond this many it has no resampled value."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of values of two scores: `x`, `y` are the distinct values, `at_x`, `at_y` a pair's places.

    `gather` (pairs × items) sums the weights of items by pair, `by_x` and `by_y` those of pairs by value.
    """

    x: Floats
    y: Floats
    at_x: npt.NDArray[np.integer]
    at_y: npt.NDArray[np.integer]
    gather: sparse.csc_array
    by_x: sparse.csc_array
    by_y: sparse.csc_array


def pairs(x: Floats, y: Floats) -> Pairs:
    """Two scores of the same items (nan where missing) as pairs of values, from the items that have both."""
    common = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    (levels_x, code_x), (levels_y, code_y) = (levels(np.round(score[common], DIGITS)) for score in (x, y))
    width = max(len(levels_y), 1)
    kind, kinds = numbered(code_x * width + code_y)
    pair = np.full(len(x), -1)
    pair[common] = kind
    at_x, at_y = np.divmod(kinds, width)
    by_x, by_y = (
        gathering(index, len(levels)).astype(np.float64)
        for index, levels in ((at_x, levels_x), (at_y, levels_y))
    )
    return Pairs(levels_x, levels_y, at_x, at_y, gathering(pair, len(at_x)), by_x, by_y)


def correlation(x: Floats, y: Floats, coefficient: Coefficient = "spearman") -> Statistic:
    """A coefficient as a statistic of weights (items × resamples); nan where a score does not vary.

    Tau-b of two scores that both have more than `MOST_LEVELS` values is not resampled: it is nan everywhere.
    """

    def make() -> Statistic:
        pair = pairs(x, y)
        if coefficient == "kendall" and min(len(pair.x), len(pair.y)) > MOST_LEVELS:
            return lambda weights: np.full(weights.shape[1], np.nan)
        resampled = {"spearman": _spearman, "pearson": _pearson, "kendall": _kendall}[coefficient]
        return lambda weights: resampled(pair, np.asarray(pair.gather @ weights, dtype=np.float64))

    return deferred(make)


def _spearman(pairs: Pairs, weight: Floats) -> Floats:
    rank_x, spread_x = _ranks(pairs.by_x @ weight)
    rank_y, spread_y = _ranks(pairs.by_y @ weight)
    product = np.einsum("pr,pr,pr->r", weight, rank_x[pairs.at_x], rank_y[pairs.at_y])
    return _ratio(product, spread_x, spread_y)


def _ranks(count: Floats) -> tuple[Floats, Floats]:
    """Midranks of the levels less their mean, and their weighted sum of squares."""
    rank = np.cumsum(count, axis=0) - count / 2 - count.sum(axis=0) / 2
    return rank, np.einsum("lr,lr,lr->r", count, rank, rank)


def _pearson(pairs: Pairs, weight: Floats) -> Floats:
    n = np.maximum(weight.sum(axis=0), 1e-9)
    x, sum_x, spread_x = _moments(pairs.x, pairs.by_x @ weight, n)
    y, sum_y, spread_y = _moments(pairs.y, pairs.by_y @ weight, n)
    product = (x[pairs.at_x] * y[pairs.at_y]) @ weight - sum_x * sum_y / n
    return _ratio(product, spread_x, spread_y)


def _moments(levels: Floats, count: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Levels less their mean, their weighted sum and sum of squares (0 where one level alone occurs)."""
    centred = levels - levels.mean() if len(levels) else levels
    total = centred @ count
    spread = np.maximum((centred**2) @ count - total**2 / n, 0)
    return centred, total, np.where((count > 0).sum(axis=0) > 1, spread, 0)


def _kendall(pairs: Pairs, weight: Floats) -> Floats:
    """Goes up the levels of the coarser score; counts concordant less discordant pairs with those below."""
    count_x = pairs.by_x @ weight
    count_y = pairs.by_y @ weight
    coarse, fine = (pairs.at_x, pairs.at_y) if len(pairs.x) <= len(pairs.y) else (pairs.at_y, pairs.at_x)
    order = np.argsort(coarse, kind="stable")
    below = np.zeros((max(len(pairs.x), len(pairs.y), 1), weight.shape[1]))
    surplus = np.zeros(weight.shape[1])
    for level in np.split(order, np.flatnonzero(np.diff(coarse[order])) + 1):
        row_weight = weight[level]
        row_level = fine[level]
        upto = np.cumsum(below, axis=0)
        surplus += (row_weight * (2 * upto[row_level] - below[row_level] - upto[-1])).sum(axis=0)
        below[row_level] += row_weight
    n = weight.sum(axis=0)
    all_pairs = n * (n - 1) / 2
    untied_x = all_pairs - (count_x * (count_x - 1) / 2).sum(axis=0)
    untied_y = all_pairs - (count_y * (count_y - 1) / 2).sum(axis=0)
    return _ratio(surplus, untied_x, untied_y)


def _ratio(product: Floats, spread_x: Floats, spread_y: Floats) -> Floats:
    scale = np.sqrt(spread_x * spread_y)
    ratio = np.divide(product, scale, out=np.full(len(product), np.nan), where=scale > 0)
    return np.asarray(np.clip(ratio, -1, 1))


def paired(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Two scores on the items that have both, rounded so that equal averages are ties."""
    common = ~np.isnan(x) & ~np.isnan(y)
    return np.round(x[common], DIGITS), np.round(y[common], DIGITS)


def why_undefined(x: Floats, y: Floats, a: str = "one score", b: str = "the other") -> str:
    """Why a correlation of two scores (`paired`) has no value, naming them; empty if it has one."""
    if len(x) < FEWEST:
        return too_few(len(x))
    constant = [name for name, scores in ((a, x), (b, y)) if np.ptp(scores) == 0]
    if not constant:
        return ""
    return f"{' and '.join(constant)} {'are' if len(constant) > 1 else 'is'} constant on the items in common"


def too_few(count: int, noun: str = "item") -> str:
    """Why a correlation of so few items has no value."""
    count_words = {0: f"no {noun}", 1: f"one {noun}"}.get(count, f"{count} {noun}s")
    return f"{count_words} in common, at least {FEWEST} are needed"


def point(x: Floats, y: Floats, coefficient: Coefficient = "spearman") -> float:
    """The coefficient on the items that have both scores; nan where it is undefined.

    scipy's functions give the same and take up to twenty times as long, most of it in their import.
    """
    x, y = paired(x, y)
    if why_undefined(x, y):
        return np.nan
    if coefficient == "spearman":
        x = midranks(x)
        y = midranks(y)
    if coefficient != "kendall":
        x = x - x.mean()
        y = y - y.mean()
        products, of_x, of_y = (float(np.einsum("i,i->", a, b)) for a, b in ((x, y), (x, x), (y, y)))
        value = products / math.sqrt(of_x * of_y)
        return round(min(max(value, -1.0), 1.0), EXACT)
    value = float(correlation(x, y, "kendall")(full_sample(len(x)))[0])
    if np.isnan(value):  # more levels than are resampled
        from scipy import stats

        value = float(stats.kendalltau(x, y).statistic)
    return round(value, EXACT)


@dataclass(frozen=True, eq=False)
class Ranked:
    """A score of some `items`: `ranks` has in each resample their centred midranks (items × resamples) and
    the weighted sum of squares of these, computed once for all scores that it is compared with.
    """

    items: Ints
    ranks: Callable[[Weights], tuple[Floats, Floats]]


def ranked(score: Floats) -> Ranked:
    """A score (nan: missing) that many others of the same items are compared with."""
    items = np.flatnonzero(~np.isnan(score))
    distinct, code = levels(np.round(score[items], DIGITS))
    place = np.full(len(score), -1)
    place[items] = code
    gather = gathering(place, len(distinct))

    @cached_count
    def ranks(weights: Weights) -> tuple[Floats, Floats]:
        rank, squares = _ranks(np.asarray(gather @ weights, dtype=np.float64))
        return rank[code], squares

    return Ranked(items, ranks)


def correlation_of_ranked(x: Ranked, y: Ranked) -> Statistic:
    """Spearman's ρ of two scores of the same items, as `correlation` has it."""

    def rho(weights: Weights) -> Floats:
        (rank_x, squares_x) = x.ranks(weights)
        (rank_y, squares_y) = y.ranks(weights)
        weight = weights[x.items].astype(np.float64)
        return _ratio(np.einsum("ir,ir,ir->r", weight, rank_x, rank_y), squares_x, squares_y)

    return rho


class RowRanks(NamedTuple):
    """Centred midranks of each row of a score (rows × items, 0 where it is missing), and their squares'
    sum.
    """

    rank: Floats
    squares: Floats


def row_ranks(score: Floats) -> RowRanks:
    """The midranks of each row of a score (rows × items; nan: missing) less their mean."""
    rounded = np.round(score, DIGITS)
    order = np.argsort(rounded, axis=1)
    ascending = np.take_along_axis(rounded, order, axis=1)
    place = np.broadcast_to(np.arange(score.shape[1]), score.shape)
    starts = np.ones(score.shape, dtype=bool)
    starts[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    ends = np.ones(score.shape, dtype=bool)
    ends[:, :-1] = starts[:, 1:]
    lowest = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    highest = np.minimum.accumulate(np.where(ends, place, score.shape[1])[:, ::-1], axis=1)[:, ::-1]
    n = np.isfinite(score).sum(axis=1, keepdims=True)
    rank = np.zeros(score.shape)
    np.put_along_axis(rank, order, np.where(place < n, (lowest + highest) / 2 - (n - 1) / 2, 0), axis=1)
    return RowRanks(rank, np.einsum("ri,ri->r", rank, rank))


def row_points(x: RowRanks, y: RowRanks, n: Ints) -> Floats:
    """Spearman's ρ of each row of two scores that lack the same items, as `point` has it; nan where it is
    undefined. `n` counts the items of each row; ranks of a single row are those of every row.

    Ranks are multiples of a half, so that sums of their products are exact in any order.
    """
    products = np.einsum("ri,ri->r", *np.broadcast_arrays(x.rank, y.rank))
    value = np.round(_ratio(products, x.squares, y.squares), EXACT)
    return np.where(n >= FEWEST, value, np.nan)


def correlated(
    x: Floats,
    y: Floats,
    coefficient: Coefficient = "spearman",
    *,
    a: str = "the judge",
) -> Figure:
    """A coefficient of the scores of `a` with people's mean, as a figure of a table."""
    common = paired(x, y)
    n = len(common[0])
    if reason := why_undefined(*common, a, "people's mean"):
        return undefined(reason, n=n)
    value = point(*common, coefficient)
    items = ~np.isnan(x) & ~np.isnan(y)
    kind = CORRELATION
    if coefficient == "spearman" and np.array_equal(*common):
        _, counts = np.unique(common[0], return_counts=True)
        kind = replace(kind, unequal=unequal_of_ranks(n - int(counts.max()), n))
    return PointEstimate(correlation(x, y, coefficient), n, value, kind=kind, items=items)


def rank_correlation(x: Floats, y: Floats, a: str, b: str) -> Estimate:
    """Spearman's ρ of two scores called `a` and `b`, without an interval and without scipy's p."""
    x, y = paired(x, y)
    if reason := why_undefined(x, y, a, b):
        return undefined(reason, n=len(x))
    return Estimate(point(x, y), n=len(x))


def spearman_p(rho: Figure) -> Estimate:
    """Two-sided p of a Spearman's ρ of items, by the t approximation where it holds.

    t = ρ √((n − 2) / (1 − ρ²)) has Student's distribution with n − 2 degrees of freedom (Kendall and Stuart
    1973), as in `scipy.stats.spearmanr`, whose import takes half a second.
    """
    from scipy.special import stdtr

    value = rho.value
    n = rho.n or 0
    if value is None:
        return undefined(rho.reason, n=n)
    if n < FEWEST_FOR_P:
        return undefined(f"{n} items are too few for a p-value", n=n)
    if abs(value) == 1:
        if n < FEWEST_FOR_PERFECT:
            return undefined(f"a perfect correlation of {n} items has no p-value by the t approximation", n=n)
        return Estimate(0.0, n=n)
    t = value * np.sqrt((n - 2) / ((1 - value) * (1 + value)))
    return Estimate(float(2 * stdtr(n - 2, -abs(t))), n=n)


def midranks(x: Floats) -> Floats:
    """Ranks with ties shared, less their mean."""
    _, level = levels(np.round(x, DIGITS))
    count = np.bincount(level)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[level] - (len(x) + 1) / 2, dtype=np.float64)
