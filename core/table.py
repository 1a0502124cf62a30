"""Table: rows of figures with notes, and its renderers: terminal, CSV, LaTeX, Markdown and JSON."""

import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import dropwhile, takewhile
from textwrap import fill
from typing import Any, Literal, Self

from concord.estimate import Estimate
from concord.files import write_csv
from concord.files.plain import plain, plain_line

Cell = Estimate | str | int | float | bool | None
"""What a row holds: a figure, a plain value, or None for an empty cell. An undefined figure says why."""

UNDEFINED = "–"
SCHEMA = 1
"""The version of every JSON document that Concord writes."""


@dataclass(frozen=True)
class Column:
    """A column: its `name` in files, its `heading` for readers, and how its numbers are shown there.

    `interval`: “ends” shows 0.61 [0.55, 0.66], on pages with the interval in a column of its own; “cell”
    keeps it in the cell there too, for wide tables; “none” shows the value alone. `percent` shows a share as
    %. `n` shows how many items a figure rests on. `help` is one sentence for readers, from the glossary. CSV
    and JSON are unrounded; a column that is `file_only` stands nowhere else.
    """

    name: str
    heading: str = ""
    digits: int = 2
    interval: Literal["none", "ends", "cell"] = "none"
    percent: bool = False
    signed: bool = False
    n: bool = False
    file_only: bool = False
    least: float = 0.0
    """A number between 0 and this is shown as “< this”: a p-value is never 0."""
    help: str = ""
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What readers see in place of a code; files have the code."""
    folded: str = ""
    """A code whose rows readers need least: pages and reports fold them away."""

    @property
    def title(self) -> str:
        """The heading; made of the name where none is given."""
        return self.heading or self.name.replace("_", " ")


class Note(str):
    """A sentence below a table that is made of `parts`: a page may say once what several tables share."""

    parts: tuple[str, ...]

    def __new__(cls, text: str, parts: Iterable[str]) -> Self:
        """The whole sentence, and its parts."""
        note = super().__new__(cls, text)
        note.parts = tuple(filter(None, parts))
        return note

    def besides(self, shown: Collection[str]) -> str:
        """The parts that are not among those `shown`; empty where all are."""
        return " · ".join(part for part in self.parts if part not in shown)


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
        """Why figures are undefined or have no interval, each reason once: “row; row, column; …: reason”.

        A column whose figures all have the reason is named without its rows.
        """
        found: dict[str, dict[str, list[str]]] = {}
        whole: dict[str, list[str]] = {}
        for column in self.shown:
            why = {figure.reason for figure in self.estimates(column.name)}
            if len(why) == 1 and (reason := why.pop()) and len(self.rows) > 1:
                found.setdefault(reason, {})
                whole.setdefault(reason, []).append(column.title)
        for row in self.rows:
            label = self.label(row)
            for column in self.shown:
                cell = row.get(column.name)
                if isinstance(cell, Estimate) and cell.reason:
                    titles = found.setdefault(cell.reason, {}).setdefault(label, [])
                    known = (*titles, *whole.get(cell.reason, ()))
                    titles += [] if column.title in known else [column.title]
        return [
            f"{'; '.join([*_titled(of), *whole.get(reason, ())])}: {reason}" for reason, of in found.items()
        ]

    def divided(self) -> tuple[Self, Self]:
        """The rows that readers need, and those that a column folds away; the latter's title says so."""
        codes = {column.name: column for column in self.columns if column.folded}
        folded = [row for row in self.rows if any(row.get(name) == c.folded for name, c in codes.items())]
        words = " or ".join(column.words.get(column.folded, column.folded) for column in codes.values())
        title = f"{len(folded)} {'row' if len(folded) == 1 else 'rows'}: {words}"
        first = tuple(row for row in self.rows if row not in folded)
        return replace(self, rows=first), replace(self, title=title, rows=tuple(folded), caption="", notes=())

    def label(self, row: Mapping[str, Cell]) -> str:
        """What names a row: its first texts, or its first cell where no column is text."""
        texts = dropwhile(lambda c: not is_text(self, c), self.shown)
        names = list(takewhile(lambda c: is_text(self, c), texts)) or self.shown[:1]
        return ", ".join(filter(None, (shown(row.get(c.name), c) for c in names)))

    def _repr_markdown_(self) -> str:
        """The table in a notebook."""
        return as_markdown(self)

    def estimates(self, name: str) -> list[Estimate]:
        """The figures of one column, row by row; cells that are none are excluded."""
        return [cell for row in self.rows if isinstance(cell := row.get(name), Estimate)]

    def defined(self, name: str) -> list[tuple[Mapping[str, Cell], Estimate]]:
        """The rows whose figure of one column has a value, with it."""
        cells = ((row, row.get(name)) for row in self.rows)
        return [(row, cell) for row, cell in cells if isinstance(cell, Estimate) and cell.defined]


def _titled(of: Mapping[str, Sequence[str]]) -> list[str]:
    """Rows and the columns of each, rows of the same columns together."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for label, titles in of.items():
        if titles:
            rows.setdefault(tuple(titles), []).append(label)
    return [", ".join(["; ".join(labels), *titles]) for titles, labels in rows.items()]


def record(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, as the cells of a row; fields without a column are not shown."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


def shown(cell: Cell, column: Column) -> str:
    """A cell as a reader sees it: rounded, “–” where it is undefined, nothing where there is nothing."""
    if isinstance(cell, Estimate):
        if cell.value is None:
            return UNDEFINED
        text = " ".join(filter(None, [_number(cell.value, column) + cell.mark, ends(cell, column)]))
        return f"{text} (n {cell.n:,})" if column.n and cell.n is not None else text
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return _number(cell, column)
    return f"{cell:,}" if isinstance(cell, int) else column.words.get(cell, cell)


def ends(figure: Estimate, column: Column) -> str:
    """The interval as the column shows it, “[0.55, 0.66]”; empty without one."""
    if column.interval == "none" or figure.interval is None:
        return ""
    return f"[{_number(figure.interval[0], column)}, {_number(figure.interval[1], column)}]"


def _number(value: float, column: Column) -> str:
    if 0 <= value < column.least:
        return f"< {column.least:.{column.digits}f}"
    sign = "+z" if column.signed else "z"  # z: what rounds to 0 has no minus
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
    parts_of_column = {column.name: _parts(table, column) for column in table.columns}
    heading: list[Any] = []
    for name, parts in parts_of_column.items():
        heading.append(name)
        heading += [f"{name}_{part}" for part in parts]
    lines = [heading]
    for row in table.rows:
        line: list[Any] = []
        for name, parts in parts_of_column.items():
            line += _cells(row.get(name), parts)
        lines.append(line)
    return _lines(lines)


def as_figures_csv(tables: Sequence[Table]) -> str:
    """Several tables as one CSV file, a figure a line, after its table's name and the texts of its row."""
    text_names: dict[str, None] = {}
    for table in tables:
        for column in table.columns:
            if is_text(table, column):
                text_names[column.name] = None
    texts = list(text_names)
    parts = ("low", "high", "n", "reason")
    lines: list[list[Any]] = [["table", *texts, "figure", "value", *parts]]
    for table in tables:
        figures = [column for column in table.columns if not is_text(table, column)]
        for row in table.rows:
            texts_of_row = [str(row.get(name) or "") for name in texts]
            for column in figures:
                if row.get(column.name) is not None:
                    cells = _cells(row[column.name], parts)
                    lines.append([table.name, *texts_of_row, column.name, *cells])
    return _lines(lines)


def _parts(table: Table, column: Column) -> list[str]:
    figures = table.estimates(column.name)
    parts: list[str] = []
    if any(figure.interval for figure in figures):
        parts += ["low", "high"]
    if column.n:
        parts.append("n")
    if any(figure.reason for figure in figures):
        parts.append("reason")
    return parts


def _cells(cell: Cell, parts: Sequence[str]) -> list[Any]:
    """The value of a cell and parts of a figure, as a CSV file has them."""
    value = cell.value if isinstance(cell, Estimate) else cell
    text = str(value).lower() if isinstance(value, bool) else value
    return [text, *(getattr(cell, part, None) if isinstance(cell, Estimate) else None for part in parts)]


def _lines(lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    write_csv(out, lines)
    return out.getvalue()


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
    """Text as Markdown shows it letter for letter, on one line. Colons are escaped in :emoji: alone."""
    return re.sub(r"([\\`*_\[\]<>#|$~]|:(?=[\w+-]+:))", r"\\\1", plain_line(text))


def as_latex(table: Table) -> str:
    """A table for booktabs, with its caption and label; notes follow as comments."""
    import pandas as pd  # which tables on a terminal do without

    cells = [[latex_text(shown(row.get(c.name), c)) for c in table.shown] for row in table.rows]
    written = pd.DataFrame(cells, columns=[latex_text(c.title) for c in table.shown]).to_latex(
        index=False,
        escape=False,
        column_format="".join("l" if is_text(table, c) else "r" for c in table.shown),
        caption=latex_text(f"{table.title}. {table.caption}".strip()),
        label=f"tab:{re.sub(r'[^a-z0-9-]+', '-', table.name.lower())}",
    )
    notes = (f"% {plain_line(note)}\n" for note in [*table.notes, *table.reasons()])
    return "".join([written, *notes])


_SYMBOLS = {
    **{"±": "pm", "≤": "leq", "≥": "geq", "Δ": "Delta"},
    **{"α": "alpha", "ε": "varepsilon", "κ": "kappa", "ρ": "rho", "τ": "tau", "ω": "omega"},
}
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "−": "$-$",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{character: rf"$\{name}$" for character, name in _SYMBOLS.items()},
    }
)


def latex_text(text: str) -> str:
    """Text as LaTeX takes it, on one line."""
    return plain_line(text).translate(_LATEX)


def width_of(text: str) -> int:
    """The places that a text takes on a terminal; rich is loaded when a first table is drawn."""
    from rich.cells import cell_len

    return cell_len(text)


def as_text(table: Table, width: int = 0) -> str:
    """Plain lines of aligned columns, for terminals and log files: title, rows, notes. Nothing is markup.

    Within a terminal of `width` columns (0: any) headings take several lines and names are cut in the middle.
    Notes are wrapped.
    """
    left = [is_text(table, c) for c in table.shown]
    heading = [plain_line(c.title) for c in table.shown]
    rows = [[plain_line(shown(row.get(c.name), c)) for c in table.shown] for row in table.rows]
    body = _aligned(heading, rows, left) if heading else []
    if width and max(map(width_of, body), default=0) > width:
        body = _narrow(heading, rows, left, width)
    notes = [*table.notes, *table.reasons()]
    if width:
        notes = [fill(plain_line(note), width, subsequent_indent="  ") for note in notes]
    return plain("\n".join([table.title, "", *body, *([""] if notes else []), *notes]) + "\n")


def _aligned(
    heading: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool], wrap: int = 0
) -> list[str]:
    """Lines of a table, a rule below the heading. Headings longer than `wrap` are broken between words."""
    columns = list(zip(*rows, strict=True)) or [()] * len(heading)
    above = [[text] for text in heading]
    if wrap:
        least = [
            max(wrap, *map(width_of, (*cells, *text.split())))
            for cells, text in zip(columns, heading, strict=True)
        ]
        above = [fill(text, size).split("\n") for size, text in zip(least, heading, strict=True)]
    deep = max(map(len, above))
    top = [[""] * (deep - len(lines)) + lines for lines in above]
    cells = [*zip(*top, strict=True), *rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            _padded(cell, width, to_left=to_left)
            for cell, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    ]
    return [*lines[:deep], "─" * max(map(width_of, lines)), *lines[deep:]]


SHORTEST = 14
"""Characters that a name keeps where a table is too wide for its terminal."""


def _narrow(
    heading: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool], width: int
) -> list[str]:
    """A table with headings of several lines, and names cut as far as needed and as they stay distinct."""
    cut = [[*row] for row in rows]
    for wrap in (16, 12, 8, 4):
        lines = _aligned(heading, cut, left, wrap)
        if max(map(width_of, lines)) <= width:
            return lines
    for column, names in enumerate(zip(*rows, strict=True)):
        over = max(map(width_of, lines)) - width
        longest = max(map(width_of, names))
        shorter = [_cut(name, max(SHORTEST, longest - over)) for name in names]
        if over > 0 and left[column] and len({*shorter}) == len({*names}):
            for row, name in zip(cut, shorter, strict=True):
                row[column] = name
            lines = _aligned(heading, cut, left, wrap)
    return lines


def _cut(text: str, length: int) -> str:
    """A text without its middle, if it takes more places on a terminal."""
    if width_of(text) <= length:
        return text
    first = (length - 1) * 2 // 3
    from rich.cells import set_cell_size

    start = set_cell_size(text, first).rstrip()
    ends = (text[place:] for place in range(len(text)))
    return start + "…" + next(end for end in ends if width_of(end) < length - first)


def _padded(text: str, width: int, *, to_left: bool) -> str:
    """A text with spaces up to a width, in places of a terminal: a Chinese character takes two."""
    spaces = " " * (width - width_of(text))
    return text + spaces if to_left else spaces + text


def is_text(table: Table, column: Column) -> bool:
    """Whether a column holds text alone."""
    cells = [row.get(column.name) for row in table.rows]
    return all(cell is None or isinstance(cell, str) for cell in cells)


RENDERERS = {"table": as_text, "csv": as_csv, "latex": as_latex, "markdown": as_markdown}
"""The text formats by the name that `--format` takes; JSON is `as_values` through the json module."""

FORMS = (*RENDERERS, "json")


def as_document(tables: Sequence[Table], form: str, *, width: int = 0) -> str:
    """Tables as one text in one of FORMS, plain text for a terminal of `width` columns (0: any).

    JSON holds them by name; CSV of several is a figure a line.
    """
    if form == "json":
        values = {"schema": SCHEMA, "tables": {table.name: as_values(table) for table in tables}}
        return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    if form == "csv" and len(tables) > 1:
        return as_figures_csv(tables)
    if form == "table":
        return "\n".join(as_text(table, width) for table in tables)
    return "\n".join(RENDERERS[form](table) for table in tables)
