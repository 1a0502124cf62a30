"""A page within the navigation, as tests open it and press its buttons."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages]
st.navigation([
    st.Page(page.path, title=page.title, url_path=page.address or "start", default=page.file == {file!r})
    for page in listed
]).run()
"""
"""app.py without its doorkeeper: pages link to each other, and Streamlit must know where they are."""


def opened(file: str, **address: str) -> AppTest:
    """The page of this file at an address."""
    page = AppTest.from_string(FRAME.format(file=file), default_timeout=60)
    page.query_params.update(address)
    page = page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    """Press the first button whose label begins so."""
    page = next(button for button in page.button if button.label.startswith(label)).click().run()
    assert not page.exception
    return page


def words(page: AppTest) -> str:
    """The sentences of a page."""
    elements = (*page.markdown, *page.warning, *page.caption, *page.info, *page.success, *page.error)
    return "\n".join(str(element.value) for element in elements).replace("\\", "")
