"""Read another benchmark's ranking from a CSV file: one model a line, with its score or rank."""

from collections.abc import Sequence
from typing import Literal, TypeVar

from concord.errors import ImportRefused
from concord.exchange.cells import by_column, each, figure_in, nfc, records_of
from concord.files import unmarked
from concord.reports.rank_stability import Other

MODEL = ("model", "player")
"""Names of the column of models; `player` is that of a leaderboard's own CSV."""
VALUES: tuple[Literal["score", "rank"], ...] = ("score", "rank")
"""The columns with a value; the first that is there is read."""
LARGEST = 1_000_000
"""Bytes: room for twenty thousand models."""
LONGEST = 200
T = TypeVar("T", bound=str)


def read(data: bytes, name: str) -> Other:
    """Read a file; `name` is its name in error messages. Commas, semicolons or tabs separate the columns.

    Raises ImportRefused naming every line that is wrong (a model twice, no number), or what the file lacks.
    """
    if len(data) > LARGEST:
        raise ImportRefused(f"{name} is larger than {LARGEST:,} bytes. Keep the columns model and score.")
    head = data.split(b"\n", 1)[0]
    delimiter = max(",;\t", key=lambda sign: head.count(sign.encode()))
    numbered = records_of(data, name, delimiter)
    number, header = next(numbered, (1, []))
    if not header:
        raise ImportRefused(
            f"{name} is empty. Its first line must name the columns: model, and score or rank."
        )
    columns = [unmarked(cell.strip()).lower() for cell in header]
    model = _column(f"{name}, line {number}", columns, MODEL, "model")
    by = _column(f"{name}, line {number}", columns, VALUES, "score (or rank)")
    models: dict[str, float] = {}
    lines: dict[str, int] = {}

    def add(where: str, number: int, cells: Sequence[str]) -> None:
        row = by_column(where, columns, cells, (model, by))
        who, figure = _line(where, nfc(row[model].strip()), by, row[by].strip())
        if who in models:
            raise ImportRefused(f"{where}: “{who}” stands in line {lines[who]} already. Keep one of the two.")
        models[who], lines[who] = figure, number

    each(numbered, name, add)
    if not models:
        raise ImportRefused(f"{name} holds no models, only the names of columns.")
    return Other(name, by, models)


def _column(where: str, columns: Sequence[str], names: Sequence[T], called: str) -> T:
    for name in names:
        if columns.count(name) > 1:
            raise ImportRefused(f"{where}: two columns are called {name}. Rename one of them.")
        if name in columns:
            return name
    raise ImportRefused(
        f"{where}: the column {called} is missing. The first line must name model, and score or rank; it "
        f"names {', '.join(name for name in columns if name)[:LONGEST]}."
    )


def _line(where: str, who: str, by: str, text: str) -> tuple[str, float]:
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
