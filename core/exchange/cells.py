"""Read CSV files: records with the number of their first line, numbers, and lists of what is wrong."""

import csv
import json
import math
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import IO, AnyStr

from concord.errors import ImportRefused
from concord.files import unmarked
from concord.files.limits import COLUMNS, FILE_BYTES, NAME, RECORD
from concord.scores import LARGEST

# The default limit is 128 KiB; a dialogue in one cell may be longer.
csv.field_size_limit(RECORD)
UTF_8 = "utf-8-sig"
"""The encoding of a file that says no other; a mark at its beginning is no text."""
MOST_NAMED = 10
"""So many wrong lines are named one by one."""


def figure_in(location: str, column: str, text: str, *, longest: int | None = None) -> float:
    """A cell's number. Raises ImportRefused, quoting at most `longest` characters of the cell."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        point = text.replace(",", ".", 1)
        hint = f"Write {point} with a point." if point != text else "Correct it, or remove the line."
        raise ImportRefused(f"{location}: the {column} “{text[:longest]}” is not a number. {hint}")
    if abs(number) > LARGEST:
        raise ImportRefused(f"{location}: the {column} “{text[:longest]}” exceeds ±{LARGEST:g}. Correct it.")
    return number


def records(
    path: Path, sign: str = ",", encoding: str = UTF_8, lines: int = 0, most_columns: int = COLUMNS
) -> Iterator[tuple[int, list[str]]]:
    """The records of a file of text that are not blank, each with the number of its first line; `lines` are
    skipped before them.

    Raises ImportRefused for a file that is missing, badly quoted, wider than `most_columns`, or in another
    encoding.
    """
    first = lines + 1
    try:
        with path.open(encoding=encoding, newline="") as file:
            for _ in range(lines):
                file.readline()
            reader = csv.reader(lines_of(file, str(path), RECORD), delimiter=sign, strict=True)
            for cells in reader:
                if len(cells) > most_columns:
                    raise ImportRefused(
                        f"{path}, line {first}, has {len(cells):,} cells; a file may have "
                        f"{most_columns:,} columns. "
                        "Should they be rows?"
                    )
                if any(cells):
                    yield first, cells
                first = lines + reader.line_num + 1
    except csv.Error as error:
        raise ImportRefused(
            f"{path}: the record that begins in line {first} is not valid CSV ({error}). Put cells with "
            "commas, quotes or line breaks in double quotes, and double the quotes inside them."
        ) from error
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeError as error:
        raise ImportRefused(not_utf_8(path)) from error


def not_utf_8(path: Path) -> str:
    """That a file is in another encoding, with the command that makes a copy in UTF-8, mostly from
    Windows.
    """
    copy = path.with_name(f"{path.stem}-utf8{path.suffix}")
    command = f"iconv -f WINDOWS-1252 -t UTF-8 {quote(str(path))} > {quote(str(copy))}"
    return f"{path} is not UTF-8. Save the file as UTF-8 (Excel: “CSV UTF-8”). Text of Windows: {command}"


def python_command(program: str, *values: object) -> str:
    """What to type to run a short program on values; paths are texts."""
    plain = [str(value) if isinstance(value, Path) else value for value in values]
    return f"python -c {quote(program.format(values=json.dumps(plain)))}"


def numbered_names(names: Sequence[str]) -> list[str]:
    """Names of columns, of which those that came before have a number: human, human 2."""
    unequal: list[str] = []
    numbers: dict[str, int] = {}  # of each name, the last number that was tried
    for name in names:
        number = numbers.get(name, 0) + 1 if name else 1
        while number > 1 and f"{name} {number}" in numbers:
            number += 1
        numbers[name] = number
        unequal.append(name if number == 1 else f"{name} {number}")
        numbers.setdefault(unequal[-1], 1)
    return unequal


def by_column(location: str, columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """A record's cells that are not empty, by column. Raises ImportRefused for too many or too few cells."""
    check_width(location, columns, cells)
    return {name: unmarked(cell) for name, cell in zip(columns, cells, strict=True) if cell and name}


def check_width(location: str, columns: Sequence[str], cells: Sequence[str]) -> None:
    """Raises ImportRefused for a record with more or fewer cells than there are columns."""
    if len(cells) != len(columns):
        raise ImportRefused(
            f"{location}, has {len(cells)} cells; the first line names {len(columns)} columns. Put a "
            "text with "
            "commas in double quotes."
        )


def refuse(wrong: Sequence[str], head: str = "", count: int = 0, last: Sequence[str] = ()) -> None:
    """Raise one ImportRefused with what is wrong, if anything is: of `count` (all unless given) the first.

    `head` stands before several, `last` after all.
    """
    count = count or len(wrong)
    remainder = [f"… and {count - MOST_NAMED:,} more."] if count > MOST_NAMED else []
    if wrong:
        raise ImportRefused(
            "\n  ".join([*([head] if head and count > 1 else []), *wrong[:MOST_NAMED], *remainder, *last])
        )


def lines_of(file: IO[AnyStr], name: str, longest: int) -> Iterator[AnyStr]:
    """The lines of a file called `name`. Raises ImportRefused for one that is longer than `longest`.

    Raises it also where the file is larger than FILE_BYTES.
    """
    number = size = 0
    while line := file.readline(longest + 1):
        number = number + 1
        size = size + len(line)
        if len(line) > longest:
            raise ImportRefused(f"{name}, line {number}, is longer than {longest:,} characters. Shorten it.")
        if size > FILE_BYTES:
            raise ImportRefused(f"{name} is larger than {FILE_BYTES:,} bytes. Split it.")
        yield line


def name_in(location: str, field: str, text: str) -> str:
    """A name as it is. Raises ImportRefused for one that is longer than NAME."""
    if len(text) > NAME:
        raise ImportRefused(
            f"{location}: the {field} is {len(text):,} characters long. Shorten it to {NAME}."
        )
    return text


def yes(cell: object) -> bool:
    """Whether a cell says yes: 1, true or yes, in any case."""
    return str(cell).strip().lower() in ("1", "1.0", "true", "yes")


def nfc(name: str) -> str:
    """A name of a rater, a player or a criterion in Unicode's composed form (NFC): equal names are one.

    Files of macOS and some spreadsheets hold “é” as two characters, which look like the one.
    """
    return unicodedata.normalize("NFC", name)
