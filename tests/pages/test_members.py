"""Members on pages: a link is made by the owner, and nobody decides under another's name."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

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


def test_the_owner_lets_somebody_in_and_keeps_them_out(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    page.text_input(key="member name").set_value("Dana")
    page.selectbox(key="member role").set_value("adjudicator")
    page.button(key="member invite").click().run()
    assert not page.exception
    [link] = [code.value for code in page.code]
    with workspace.read() as db:
        found = access.of_token(db, link.partition("token=")[2])
        assert (found.name, found.role) == ("Dana", "adjudicator")
    page.button(key="member revoke").click().run()
    with workspace.read() as db:
        assert [one.state for one in access.members(db)] == ["withdrawn"]
        assert [line.what for line in audit.every(db)] == ["link withdrawn", "let in as adjudicator"]
    page.text_input(key="member name").set_value(" ")
    page.button(key="member invite").click().run()
    assert "name" in page.error[0].value


def test_a_member_decides_under_their_own_name(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(_: Workspace) -> Researcher:
        return Researcher("member", "Dana", 1, "adjudicator")

    monkeypatch.setattr("pages.parts.session.who_is_here", here)
    page = AppTest.from_string(NAMED, default_timeout=30)
    page.query_params["as"] = "Somebody Else"
    page.run()
    assert page.markdown[0].value == "Dana Dana"
    assert not page.text_input
