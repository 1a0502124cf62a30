"""The items of a table: which item each row is of, and what it is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from concord.reading.cells import is_blank
from concord.reading.column import SourceColumn

Ints = npt.NDArray[np.int64]

_DECIMAL = re.compile(r"(\d+)\.0+")


def id_text(cell: Any) -> str:
    """An id as text, without spaces around it; a whole number has no decimals. “” where there is none."""
    if is_blank(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell).strip()
    return decimal[1] if (decimal := _DECIMAL.fullmatch(text)) else text


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a table's rows, numbered from 0 in the order in which they come.

    `of_row` is each row's item, −1 where it has none; `first` the first row of each item. `names` are those
    of items, else they are those of the rows of `column`, else numbers of rows.
    """

    of_row: Ints
    first: Ints
    names: Sequence[str] | None = None
    column: SourceColumn | None = None
    alike: int = 0
    """How many ids differ from another in case alone, and are one item with it."""

    def __len__(self) -> int:
        return len(self.first)

    def name(self, item: int) -> str:
        """What an item is called."""
        if self.names is not None:
            return self.names[item]
        row = int(self.first[item])
        text = id_text(self.column.cell(row)) if self.column is not None else ""
        return text or f"row {row + 1}"

    def by_name(self, items: Ints) -> Ints:
        """Some items in the order of their names, so that it does not depend on that of the rows."""
        if self.names is None and self.column is not None and hasattr(self.column.cells, "dictionary_encode"):
            import pyarrow as pa
            import pyarrow.compute as pc

            cells = self.column.cells.take(self.first[items])
            texts = pc.utf8_trim_whitespace(cells.cast(pa.string()))
            return items[np.asarray(pc.sort_indices(texts).to_numpy(), dtype=np.int64)]
        names = [self.name(item) for item in items.tolist()]
        return items[sorted(range(len(names)), key=names.__getitem__)]


def one_a_row(size: int, column: SourceColumn | None = None) -> Items:
    """Each row is an item, called by a column of ids, or by its number."""
    rows = np.arange(size, dtype=np.int64)
    return Items(rows, rows, None, column)


def unique(column: SourceColumn) -> bool:
    """Whether every row has an id of its own, as ids are compared; rows without one are items by
    themselves.
    """
    if _large(column):
        return column.all_different
    codes, values = column.coded
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    if len(counts) and counts.max(initial=0) > 1:
        return False
    texts = [id_text(value) for value in values]
    ids = [text for text in texts if text]
    return len({*ids}) == len(ids)


def _large(column: SourceColumn) -> bool:
    return len(column) > 50_000 and not isinstance(column.cells, list)


def by_id(column: SourceColumn, folded: bool = False) -> Items:
    """The items of rows whose ids come again; with `folded` ids in other cases are one."""
    codes, values = column.coded
    texts = [id_text(value) for value in values]
    numbers: dict[str, int] = {}
    names: list[str] = []
    of_value = np.full(len(values) + 1, -1, dtype=np.int64)
    for place, text in enumerate(texts):
        if not text:
            continue
        key = text.casefold() if folded else text
        if key not in numbers:
            numbers[key] = len(names)
            names.append(text)
        of_value[place] = numbers[key]
    alike = len({text for text in texts if text}) - len(names)
    of_row = of_value[codes]
    return Items(of_row, _first(of_row, len(names)), names, None, alike)


def by_columns(columns: Sequence[SourceColumn]) -> Items:
    """The items of rows that several columns tell apart, called by their cells."""
    numbers: dict[str, int] = {}
    cells = zip(*([column.cell(row) for row in range(len(column))] for column in columns), strict=True)
    of_row = [numbers.setdefault(" · ".join(id_text(cell) for cell in row), len(numbers)) for row in cells]
    codes = np.array(of_row, dtype=np.int64)
    return Items(codes, _first(codes, len(numbers)), [*numbers])


def _first(of_row: Ints, size: int) -> Ints:
    """The first row of each item."""
    first = np.full(size, len(of_row), dtype=np.int64)
    rows = np.flatnonzero(of_row >= 0)[::-1]
    first[of_row[rows]] = rows
    return first
