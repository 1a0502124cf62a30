"""Read ratings in long form, one a row, from CSV, Parquet, JSON or JSON Lines."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import get_args

from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import check_width, figure_in, name_in, nfc, refuse, yes
from concord.exchange.rating_table import NO_CELLS, RaterQuestion, RatingTable
from concord.files import unmarked
from concord.files.limits import NAME, WHOLE
from concord.rating import Rater, RaterKind
from concord.reading.delimited import named_records

REQUIRED = ("item_id", "criterion", "rater_type", "rater", "score")
OF_ITEM = ("model", "language")
_OF_RATING = ("turn", "repeat", "variant", "simulated", "explanation", "comment", "created", "study")
OPTIONAL = (*_OF_RATING, "text", *OF_ITEM)
_OF_RATER = ("rater_type", "rater", "variant", "simulated", "repeat")
_REPEATED_COLUMNS = ("criterion", *_OF_RATER, "turn")
"""Columns in which few different values stand: each combination of them is read and checked once."""
CACHE_SIZE = 10_000
"""So many different scores, and texts beside them, are kept to be read once each."""
BATCH = 200
"""So many records are read column by column; where one of them is wrong, one by one."""


class ColumnMissing(ImportRefused):
    """The file does not name a column that ratings in Concord's own form have."""


def read(path: Path) -> RatingTable:
    """Read a file. Raises ImportRefused naming every line that is wrong, or what the file lacks."""
    return read_records(_records(path), str(path))


def holds_ratings(path: Path) -> bool:
    """Whether a file names the columns of ratings, or has them in its first row."""
    try:
        _, names = next(_records(path), (1, []))
    except ImportRefused:
        return False
    return set(REQUIRED) <= {unmarked(name.strip()).lower() for name in names}


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The records of a file, the first of which names the columns; rows of one that is no CSV as those."""
    if rows.kind_of(path) == "CSV":
        yield from named_records(path)
        return
    columns: list[str] = []
    for number, row in enumerate(rows.read(path), 2):
        if not columns:
            columns = list(row.complete)
            yield 1, columns
        if new_columns := [name for name in row.complete if name not in columns]:
            raise ImportRefused(f"{row.location}, has a column {new_columns[0]} that the first row has not.")
        yield number, ["" if (cell := row.complete.get(name)) is None else str(cell) for name in columns]


def read_records(numbered: Iterator[tuple[int, list[str]]], file: str) -> RatingTable:
    """`read` of numbered records, the first of which names the columns; errors call them `file`."""
    number, names = next(numbered, (1, []))
    if not names:
        raise ImportRefused(f"{file} is empty. Its first line must name the columns: {', '.join(REQUIRED)}.")
    header = _header(file, number, names)
    lines = array("i")
    extra = tuple(c for c in header if c and c not in (*REQUIRED, *OPTIONAL))
    table = RatingTable(file, lines=lines, extra=extra)
    repeated_cells = itemgetter(
        *(position for position, name in enumerate(header) if name in _REPEATED_COLUMNS)
    )
    other_columns = ("", "item_id", "score", "text", *_REPEATED_COLUMNS)
    rest = [position for position, name in enumerate(header) if name not in other_columns]
    item_at = header.index("item_id")
    score_at = header.index("score")
    text_at = header.index("text") if "text" in header else -1
    items: dict[str, int] = {}
    questions: dict[RaterQuestion, int] = {}

    # Most cells come again. What they are refused for begins where the place of the record ends.
    @cache
    def item_of(cell: str) -> int:
        return items.setdefault(name_in("", "item_id", _required_text("item_id", cell)), len(items))

    @cache
    def asked_of(cells: tuple[str, ...]) -> int:
        row = {name: unmarked(cell) for name, cell in zip(repeated_cells(header), cells, strict=True)}
        return questions.setdefault(_rater_question(row), len(questions))

    @lru_cache(CACHE_SIZE)
    def score_of(cell: str) -> float:
        return figure_in("", "score", _required_text("score", cell), longest=NAME)

    @lru_cache(CACHE_SIZE)
    def details_of(cells: tuple[str, ...]) -> Mapping[str, str]:
        texts = {header[position]: unmarked(cell) for position, cell in zip(rest, cells, strict=True) if cell}
        names = {column: texts[column] for column in OF_ITEM if column in texts}
        return texts | {column: nfc(name_in("", column, name)) for column, name in names.items()} or NO_CELLS

    wrong: list[tuple[int, str]] = []

    def add(numbers: Sequence[int], records: Sequence[Sequence[str]]) -> None:
        """Add records of these lines; where one cannot be read, none, and raise ImportRefused."""
        if {*map(len, records)} != {len(header)}:
            for cells in records:
                check_width("", header, cells)
        columns = [*zip(*records, strict=True)]
        item = [*map(item_of, columns[item_at])]
        question = [*map(asked_of, zip(*repeated_cells(columns), strict=True))]
        scores = [*map(score_of, columns[score_at])]
        texts = map(details_of, zip(*(columns[position] for position in rest), strict=True) if rest else ())
        table.cells.extend([*texts] or [NO_CELLS] * len(records))
        table.item.extend(item)
        table.question.extend(question)
        table.scores.extend(scores)
        lines.extend(numbers)
        for place, text in enumerate(columns[text_at] if text_at >= 0 else ()):
            if not text:
                continue
            earlier_line = table.texts.add(item[place], unmarked(text), numbers[place])
            if earlier_line is not None:
                message = differs("text", columns[item_at][place].strip(), earlier_line)
                wrong.append((numbers[place], f"{file}, line {numbers[place]}: {message}"))

    while batch := [*islice(numbered, BATCH)]:
        numbers, records = zip(*batch, strict=True)
        try:
            add(numbers, records)
        except ImportRefused:
            for number, cells in batch:
                try:
                    add([number], [cells])
                except ImportRefused as error:
                    wrong.append((number, f"{file}, line {number}{error}"))
    table.items = [*items]
    table.questions = [*questions]
    for duplicate, first in table.twice():
        criterion, rater, *_ = table.questions[table.question[duplicate]]
        hint = " To import several runs of one judge, add a column “repeat”." if rater.kind == "judge" else ""
        message = (
            f"{table.location(duplicate)}: {rater.kind} “{rater.name}” rated "
            f"“{table.items[table.item[duplicate]]}” on "
            f"“{criterion}” in line {lines[first]} already. Keep one.{hint}"
        )
        wrong.append((lines[duplicate], message))
    heading = f"{file}: {len(wrong):,} lines are invalid; nothing was imported."
    refuse([message for _, message in sorted(wrong)], heading)
    if not len(table):
        raise ImportRefused(f"{file} holds no ratings, only the names of columns.")
    return table


def _required_text(column: str, cell: str) -> str:
    if not (text := unmarked(cell).strip()):
        raise ImportRefused(f", has no {column}. Fill it in, or remove the line.")
    return text


def differs(column: str, item: str, line: int | str) -> str:
    """What is wrong where lines of an item say different things about it."""
    return f"the {column} of “{item}” differs from line {line}. Make them equal, or give it once."


def _header(path: str, number: int, cells: Sequence[str]) -> list[str]:
    names = [unmarked(cell.strip()) for cell in cells]
    names = [name.lower() if name.lower() in (*REQUIRED, *OPTIONAL) else name for name in names]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ColumnMissing(
            f"{path}, line {number}: the column {missing[0]} is missing. The first line must name "
            f"{', '.join(REQUIRED)}; it names {', '.join(name for name in names if name)}."
        )
    column_names = [name for name in names if name]
    if twice := [name for name in column_names if column_names.count(name) > 1]:
        raise ImportRefused(f"{path}, line {number}: two columns are called {twice[0]}. Rename one of them.")
    return names


def _rater_question(row: Mapping[str, str]) -> RaterQuestion:
    """What a line says in the columns _FEW. Raises ImportRefused."""
    criterion, *_ = (_required_text(column, row[column]) for column in ("criterion", "rater_type", "rater"))
    rater, repeat = rater_in("", row)
    turn = _whole_number("", "turn", row.get("turn", ""), 1)
    return RaterQuestion(nfc(name_in("", "criterion", criterion)), rater, turn, repeat)


def rater_in(location: str, row: Mapping[str, str]) -> tuple[Rater, int]:
    """Who rated, and in which repeat, of a row with the columns _OF_RATER. Raises ImportRefused."""
    kind, name, variant = (row.get(column, "").strip() for column in ("rater_type", "rater", "variant"))
    for column, text in (("rater", name), ("variant", variant), ("rater_type", kind)):
        name_in(location, column, text)
    rater_kind: RaterKind | None = next(
        (known_kind for known_kind in get_args(RaterKind) if known_kind == kind.lower()), None
    )
    if rater_kind is None:
        raise ImportRefused(f"{location}: rater_type is “{kind}”; it must be human, judge or gold.")
    # A variant is the version of a judge's prompt; a person is one rater under every variant.
    version = nfc(variant) if rater_kind == "judge" else ""
    rater = Rater(nfc(name), rater_kind, version, yes(row.get("simulated", "")))
    return rater, _whole_number(location, "repeat", row.get("repeat", ""), 0) or 0


def _whole_number(location: str, column: str, text: str, lowest: int) -> int | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # pandas writes a column with gaps as 1.0, 2.0, …
    if not math.isfinite(number) or number != int(number) or not lowest <= number < WHOLE:
        raise ImportRefused(
            f"{location}: the {column} “{text}” is not a whole number from {lowest}. Correct it, or "
            "leave it empty."
        )
    return int(number)
