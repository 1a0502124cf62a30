"""The page of annotators: who has passed a training, and who is admitted by hand."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.rating import Criterion
from concord.store import access, conversations, placements, studies
from concord.store.known import Gold, UnitKey
from concord.studies import dealing, running
from concord.studies.purposes import training
from concord.workspace import Workspace

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages if page.address]
of = "annotators"
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=p.address == of) for p in listed]
st.navigation(shown).run()
"""


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """Ada has failed the only attempt at a training of one item."""
    with workspace.write() as db:
        studies.create(db, studies.Study("s", (Criterion("wit", "It is witty."),)))
        said = (Message("user", "?"), Message("assistant", "!"))
        own, known = (conversations.save(db, Conversation("b", key, "p", said)) for key in "ab")
        studies.add_units(db, "s", [(own, None, "")])
        access.invite(db, "Ada")
        dealing.deal_study(db, "s", ["Ada"])
        gold = Gold(UnitKey(known, None), "wit", 4, 0, "why")
        running.set_training(db, "s", [gold], training.PassRule(attempts=1))
        ada = access.annotator_id(db, "Ada")
        [(item, *_)] = placements.on_desk(db, ada, "s")
        events = [
            {"n": 1, "item": item, "do": "answer", "criterion": "wit", "score": 1},
            {"n": 2, "item": item, "do": "submit"},
        ]
        assert dealing.reported(db, "s", ada, "tab", events)[1] == []
    return workspace


def test_links_stay_in_sight_when_nobody_is_invited_after_them(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=60).run()
    page.text_area(key="names").set_value("Bo")
    make = next(button for button in page.button if button.label == "Make links")
    [link] = make.click().run().code
    for _ in range(2):
        make = next(button for button in page.button if button.label == "Make links")
        assert [code.value for code in make.click().run().code] == [link.value]


def test_who_has_not_passed_is_shown(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    [table] = [found.value for found in page.dataframe if "verdict" in found.value]
    assert table.iloc[0].verdict == "not passed"
