"""What is fitted to people on some items and measured on others: folds of items, levels of a score."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from concord.statistics.ratings import DIGITS, Bools, Floats, Ints, divide, sums
from concord.statistics.resampling import Weights, own_clusters

FOLDS = 5
"""Parts of the items: what is fitted to the others is measured on each in turn."""

MOST_LEVELS = 64
"""A score of more values, such as a slider's, is taken in so many steps of about equally many items."""

Found = TypeVar("Found")


class Levels(NamedTuple):
    """The levels of a score, ascending: the mean and the least score in each, and each item's level (or −1).

    A score of up to `MOST_LEVELS` values has a level for each of them.
    """

    mean: Floats
    least: Floats
    code: Ints


def levels(score: Floats, most: int = MOST_LEVELS) -> Levels:
    """At most so many levels of a score (nan where missing); none where all is missing."""
    there = np.flatnonzero(~np.isnan(score))
    rounded = np.round(score[there], DIGITS)
    values, place = np.unique(rounded, return_inverse=True)
    if len(values) > most:
        ends = np.quantile(rounded, np.arange(1, most) / most)
        place = np.unique(np.searchsorted(ends, rounded, side="right"), return_inverse=True)[1]
    number = int(place.max()) + 1 if len(place) else 0
    mean = divide(sums(place, rounded, number), np.bincount(place, minlength=number))
    least = np.full(number, np.inf)
    np.minimum.at(least, place, rounded)
    code = np.full(len(score), -1, dtype=np.int64)
    code[there] = place
    return Levels(mean, least, code)


def folds(chosen: Bools, *, seed: int = 0, clusters: Ints | None = None) -> Ints:
    """A fold for each chosen item, −1 for the others; sizes differ by one at most, and the seed draws them.

    Items of one cluster (a number per item, −1: stands alone) share a fold. There are fewer folds where there
    are fewer items or clusters.
    """
    items = np.flatnonzero(chosen)
    units = np.arange(len(items))
    if clusters is not None:
        units = own_clusters(clusters[items])
    count = int(units.max()) + 1 if len(units) else 0
    order = np.random.default_rng([seed, count]).permutation(count)
    fold = np.full(len(chosen), -1, dtype=np.int64)
    fold[items] = (order % min(FOLDS, max(count, 1)))[units]
    return fold


def once(count: Callable[[Weights], Found]) -> Callable[[Weights], Found]:
    """`count`, computed once for several figures that are asked for the same weights in a row."""
    kept: list[tuple[Weights, Found]] = []

    def on(weights: Weights) -> Found:
        if not kept or kept[0][0] is not weights:
            kept[:] = [(weights, count(weights))]
        return kept[0][1]

    return on
