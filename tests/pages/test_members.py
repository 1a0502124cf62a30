"""Members on pages: the owner sees who has a link, and nobody decides under another's name."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.errors import StudyError
from concord.store import access, audit
from concord.workspace import Workspace
from pages.parts.people import Researcher

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages if page.address == "sessions"]
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=True) for p in listed]
st.navigation(shown).run()
"""
NAMED = """
import streamlit as st
from pages.parts import person
st.write(person.named(), person.ask())
"""


def test_the_page_lists_who_has_a_link(workspace: Workspace) -> None:
    with workspace.write() as db:
        access.invite(db, "Dana", "adjudicator")
        access.invite(db, "*Cy*", "researcher")
        access.revoke(db, "Dana")
        with pytest.raises(StudyError, match="no name for an adjudicator"):
            access.invite(db, " ", "adjudicator")
        acts = [line.what for line in audit.every(db)]
    assert sorted(acts) == ["let in as adjudicator", "let in as researcher", "link withdrawn"]
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    lines = [text.value.replace("\\", "") for text in page.markdown]
    assert lines == ["*Cy*: researcher, link works", "Dana: adjudicator, link withdrawn"]


def test_a_member_decides_under_their_own_name(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(_: Workspace) -> Researcher:
        return Researcher("member", "Dana", 1, "adjudicator")

    monkeypatch.setattr("pages.parts.session.who_is_here", here)
    page = AppTest.from_string(NAMED, default_timeout=30)
    page.query_params["as"] = "Somebody Else"
    page.run()
    assert page.markdown[0].value == "Dana Dana"
    assert not page.text_input
