"""The one menu of a page: its tables and reports as files."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import streamlit as st

from concord.files import file_name
from concord.table import Table, as_csv, as_latex

_PAGE = "what the menu holds"


class _Page(NamedTuple):
    """What a page has drawn since its last run, parts that are redrawn alone included."""

    tables: dict[str, Table]
    files: dict[str, tuple[Callable[[], str | bytes], str]]
    places: list[Any]


def begin() -> None:
    """Forget what the page before had."""
    st.session_state[_PAGE] = _Page({}, {}, [])


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


def offer(label: str, write: Callable[[], str | bytes], name: str, ending: str) -> None:
    """Offer a file, which is written when it is asked for."""
    _page().files[label] = write, f"{file_name(name)}.{ending}"


def draw() -> None:
    """Draw the menu; nothing where the page holds nothing to take away."""
    page = _page()
    if not (page.tables or page.files):
        return
    where: Any = page.places[0] if page.places else st
    look: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    with where.popover("Download", icon=":material/download:"):
        for label, (write, name) in page.files.items():
            st.download_button(label, write, name, **look)
        if tables := page.tables:  # filled further by what is redrawn alone
            st.download_button("Tables (CSV and LaTeX, ZIP)", lambda: _zipped(tables), "tables.zip", **look)


def _zipped(tables: dict[str, Table]) -> bytes:
    """Every table as CSV and as LaTeX."""
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for key, table in tables.items():
            archive.writestr(f"{file_name(key)}.csv", as_csv(table))
            archive.writestr(f"{file_name(key)}.tex", as_latex(table))
    return made.getvalue()
