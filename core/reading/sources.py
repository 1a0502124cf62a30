"""A table from any source: a file, a frame, columns, rows, a pair of series or an array, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from concord.errors import ImportRefused
from concord.exchange import json_rows, parquet_rows, rows, spreadsheet
from concord.exchange.cells import numbered_names
from concord.exchange.file_row import FileRow
from concord.files import extras
from concord.messages import equal_names
from concord.reading import delimited, documents, records
from concord.reading.column import SourceColumn
from concord.reading.summaries import without_summaries
from concord.reading.table import FRAME, SourceTable, count_warning, of_records, place_function
from concord.reading.vocabulary import kinds_by_name

SHEETS = 12
"""Sheets of a workbook among which the one with labels is looked for."""
SHEET_HEAD = 12


def read(source: Any) -> SourceTable:
    """The columns of a source: a path (CSV and the like, Excel, Parquet, JSON, JSON Lines, an Inspect log), a
    frame of pandas, polars or Arrow, a mapping of columns, rows as mappings, two series (of people and of a
    judge), or a 2-D array with a row a rater or a row an item.

    Raises ImportRefused for what holds no row that can be read.
    """
    table = _file(Path(source)) if isinstance(source, str | Path) else _value(source)
    table = records.with_objects(without_summaries(table))
    if not table.size:
        broken = table.warnings[0].partition(": ")[2] if table.warnings else ""
        raise table.refusal(f"there is no readable row.{f' {broken}' if broken else ''}")
    return table


def _file(path: Path) -> SourceTable:
    kind = rows.kind_of(path)
    if kind == "CSV" and (table := delimited.read(path)) is not None:
        return table
    if kind == "Excel":
        return _workbook(path)
    if kind == "Parquet" and (table := _parquet(path)) is not None:
        return table
    if kind == "JSON":
        listed_rows, place, raters = documents.rows_of(json_rows.document(path))
        if listed_rows and not json_rows.lists_rows(json_rows.document(path), place):
            numbered = (FileRow(f"{path}, entry {n}", row) for n, row in enumerate(listed_rows, 1))
            table = _rows(numbered, str(path))
            table.stated_raters = raters
            if place:
                table.form.append(f"rows: the list {place}")
            return table
    return _rows(rows.read(path, kind), str(path))


def _rows(file_rows: Iterable[FileRow], name: str) -> SourceTable:
    """The columns of rows that may have objects inside."""
    flat, places, broken = records.flat(file_rows, name)
    warnings = [count_warning("row cannot be read", "rows cannot be read", broken)] if broken else []
    return of_records(name, flat, place_function(places), warnings=warnings)


def _parquet(path: Path) -> SourceTable | None:
    """The columns of a Parquet file; None where cells hold objects or lists."""
    extras.require("pyarrow", purpose=f"{path} is Parquet: reading it")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            schema = file.schema_arrow
            if any(pa.types.is_nested(field.type) for field in schema):
                return None
            parquet_rows.check_parquet(path, file)
            table = file.read(use_threads=False)
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise ImportRefused(
            f"{path} is not a complete Parquet file: {str(error).splitlines()[0][:200]}. Copy or create "
            "the file again."
        ) from error
    return _arrow(table, str(path))


def _arrow(table: Any, name: str) -> SourceTable:
    """The columns of an Arrow table; what is a dictionary is text, what pandas kept as index is a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {}
    for title, cells in zip(table.column_names, table.columns, strict=True):
        ordered: tuple[str, ...] = ()
        if pa.types.is_dictionary(cells.type):
            if cells.type.ordered and cells.num_chunks:
                ordered = tuple(map(str, cells.chunk(0).dictionary.to_pylist()))
            cells = pc.cast(cells, cells.type.value_type)
        if pa.types.is_null(cells.type):
            cells = pa.chunked_array([pa.nulls(len(cells), pa.string())])
        if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
            array = cells.to_numpy()
            columns[str(title)] = SourceColumn(str(title), array, ordered)
        else:
            columns[str(title)] = SourceColumn(str(title), cells, ordered)
    return SourceTable(name, columns, table.num_rows)


def _workbook(path: Path) -> SourceTable:
    """The first sheet of a workbook whose columns are people's and judges', else its first one."""
    names = spreadsheet.sheets(path)
    best = 0
    for number in range(min(len(names), SHEETS) if len(names) > 1 else 0):
        head = [cells for _, cells in islice(spreadsheet.lines(path, number), SHEET_HEAD)]
        header_texts, _ = delimited.header_of(
            [[_text(cell) for cell in cells] for cells in head[_titles(head) :]]
        )
        if {"human", "judge"} <= {*kinds_by_name(filter(None, header_texts)).values()}:
            best = number
            break
    lines = [
        (number, cells)
        for number, cells in spreadsheet.lines(path, best)
        if any(c is not None for c in cells)
    ]
    titles = _titles([cells for _, cells in lines])
    named_rows = [[_text(cell) for cell in cells] for _, cells in lines[titles : titles + delimited.LINES]]
    titled, levels = delimited.header_of(named_rows)
    titled = tuple(" ".join(name.split()) for name in titled)
    spreadsheet.refuse_equal(path, lines[titles][0] if lines else 1, titled, names[best])
    body = lines[titles + levels :]
    columns = {
        name: SourceColumn(name, [_cell(cells[place]) for _, cells in body])
        for place, name in enumerate(titled)
        if name
    }
    form = [f"sheet: {names[best]}, of {', '.join(names)}"] if len(names) > 1 else []
    form += [f"title lines skipped: {titles}"] if titles else []
    form += [f"names of columns: {levels} lines joined"] if levels > 1 else []
    return SourceTable(
        str(path), columns, len(body), place_function([f"row {number}" for number, _ in body]), form
    )


def _titles(lines: Sequence[Sequence[Any]]) -> int:
    """How many rows stand above the names of columns: those of one cell, where others have more."""
    widths = [sum(cell is not None for cell in cells) for cells in lines]
    titles = 0
    while titles < len(widths) - 1 and widths[titles] <= 1:
        titles += 1
    return titles if widths and widths[titles] >= 2 else 0


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _cell(cell: Any) -> Any:
    return cell if isinstance(cell, str | int | float | bool | None) else str(cell)


def _value(source: Any) -> SourceTable:
    """The columns of what a program holds."""
    if isinstance(source, Mapping):
        return _mapping(source)
    if isinstance(source, np.ndarray):
        return _array(source)
    if isinstance(source, tuple) and len(source) == 2 and all(_is_series(one) for one in source):
        return _pair(*source)
    if not hasattr(source, "iloc") and hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        return _arrow(pa.table(source), FRAME)
    if hasattr(source, "to_pandas") and not hasattr(source, "iloc"):
        source = source.to_pandas()
    if hasattr(source, "iloc"):
        return _frame(source)
    if not hasattr(source, "__iter__"):
        raise ImportRefused(
            f"{FRAME}: {type(source).__name__} is not a table. Give a path, a data frame or columns."
        )
    listed = [*source]
    if listed and not isinstance(listed[0], Mapping):
        return _array(np.array(listed, dtype=object))
    return _rows((FileRow(f"row {number}", dict(row)) for number, row in enumerate(listed, 1)), FRAME)


def _mapping(source: Mapping[str, Any]) -> SourceTable:
    """A mapping of columns; one of objects is read as a document is."""
    if source and all(isinstance(value, Mapping) for value in source.values()):
        object_rows, _, raters = documents.rows_of(source)
        table = _rows((FileRow(f"row {n}", row) for n, row in enumerate(object_rows, 1)), FRAME)
        table.stated_raters = raters
        return table
    lengths = {name: len(value) for name, value in source.items()}
    if len({*lengths.values()}) > 1:
        short = min(lengths, key=lambda name: lengths[name])
        long = max(lengths, key=lambda name: lengths[name])
        raise ImportRefused(
            f"{FRAME}: the column {short} has {lengths[short]:,} rows and {long} {lengths[long]:,}. "
            "Each column needs one cell per row; leave missing cells empty."
        )
    columns = {str(name): _column(str(name), value) for name, value in source.items()}
    return _exploded(SourceTable(FRAME, columns, next(iter(lengths.values()), 0)))


def _is_series(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping) and not _is_row(value)


def _is_row(value: Any) -> bool:
    return hasattr(value, "columns")


def _pair(people: Any, judge: Any) -> SourceTable:
    """Two series of answers to the same items: people's, then a judge's. Those of pandas meet by index."""
    names = [
        str(getattr(one, "name", None) or default_name)
        for one, default_name in ((people, "human"), (judge, "judge"))
    ]
    if names[0] == names[1]:
        names = ["human", "judge"]
    if hasattr(people, "index") and hasattr(judge, "index") and hasattr(people, "iloc"):
        import pandas as pd

        frame = pd.concat([people.rename(names[0]), judge.rename(names[1])], axis=1)
        table = _frame(frame)
    else:
        table = _mapping(dict(zip(names, (people, judge), strict=True)))
    table.pair = (names[0], names[1])
    return table


def _array(array: np.ndarray[Any, Any]) -> SourceTable:
    """A 2-D array: a row a rater, as the package krippendorff has it, or a row an item where there are
    more.
    """
    if array.ndim != 2:
        raise ImportRefused(
            f"{FRAME}: an array of {array.ndim} dimensions is not a table. Give an array with two, or two "
            "series: annotators' answers and a judge's."
        )
    by_rater = array.shape[0] <= array.shape[1]
    raters = array if by_rater else array.T
    columns = {str(n): _column(str(n), one) for n, one in enumerate(raters, 1)}
    table = SourceTable(FRAME, columns, raters.shape[1])
    table.form.append(f"form: a {'row' if by_rater else 'column'} a rater, numbered from 1")
    table.stated_raters = True
    return table


def _frame(frame: Any) -> SourceTable:
    """The columns of a frame of pandas; several levels of names are joined, an index that says something is
    id.
    """
    import pandas as pd

    titles = [
        "_".join(str(p) for p in name if str(p)) if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    twice = [name for name in titles if titles.count(name) > 1]
    if twice:
        command = f"frame.columns = {numbered_names(titles)}"
        short = len(command) <= delimited.LONGEST_COMMAND
        raise ImportRefused(equal_names(FRAME, twice[0], command if short else ""))
    columns = {}
    index = frame.index
    if isinstance(index, pd.MultiIndex):
        for level, name in enumerate(index.names):
            title = str(name) if name is not None else f"level_{level}"
            if title not in titles:
                columns[title] = _column(title, index.get_level_values(level))
    elif not isinstance(index, pd.RangeIndex) and not pd.api.types.is_numeric_dtype(index.dtype):
        title = str(index.name) if index.name is not None else "id"
        if title not in titles and index.is_unique:
            columns[title] = _column(title, index)
    elif index.name is not None and str(index.name) not in titles:
        columns[str(index.name)] = _column(str(index.name), index)
    for place, title in enumerate(titles):
        columns[title] = _column(title, frame.iloc[:, place])
    return _exploded(SourceTable(FRAME, columns, len(frame)))


def _column(title: str, values: Any) -> SourceColumn:
    """A column of a program's values, as numbers where they are such, else as they are."""
    if isinstance(values, list | tuple):
        return SourceColumn(title, [None if value is None or value != value else value for value in values])
    dtype = getattr(values, "dtype", None)
    if dtype is not None and hasattr(values, "to_list") and hasattr(dtype, "categories"):
        series = getattr(values, "array", values)
        ordered = tuple(map(str, dtype.categories)) if dtype.ordered else ()
        names = [*dtype.categories]
        return SourceColumn(
            title, [names[code] if code >= 0 else None for code in series.codes.tolist()], ordered
        )
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return SourceColumn(title, values)
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return SourceColumn(title, np.asarray(values))
    if hasattr(values, "isna"):
        missing = np.asarray(values.isna())
        if str(dtype).startswith(("Int", "UInt", "Float", "int", "float", "double")):
            return SourceColumn(title, values.to_numpy(dtype=np.float64, na_value=np.nan))
        listed = values.tolist()
        return SourceColumn(
            title,
            [None if is_missing else cell for cell, is_missing in zip(listed, missing.tolist(), strict=True)],
        )
    listed = values.to_pylist() if hasattr(values, "to_pylist") else [*values]
    return SourceColumn(title, [None if cell is None or cell != cell else cell for cell in listed])


def _exploded(table: SourceTable) -> SourceTable:
    """A table whose cells with objects inside are columns of their own."""
    nested = False
    for column in table.columns.values():
        if isinstance(column.cells, list):
            first = next((cell for cell in column.cells if cell is not None), None)
            nested |= isinstance(first, Mapping | list)
    if not nested:
        return table
    lists = {name: table.cells(name) for name in table.columns}
    row_dicts = (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))
    return _rows((FileRow(f"row {n}", row) for n, row in enumerate(row_dicts, 1)), table.name)
