"""A sentence that names a command leads to the page that does the same."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from pages.parts.navigation import SECTIONS
from pages.parts.ways import WAYS

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
def page():
    from concord.errors import StudyError
    from pages.parts.session import sentence
    sentence(StudyError({text!r}))
listed = [page for pages in SECTIONS.values() for page in pages if page.address]
shown = [st.Page(p.path, title=p.title, url_path=p.address) for p in listed]
st.navigation([st.Page(page, title="x", default=True), *shown]).run()
"""


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("assign it with `concord study deal s`.", ["Assign items"]),
        (
            "`concord judge` it, and `concord study deal s`.",
            ["Let judges rate stored conversations", "Assign items"],
        ),
        ("`concord study exclude s Ada` or `concord study show s`.", ["Exclude an annotator", "Samples"]),
        ("Nothing here.", []),
        ("`concord passphrase --renew` on the server's machine.", []),
        ("`concord run stss`, then `concord run pingpong`.", ["Start a run"]),
        ("`concord simulbench scripts extract --judge j`.", ["SimulBench"]),
    ],
)
def test_an_error_links_the_pages(workspace: Workspace, text: str, labels: list[str]) -> None:
    page = AppTest.from_string(FRAME.format(text=text), default_timeout=30).run()
    assert not page.exception
    assert [link.label for link in page.get("page_link")] == labels
    if "`" in text:
        assert f"--workspace {workspace.path}" in page.error[0].value


def test_every_way_leads_to_a_page() -> None:
    addresses = {page.address for pages in SECTIONS.values() for page in pages}
    assert {address for address, _, _ in WAYS.values()} <= addresses
