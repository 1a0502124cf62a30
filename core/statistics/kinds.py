"""Resamples of many items of few kinds: items that everybody rated alike are drawn by their number.

How often each kind is drawn has the multinomial distribution, and statistics that sum over items sum over
kinds instead: the same bootstrap of items, in the time that the kinds take.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from concord.arrays import numbered
from concord.statistics.ratings import Floats, Ints, Ratings, kinds_with
from concord.statistics.resampling import CELLS


class Unlike(Exception):
    """A statistic tells items of one kind apart: it has to be resampled item by item."""


def is_large(items: int, resamples: int) -> bool:
    """Whether resamples of so many items are worth a shorter way."""
    return items * resamples > CELLS


def kinds_of(table: Ratings, criterion: str, resamples: int) -> Ints | None:
    """The kind of each item that a person rated, −1 of the others; None where items are drawn one by one."""
    kinds = table[criterion].kinds if is_large(len(table.rated), resamples) else None
    if kinds is None:
        return None
    kind = np.full(len(table.units), -1)
    kind[table.rated] = kinds[table.rated]
    return kind


def enough(table: Ratings, resamples: int) -> int:
    """How many of so many resamples measure a standard error well enough: of many items that differ a fifth.

    Of `CELLS` items × resamples all are drawn, and where items are of few kinds. Intervals allow for their
    number: Student's t has less than one degree of freedom for each resample.
    """
    items = len(table.rated)
    if not is_large(items, resamples) or all(scores.kinds is not None for scores in table.criteria.values()):
        return resamples
    return max(resamples // 5, CELLS // items)


class KindWeights:
    """Weights of items × resamples as statistics read them, held by kind: an item stands for all of its own.

    `kind` is the kind of each item (−1: it is not drawn), `weight` the total weight of each kind in each
    resample. A sum over items raises `Unlike` where items of a kind do not count alike.
    """

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, kind: Ints, weight: Floats) -> None:
        self.kind = kind
        self.weight = weight
        self.items = np.flatnonzero(kind >= 0)
        self.examples = np.zeros(len(weight), dtype=np.int64)
        self.examples[kind[self.items[::-1]]] = self.items[::-1]
        self.example_of = self.examples[kind[self.items]]

    @property
    def shape(self) -> tuple[int, int]:
        """Items and resamples."""
        return len(self.kind), self.weight.shape[1]

    def astype(self, _kind: object) -> Self:
        """The same: weights are exact."""
        return self

    def sum(self, axis: int) -> Floats:
        """The total weight in each resample. Raises Unlike for another axis."""
        if axis != 0:
            raise Unlike
        return np.asarray(self.weight.sum(axis=0))

    def __getitem__(self, rows: Any) -> "KindWeights":
        places = np.asarray(rows)
        if places.dtype == bool:
            places = np.flatnonzero(places)
        kind = self.kind[places]
        size = len(self.weight)
        count, total = (np.bincount(codes[codes >= 0], minlength=size) for codes in (kind, self.kind))
        if ((count != 0) & (count != total)).any():
            raise Unlike
        place = np.cumsum(count > 0) - 1
        return KindWeights(np.where(kind >= 0, place[kind], -1), self.weight[count > 0])

    def __rmatmul__(self, values: Any) -> Floats:
        if sparse.issparse(values):
            columns: Any = cast(Any, values).tocsc()
            if abs(columns[:, self.items] - columns[:, self.example_of]).max() > 0:
                raise Unlike
            return np.asarray(columns[:, self.examples] @ self.weight)
        values = np.asarray(values, dtype=np.float64)
        if not np.array_equal(values[..., self.items], values[..., self.example_of], equal_nan=True):
            raise Unlike
        return np.asarray(values[..., self.examples] @ self.weight)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        """No array of numbers: a matrix that asks gets one object, and then asks `__rmatmul__`."""
        if dtype is not None:
            raise Unlike
        alone = np.empty((), dtype=object)
        alone[()] = self
        return alone

    def __mul__(self, _operand: object) -> Floats:
        raise Unlike

    __rmul__ = __mul__


def draws(kind: Ints, resamples: int, seed: int, inclusion: Floats | None = None) -> Iterator[KindWeights]:
    """Resamples of as many items as have a kind (−1: never drawn), with the weight of each where they have.

    The same seed gives the same counts.
    """
    if inclusion is not None:
        kind = np.where(kind >= 0, kinds_with(np.maximum(kind, 0), inclusion), -1)
    items = np.flatnonzero(kind >= 0)
    kind = kind.copy()
    kind[items], numbers = numbered(kind[items])
    counts = np.bincount(kind[items], minlength=len(numbers))
    counts_by_kind = _counts(counts.tobytes(), resamples, seed)
    if inclusion is not None:
        of_kind = np.zeros(len(counts))
        of_kind[kind[items]] = inclusion[items]
        counts_by_kind = counts_by_kind * of_kind[:, None]
    block = max(1, CELLS // max(len(counts), 1))
    for start in range(0, resamples, block):
        yield KindWeights(kind, counts_by_kind[:, start : start + block])


@lru_cache(4)
def _counts(counts: bytes, resamples: int, seed: int) -> Floats:
    """How often each kind is drawn (kinds × resamples)."""
    number = np.frombuffer(counts, dtype=np.int64)
    size = int(number.sum())
    counts_by_kind = np.random.default_rng(seed).multinomial(size, number / size, size=resamples)
    return np.ascontiguousarray(counts_by_kind.T, dtype=np.float64)
