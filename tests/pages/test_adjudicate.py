"""The page of adjudication: which study comes first, and what is said where there is no rule."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Rating
from concord.store import access, conversations, studies
from concord.studies.purposes.adjudicate import Rule, set_rule
from concord.table import Column, Table
from concord.workspace import Workspace
from pages.parts.people import Researcher
from pages.parts.table import CHARACTER, FEW_COLUMNS, WIDER, WIDEST, _columns
from tests.annotated import Annotation, import_annotations

FRAME = """
import streamlit as st
from pages.parts.navigation import SECTIONS
listed = [page for pages in SECTIONS.values() for page in pages if page.address == "adjudicate"]
shown = [st.Page(p.path, title=p.title, url_path=p.address, default=True) for p in listed]
st.navigation(shown).run()
"""


@pytest.fixture
def workspace(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An adjudicator; the study “first” has no rule, “queued” has an item to settle."""
    monkeypatch.setattr(
        "pages.parts.session.who_is_here", lambda _: Researcher("member", "Dana", 1, "adjudicator")
    )
    with workspace.write() as db:
        said = (Message("user", "Where is\nmy parcel?"), Message("assistant", "!"))
        item = conversations.save(db, Conversation("b", "k", "p", said))
        for person in ("ann", "bob"):
            access.invite(db, person)
        for name in ("first", "queued"):
            studies.create(db, studies.Study(name, (Criterion("wit", "It is witty."),)))
            studies.add_units(db, name, [(item, None, "")])
            given = [Annotation(Rating(Unit("k"), "wit", n), who) for who, n in (("ann", 1), ("bob", 5))]
            import_annotations(db, name, given)
        order = studies.ranked(db)
        set_rule(db, order[-1], Rule(2))
    return workspace


def test_the_study_with_a_rule_comes_first(workspace: Workspace) -> None:
    with workspace.read() as db:
        order = studies.ranked(db)
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    assert page.selectbox[0].options == [order[-1], order[0]]
    assert "Settle 1 item" in [button.label for button in page.button]
    # An item is shown by its first words: its key may name the model.
    assert page.dataframe[0].value.iloc[0, 0] == "Where is my parcel?"


def test_a_study_of_pairs_is_there_too(workspace: Workspace) -> None:
    with workspace.write() as db:
        studies.create(db, studies.Study("paired", (Criterion("better", "Which?"),), kind="pairs"))
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    assert any("paired" in option for option in page.selectbox[0].options)


def test_a_study_without_a_rule_says_so(workspace: Workspace) -> None:
    with workspace.read() as db:
        name = studies.ranked(db)[0]
    page = AppTest.from_string(FRAME, default_timeout=30)
    page.query_params["study"] = name
    page.run()
    assert f"“{name}” has no rule" in " ".join(text.value for text in page.markdown)
    assert not page.button


def test_names_of_rows_are_as_wide_as_the_longest_up_to_a_bound() -> None:
    def widths(*names: str, more: int = 0) -> tuple[object, object]:
        rows = tuple({"item": name, "other": name} for name in names)
        beside = (Column(f"more {number}") for number in range(more))
        columns = _columns(Table("t", "T", (Column("item"), Column("other"), *beside), rows))
        return columns["item"]["width"], columns["other"]["width"]

    assert widths("a" * 50, "short") == (52 * CHARACTER, 52 * CHARACTER)
    assert widths("a" * 90, "short") == (WIDER, WIDER)
    assert widths("a" * 90, "short", more=FEW_COLUMNS) == (WIDEST, WIDEST)
    assert widths("a" * 18, "short") == (20 * CHARACTER, None)
    assert widths("short", "shorter") == (None, None)
