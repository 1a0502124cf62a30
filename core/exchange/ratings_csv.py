"""Read ratings in long form, one a row, from CSV, Parquet, JSON or JSON Lines; write them as CSV."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from sqlite_utils import Database

from concord.configuration import Use
from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import by_column, each, figure_in, name_in, nfc, records, separator, yes
from concord.files import unmarked, write_csv
from concord.files.limits import NAME, WHOLE
from concord.rating import Rater, RaterKind
from concord.store import configurations, ratings

REQUIRED = ("item_id", "criterion", "rater_type", "rater", "score")
OF_ITEM = ("text", "model", "language")
OPTIONAL = ("turn", "repeat", "variant", "simulated", "explanation", "comment", "created", "study", *OF_ITEM)
_OF_RATER = ("rater_type", "rater", "variant", "simulated", "repeat")
_SAID = ("explanation", "comment", "created")
_FEW = ("criterion", *_OF_RATER, "turn")
"""Columns in which few different values stand: each combination of them is read and checked once."""
_NOTHING: Mapping[str, str] = {}
_Asked = tuple[str, Rater, int | None, int]
"""The criterion, who was asked, and about which turn in which repeat."""
WRITTEN = ("item_id", "turn", "criterion", *_OF_RATER, "score", *_SAID, "model", "language")


@dataclass(frozen=True, slots=True)
class RatingLine:
    """One rating, parsed. `number` is the line where its record begins, `cells` the optional columns."""

    number: int
    item: str
    criterion: str
    rater: Rater
    turn: int | None
    repeat: int
    score: float
    cells: Mapping[str, str]


@dataclass(frozen=True)
class RatingsFile:
    """A file that was read: well-formed lines, no rating twice. `extra` are the columns not known here."""

    file: str
    lines: Sequence[RatingLine]
    extra: tuple[str, ...]

    def where(self, line: RatingLine | int) -> str:
        """A place in the file, as error messages begin."""
        return f"{self.file}, line {line if isinstance(line, int) else line.number}"


def read(path: Path) -> RatingsFile:
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
    try:
        kind = rows.kind_of(path)
    except ImportRefused:  # says what the file lacks as ratings
        kind = "CSV"
    if kind == "CSV":
        yield from records(path, separator(path))
        return
    columns: list[str] = []
    for number, row in enumerate(rows.read(path), 2):
        if not columns:
            columns = list(row.whole)
            yield 1, columns
        if more := [name for name in row.whole if name not in columns]:
            raise ImportRefused(f"{row.where}, has a column {more[0]} that the first row has not.")
        yield number, ["" if (cell := row.whole.get(name)) is None else str(cell) for name in columns]


def read_records(numbered: Iterator[tuple[int, list[str]]], file: str) -> RatingsFile:
    """`read` of numbered records, the first of which names the columns; errors call them `file`."""
    lines: dict[int, RatingLine] = {}
    first, cells = next(numbered, (1, []))
    if not cells:
        raise ImportRefused(f"{file} is empty. Its first line must name the columns: {', '.join(REQUIRED)}.")
    header = _header(file, first, cells)
    few = itemgetter(*(at for at, name in enumerate(header) if name in _FEW))
    rest = [(at, name) for at, name in enumerate(header) if name not in ("", "item_id", "score", *_FEW)]
    item_at, score_at = header.index("item_id"), header.index("score")
    items: dict[str, tuple[int, str]] = {}
    asked: dict[tuple[str, ...], tuple[int, _Asked]] = {}
    numbers: dict[str | _Asked, int] = {}

    def add(where: str, number: int, cells: Sequence[str]) -> None:
        whole = len(cells) == len(header) and bool(cells[score_at].strip())
        if not whole or cells[item_at] not in items or few(cells) not in asked:
            row = by_column(where, header, cells, REQUIRED)
            item = name_in(where, "item_id", row["item_id"].strip())
            which = _asked(where, row)
            items[cells[item_at]] = numbers.setdefault(item, len(numbers)), item
            asked[few(cells)] = numbers.setdefault(which, len(numbers)), which
        (of_item, item), (of_asked, which) = items[cells[item_at]], asked[few(cells)]
        criterion, rater, turn, repeat = which
        key = of_item << 32 | of_asked
        if key in lines:
            hint = " Runs of one judge are told apart by a column “repeat”." if rater.kind == "judge" else ""
            raise ImportRefused(
                f"{where}: {rater.kind} “{rater.name}” rated “{item}” on "
                f"“{criterion}” in line {lines[key].number} already. Keep one of the two.{hint}"
            )
        texts = {name: unmarked(cells[at]) for at, name in rest if cells[at]} or _NOTHING
        for column in ("model", "language"):
            if column in texts:
                name_in(where, column, texts[column])
        if "model" in texts:
            texts = {**texts, "model": nfc(texts["model"])}
        figure = figure_in(where, "score", unmarked(cells[score_at]).strip(), longest=NAME)
        lines[key] = RatingLine(number, item, criterion, rater, turn, repeat, figure, texts)

    each(numbered, file, add, "; nothing was imported")
    if not lines:
        raise ImportRefused(f"{file} holds no ratings, only the names of columns.")
    extra = tuple(c for c in header if c and c not in (*REQUIRED, *OPTIONAL))
    return RatingsFile(file, tuple(lines.values()), extra)


def write(db: Database, out: TextIO, study: str = "", *, with_excluded: bool = False) -> int:
    """Write a study's ratings that count (or all ratings) as `read` takes them; returns how many."""
    columns = dict.fromkeys(
        [*WRITTEN, "configuration", *([] if study else ["study"]), *ratings.told_beside(db)]
    )
    by_id = configurations.every(db)

    def lines() -> Iterator[Sequence[Any]]:
        yield tuple(columns)
        for row in ratings.exported(db, study, with_excluded=with_excluded):
            if row["rater_type"] == "judge":
                reported = configurations.read(row["reported"] or "[]")
                row["configuration"] = str(Use(by_id.get(row["configuration_id"]), reported))
            row |= json.loads(row.pop("meta") or "{}")
            yield [row.get(column) for column in columns]

    return write_csv(out, lines()) - 1


def _header(path: str, number: int, cells: Sequence[str]) -> list[str]:
    names = [unmarked(cell.strip()) for cell in cells]
    names = [name.lower() if name.lower() in (*REQUIRED, *OPTIONAL) else name for name in names]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise ImportRefused(
            f"{path}, line {number}: the column {missing[0]} is missing. The first line must name "
            f"{', '.join(REQUIRED)}; it names {', '.join(name for name in names if name)}."
        )
    named = [name for name in names if name]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ImportRefused(f"{path}, line {number}: two columns are called {twice[0]}. Rename one of them.")
    return names


def _asked(where: str, row: Mapping[str, str]) -> _Asked:
    """What a line says in the columns _FEW. Raises ImportRefused."""
    kind, variant = row["rater_type"].strip(), row.get("variant", "").strip()
    criterion, name = row["criterion"].strip(), row["rater"].strip()
    names = {"criterion": criterion, "rater": name, "variant": variant, "rater_type": kind}
    for column, text in names.items():
        name_in(where, column, text)
    if kind.lower() not in ("human", "judge"):
        raise ImportRefused(f"{where}: rater_type is “{kind}”; it must be human or judge.")
    which: RaterKind = "human" if kind.lower() == "human" else "judge"
    # A variant is the version of a judge's prompt; a person is one rater under every variant.
    version = nfc(variant) if which == "judge" else ""
    rater = Rater(nfc(name), which, version, yes(row.get("simulated", "")))
    repeat = _whole(where, "repeat", row.get("repeat", ""), 0) or 0
    return nfc(criterion), rater, _whole(where, "turn", row.get("turn", ""), 1), repeat


def _whole(where: str, column: str, text: str, least: int) -> int | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    # pandas writes a column with gaps as 1.0, 2.0, …
    if not math.isfinite(number) or number != int(number) or not least <= number < WHOLE:
        raise ImportRefused(
            f"{where}: the {column} “{text}” is not a whole number from {least}. Correct it, or "
            "leave it empty."
        )
    return int(number)
