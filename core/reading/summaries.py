"""Rows below a table that sum up its columns, such as a mean or a total: they are no items."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from concord.reading.cells import is_blank, number_of
from concord.reading.column import SourceColumn
from concord.reading.table import SourceTable
from concord.reading.vocabulary import tokens, word_set

LAST_ROWS = 12
"""So many rows at the end of a table may be summaries."""
LEAST_ROWS = 4
"""So many rows are left above them at least."""
WEAK = frozenset(("n", "s", "of", "all"))
"""Words that say a summary only beside others: they may be ids as well."""
_QUANTILE = re.compile(r"\d+(?:[.,]\d+)?\s*%")


def without_summaries(table: SourceTable) -> SourceTable:
    """A table without the rows at its end that are blank or called as a summary is: Mean, Total, 25%."""
    row = table.size
    labels = dict[int, str]()
    while row > max(LEAST_ROWS, table.size - LAST_ROWS):
        name, cell = _first_cell(table, row - 1)
        if name and not (_is_summary(cell) and _stands_once(table.columns[name], cell)):
            break
        row -= 1
        if name:
            labels[row] = str(cell).strip()
    if all(_words(label) <= WEAK for label in labels.values()):
        return table
    rows = [row for row in range(table.size) if row < min(labels)]
    places = "; ".join(f"{table.place(place)} ({label})" for place, label in sorted(labels.items()))
    size = len(rows)
    table.columns = {name: _head(column, size) for name, column in table.columns.items()}
    table.size = size
    number = "1 row sums" if len(labels) == 1 else f"{len(labels)} rows sum"
    are = "is" if len(labels) == 1 else "are"
    table.warnings.append(f"{number} up the table and {are} excluded: {places}")
    return table


def _first_cell(table: SourceTable, row: int) -> tuple[str, Any]:
    """The first cell of a row that is not blank, and its column; “” where all are blank."""
    for name, column in table.columns.items():
        cell = column.cell(row)
        if not is_blank(cell):
            return name, cell
    return "", None


def _is_summary(cell: Any) -> bool:
    """Whether a cell is called as a summary is."""
    if _QUANTILE.fullmatch(str(cell).strip()):
        return True
    words = _words(cell)
    return number_of(cell) is None and bool(words) and words <= word_set("summaries") | WEAK


def _words(cell: Any) -> set[str]:
    return {word for word in tokens(str(cell)) if not word.isdigit()}


def _stands_once(column: SourceColumn, cell: Any) -> bool:
    """Whether no other row of a column holds a cell: a criterion called so comes again."""
    if column.long:
        return True
    codes, values = column.coded
    return int(np.isin(codes, [code for code, value in enumerate(values) if value == cell]).sum()) == 1


def _head(column: SourceColumn, size: int) -> SourceColumn:
    return SourceColumn(column.name, column.cells[:size], column.ordered)
