"""A table as columns of equal length, for reading many ratings without loading pandas."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]


class Names:
    """A column of texts of which few are distinct: the number of each row's text, and the texts by number.

    It can be indexed, compared and listed as an array of the texts can, which takes more memory and time.
    """

    def __init__(self, codes: npt.ArrayLike, values: Sequence[Hashable]) -> None:
        self.codes: npt.NDArray[np.integer] = np.asarray(codes, dtype=np.int32)
        self.values = values

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Any:
        codes = self.codes[rows]
        return Names(codes, self.values) if np.ndim(codes) else self.values[codes]

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, value: object) -> npt.NDArray[np.bool_]:  # type: ignore[override]
        return np.asarray(np.array([each == value for each in self.values], dtype=bool)[self.codes])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = np.fromiter(self.values, object, len(self.values))
        return np.asarray(values[self.codes], dtype=dtype)

    def tolist(self) -> list[Hashable]:
        """The texts, row by row."""
        return list(map(self.values.__getitem__, self.codes.tolist()))


class Keyed(Mapping[int, str]):
    """Values by a number from 1 on, of which few are distinct; “” is none.

    It can be read as a mapping can, which takes more memory and time.
    """

    def __init__(self, codes: npt.ArrayLike, values: Sequence[Hashable]) -> None:
        self.names = Names(codes, [*map(str, values)])

    def __getitem__(self, number: int) -> str:
        value = self.names[number - 1] if 1 <= number <= len(self.names) else ""
        if value == "":
            raise KeyError(number)
        return str(value)

    def __iter__(self) -> Iterator[int]:
        filled = np.array([value != "" for value in self.names.values], dtype=bool)[self.names.codes]
        return iter((np.flatnonzero(filled) + 1).tolist())

    def __len__(self) -> int:
        filled = np.array([value != "" for value in self.names.values], dtype=bool)
        return int(filled[self.names.codes].sum())

    def values(self) -> list[str]:  # type: ignore[override]
        """The values that are there, by number."""
        return [value for value in map(str, self.names.tolist()) if value]

    @property
    def distinct(self) -> list[str]:
        """The distinct values."""
        used = np.unique(self.names.codes).tolist()
        return [value for number in used if (value := str(self.names.values[number]))]


def distinct_values(of: Mapping[Any, Hashable]) -> set[Hashable]:
    """The distinct values of a mapping."""
    return {*(of.distinct if isinstance(of, Keyed) else of.values())}


Columns = Mapping[str, Any]
"""Arrays, or `Names`, of equal length by the name of the column."""


def as_column(values: Any) -> Any:
    """Values as an array, unless they are `Names`; texts of a pandas column as `Names`."""
    if hasattr(values, "factorize") and getattr(values.dtype, "kind", "O") == "O":
        codes, distinct = values.factorize(use_na_sentinel=False)
        return Names(codes, list(distinct))
    return values if isinstance(values, Names) else np.asarray(values)


def taken(columns: Columns, rows: npt.NDArray[Any]) -> dict[str, Any]:
    """These rows (numbers, or a mask) of every column."""
    return {name: column[rows] for name, column in columns.items()}


def coded(values: Any) -> tuple[Codes, list[Hashable]]:
    """Values as numbers from 0, and the distinct values in the order in which they first appear."""
    if isinstance(values, Names):
        number, distinct = coded(np.fromiter(values.values, object, len(values.values)))
        codes = number[values.codes]
    elif values.dtype.kind == "i" and len(values):
        least = int(values.min())
        codes, given = numbered(values.astype(np.int64) - least)
        distinct = (given + least).tolist()
    else:
        numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(numbers.__getitem__, values.tolist()), np.int64, len(values))
        return codes, list(numbers)
    first = first_rows(codes, len(distinct))
    order = np.argsort(first)[: np.count_nonzero(first < len(codes))]
    place = np.zeros(len(distinct), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[codes], [distinct[number] for number in order.tolist()]


def first_rows(codes: Codes, size: int) -> Codes:
    """The first row of each of `size` codes; one beyond the last row where there is none."""
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def numbered(keys: Codes) -> tuple[Codes, Codes]:
    """Keys as numbers from 0, and the distinct keys, ascending. No key is negative.

    Counts instead of sorting where the largest key is not much larger than the number of keys.
    """
    most = int(keys.max(initial=0)) + 1
    if most > 8 * len(keys) + 1_000_000:
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes.astype(np.int64), distinct.astype(np.int64)
    there = np.zeros(most, dtype=bool)
    there[keys] = True
    place = np.cumsum(there, dtype=np.int32)
    return place[keys].astype(np.int64) - 1, np.flatnonzero(there).astype(np.int64)


def combined(*columns: npt.NDArray[np.integer]) -> Codes:
    """Rows as numbers from 0 by what they hold in all columns of numbers from 0, ascending as these do."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        key, _ = numbered(key * (int(column.max(initial=0)) + 1) + column)
    return key


FINEST = 2520
"""What the values of a scale, and their means over up to ten raters, are whole multiples of a part of."""

COUNTED_FROM = 1000
"""Values from which on counting them is faster than sorting."""


def levels(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], Codes]:
    """The distinct values (no nan), ascending, and each value's place among them, as `np.unique` has them.

    Answers have few distinct values: they are counted by the nearest multiple of 1/`FINEST`, and sorted where
    two values share one.
    """
    if len(values) >= COUNTED_FROM:
        low = float(values.min())
        high = float(values.max())
        if (high - low) * FINEST < len(values):
            places = np.rint((values - low) * FINEST).astype(np.int64)
            codes, distinct = numbered(places)
            level = np.empty(len(distinct))
            level[codes] = values
            if (level[codes] == values).all():
                return level, codes
    distinct_values_, codes = np.unique(values, return_inverse=True)
    return distinct_values_, codes.astype(np.int64)
