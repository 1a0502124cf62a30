"""The page of annotators: who has passed a training, and who is admitted by hand."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.rating import Criterion
from concord.store import access, acts, conversations, departures, exclusions, placements, studies
from concord.store.known import Gold, UnitKey
from concord.studies import dealing, person, running
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
    make = next(button for button in page.button if button.label == "Create links")
    [link] = make.click().run().code
    for _ in range(2):
        make = next(button for button in page.button if button.label == "Create links")
        assert [code.value for code in make.click().run().code] == [link.value]


def pressed(page: AppTest, begins: str) -> AppTest:
    page = next(button for button in page.button if button.label.startswith(begins)).click().run()
    assert not page.exception
    return page


@pytest.fixture
def rated(workspace: Workspace) -> Workspace:
    """Ada, Bo and Cy rated two conversations: Ada as Bo does on one, three points apart on the other."""
    with workspace.write() as db:
        studies.create(db, studies.Study("pilot", (Criterion("wit", "It is witty."),)))
        said = (Message("user", "?"), Message("assistant", "!"))
        units = [conversations.save(db, Conversation("b", f"pilot-{n}", "p", said)) for n in range(2)]
        studies.add_units(db, "pilot", [(unit, None, "") for unit in units])
        for name in ("Ada", "Bo", "Cy"):
            access.invite(db, name)
        dealing.deal_study(db, "pilot", ["Ada", "Bo", "Cy"])
        for name, scores in (("Ada", (5, 1)), ("Bo", (5, 4))):
            rater = access.annotator_id(db, name)
            for number, (item, *_) in enumerate(placements.on_desk(db, rater, "pilot")):
                at = placements.numbered(db, rater, item)
                score = scores[int(conversations.load(db, at.conversation_id).key[-1])]
                events = [
                    {"n": 2 * number + 1, "item": item, "do": "answer", "criterion": "wit", "score": score},
                    {"n": 2 * number + 2, "item": item, "do": "submit"},
                ]
                assert dealing.reported(db, "pilot", rater, "other", events)[1] == []
    return workspace


def opened(**address: str) -> AppTest:
    page = AppTest.from_string(FRAME, default_timeout=60)
    page.query_params.update(address)
    page = page.run()
    assert not page.exception
    return page


def test_an_annotator_is_excluded_with_a_reason_and_included_again(rated: Workspace) -> None:
    page = pressed(opened(study="pilot", person="Ada"), "Exclude from figures")
    with rated.read() as db:
        assert exclusions.excluded(db, "pilot") == {}  # without a reason
    page.text_input(key="reason Exclude from figures pilot Ada").set_value("guesses")
    page = pressed(page.run(), "Exclude from figures")
    with rated.read() as db:
        assert exclusions.excluded(db, "pilot")["Ada"].reason == "guesses"
    page.text_input(key="reason Include again pilot Ada").set_value("a mistake")
    pressed(page.run(), "Include again")
    with rated.read() as db:
        assert exclusions.excluded(db, "pilot") == {}
        assert [line.act for line in acts.of_study(db, "pilot")] == ["excluded", "included"]


def test_items_that_were_not_begun_go_to_others(rated: Workspace) -> None:
    page = opened(study="pilot", person="Cy")
    page.text_input(key="reason Take items back pilot Cy").set_value("left")
    page = pressed(page.run(), "Take items back")
    with rated.read() as db:
        assert "Cy" not in access.items_of(db, "pilot")
        assert departures.departed(db, "pilot") == {"Cy"}


def test_answers_stand_beside_others_the_most_different_first(rated: Workspace) -> None:
    with rated.read() as db:
        rows = person.answers_of(db, "pilot", "Ada").rows
    # 1 against 4 on a scale from 1 to 5 is 3 of 4; 5 against 5 is nothing.
    assert [(row["key"], row["answer"], row["others"], row["difference"]) for row in rows] == [
        ("pilot-1", "1", "Bo: 4", 0.75),
        ("pilot-0", "5", "Bo: 5", 0.0),
    ]


def test_an_answer_without_others_has_no_difference() -> None:
    criterion = Criterion("wit", "It is witty.")
    assert person.distance(criterion.scale, 3, []) is None
    assert person.distance(criterion.scale, 1, [2, 4]) == 0.5  # |1 − 3| of 4


def test_who_has_not_passed_is_shown(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME, default_timeout=30).run()
    assert not page.exception
    [table] = [found.value for found in page.dataframe if "verdict" in found.value]
    assert table.iloc[0].verdict == "not passed"
