"""Read a file whose columns are parted by a sign: any sign, title and comment lines, short and long rows."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

from concord.errors import ImportRefused
from concord.exchange.cells import UTF_8, numbered_names, python_command, records
from concord.files import extras, unmarked
from concord.files.limits import COLUMNS
from concord.messages import equal_names
from concord.reading.cells import number_of
from concord.reading.column import SourceColumn
from concord.reading.table import SourceTable, count_warning, numbered

SIGNS = ",;\t|"
"""What parts columns, the most usual first."""
RARE_SIGNS = "~^\x1f"
BY_ARROW = 2**20
"""A larger file is read by Arrow, unless it is irregular."""
HEAD = 2**17
HEAD_OF_ENCODING = 200
"""So many bytes tell whether a file is UTF-16."""
ID = "id"
LINES = 60
"""So many lines decide which sign parts columns."""
_SEP = re.compile(r"\ufeff?\"?sep=(.)\"?\s*", re.I)
_COMMENT = ("#", "//", "%")
OUTPUT = re.compile(r"\[[^\]]+\] .*", re.S)
"""A column of promptfoo's table."""


LONGEST_COMMAND = 300
"""Characters of names of columns that a sentence shows to be typed."""


@dataclass(frozen=True)
class Form:
    """How a file is laid out: the sign, its encoding, and how many lines stand before the names of
    columns.
    """

    sign: str
    encoding: str
    skipped: int
    notes: tuple[str, ...]
    header: tuple[str, ...]
    header_lines: int = 1


def form_of(path: Path) -> Form:
    """How a file is laid out. Raises ImportRefused for one that cannot be read, or is no text."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error
    encoding = encoding_of(head)
    text = head.decode(encoding, errors="ignore")
    if text.lstrip("\ufeff \r\n\t")[:14].lower().startswith(("<!doctype html", "<html")):
        raise ImportRefused(f"{path} is a page of HTML, not a table. Download the file itself, not its page.")
    lines = text.splitlines(keepends=True)
    if len(head) == HEAD and len(lines) > 1:
        lines = lines[:-1]
    sign = ""
    skipped = 0
    notes = list[str]()
    if lines and (declaration := _SEP.fullmatch(lines[0])):
        sign = declaration[1]
        skipped = 1
    rest = lines[skipped:]
    commented = 0
    while commented < len(rest) and (
        not rest[commented].strip() or rest[commented].lstrip().startswith(_COMMENT)
    ):
        commented += 1
    comments = rest[:commented]
    body = rest[commented:]
    sign = sign or _sign(body or rest)
    if comments and _is_header(comments[-1], body, sign):
        commented -= 1
        body = rest[commented:]
        comments = comments[:-1]
    if comment_lines := [line for line in comments if line.strip()]:
        notes.append(f"comment lines skipped: {len(comment_lines)}")
    records = _records_of(body[:LINES], sign)
    titles = _titles(records)
    if titles:
        notes.append(f"title lines skipped: {titles}")
    if sign not in ",;\t":
        notes.append(f"column separator: {_sign_name(sign)}")
    if encoding != UTF_8:
        notes.append("text encoding: UTF-16")
    header, several = header_of([cells for _, cells in records[titles:]])
    first = records[titles][0] if len(records) > titles else 0
    if several > 1:
        notes.append(f"names of columns: {several} lines joined")
    return Form(sign, encoding, skipped + commented + first, tuple(notes), header, several)


def encoding_of(head: bytes) -> str:
    """The encoding of a file by its first bytes: UTF-16, with its mark or with a zero in every second byte,
    else
    UTF-8.
    """
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    pairs = len(head[:HEAD_OF_ENCODING]) // 2
    for encoding, zeros in (("utf-16-le", head[1 : 2 * pairs : 2]), ("utf-16-be", head[: 2 * pairs : 2])):
        if pairs and zeros[:pairs].count(0) > pairs // 2:
            return encoding
    return UTF_8


def _sign_name(sign: str) -> str:
    """A sign as a message shows it."""
    if sign == " ":
        return "a space"
    return f"“{sign}”" if sign.isprintable() else repr(sign)


def _is_header(comment: str, body: Sequence[str], sign: str) -> bool:
    """Whether a comment line names the columns of the lines below it."""
    if not body or not comment.strip():
        return False
    names, cells = (next(csv.reader([line], delimiter=sign), []) for line in (comment, body[0]))
    numbers = any(number_of(cell) is not None for cell in cells)
    return (
        len(names) == len(cells) > 1
        and numbers
        and not any(number_of(name) is not None for name in names[1:])
    )


def _records_of(lines: Sequence[str], sign: str) -> list[tuple[int, list[str]]]:
    """Records that are not blank, each with the number of lines before it."""
    reader = csv.reader(lines, delimiter=sign)
    records = []
    before = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                records.append((before, cells))
            before = reader.line_num
    except csv.Error:
        pass
    return records


def _sign(lines: Sequence[str]) -> str:
    """The sign by which most lines have one width of two columns at least, beginning with the names of
    columns.
    """
    best: tuple[float, int, int, int] = (0.0, 0, 0, 0)
    best_sign = ","
    for sign in (*SIGNS, *RARE_SIGNS, " "):
        records = _records_of(lines[:LINES], sign)
        titles = _titles(records)
        widths = [len(cells) for _, cells in records[titles:]]
        if not widths or widths[0] < 2:
            continue
        fit = sum(1 < width <= widths[0] for width in widths) + 0.01 * sum(
            width == widths[0] for width in widths
        )
        share = round(fit / (1.01 * len(widths)), 1)
        has_names = not any(number_of(cell) is not None for cell in records[titles][1] if cell)
        rank = (share, -titles, int(has_names), widths[0])
        if sign == " " and (best[0] or share < 1):
            continue
        if rank > best:
            best = rank
            best_sign = sign
    return best_sign


def _titles(records: Sequence[tuple[int, Sequence[str]]]) -> int:
    """How many records stand before the names of columns: those of one cell, where others have more."""
    widths = [sum(bool(cell.strip()) for cell in cells) for _, cells in records]
    usual_width = max(Counter(widths[1:]).items(), key=lambda entry: (entry[1], entry[0]), default=(0, 0))[0]
    if usual_width < 2:
        return 0
    titles = 0
    while titles < len(widths) - 1 and widths[titles] == 1:
        titles += 1
    return titles if titles < len(widths) and widths[titles] >= 2 else 0


def header_of(records: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], int]:
    """The names of columns, and in how many lines they stand: pandas writes several levels in as many, and
    a sheet has one name over several columns.
    """
    if not records:
        return (), 1
    names = [unmarked(cell.strip()) for cell in records[0]]
    several = [name for name in names if name]
    if len(records) < 3:
        return tuple(names), 1
    second = [unmarked(cell.strip()) for cell in records[1]]
    if len(second) < len(names) or any(number_of(cell) is not None for cell in second if cell):
        return tuple(names), 1
    if len(set(several)) == len(several):
        if not _spans(names, second, records[2:]):
            return tuple(names), 1
        names = _spread(names, second)
    titles = [
        "_".join(part for part in (upper, lower) if part and not part.startswith("Unnamed"))
        for upper, lower in zip(names, second, strict=False)
    ]
    if len({*filter(None, titles)}) < len([*filter(None, titles)]):
        return tuple(unmarked(cell.strip()) for cell in records[0]), 1
    third = [cell.strip() for cell in records[2]]
    if any(third) and not any(third[1:]):  # the name of the index
        titles[0] = third[0] or titles[0]
        return tuple(titles), 3
    return tuple(titles), 2


def _spans(names: Sequence[str], second: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether names stand over several columns, which a second line names: its cells come in no row below,
    where numbers or words that come again stand.
    """
    spanned = [
        place
        for place, name in enumerate(names)
        if place and not name and second[place] and any(names[:place])
    ]
    if not spanned:
        return False
    answers = 0
    for place, name in enumerate(second):
        below = [cells[place].strip() for cells in body if place < len(cells) and cells[place].strip()]
        if name and name in below:
            return False
        answers += bool(below) and (
            all(number_of(cell) is not None for cell in below) or len({*below}) * 2 <= len(below)
        )
    return answers >= 2 and len({name.lower() for name in second if name}) > 1


def _spread(names: Sequence[str], second: Sequence[str]) -> list[str]:
    """The names over columns, each over those to its right that have none."""
    spread: list[str] = []
    for place, name in enumerate(names):
        left_name = spread[-1] if spread else ""
        spread.append(name or (left_name if place < len(second) and second[place] else ""))
    return spread


def read(path: Path) -> SourceTable | None:
    """The columns of a file; None for a table of promptfoo, which is read by rows.

    Raises ImportRefused for a file that is badly quoted, not UTF-8, or names two columns alike.
    """
    form = form_of(path)
    form = replace(form, header=without_copies(path, form))
    names = [*form.header]
    if not any(names):
        raise ImportRefused(f"{path} is empty. Its first line must name the columns.")
    if any(OUTPUT.fullmatch(name) for name in names):
        return None
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            line = form.skipped + 1
            if number_of(name) is not None:
                titles = quote(
                    f"1i {form.sign.join(f'column_{place}' for place in range(1, len(names) + 1))}"
                )
                copy = path.with_name(f"{path.stem}-named{path.suffix}")
                raise ImportRefused(
                    f"{path}, line {line}: two cells are {name}. The first line must name the columns, such "
                    f"as id, human, judge. Add one, then change its names: sed {titles} {quote(str(path))} > "
                    f"{quote(str(copy))}"
                )
            raise ImportRefused(equal_names(f"{path}, line {line}", name, renaming(path, form)))
    if path.stat().st_size > BY_ARROW and (table := _by_arrow(path, form)) is not None:
        return table
    return _by_lines(path, form)


def without_copies(path: Path, form: Form) -> tuple[str, ...]:
    """The names of columns without that of a copy: the first column is an index, which pandas writes beside
    its column, with the same name and the same cells in every row.
    """
    names = form.header
    place = names.index(names[0], 1) if names and names[0] and names[0] in names[1:] else 0
    if not place or any(cells[:1] != cells[place : place + 1] for _, cells in _numbered(path, form)):
        return names
    return (*names[:place], "", *names[place + 1 :])


def renaming(path: Path, form: Form) -> str:
    """What to type for a copy of a file in which equal names have numbers; “” where names stand in several
    lines.
    """
    if form.header_lines != 1:
        return ""
    line = io.StringIO()
    csv.writer(line, delimiter=form.sign, lineterminator="").writerow(numbered_names(form.header))
    header = re.sub(r"[/\\&]", r"\\\g<0>", line.getvalue())
    copy = path.with_name(f"{path.stem}-renamed{path.suffix}")
    if len(header) > LONGEST_COMMAND or "\n" in header:
        return python_command(_RENAMING, path, copy, form.encoding, form.sign, form.skipped)
    script = quote(f"{form.skipped + 1}s/.*/{header}/")
    if form.encoding == UTF_8:
        return f"sed {script} {quote(str(path))} > {quote(str(copy))}"
    source = f"iconv -f {form.encoding.upper()} -t UTF-8 {quote(str(path))}"
    return f"{source} | sed {script} > {quote(str(copy))}"


_RENAMING = (
    "import csv; path, copy, encoding, sign, line = {values}; csv.field_size_limit(2**30); "
    'rows = [*csv.reader(open(path, encoding=encoding, newline=""), delimiter=sign)]; names = rows[line]; '
    'rows[line] = [f"{{n}} {{names[:at].count(n) + 1}}" if n and n in names[:at] else n '
    "for at, n in enumerate(names)]; "
    'csv.writer(open(copy, "w", encoding="utf-8", newline=""), delimiter=sign).writerows(rows)'
)
"""A program that numbers equal names of columns in a copy of a file."""


def _by_lines(path: Path, form: Form) -> SourceTable:
    names = form.header
    width = len(names)
    broken = list[str]()
    lines = array("q")
    cells_of: list[list[Any]] = [[] for _ in names]
    for number, cells in _numbered(path, form):
        if len(cells) > width:
            if any(cell.strip() for cell in cells[width:]):
                broken.append(
                    f"line {number} has {len(cells)} cells; the first line names {width} columns. Put a text "
                    "with commas in double quotes."
                )
                continue
        elif len(cells) == 1 < width and cells[0].lstrip().startswith("#"):
            continue
        lines.append(number)
        for place, column in enumerate(cells_of):
            cell = cells[place] if place < len(cells) else ""
            if cell and cell[0] == "'":
                cell = unmarked(cell)
            column.append(cell or None)
    columns = {
        name: SourceColumn(name, cells)
        for name, cells in zip(_named_index(names, cells_of), cells_of, strict=True)
        if name
    }
    warnings = [count_warning("row cannot be read", "rows cannot be read", broken)] if broken else []
    return SourceTable(str(path), columns, len(lines), numbered("line", lines), [*form.notes], warnings)


def _named_index(names: Sequence[str], cells: Sequence[Sequence[Any]]) -> list[str]:
    """The names of columns; a first one without a name that holds different words is called id."""
    if not names or names[0] or ID in names or not cells[0]:
        return [*names]
    words = [cell for cell in cells[0] if cell is not None and number_of(cell) is None]
    different = len({*words}) == len(words) == len(cells[0])
    return [ID if different else "", *names[1:]]


def _numbered(path: Path, form: Form) -> Iterator[tuple[int, list[str]]]:
    """The records below the names of columns, each with the number of its first line."""
    numbered_records = records(path, form.sign, form.encoding, form.skipped, COLUMNS_READ)
    return islice(numbered_records, form.header_lines, None)


def named_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The names of columns, then the records below them, each with the number of its first line."""
    form = form_of(path)
    if any(form.header):
        yield form.skipped + 1, [*without_copies(path, form)]
    yield from _numbered(path, form)


COLUMNS_READ = 10 * COLUMNS
"""Columns of a table of labels: in some layouts every item is one."""


def _by_arrow(path: Path, form: Form) -> SourceTable | None:
    """The columns of a large regular file, read by Arrow; None where it is irregular, or without Arrow."""
    if not extras.installed("pyarrow"):
        return None
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if form.encoding != UTF_8 or form.header_lines > 1:
        return None
    names = [name or f" {place}" for place, name in enumerate(form.header)]
    try:
        table = arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(skip_rows=form.skipped + 1, column_names=names, use_threads=False),
            arrow_csv.ParseOptions(delimiter=form.sign, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=[""],
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        return None
    columns = {name: SourceColumn(name, table.column(name)) for name in names if not name.startswith(" ")}
    return SourceTable(str(path), columns, table.num_rows, form=[*form.notes])
