"""Table: rows of figures with notes, and its renderers: terminal, CSV, LaTeX, Markdown and JSON."""

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import dropwhile, takewhile
from typing import Any, Literal

from core.estimate import Estimate
from core.files import write_csv
from core.files.plain import plain, plain_line

Cell = Estimate | str | int | float | bool | None
"""What a row holds: a figure, a plain value, or None for an empty cell. An undefined figure says why."""

UNDEFINED = "–"
SCHEMA = 1
"""The version of every JSON document that Concord writes."""


@dataclass(frozen=True)
class Column:
    """A column: its `name` in files, its `heading` for readers, and how its numbers are shown there.

    `interval`: “ends” shows 0.61 [0.55, 0.66], “half” shows 0.61 ± 0.05, “none” the value alone. `percent`
    shows a share as %. `n` shows how many items a figure rests on. `help` is one sentence for readers, from
    the glossary. CSV and JSON are unrounded; a column that is `file_only` stands nowhere else.
    """

    name: str
    heading: str = ""
    digits: int = 2
    interval: Literal["none", "ends", "half"] = "none"
    percent: bool = False
    signed: bool = False
    n: bool = False
    file_only: bool = False
    link: bool = False
    """Whether its cells are addresses; pages show them as links."""
    help: str = ""

    @property
    def title(self) -> str:
        """The heading; made of the name where none is given."""
        return self.heading or self.name.replace("_", " ")


@dataclass(frozen=True)
class Table:
    """A table of figures. `name` names files, `caption` says what it means, `notes` are sentences below it.

    Each row maps names of columns to cells; a column that a row lacks is empty there. There may be no rows.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Cell], ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    """What the figures rest on, as plain values for JSON: options, raters, seeds."""

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns that readers see."""
        return tuple(column for column in self.columns if not column.file_only)

    def reasons(self) -> list[str]:
        """Why figures are undefined or have no interval, each reason once: “row, column; …: reason”."""
        found: dict[str, dict[str, list[str]]] = {}
        for row in self.rows:
            label = self._label(row)
            for column in self.shown:
                cell = row.get(column.name)
                if isinstance(cell, Estimate) and cell.reason:
                    titles = found.setdefault(cell.reason, {}).setdefault(label, [])
                    titles += [] if column.title in titles else [column.title]
        return [
            "; ".join(", ".join([label, *titles]) for label, titles in of.items()) + f": {reason}"
            for reason, of in found.items()
        ]

    def _label(self, row: Mapping[str, Cell]) -> str:
        """What names a row: its first texts, or its first cell where no column is text."""
        texts = dropwhile(lambda c: not is_text(self, c), self.shown)
        names = list(takewhile(lambda c: is_text(self, c), texts)) or self.shown[:1]
        return ", ".join(filter(None, (shown(row.get(c.name), c) for c in names)))

    def estimates(self, name: str) -> list[Estimate]:
        """The figures of one column, row by row; cells that are none are left out."""
        return [cell for row in self.rows if isinstance(cell := row.get(name), Estimate)]


def record(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, as the cells of a row; fields without a column are not shown."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


def shown(cell: Cell, column: Column) -> str:
    """A cell as a reader sees it: rounded, “–” where it is undefined, nothing where there is nothing."""
    if isinstance(cell, Estimate):
        if cell.value is None:
            return UNDEFINED
        text = _number(cell.value, column)
        between = " ± " if column.interval == "half" else " "
        text = between.join(filter(None, [text, ends(cell, column)]))
        return f"{text} (n {cell.n:,})" if column.n and cell.n is not None else text
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return _number(cell, column)
    return f"{cell:,}" if isinstance(cell, int) else cell


def ends(figure: Estimate, column: Column) -> str:
    """The interval as the column shows it, “[0.55, 0.66]” or “0.05” for half its width; empty without one."""
    if column.interval == "none" or figure.interval is None or figure.half_width is None:
        return ""
    if column.interval == "half":
        return _number(figure.half_width, column).lstrip("+")
    return f"[{_number(figure.interval[0], column)}, {_number(figure.interval[1], column)}]"


def _number(value: float, column: Column) -> str:
    sign = "+" if column.signed else ""
    form = f".{max(column.digits - 2, 0)}%" if column.percent else f".{column.digits}f"
    return f"{value:{sign}{form}}"


def as_values(table: Table) -> dict[str, Any]:
    """Everything as plain values, ready for JSON; a figure as `Estimate.as_json` gives it."""
    return {
        "schema": SCHEMA,
        "table": table.name,
        "title": table.title,
        **table.meta,
        "rows": [
            {column.name: _plain(row[column.name]) for column in table.columns if column.name in row}
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _plain(cell: Cell) -> Any:
    return cell.as_json() if isinstance(cell, Estimate) else cell


def as_csv(table: Table) -> str:
    """One line a row, unrounded. A figure fills columns: name, name_low, name_high, name_n, name_reason.

    The ends and the reason have columns only where some row has them, n only where its column shows it.
    """
    wide = [(column, _parts(table, column)) for column in table.columns]
    lines: list[list[str | int | float]] = [
        [name for column, parts in wide for name in (column.name, *(f"{column.name}_{p}" for p in parts))]
    ]
    lines += [
        [cell for column, parts in wide for cell in _cells(row.get(column.name), parts)] for row in table.rows
    ]
    return _lines(lines)


def as_figures_csv(tables: Sequence[Table]) -> str:
    """Several tables as one CSV file, a figure a line, after its table's name and the texts of its row."""
    texts = list(dict.fromkeys(c.name for t in tables for c in t.columns if is_text(t, c)))
    parts = ("low", "high", "n", "reason")
    lines: list[list[Any]] = [["table", *texts, "figure", "value", *parts]]
    for table in tables:
        figures = [column for column in table.columns if not is_text(table, column)]
        for row in table.rows:
            about = [str(row.get(name) or "") for name in texts]
            lines += [
                [table.name, *about, column.name, *_cells(row[column.name], parts)]
                for column in figures
                if row.get(column.name) is not None
            ]
    return _lines(lines)


def _parts(table: Table, column: Column) -> list[str]:
    figures = table.estimates(column.name)
    ends, why = any(f.interval for f in figures), any(f.reason for f in figures)
    return [*(("low", "high") if ends else ()), *(("n",) if column.n else ()), *(("reason",) if why else ())]


def _cells(cell: Cell, parts: Sequence[str]) -> list[str | int | float]:
    figure = cell if isinstance(cell, Estimate) else None
    values: list[Cell] = [figure.value if figure else cell, *(getattr(figure, part, None) for part in parts)]
    return [_cell(value) for value in values]


def _lines(lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    write_csv(out, lines)
    return out.getvalue()


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value  # type: ignore[return-value]


def as_markdown(table: Table) -> str:
    """A pipe table with its title, caption and notes; names and models' words are escaped."""
    lines = [f"### {markdown_text(table.title)}", ""]
    if table.caption:
        lines += [markdown_text(table.caption), ""]
    lines.append("| " + " | ".join(markdown_text(c.title) for c in table.shown) + " |")
    lines.append("|" + "|".join(":--" if is_text(table, c) else "--:" for c in table.shown) + "|")
    lines += [
        "| " + " | ".join(markdown_text(shown(row.get(c.name), c)) for c in table.shown) + " |"
        for row in table.rows
    ]
    notes = [*table.notes, *table.reasons()]
    return "\n".join([*lines, "", *(f"- {markdown_text(note)}" for note in notes), *([""] if notes else [])])


def markdown_text(text: str) -> str:
    """Text as Markdown shows it letter for letter, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~:])", r"\\\1", plain_line(text))


def as_latex(table: Table) -> str:
    """A table for booktabs, with its caption and label; notes follow as comments."""
    alignment = "".join("l" if is_text(table, column) else "r" for column in table.shown)
    caption = latex_text(f"{table.title}. {table.caption}".strip())
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{re.sub(r'[^a-z0-9-]+', '-', table.name.lower())}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _latex_line(column.title for column in table.shown),
        r"\midrule",
        *(_latex_line(shown(row.get(c.name), c) for c in table.shown) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    notes = [*table.notes, *table.reasons()]
    return "\n".join([*lines, *(f"% {plain_line(note)}" for note in notes)]) + "\n"


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    """Text as LaTeX takes it."""
    return "".join(_LATEX.get(character, character) for character in plain_line(text))


def as_text(table: Table) -> str:
    """Plain lines of aligned columns, for terminals and log files: title, rows, notes. Nothing is markup."""
    cells = [
        [c.title for c in table.shown],
        *([shown(row.get(c.name), c) for c in table.shown] for row in table.rows),
    ]
    cells = [[plain_line(cell) for cell in line] for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [is_text(table, c) for c in table.shown]
    lines = [
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    ]
    heading, *body = lines
    rule = "─" * max(map(len, lines))
    notes = [*table.notes, *table.reasons()]
    return plain("\n".join([table.title, "", heading, rule, *body, *([""] if notes else []), *notes]) + "\n")


def is_text(table: Table, column: Column) -> bool:
    """Whether a column holds text alone."""
    cells = [row.get(column.name) for row in table.rows]
    return all(cell is None or isinstance(cell, str) for cell in cells)


RENDERERS = {"table": as_text, "csv": as_csv, "latex": as_latex, "markdown": as_markdown}
"""The text formats by the name that `--format` takes; JSON is `as_values` through the json module."""

FORMS = (*RENDERERS, "json")


def as_document(tables: Sequence[Table], form: str) -> str:
    """Tables as one text in one of FORMS. JSON holds them by name; CSV of several is a figure a line."""
    if form == "json":
        values = {"schema": SCHEMA, "tables": {table.name: as_values(table) for table in tables}}
        return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    if form == "csv" and len(tables) > 1:
        return as_figures_csv(tables)
    return "\n".join(RENDERERS[form](table) for table in tables)
