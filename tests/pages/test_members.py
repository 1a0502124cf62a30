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
st.write(person.reviewer_name(), person.ask())
"""


def test_the_page_lists_who_has_a_link(workspace: Workspace) -> None:
    with workspace.write() as db:
        access.invite(db, "Dana", "adjudicator")
        access.invite(db, "*Cy*", "researcher")
        access.revoke(db, "Dana")
        with pytest.raises(StudyError, match="not a valid name for an adjudicator"):
            access.invite(db, " ", "adjudicator")
        acts = [(line.act, line.target) for line in audit.lines(db)]
    assert sorted(acts) == [("let_in", "adjudicator"), ("let_in", "researcher"), ("link_withdrawn", "")]
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    lines = [text.value.replace("\\", "") for text in page.markdown]
    assert lines == ["*Cy*: researcher, link works", "Dana: adjudicator, link withdrawn"]


def opened() -> AppTest:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    page = next(button for button in page.button if button.label == label).click().run()
    assert not page.exception
    return page


def states(workspace: Workspace) -> dict[str, tuple[str, str]]:
    with workspace.read() as db:
        return {one.name: (one.role, one.state) for one in access.members(db)}


def test_a_second_researcher_is_invited_withdrawn_and_renewed(workspace: Workspace) -> None:
    page = opened()
    page.text_input(key="member name").set_value("Dana")
    page.selectbox(key="member role").set_value("adjudicator")
    page.text_input(key="member address").set_value("https://example.org")
    page = press(page, "Create link")
    assert states(workspace) == {"Dana": ("adjudicator", "works")}
    [shown] = [code.value for code in page.code]
    assert shown.startswith("https://example.org/?token=")
    page = press(page, "Withdraw")
    assert states(workspace) == {"Dana": ("adjudicator", "withdrawn")}
    page = press(page, "Renew")
    assert states(workspace) == {"Dana": ("adjudicator", "works")}
    assert shown not in [code.value for code in page.code]


def test_a_link_that_works_is_not_closed_by_a_second_invitation(workspace: Workspace) -> None:
    with workspace.write() as db:
        token = access.invite(db, "Dana", "researcher")
    page = opened()
    page.text_input(key="member name").set_value("Dana")
    press(page, "Create link")
    with workspace.read() as db:
        assert access.of_token(db, token).name == "Dana"


def test_links_that_only_this_machine_can_open_are_said_to_be_so(workspace: Workspace) -> None:
    page = opened()
    assert "app --host 0.0.0.0" in page.warning[0].value
    assert str(workspace.path) in page.warning[0].value.replace("\\", "")


def test_a_member_decides_under_their_own_name(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(_: Workspace) -> Researcher:
        return Researcher("member", "Dana", 1, "adjudicator")

    monkeypatch.setattr("pages.parts.session.who_is_here", here)
    page = AppTest.from_string(NAMED, default_timeout=30)
    page.query_params["as"] = "Somebody Else"
    page.run()
    assert page.markdown[0].value == "Dana Dana"
    assert not page.text_input
