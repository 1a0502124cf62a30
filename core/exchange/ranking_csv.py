"""Read another benchmark's ranking from a CSV file: one model a line, with its score or rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.errors import ImportRefused
from core.exchange.cells import figure_in, records_of, together
from core.reports.rank_stability import Other
from core.table import unmarked

MODEL = ("model", "player")
"""Names of the column of models; `player` is that of a leaderboard's own CSV."""
VALUES: tuple[Literal["score", "rank"], ...] = ("score", "rank")
"""The columns with a value; the first that is there is read."""
LARGEST = 1_000_000
"""Bytes: room for twenty thousand models."""
LONGEST = 200


def read(data: bytes, name: str) -> Other:
    """Read a file; `name` is its name in error messages. Commas, semicolons or tabs separate the columns.

    Raises ImportRefused naming every line that is wrong (a model twice, no number), or what the file lacks.
    """
    if len(data) > LARGEST:
        raise ImportRefused(f"{name} is larger than {LARGEST:,} bytes. Keep the columns model and score.")
    head = data.split(b"\n", 1)[0]
    delimiter = max(",;\t", key=lambda sign: head.count(sign.encode()))
    found = records_of(data, name, delimiter)
    number, header = next(found, (1, []))
    if not header:
        raise ImportRefused(
            f"{name} is empty. Its first line must name the columns: model, and score or rank."
        )
    columns = [unmarked(cell.strip()).lower() for cell in header]
    model = _column(f"{name}, line {number}", columns, MODEL, "model")
    value = _column(f"{name}, line {number}", columns, VALUES, "score (or rank)")
    by: Literal["score", "rank"] = "score" if columns[value] == "score" else "rank"
    models: dict[str, float] = {}
    lines: dict[str, int] = {}
    wrong: list[str] = []
    for number, cells in found:
        try:
            who, figure = _line(f"{name}, line {number}", cells, len(columns), model, value, by)
        except ImportRefused as error:
            wrong.append(str(error))
            continue
        if who in models:
            wrong.append(
                f"{name}, line {number}: “{who}” stands in line {lines[who]} already. Keep one of the two."
            )
            continue
        models[who], lines[who] = figure, number
    if wrong:
        raise together(name, wrong)
    if not models:
        raise ImportRefused(f"{name} holds no models, only the names of columns.")
    return Other(name, by, models)


def _column(where: str, columns: Sequence[str], names: Sequence[str], called: str) -> int:
    for name in names:
        if columns.count(name) > 1:
            raise ImportRefused(f"{where}: two columns are called {name}. Rename one of them.")
        if name in columns:
            return columns.index(name)
    raise ImportRefused(
        f"{where}: the column {called} is missing. The first line must name model, and score or rank; it "
        f"names {', '.join(name for name in columns if name)[:LONGEST]}."
    )


def _line(where: str, cells: Sequence[str], width: int, model: int, value: int, by: str) -> tuple[str, float]:
    if len(cells) != width:
        raise ImportRefused(
            f"{where}, has {len(cells)} cells; the first line names {width} columns. Put a name with commas "
            "in double quotes."
        )
    who, text = unmarked(cells[model]).strip(), cells[value].strip()
    if not who or not text:
        raise ImportRefused(f"{where}, has no {by if who else 'model'}. Fill it in, or remove the line.")
    if len(who) > LONGEST:
        raise ImportRefused(
            f"{where}: the model's name is {len(who)} characters long. Shorten it to {LONGEST}."
        )
    figure = figure_in(where, by, text, longest=LONGEST)
    if by == "rank" and figure < 1:
        raise ImportRefused(
            f"{where}: the rank {text} is below 1, which is the best. Correct it, or call the column score."
        )
    return who, figure
