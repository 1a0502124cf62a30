"""Draws a Table on a page: rows that can be sorted and chosen, what it means, and its files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pandas as pd
import streamlit as st

from concord.estimate import Estimate
from concord.table import UNDEFINED, Cell, Column, Note, Table, ends, is_text, shown
from pages.parts import menu
from pages.parts.plain import plain, with_code
from pages.parts.session import on_telephone

FOLDED = 250
"""Characters of notes that stand below a table; longer notes are folded away."""
NAME = 15
TEXT = 48
"""Characters of a row's name, and of other texts, that fit without a width."""
SAMPLED = 10
"""Rows by which the grid finds the width of a column that has none."""
CHARACTER = 7.5
WIDEST = 420
"""Pixels of a character, and at most of a column: a wider one would hide the columns after it."""
ROW = 35
"""Pixels of a row."""
FEW_COLUMNS = 6
WIDER = 630
"""In a table of so few columns a column may be wider."""
BRIEF = (150, 130, 240)
"""On a telephone: pixels, at most, of the two columns that name a row of figures, and of another text."""


def draw(
    table: Table,
    *,
    key: str = "",
    select: Callable[[Mapping[str, Cell]], object] | None = None,
    selectable: bool = False,
    titled: bool = True,
    known_notes: Collection[str] = (),
    max_height: int | None = None,
) -> Mapping[str, Cell] | None:
    """Draw a table: title, caption, rows and notes; the page's menu offers it as CSV and LaTeX.

    Figures stay numbers, so that a column is sorted by value; an interval has a column of its own. `key`
    tells two tables of one name on a page apart. A table that says nothing but one reason is that sentence.
    `select` is called with the row that the reader chooses; a `selectable` table returns that row. Without
    rows its notes say why. A table that is not `titled` stands below a heading that says the same. Parts of
    notes that the page has `known_notes` are omitted here; files have the whole notes. A longer table
    scrolls within `max_height` pixels.
    """
    key = key or table.name
    menu.keep(key, table)
    if titled:
        st.markdown(f"##### {plain(table.title)}")
    if table.caption:
        st.caption(plain(table.caption))
    cells = [cell for row in table.rows for cell in row.values()]
    figures = [cell for cell in cells if isinstance(cell, Estimate)]
    reasons = {figure.reason for figure in figures}
    has_figures = any(figure.defined for figure in figures) or any(
        isinstance(c, int | float) and c for c in cells
    )
    if figures and len(reasons) == 1 and not has_figures:
        st.caption("  \n".join(map(plain, (*_notes(table, known_notes), f"Undefined: {reasons.pop()}."))))
        return None
    first, folded = table.divided()
    empty = not first.rows and bool(table.notes or folded.rows)
    grid: Any = None if empty else _rows(first, key, select, selectable, max_height)
    if folded.rows:
        with st.expander(plain(folded.title), icon=":material/table_rows:"):
            _rows(folded, f"{key} folded", None, False, max_height)
    _below(table, known_notes)
    if not selectable or grid is None:
        return None
    row_number = next(iter(grid["selection"]["rows"]), None)
    return first.rows[row_number] if row_number is not None and row_number < len(first.rows) else None


def fold(heading: str, tables: Sequence[Table], key: str, draw_one: Callable[[Table], object] = draw) -> None:
    """Tables behind a heading, drawn once that is opened: a browser draws grids that nobody sees, too.

    The page's menu offers them before.
    """
    for table in tables:
        menu.keep(table.name, table)
    section = st.expander(heading, icon=":material/table:", key=key, on_change="rerun")
    if section.open:
        with section:
            for table in tables:
                draw_one(table)


def _rows(
    table: Table,
    key: str,
    select: Callable[[Mapping[str, Cell]], object] | None,
    selectable: bool,
    max_height: int | None,
) -> Any:
    """The table as a grid."""
    options: dict[str, Any] = {}
    if selectable:
        options = {"on_select": "rerun", "selection_mode": "single-row"}
    elif select is not None:

        def row_selected() -> None:
            rows = st.session_state[key]["selection"]["rows"]
            if rows:
                select(table.rows[rows[0]])

        options = {"on_select": row_selected, "selection_mode": "single-row"}
    if on_telephone():
        table = _figures_first(table)
    return st.dataframe(
        _frame(table),
        key=key,
        hide_index=True,
        height=max_height if max_height and len(table.rows) * ROW > max_height else "content",
        placeholder=UNDEFINED,
        alt=table.title,
        column_config=_columns(table),
        **options,
    )


def _figures_first(table: Table) -> Table:
    """The table with its figures right after the names of its rows: the first that a telephone shows."""
    rank = table.shown[:1] if len(table.shown) > 1 and not is_text(table, table.shown[0]) else ()
    texts = takewhile(lambda column: is_text(table, column), table.shown[len(rank) : len(rank) + 2])
    names = (*rank, *texts)
    figures = [column for column in table.shown if column not in names and table.estimates(column.name)]
    remainder = [column for column in table.columns if column not in names and column not in figures]
    return replace(table, columns=(*names, *figures, *remainder))


def _notes(table: Table, known_notes: Collection[str]) -> list[str]:
    """The notes without what the page has said."""
    notes = (note.besides(known_notes) if isinstance(note, Note) else note for note in table.notes)
    return [note for note in notes if note]


def _below(table: Table, known_notes: Collection[str]) -> None:
    """The notes, and why figures are undefined: folded away where they are long."""
    reasons = "\n".join(f"- {plain(reason)}" for reason in table.reasons())
    for heading, icon, texts in (
        ("How this was measured", ":material/straighten:", [*map(with_code, _notes(table, known_notes))]),
        ("Why figures are undefined or lack an interval", ":material/help:", [reasons] if reasons else []),
    ):
        place = st.expander(heading, icon=icon) if sum(map(len, texts)) > FOLDED else st.container()
        for text in texts:
            place.caption(text)


def _frame(table: Table) -> pd.DataFrame:
    """Values by column name; a column with intervals is followed by one of their text."""
    data: dict[str, list[Any]] = {}
    for column in table.shown:
        cells = [row.get(column.name) for row in table.rows]
        alone = replace(column, n=column.n and _heading(table, column) == column.title)
        is_text_column = _is_written(table, column)
        data[column.name] = [shown(cell, alone) if is_text_column else _value(cell, column) for cell in cells]
        if _has_interval(table, column):
            data[_interval_name(column)] = [
                ends(cell, column) if isinstance(cell, Estimate) else "" for cell in cells
            ]
    return pd.DataFrame(data, columns=list(data))


def _is_written(table: Table, column: Column) -> bool:
    """Whether cells are drawn as text: bounds, values with their interval or a mark, and yes or no, as a
    check box looks as if one could choose.
    """
    cells = [row.get(column.name) for row in table.rows]
    answers = any(isinstance(c, bool) for c in cells) and all(isinstance(c, bool | None) for c in cells)
    return bool(column.least) or answers or _has_marks(table, column) or column.interval == "cell"


def _has_marks(table: Table, column: Column) -> bool:
    """Whether a mark, such as a star, stands behind a figure of a column."""
    return any(figure.mark for figure in table.estimates(column.name))


def _value(cell: Cell, column: Column) -> Any:
    value = cell.value if isinstance(cell, Estimate) else cell
    if isinstance(value, str):
        return column.words.get(value, value)
    if not isinstance(value, float):
        return value
    # What rounds to 0 has no minus.
    value = 0.0 if round(value, column.digits) == 0 else value
    return value * 100 if column.percent else value


def _columns(table: Table) -> dict[str, Any]:
    """How Streamlit shows each column: its heading, its help, and the rounding of its numbers."""
    configurations: dict[str, Any] = {}
    # The names stay in sight while a narrow window is scrolled to the other columns, with a rank before them.
    name_column = next((place for place, c in enumerate(table.shown[:2]) if is_text(table, c)), -1)
    pinned_columns = set(table.shown[: name_column + 1] if len(table.shown) > 3 else ())
    widest = WIDER if len(table.shown) <= FEW_COLUMNS else WIDEST
    telephone = on_telephone()
    has_figures = any(map(table.estimates, (column.name for column in table.shown)))
    for column in table.shown:
        label = _heading(table, column)
        text = column.help or None
        if _is_written(table, column) or is_text(table, column):
            lengths = [len(shown(row.get(column.name), column)) for row in table.rows]
            longest = max(lengths, default=0)
            # The grid makes room for the heading and for what the first rows hold.
            fitting = max([len(label), *lengths[:SAMPLED]])
            fitting = min(fitting, NAME if column is table.shown[0] else TEXT)
            width = int(min((longest + 2) * CHARACTER, widest)) if longest > fitting else None
            if telephone:
                room = BRIEF[min(table.shown.index(column), 2)] if has_figures else BRIEF[2]
                width = int(min((max(longest, len(label)) + 2) * CHARACTER, room))
            configurations[column.name] = st.column_config.TextColumn(
                label,
                help=text,
                pinned=column in pinned_columns or None,
                width=width,
                alignment="right" if column.interval == "cell" or _has_marks(table, column) else None,
            )
        else:
            configurations[column.name] = st.column_config.NumberColumn(
                label, help=text, format=_format(table, column), pinned=column in pinned_columns or None
            )
        if _has_interval(table, column):
            configurations[_interval_name(column)] = st.column_config.TextColumn("95% interval")
    return configurations


def _heading(table: Table, column: Column) -> str:
    """The title, with n where every figure of the column rests on as many items."""
    counts = {figure.n for figure in table.estimates(column.name)} if column.n else set()
    return f"{column.title} (n {counts.pop():,})" if len(counts) == 1 and None not in counts else column.title


def _format(table: Table, column: Column) -> str:
    sign = "+" if column.signed else ""
    if column.percent:
        return f"%{sign}.{max(column.digits - 2, 0)}f%%"
    integers = all(isinstance(row.get(column.name), int | None) for row in table.rows)
    return "localized" if integers else f"%{sign}.{column.digits}f"


def _has_interval(table: Table, column: Column) -> bool:
    return column.interval == "ends" and any(figure.interval for figure in table.estimates(column.name))


def _interval_name(column: Column) -> str:
    return f"{column.name} interval"
