"""Read the first sheet of an Excel file with openpyxl, after its parts were measured: openpyxl has no limits.

A small file may unpack to gigabytes, name a cell in column 16,384 of each row, or repeat a sheet.
"""

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from concord.errors import ImportRefused
from concord.exchange.cells import numbered_names, python_command
from concord.files.limits import COLUMNS, RECORD, SHEET_BYTES, SHEET_CELLS
from concord.messages import equal_names

SHEET_ROWS = 2**20
"""Rows of a sheet in Excel; a number beyond it makes openpyxl fill the gap."""
CELLS_OF_ROW = 2**14
"""Cells of a row in Excel, with those that have a style and no value."""
ELEMENTS = 4 * SHEET_CELLS
"""XML elements of all parts: a cell has one to three."""
FORMATS = 500_000
"""XML elements that are no part of a cell: styles, merged cells, links. openpyxl makes an object of each."""
PLACES = 10 * SHEET_CELLS
"""Rows times columns of a sheet: a single value far right and far down is read as so many empty cells."""
PASSES = 10 * ELEMENTS
"""Elements times sheets: openpyxl may read a sheet's part once for each sheet that names it."""
CHUNK = 2**16
_OF_CELLS = frozenset(("row", "c", "v", "f", "is", "t", "si"))
_COLUMN = re.compile(r"\$?([A-Za-z]{1,3})\$?[0-9]{1,7}")
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What openpyxl and zipfile raise for a file that is broken."""


@dataclass
class _Size:
    """What the parts of a file hold, as far as they were measured."""

    cells: int = 0
    strings: int = 0
    elements: int = 0
    formats: int = 0
    sheets: int = 0
    last: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By the name of a part the last row and the last column that have a value."""


def sheets(path: Path) -> list[str]:
    """The names of a file's sheets. Raises ImportRefused for a file that is broken, and without openpyxl."""
    openpyxl = _openpyxl(path)
    try:
        _measured_size(path)
        with closing(openpyxl.load_workbook(path, read_only=True, keep_links=False)) as book:
            return [sheet.title for sheet in book.worksheets]
    except _UNREADABLE as error:
        reason = str(error)[:200] or type(error).__name__
        raise ImportRefused(f"{path} cannot be read as a spreadsheet: {reason}.") from error


def _openpyxl(path: Path) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise ImportRefused(
            f"{path} is a spreadsheet: install Concord with its extra “excel”, or save the sheet as CSV."
        ) from None
    # One for each date out of range, and for what of a sheet is not read.
    warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
    return openpyxl


def lines(path: Path, sheet: int = 0) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows of a sheet, the first one unless told, each with its number; of a formula the value that was
    stored with it.

    All have the width of the widest row. Memory grows with the distinct texts, not with the number of rows.
    Raises ImportRefused for a file that is broken or exceeds a limit, and without openpyxl.
    """
    openpyxl = _openpyxl(path)
    characters = 0
    try:
        size = _measured_size(path)
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            worksheet = book.worksheets[sheet]
            # How large the sheet says it is is not believed: some writers state one cell.
            worksheet.reset_dimensions()
            last_row, last_column = size.last.get(worksheet._worksheet_path, (1, 1))
            rows = worksheet.iter_rows(max_row=last_row, max_col=last_column, values_only=True)
            for number, cells in enumerate(rows, 1):
                if (of_row := sum(len(cell) for cell in cells if isinstance(cell, str))) > RECORD:
                    raise _refusal(path, f"row {number} is longer than {RECORD:,} characters")
                characters += of_row
                if characters > SHEET_BYTES:
                    raise _refusal(path, f"its texts have more than {SHEET_BYTES:,} characters")
                yield number, cells
    except _UNREADABLE as error:
        reason = str(error)[:200] or type(error).__name__
        raise ImportRefused(f"{path} cannot be read as a spreadsheet: {reason}.") from error


def refuse_equal(path: Path, row: int, names: Sequence[str], sheet: str = "") -> None:
    """Raise ImportRefused for two columns of one name, with what to type for a copy in which they have
    numbers.

    `sheet` is the first one unless told.
    """
    unequal = numbered_names(names)
    renamed = [
        [place, new] for place, (name, new) in enumerate(zip(names, unequal, strict=True), 1) if new != name
    ]
    if renamed:
        copy = path.with_name(f"{path.stem}-renamed{path.suffix}")
        command = python_command(_RENAMING, path, copy, sheet, row, renamed)
        twice = next(name for name in names if name and names.count(name) > 1)
        raise ImportRefused(equal_names(f"{path}, row {row}", twice, command))


_RENAMING = (
    "import openpyxl; path, copy, name, row, new = {values}; book = openpyxl.load_workbook(path); "
    "sheet = book[name] if name else book.worksheets[0]; "
    "[sheet.cell(row, place, text) for place, text in new]; book.save(copy)"
)
"""A program that names cells of a row anew in a copy of a workbook."""


def _refusal(path: Path, problem: str) -> ImportRefused:
    return ImportRefused(
        f"{path}: {problem}. Save the sheet as CSV without formats, or split it into several files."
    )


def _measured_size(path: Path) -> _Size:
    """Count the parts of a file without holding them. Raises ImportRefused where they exceed a limit."""
    size = _Size()
    with zipfile.ZipFile(path) as archive:
        if (unpacked := sum(part.file_size for part in archive.infolist())) > SHEET_BYTES:
            raise _refusal(path, f"it takes {unpacked:,} bytes unpacked; {SHEET_BYTES:,} are read")
        for part in archive.infolist():
            with archive.open(part) as file:
                last_row, last_column = _measure(path, file, size)
            if last_row * last_column > PLACES:
                raise _refusal(path, f"a sheet has {last_row:,} rows and {last_column:,} columns")
            if last_row:
                size.last[part.filename] = last_row, last_column
            if size.elements * size.sheets > PASSES:
                raise _refusal(path, f"it has {size.sheets:,} sheets and {size.elements:,} elements")
    return size


def _measure(path: Path, file: IO[bytes], size: _Size) -> tuple[int, int]:
    """Add what one part holds to `size`; returns its last row and its last column that have a value.

    A part that is no XML, such as an image, holds nothing.
    """
    row = column = of_row = last_row = last_column = 0

    def start_element(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, of_row, last_row, last_column
        name = name.rpartition(" ")[2]
        size.elements += 1
        if name == "c":
            size.cells += 1
            of_row += 1
            column = _column(attributes["r"]) if "r" in attributes else column + 1
            if size.cells > SHEET_CELLS:
                raise _refusal(path, f"it has more than {SHEET_CELLS:,} cells")
            if of_row > CELLS_OF_ROW:
                raise _refusal(path, f"row {row:,} has more than {CELLS_OF_ROW:,} cells")
        elif name in ("v", "is") and column:
            last_row = max(last_row, row)
            last_column = max(last_column, column)
            if column > COLUMNS:
                raise _refusal(path, f"row {row:,} has a value in column {column:,}; {COLUMNS:,} are read")
        elif name == "row":
            row = int(float(attributes["r"])) if "r" in attributes else row + 1
            column = of_row = 0
            if row > SHEET_ROWS:
                raise _refusal(path, f"it has a row {row:,}; Excel has {SHEET_ROWS:,}")
        elif name == "si":
            size.strings += 1
            if size.strings > SHEET_CELLS:
                raise _refusal(path, f"it has more than {SHEET_CELLS:,} texts")
        elif name not in _OF_CELLS:
            size.formats += 1
            size.sheets += name == "sheet"
            if size.formats > FORMATS:
                raise _refusal(path, f"it has more than {FORMATS:,} formats, links and merged cells")
        if size.elements > ELEMENTS:
            raise _refusal(path, f"it has more than {ELEMENTS:,} elements")

    def declared(*_: object) -> None:
        raise ValueError("it declares a document type, which no spreadsheet does")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start_element
    parser.StartDoctypeDeclHandler = declared
    try:
        while chunk := file.read(CHUNK):
            parser.Parse(chunk, False)
    except expat.ExpatError:
        pass  # openpyxl reads no further either
    return last_row, last_column


def _column(place: str) -> int:
    """The number of the column of a place such as B7. Raises ValueError."""
    if not (parts := _COLUMN.fullmatch(place)):
        raise ValueError(f"a cell is at “{place[:20]}”, which is no place in a sheet")
    number = 0
    for letter in parts[1].upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
