"""Links from one page to another, with what it shows in the address."""

from __future__ import annotations

import streamlit as st

from pages.parts.navigation import SECTIONS, PageFile
from pages.parts.plain import plain


def page_at(address: str) -> PageFile | None:
    """The page with this address, or None."""
    return next((page for pages in SECTIONS.values() for page in pages if page.address == address), None)


def link(address: str, label: str, *, icon: str | None = None, **shown: str | list[str]) -> None:
    """A link to the page with this address; plain words where there is no such page."""
    page = page_at(address)
    if page is None:
        st.markdown(plain(label))
    else:
        st.page_link(page.path, label=plain(label), icon=icon or page.icon, query_params=shown)


def go(address: str, **shown: str | list[str]) -> None:
    """Leave for the page with this address."""
    page = page_at(address)
    if page is not None:
        st.switch_page(page.path, query_params=shown)
