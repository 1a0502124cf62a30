"""A table as columns of equal length, for reading many ratings without loading pandas."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Columns = Mapping[str, npt.NDArray[Any]]
"""Arrays of equal length by the name of the column."""

Codes = npt.NDArray[np.int64]


def taken(columns: Columns, rows: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """These rows (numbers, or a mask) of every column."""
    return {name: column[rows] for name, column in columns.items()}


def coded(values: npt.NDArray[Any]) -> tuple[Codes, list[Hashable]]:
    """Values as numbers from 0, and the distinct values in the order in which they first appear."""
    given: list[Hashable] = values.tolist()
    number = {value: place for place, value in enumerate(dict.fromkeys(given))}
    return np.fromiter(map(number.__getitem__, given), np.int64, len(given)), list(number)


def numbered(keys: Codes) -> tuple[Codes, Codes]:
    """Keys as numbers from 0, and the distinct keys, ascending. No key is negative.

    Counts instead of sorting where the largest key is not much larger than the number of keys.
    """
    most = int(keys.max(initial=0)) + 1
    if most > 8 * len(keys) + 1_000_000:
        distinct, codes = np.unique(keys, return_inverse=True)
        return codes.astype(np.int64), distinct.astype(np.int64)
    there = np.bincount(keys, minlength=most) > 0
    return (np.cumsum(there) - 1)[keys], np.flatnonzero(there).astype(np.int64)
