"""The page Rubrics: questions are added to the TOML, and it leads on from what is saved."""

from __future__ import annotations

import tomllib
from typing import Any

from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.questions import COMPARED, TYPES
from concord.store import conversations
from concord.workspace import Workspace
from tests.pages.bring_helpers import said, the
from tests.pages.framed import FRAME


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
    assert "Give the rubric a name" in said(shown)
    the(shown, "text_input", "Name").set_value("mine").run()
    the(shown, "button", "Save").click().run()
    assert (workspace.path / "rubrics" / "mine.toml").exists()
    assert the(shown, "selectbox", "Rubric").value == "mine"
    assert the(shown, "selectbox", "Preview with").options == ["Where is it? · brought"]
    assert the(shown, "button", "Draw a sample for annotators")
    source(shown).set_value(source(shown).value.replace("title", "unit = 'last-reply'\ntitle")).run()
    assert not the(shown, "button", "Save").disabled


FIRST = '[[criteria]]\nname = "kind"\nstatement = "It is kind."\n'
MINE, THEIRS = f"{FIRST}# mine\n", f"{FIRST}# theirs\n"


def saved(workspace: Workspace, text: str) -> None:
    (workspace.path / "rubrics").mkdir(exist_ok=True)
    (workspace.path / "rubrics" / "care.toml").write_text(text)


def press(shown: AppTest, label: str) -> AppTest:
    the(shown, "button", label).click().run()
    assert not shown.exception
    return shown


def test_an_unsaved_text_is_there_after_a_reload_until_it_is_discarded(workspace: Workspace) -> None:
    saved(workspace, FIRST)
    source(opened()).set_value(MINE).run()
    shown = opened()  # another session, as after a reload
    assert source(shown).value == MINE
    shown = press(shown, "Discard my changes")
    assert source(shown).value == FIRST
    assert source(opened()).value == FIRST


def test_an_unsaved_new_rubric_is_there_after_a_reload(workspace: Workspace) -> None:
    source(opened()).set_value(MINE).run()
    assert source(opened()).value == MINE


def test_of_two_that_save_one_rubric_the_second_sees_both(workspace: Workspace) -> None:
    saved(workspace, FIRST)
    shown = opened()
    source(shown).set_value(MINE).run()
    saved(workspace, THEIRS)
    press(shown, "Save")
    file = workspace.path / "rubrics" / "care.toml"
    assert file.read_text() == THEIRS
    assert [code.value for code in shown.code[:2]] == [THEIRS.strip(), MINE.strip()]
    press(shown, "Use my version and overwrite the other")
    press(shown, "Save")
    assert file.read_text() == MINE


def test_the_saved_version_can_be_taken_instead(workspace: Workspace) -> None:
    saved(workspace, FIRST)
    shown = opened()
    source(shown).set_value(MINE).run()
    saved(workspace, THEIRS)
    shown.run()
    press(shown, "Use the saved version")
    assert source(shown).value == THEIRS
    assert (workspace.path / "rubrics" / "care.toml").read_text() == THEIRS


def test_without_changes_the_text_follows_the_file(workspace: Workspace) -> None:
    saved(workspace, FIRST)
    shown = opened()
    saved(workspace, THEIRS)
    shown.run()
    assert not shown.error
    assert source(shown).value == THEIRS


def test_a_choice_says_who_sees_the_system_prompt(workspace: Workspace) -> None:
    saved(workspace, f'# own\ntitle = "Care"\n{FIRST}')
    shown = opened()
    for who in ("judges", "everyone", "none"):
        the(shown, "selectbox", "System prompt of a conversation").set_value(who).run()
        assert not shown.exception
        assert tomllib.loads(source(shown).value)["system_prompt"] == who
    assert source(shown).value.startswith("# own\n")
