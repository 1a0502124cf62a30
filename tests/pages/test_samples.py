"""The page of samples: how people get on, what they skipped and flagged, and whose way of rating deserves a
look.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.demo.workspace import VISITOR
from concord.rating import Criterion
from concord.store import access, acts, conversations, placements, studies
from concord.store.studies import Study
from concord.workspace import Workspace
from tests.filled import assigned

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages if page.address]
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=p.address == "samples") for p in listed]
st.navigation(shown).run()
"""
CRITERIA = tuple(Criterion(name, f"It has {name}.") for name in ("wit", "care", "taste"))
RUDE = "see ![x](http://elsewhere.test/x.png) <script>"


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """Ada answers 3 to everything, skips one item and flags another; Bo has not begun."""
    with workspace.write() as db:
        studies.create(db, Study("s", CRITERIA, guidelines="Take **care**."))
        said = (Message("user", "?"), Message("assistant", "!" * 600))
        ids = [conversations.save(db, Conversation("b", f"c{i}", "p", said)) for i in range(15)]
        units = studies.add_units(db, "s", [(i, None, f"stratum {i % 2}") for i in ids])
        for name in ("Ada", "Bo"):
            access.invite(db, name)
            placements.assign(db, access.annotator_id(db, name), units)
        ada = access.annotator_id(db, "Ada")
        desk = [row[0] for row in assigned(db, ada, "s")]
        for item in desk[:12]:
            for criterion in CRITERIA:
                placements.answer(db, ada, item, criterion.name, 3)
            placements.add_seconds(db, ada, item, 4)
            placements.submit(db, ada, item)
        placements.skip(db, ada, desk[12], RUDE)
        placements.flag(db, ada, desk[0], "odd ending")
    return workspace


def test_progress_remarks_and_suspicions_are_shown(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.run()
    assert not page.exception
    progress, remarks = (table.value for table in page.dataframe)
    counts = progress[["annotator", "items", "done", "skipped", "flagged"]].values.tolist()
    assert counts == [["Ada", 15, 12, 1, 1], ["Bo", 15, 0, 0, 0]]
    assert sorted(zip(remarks.what, remarks.said, strict=True)) == [
        ("flagged", "odd ending"),
        ("skipped", RUDE),
    ]
    assert remarks.conversation.str.match(r"/conversations\?conversation=\d+$").all()
    warned = " ".join(warning.value for warning in page.warning).replace("\\", "")
    # Nobody else rated, so that nothing can be said of one answer to everything.
    assert "answer" not in warned
    assert (
        "Ada was faster than the replies can be read on 12 of 12 items" in warned
    )  # 600 characters take 10 seconds
    assert "Bo" not in warned


def test_guidelines_are_rewritten(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert page.button(key="save guidelines").disabled
    page.text_area[0].set_value("Take your time.").run()
    page.button(key="save guidelines").click().run()
    with workspace.read() as db:
        assert studies.get(db, "s").guidelines == "Take your time."
    assert page.success[0].value == "The guidelines are saved\\."


def test_a_deal_by_page_sets_repeats(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert "Items of an annotator" not in " ".join(caption.value for caption in page.caption)
    with workspace.write() as db:
        for name in ("Cy", "Dee"):
            access.invite(db, name)
    page.run()
    page.multiselect[0].set_value(["Ada", "Bo", "Cy", "Dee"])
    next(n for n in page.number_input if n.label.startswith("Annotators for each")).set_value(2)
    page.number_input(key="repeats of s").set_value(0.2).run()
    next(button for button in page.button if button.label == "Assign").click().run()
    assert not page.exception
    assert not page.error
    with workspace.read() as db:
        assert studies.get(db, "s").repeats == 0.2
        assert [
            item.purpose
            for item in placements.placed(db, "s", ["gold", "repeat"], access.annotator_id(db, "Cy"))
        ]
    assert "Hidden among them" in " ".join(caption.value for caption in page.caption)


def test_a_study_of_unnamed_people_is_not_dealt(workspace: Workspace) -> None:
    with workspace.write() as db:
        studies.create(db, Study("unnamed", CRITERIA, source="fed", anonymous=True))
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["study"] = "unnamed"
    page.run()
    assert "no names" in page.info[0].value
    assert "Assign" not in [button.label for button in page.button]


def test_a_study_is_closed_and_opened_again_with_a_reason(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()

    def press(label: str) -> None:
        next(button for button in page.button if button.label == label).click().run()

    press("Close")
    assert "needs its reason" in page.error[0].value
    page.text_input[0].set_value("enough").run()
    press("Close")
    assert "is closed" in page.success[0].value
    page.text_input[0].set_value("ten more items").run()
    press("Reopen")
    assert "is open again" in page.success[0].value
    with workspace.read() as db:
        assert [(act.act, act.detail) for act in acts.of_study(db, "s")] == [
            ("closed", "enough"),
            ("reopened", "ten more items"),
        ]


def test_a_new_study_is_not_dealt_to_the_visitor_of_the_demo_by_one_click(workspace: Workspace) -> None:
    with workspace.write() as db:
        access.invite(db, VISITOR)
        studies.create(db, Study("new", CRITERIA))
        studies.add_units(db, "new", [(1, None, "")])
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["study"] = "new"
    page.run()
    assert not page.exception
    [to] = [box for box in page.multiselect if box.label == "To"]
    assert VISITOR in to.options
    assert to.value == ["Ada", "Bo"]


@pytest.mark.parametrize(("study", "said"), [("s", False), ("new", True)])
def test_that_nobody_is_invited_is_said_where_nothing_was_dealt(
    workspace: Workspace, study: str, said: bool
) -> None:
    with workspace.write() as db:
        studies.create(db, Study("new", CRITERIA))
        studies.add_units(db, "new", [(1, None, "")])
        for name in ("Ada", "Bo"):
            access.revoke(db, name)
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["study"] = study
    page.run()
    assert not page.exception
    texts = [text.value for text in page.markdown]
    assert any("No annotators yet" in text for text in texts) == said
    assert any("To assign it to more annotators, invite them first." in text for text in texts) != said
