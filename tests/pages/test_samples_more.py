"""Beside a study's items: gold items and training by marking and by file, extra raters, second answers, "
"crowds."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.rating import Criterion
from concord.store import access, audit, conversations, crowds, known, placements, studies
from concord.studies import dealing, running
from concord.studies.purposes import extra, gold, training
from concord.workspace import Workspace
from pages.annotate import samples_more
from pages.parts import notice
from tests.pages.framed import FRAME

GOLD, TRAINING = "Gold items of s", "Training items of s"
EXTRA, CROWD = "Extra raters where annotators differ of s", "A crowd's link: Prolific or MTurk of s"


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """A study of two conversations for two of three annotators each, and two conversations beside it."""
    said = (Message("user", "?"), Message("assistant", "!"))
    with workspace.write() as db:
        studies.create(db, studies.Study("s", (Criterion("wit", "It is witty."),), overlap=2))
        own = [conversations.save(db, Conversation("b", key, "p", said)) for key in "ab"]
        for key in "cd":
            conversations.save(db, Conversation("b", key, "p", said))
        studies.add_units(db, "s", [(number, None, "") for number in own])
        for name in ("Ada", "Bo", "Cy"):
            access.invite(db, name)
        dealing.deal_study(db, "s", ["Ada", "Bo", "Cy"])
    return workspace


def opened(*sections: str) -> AppTest:
    page = AppTest.from_string(FRAME.format(file="annotate/samples.py"), default_timeout=60)
    page.query_params["study"] = "s"
    for section in sections:
        page.session_state[section] = True
    page = page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str, key: str = "") -> AppTest:
    wanted = [b for b in page.button if b.label.startswith(label) and (not key or b.key == key)]
    page = wanted[0].click().run()
    assert not page.exception
    return page


def number(workspace: Workspace, key: str) -> int:
    with workspace.read() as db:
        return int(conversations.find_id(db, key) or 0)


def marked(workspace: Workspace, page: AppTest, kind: str, key: str, answer: str, why: str = "") -> AppTest:
    page = page.selectbox(key=f"mark {kind}").set_value(number(workspace, key)).run()
    page.selectbox(key=f"known {kind} {number(workspace, key)} wit").set_value(answer)
    page.text_input(key=f"explanation {kind}").set_value(why)
    return press(page.run(), f"Add {kind} item")


def test_a_conversation_beside_the_study_is_marked_and_removed(workspace: Workspace) -> None:
    page = marked(workspace, opened(GOLD), "gold", "c", "4")
    assert page.selectbox(key="mark gold").options == ["? · d", "? · c"], "what is not marked comes first"
    page = marked(workspace, page, "gold", "d", "2")
    with workspace.read() as db:
        assert {(one.unit.conversation_id, one.answer) for one in known.gold(db, "s")} == {
            (number(workspace, "c"), 4.0),
            (number(workspace, "d"), 2.0),
        }
        assert placements.placed(db, "s", ["gold"])
    press(page, "Remove", "remove gold")
    with workspace.read() as db:
        assert len(known.gold(db, "s")) == 1
        assert [line.act for line in audit.lines(db, "s")].count("gold_items_set") == 3


def test_the_studys_own_conversations_are_not_offered(workspace: Workspace) -> None:
    page = opened(GOLD)
    assert page.selectbox(key="mark gold").options == ["? · c", "? · d"]


def test_nothing_is_marked_without_an_answer(workspace: Workspace) -> None:
    page = press(opened(GOLD), "Add gold item")
    with workspace.read() as db:
        assert known.gold(db, "s") == []
    assert "known answer" in page.error[0].value
    assert not page.success


def test_on_a_telephone_a_report_is_in_sight_below_the_top(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not press(opened(GOLD), "Add gold item").toast
    monkeypatch.setattr(notice, "on_telephone", lambda: True)
    [report] = press(opened(GOLD), "Add gold item").toast
    assert "known answer" in report.value


def test_training_needs_an_explanation_and_has_a_rule(workspace: Workspace) -> None:
    page = marked(workspace, opened(TRAINING), "training", "c", "4")
    with workspace.read() as db:
        assert training.rule_of(studies.get(db, "s")) is None
    page = marked(workspace, page, "training", "c", "4", "because")
    page.number_input(key="attempts s").set_value(3)
    page = press(page.run(), "Save the rule")
    with workspace.read() as db:
        assert training.rule_of(studies.get(db, "s")) == training.PassRule(attempts=3)
        assert placements.placed(db, "s", ["training"])
    press(page, "Remove", "remove training")
    with workspace.read() as db:
        assert training.rule_of(studies.get(db, "s")) is None
        assert placements.placed(db, "s", ["training"]) == []


def test_a_file_says_the_same_as_marking(workspace: Workspace) -> None:
    text = "key,criterion,answer,attention\nc,wit,4,yes\n"
    with workspace.write() as db:
        running.set_gold(db, "s", gold.from_csv(db, "s", text, "gold.csv"))
        from_file = known.gold(db, "s")
        running.set_gold(db, "s", [])
        rows = [{"key": "c", "criterion": "wit", "answer": "4", "attention": "yes"}]
        running.mark_gold(db, "s", rows)
        assert known.gold(db, "s") == from_file


def test_extra_raters_are_set_and_ended(workspace: Workspace) -> None:
    page = opened(EXTRA)
    page.number_input(key="least s").set_value(2.0)
    page = press(page.run(), "Save", "save extra")
    with workspace.read() as db:
        rule = extra.rule_of(studies.get(db, "s"))
        assert rule is not None
        assert rule.least == 2.0
    page.number_input(key="least s").set_value(0.0)
    press(page.run(), "Save", "save extra")
    with workspace.read() as db:
        assert extra.rule_of(studies.get(db, "s")) is None


def test_others_answers_are_shown_and_hidden_again(workspace: Workspace) -> None:
    page = opened("Second answers of s")
    for shown in (True, False):
        page.toggle(key="discuss s").set_value(shown)
        page = press(page.run(), "Save", "save second")
        with workspace.read() as db:
            assert studies.get(db, "s").discussion is shown


def test_a_crowds_link_is_made_with_its_codes(workspace: Workspace) -> None:
    with workspace.write() as db:
        studies.create(db, studies.Study("crowd", (Criterion("wit", "It is witty."),)))
        studies.add_units(db, "crowd", [(number(workspace, "c"), None, "")])
    page = AppTest.from_string(FRAME.format(file="annotate/samples.py"), default_timeout=60)
    page.query_params["study"] = "crowd"
    page.session_state[CROWD.replace(" of s", " of crowd")] = True
    page = page.run()
    for of, code in (("code", "DONE"), ("failed_code", "MISSED"), ("screen_out_code", "OUT")):
        page.text_input(key=f"crowd crowd {of}").set_value(code)
    page.number_input(key="crowd crowd quota").set_value(7)
    page = press(page.run(), "Create link")
    with workspace.read() as db:
        link = crowds.of_study(db, "crowd")
    assert link is not None
    assert (link.quota, link.code, link.failed_code, link.screen_out_code) == (7, "DONE", "MISSED", "OUT")
    assert "token=" in next(code.value for code in page.code)


def test_a_study_without_names_has_none_of_it(workspace: Workspace) -> None:
    with workspace.read() as db:
        study = studies.get(db, "s")
    assert samples_more.sections_of(studies.Study("x", study.criteria, anonymous=True)) is None  # type: ignore[func-returns-value]
