"""Resamples a study's items: one stream of weights, drawn once, serves every figure of the study.

A resample of items is a vector of counts, how often each item was drawn. Figures are computed from the
counts, exactly as they would be from the drawn items themselves, so differences between figures are paired:
they rest on the same draws.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from concord.codes import IntervalMethod
from concord.estimate import Estimate, estimate, undefined
from concord.statistics.intervals import DIFFERENCE, ROUNDING, Ends, bounded, percentile, resampled
from concord.statistics.ratings import DIGITS, Floats, Ints, divide

Weights = npt.NDArray[np.floating]
"""Counts, items × resamples."""

Statistic = Callable[[Weights], Floats]
"""Weights (items × resamples) to one value per resample, nan where it is undefined."""

Result = TypeVar("Result")

CELLS = 4_000_000
BLOCK = 250
"""Items × resamples, and resamples, held at a time: small studies fit the cache, large ones memory."""

MOST_KEPT = 32
"""Times `CELLS`: streams of up to so many counts are kept, as tables of a report have theirs in common."""


def cached_count(count: Callable[[Weights], Result]) -> Callable[[Weights], Result]:
    """`count`, computed once for several figures that are asked for the same weights in a row."""
    cache: list[tuple[Weights, Result]] = []

    def statistic(weights: Weights) -> Result:
        if not cache or cache[0][0] is not weights:
            cache[:] = [(weights, count(weights))]
        return cache[0][1]

    return statistic


def deferred(make: Callable[[], Statistic]) -> Statistic:
    """A statistic that is made when it is first asked for, and kept: many are read for their value alone."""
    statistics: list[Statistic] = []

    def values(weights: Weights) -> Floats:
        if not statistics:
            statistics.append(make())
        return statistics[0](weights)

    return values


def draws(
    items: int,
    resamples: int,
    seed: int,
    *,
    subset: Ints | None = None,
    clusters: Ints | None = None,
    size: int | None = None,
) -> Iterator[Weights]:
    """Yield weights (items × some resamples), `resamples` in all; the same seed gives the same weights.

    Each resample draws `size` items (default: as many as there are) with replacement. With `subset` only
    these items are drawn, all others have weight 0. With `clusters` (a number per item) whole clusters are
    drawn, as many as there are; items of cluster −1 stand alone.
    """
    subset = np.arange(items) if subset is None else subset
    if not len(subset):
        return
    cluster = None if clusters is None else own_clusters(clusters[subset])
    units = len(subset) if cluster is None else int(cluster.max()) + 1
    counter: Callable[[int, int, int, int, int], Iterable[Ints]] = _counts
    if units * resamples <= CELLS:
        counter = _counts_of_four
    elif units * resamples <= MOST_KEPT * CELLS:
        counter = _counts_of_one
    block_size = max(1, min(BLOCK, CELLS // items))
    for counts in counter(units, resamples, seed, units if size is None else size, block_size):
        weights = (counts if cluster is None else counts[cluster]).astype(np.float32)
        if len(subset) < items:
            spread = np.zeros((items, weights.shape[1]), dtype=np.float32)
            spread[subset] = weights
            weights = spread
        yield weights


def _counts(units: int, resamples: int, seed: int, size: int, block_size: int) -> Iterator[npt.NDArray[Any]]:
    """How often each unit was drawn, units × `block_size` resamples at a time.

    A byte holds a count unless many more are drawn than there are: of as many as there are none is drawn 256
    times.
    """
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, block_size):
        kind = np.uint8 if size <= max(units, 255) else np.float32
        block = np.empty((min(block_size, resamples - start), units), dtype=kind)
        for row in block:
            row[:] = np.bincount(rng.integers(0, units, size), minlength=units)
        yield np.ascontiguousarray(block.T)


@lru_cache(4)
def _counts_of_four(*arguments: int) -> tuple[npt.NDArray[Any], ...]:
    return tuple(_counts(*arguments))


@lru_cache(1)
def _counts_of_one(*arguments: int) -> tuple[npt.NDArray[Any], ...]:
    return tuple(_counts(*arguments))


def own_clusters(clusters: Ints) -> Ints:
    """Clusters numbered from 0; an item of cluster −1 has a number of its own, above the others."""
    single = clusters < 0
    numbered = clusters.copy()
    numbered[single] = clusters.max(initial=0) + 1 + np.arange(single.sum())
    return np.unique(numbered, return_inverse=True)[1].astype(np.int64)


def full_sample(items: int) -> Weights:
    """Every item once: the weights whose figure is the study's own, items × 1."""
    return np.ones((items, 1))


def mean_estimates(
    sums: Floats,
    counts: Floats | None = None,
    *,
    resamples: int,
    seed: int,
    noun: str,
    scales: Sequence[Ends | None] | None = None,
    method: IntervalMethod = IntervalMethod.PADDED,
) -> list[Estimate]:
    """The mean of each column of `sums` (items × columns), rounded to DIGITS.

    `counts` says how many values each sum is of (one each, unless given): a mean is the sum of sums over the
    sum of counts. Items are resampled, all columns by the same draws. `noun` is what an item is called in
    reasons. `scales` holds the least and greatest value of each column; where it is None, and where a value
    lies outside, the mean is taken as one without bounds. `method` is how intervals are found.
    """
    items, columns = sums.shape
    if not items:
        return [undefined(f"no {noun} to average", n=0)] * columns
    counts = np.ones_like(sums) if counts is None else counts
    means = (sums.sum(axis=0) / counts.sum(axis=0)).round(DIGITS)
    if items == 1:
        return [estimate(mean, n=items, reason=f"no interval: it rests on a single {noun}") for mean in means]
    parts = [(w.T @ sums) / (w.T @ counts) for w in draws(items, resamples, seed)]
    resampled_means = np.concatenate([np.empty((0, columns)), *parts]).round(DIGITS)
    if method is IntervalMethod.PERCENTILE:
        return [
            percentile(mean, of_mean, n=items)
            for mean, of_mean in zip(means.tolist(), resampled_means.T, strict=True)
        ]
    kinds = [
        DIFFERENCE if ends is None or _outside(of_column, number, ends) else bounded(*ends)
        for of_column, number, ends in zip(sums.T, counts.T, scales or [None] * columns, strict=True)
    ]
    return [
        resampled(mean, column, n=items, kind=kind)
        for mean, column, kind in zip(means.tolist(), resampled_means.T, kinds, strict=True)
    ]


def _outside(sums: Floats, counts: Floats, ends: Ends) -> bool:
    lowest, greatest = ends
    return bool(((sums < lowest * counts - ROUNDING) | (sums > greatest * counts + ROUNDING)).any())


def bootstrap(
    statistics: Sequence[Statistic],
    items: int,
    *,
    resamples: int,
    seed: int,
    subset: Ints | None = None,
    clusters: Ints | None = None,
    inclusion: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Each figure of the items as they are, and of every resample (figures × resamples).

    `inclusion` has the weight of each item, as which it counts each time it is drawn.
    """
    if not statistics:
        return np.empty(0), np.empty((0, 0))
    full_weights = full_sample(items) if inclusion is None else inclusion[:, None]
    values = np.array([statistic(full_weights)[0] for statistic in statistics])
    weights = draws(items, resamples, seed, subset=subset, clusters=clusters)
    return values, figures_of(
        statistics, weights if inclusion is None else (block * inclusion[:, None] for block in weights)
    )


def figures_of(statistics: Sequence[Statistic], weight_blocks: Iterable[Weights]) -> Floats:
    """Each figure of every resample (figures × resamples)."""
    parts = []
    for weights in weight_blocks:
        values = np.array([statistic(weights) for statistic in statistics])
        parts.append(values.reshape(len(statistics), weights.shape[1]))
    return np.concatenate([np.empty((len(statistics), 0)), *parts], axis=1)


def mean_defined(values: Floats) -> Floats:
    """The mean over rows of what is defined in each column; nan where nothing is."""
    defined = ~np.isnan(values)
    return divide(np.where(defined, values, 0).sum(axis=0), defined.sum(axis=0))


def mean(values: Floats) -> Statistic:
    """The mean of a value of items (nan: the item takes no part) as a statistic of weights."""
    return ratio(values, np.ones(len(values)))


def ratio(numerator: Floats, denominator: Floats) -> Statistic:
    """The sum of one value of items over that of another; nan where that is 0.

    Items without the first (nan) take no part.
    """
    items = np.flatnonzero(~np.isnan(numerator))
    top = numerator[items]
    below = denominator[items]

    def statistic(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        return divide(top @ weight, below @ weight)

    return statistic


def gathering(group: npt.NDArray[np.integer], groups: int) -> sparse.csc_array:
    """The groups × items matrix that sums weights of items by group (−1: none), exact up to 2²⁴ draws."""
    inside = group >= 0
    starts = np.concatenate([[0], np.cumsum(inside)])
    ones = np.ones(int(inside.sum()), dtype=np.float32)
    return sparse.csc_array(
        (ones, group[inside].astype(np.int32), starts.astype(np.int32)), shape=(groups, len(group))
    )
