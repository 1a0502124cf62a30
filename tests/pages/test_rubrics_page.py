"""The page Rubrics: questions are added to the TOML, and it leads on from what is saved."""

from __future__ import annotations

import tomllib
from typing import Any

from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.questions import COMPARED, TYPES
from concord.store import conversations
from concord.workspace import Workspace
from tests.pages.test_bring import said, the
from tests.pages.test_navigation import FRAME


def opened() -> AppTest:
    shown = AppTest.from_string(FRAME.format(file="study/rubrics.py"), default_timeout=30).run()
    assert not shown.exception
    return shown


def source(shown: AppTest) -> Any:
    return the(shown, "text_area", "The rubric as TOML")


def test_a_question_of_each_type_is_added(workspace: Workspace) -> None:
    shown = opened()
    begin = source(shown).value
    for type_, kind in TYPES.items():
        reply = 'unit = "last-reply"\n' if type_ in ("passages", "correction") else ""
        source(shown).set_value(f"{reply}{'' if type_ == 'ranking' else begin}# kept\n").run()
        the(shown, "selectbox", "Type of answer").set_value(type_).run()
        the(shown, "button", "Add a question").click().run()
        assert not shown.exception
        assert not shown.error, (type_, said(shown))
        text = source(shown).value
        assert "# kept" in text, "what was written by hand stays as it is"
        *_, entry = tomllib.loads(text)["criteria"]
        assert entry["type"] == type_
        assert f", compared {COMPARED[kind.level]}" in said(shown)


def test_broken_toml_is_named_and_can_be_mended(workspace: Workspace) -> None:
    shown = opened()
    source(shown).set_value("[[criteria").run()
    assert "This is not valid TOML" in said(shown)
    assert source(shown).value == "[[criteria"
    source(shown).set_value('[[criteria]]\nname = "kind"\nstatement = "It is kind."\n').run()
    assert not shown.error
    assert "It is kind." in said(shown)


def test_what_is_saved_is_selected_and_leads_to_people(workspace: Workspace) -> None:
    dialogue = (Message("user", "Where is it?"), Message("assistant", "On its way."))
    with workspace.write() as db:
        conversations.save(db, Conversation("pingpong", "played", "m", dialogue))
        conversations.save(db, Conversation("shop", "brought", "m", dialogue))
    shown = opened()
    assert the(shown, "button", "Save").disabled
    assert "give the rubric a name" in said(shown)
    the(shown, "text_input", "Name").set_value("mine").run()
    the(shown, "button", "Save").click().run()
    assert (workspace.path / "rubrics" / "mine.toml").exists()
    assert the(shown, "selectbox", "Rubric").value == "mine"
    assert the(shown, "selectbox", "Preview with").options == ["brought"]
    assert the(shown, "button", "Draw a sample for people")
    source(shown).set_value(source(shown).value.replace("title", "unit = 'last-reply'\ntitle")).run()
    assert not the(shown, "button", "Save").disabled
