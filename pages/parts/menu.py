"""The one menu of a page: its tables, charts and reports as files, and how its rows are drawn."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import streamlit as st

from concord.files import file_name
from concord.table import Table, as_csv, as_latex
from pages.parts.theme import on_phone

CARDS = "rows as cards"
"""Where the session keeps whether rows are drawn as cards."""
_PAGE = "what the menu holds"
_figures = st.components.v2.component(
    "concord_figures",
    html="<details><summary>Charts as SVG</summary><p></p></details>",
    css="""
        details, button { color: var(--st-text-color); font: 0.875rem var(--st-font); }
        summary, button { cursor: pointer; }
        p { display: flex; flex-wrap: wrap; gap: 0.5rem; }
        button { padding: 0.25rem 0.75rem; background: none; text-align: left; }
        button { border: 1px solid var(--st-border-color); border-radius: 0.5rem; }
    """,
    js=(Path(__file__).resolve().parent / "figures.js").read_text(encoding="utf-8"),
)


class _Page(NamedTuple):
    """What a page has drawn since its last run, parts that are redrawn alone included."""

    tables: dict[str, Table]
    files: dict[str, tuple[Callable[[], str | bytes], str]]
    charts: list[str]
    places: list[Any]


def begin() -> None:
    """Forget what the page before had."""
    st.session_state[_PAGE] = _Page({}, {}, [], [])


def _page() -> _Page:
    if _PAGE not in st.session_state:
        begin()
    page: _Page = st.session_state[_PAGE]
    return page


def place() -> None:
    """Say where the menu stands; else it stands below the page."""
    _page().places.append(st.container(width="content"))


def keep(key: str, table: Table) -> None:
    """Offer a table that the page draws; `key` tells two of one name apart."""
    _page().tables[key] = table


def keep_chart(description: str) -> None:
    """Offer a chart that the page draws."""
    _page().charts.append(description)


def offer(label: str, write: Callable[[], str | bytes], name: str, ending: str) -> None:
    """Offer a file, which is written when it is asked for."""
    _page().files[label] = write, f"{file_name(name)}.{ending}"


def as_cards() -> bool:
    """Whether rows are drawn as cards: as the reader chose, at first on phones."""
    return bool(st.session_state.setdefault(CARDS, on_phone()))


def draw() -> None:
    """Draw the menu; nothing where the page holds nothing to take away."""
    page = _page()
    if not (page.tables or page.files or page.charts):
        return
    where: Any = page.places[0] if page.places else st
    look: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    with where.popover("Download", icon=":material/download:"):
        for label, (write, name) in page.files.items():
            st.download_button(label, write, name, **look)
        if tables := page.tables:  # filled further by what is redrawn alone
            st.download_button("Tables (CSV and LaTeX, ZIP)", lambda: _zipped(tables), "tables.zip", **look)
            as_cards()
            st.toggle("Rows as cards", key=CARDS)
        if page.charts:
            _figures(key="charts as svg")


def _zipped(tables: dict[str, Table]) -> bytes:
    """Every table as CSV and as LaTeX."""
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for key, table in tables.items():
            archive.writestr(f"{file_name(key)}.csv", as_csv(table))
            archive.writestr(f"{file_name(key)}.tex", as_latex(table))
    return made.getvalue()
