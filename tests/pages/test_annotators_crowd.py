"""Crowd platforms on the page Annotators: a link is made and shown once, and payments are counted."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.rating import Criterion
from concord.store import conversations, crowds, placements, studies
from concord.store.crowds import Visitor
from concord.store.studies import Study
from concord.studies import crowd
from concord.workspace import Workspace

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages if page.address == "annotators"]
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=True) for p in listed]
st.navigation(shown).run()
"""


@pytest.fixture
def workspace(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    with workspace.write() as db:
        studies.create(db, Study("s", (Criterion("wit", "It is witty."),)))
        said = (Message("user", "?"), Message("assistant", "!"))
        ids = [conversations.save(db, Conversation("b", f"c{i}", "p", said)) for i in range(6)]
        studies.add_units(db, "s", [(i, None, "") for i in ids])
    return workspace


def test_a_link_is_made_shown_once_and_closed_and_people_are_paid(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    page.selectbox(key="crowd platform s").set_value("mturk")
    page.number_input(key="crowd items s").set_value(2)
    page.text_input(key="crowd address").set_value("somewhere")
    page.button(key="crowd open").click().run()
    assert "http" in page.error[0].value
    page.text_input(key="crowd address").set_value("https://example.org")
    page.button(key="crowd open").click().run()
    assert not page.exception
    [link] = [code.value for code in page.code]
    assert link.startswith("https://example.org/rate?token=")
    assert link.endswith("workerId=${workerId}&assignmentId=${assignmentId}&hitId=${hitId}")
    with workspace.write() as db:
        made = crowds.of_study(db, "s")
        assert made is not None
        assert (made.platform, made.quota, made.items, made.code) == ("mturk", 20, 2, "")
        worker = crowd.enter(db, made, Visitor("A1", "B1"))
        for unit, *_ in placements.queues(db, "s"):
            item = db.execute("SELECT id FROM placements WHERE item_id = ?", [unit]).fetchone()[0]
            placements.answer(db, worker.rater, item, "wit", 3)
            placements.add_seconds(db, worker.rater, item, 90)
            placements.submit(db, worker.rater, item)
    page.run()
    assert not page.code
    page.number_input(key="crowd hourly").set_value(20.0)
    page.text_input(key="crowd currency").set_value("USD").run()
    # 2 items of 90 s are 3 minutes, at 20 an hour 1.00.
    assert any("1 people; 1.00 USD in all" in caption.value.replace("\\", "") for caption in page.caption)
    page.button(key="crowd close").click().run()
    with workspace.read() as db:
        made = crowds.of_study(db, "s")
    assert made is not None
    assert made.closed
    assert "crowd close" not in [button.key for button in page.button]
