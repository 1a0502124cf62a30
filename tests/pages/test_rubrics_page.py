"""The page Rubrics: its form and its TOML are written from each other, and it leads on from what is saved."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message
from concord.store import conversations
from concord.workspace import Workspace
from tests.pages.test_bring import said, the
from tests.pages.test_navigation import FRAME

NEW = "text of new rubric …"


def opened() -> AppTest:
    shown = AppTest.from_string(FRAME.format(file="study/rubrics.py"), default_timeout=30).run()
    assert not shown.exception
    return shown


def told(shown: AppTest) -> dict[str, Any]:
    return tomllib.loads(shown.session_state[NEW])


def test_the_form_writes_the_toml(workspace: Workspace) -> None:
    shown = opened()
    the(shown, "text_input", "Title that").set_value("Support").run()
    the(shown, "selectbox", "What is judged").set_value("last-reply").run()
    the(shown, "text_input", "Name in figures").set_value("Keeps the rules!").run()
    the(shown, "text_area", "What values mean").set_value("1 = never\n5 = always").run()
    the(shown, "toggle", "Has to be").set_value(False).run()
    assert told(shown) == {
        "title": "Support",
        "unit": "last-reply",
        "criteria": [
            {
                "name": "keeps_the_rules",
                "statement": "The assistant does what can be done for the user.",
                "scale": "1..5",
                "anchors": {"1": "never", "5": "always"},
                "required": False,
            }
        ],
    }


def test_another_type_loses_what_it_cannot_have_and_says_what_it_needs(workspace: Workspace) -> None:
    shown = opened()
    the(shown, "text_area", "What values mean").set_value("1 = never").run()
    the(shown, "selectbox", "Type of answer").set_value("categories").run()
    assert "one category leaves nothing to choose" in said(shown)
    the(shown, "text_area", "Answers, one a line").set_value("late\n\nrude").run()
    assert not shown.error
    [entry] = told(shown)["criteria"]
    assert (entry["type"], entry["categories"], "scale" in entry, "anchors" in entry) == (
        "categories",
        ["late", "rude"],
        False,
        False,
    )


def test_questions_are_added_and_removed(workspace: Workspace) -> None:
    shown = opened()
    assert the(shown, "button", "Remove").disabled
    the(shown, "button", "Add a question").click().run()
    assert [entry["name"] for entry in told(shown)["criteria"]] == ["helpful", "question_1"]
    assert [area.value for area in shown.text_area if area.label == "What is asked"][1:] == [""]
    the(shown, "button", "Remove").click().run()
    assert [entry["name"] for entry in told(shown)["criteria"]] == ["question_1"]
    assert the(shown, "text_input", "Name in figures").value == "question_1"


def test_the_form_follows_the_toml_and_stays_when_it_is_broken(workspace: Workspace) -> None:
    shown = opened()
    source = the(shown, "text_area", "The rubric as TOML")
    source.set_value('[[criteria]]\nname = "kind"\nstatement = "It is kind."\nscale = [0, 2]\n').run()
    assert the(shown, "text_input", "Name in figures").value == "kind"
    assert the(shown, "text_input", "Scale").value == "0, 2"
    the(shown, "text_input", "Scale").set_value("0, 2, 4").run()
    assert told(shown)["criteria"][0]["scale"] == [0, 2, 4]
    the(shown, "text_area", "The rubric as TOML").set_value("[[criteria").run()
    assert "This is not valid TOML" in said(shown)
    assert "mend it there first" in said(shown)
    assert "It is kind." not in said(shown), "there is nothing to preview"


TYPED = {
    "title = 5": "title = 5\n",
    "name = 5": "",
    "statement = [1]": "",
    "unit = [1]": "unit = [1]\n",
    "type = [1]": "",
    "categories = [1, 2]": "",
    "categories = 3": "",
}
"""Fields with a type that the form cannot edit, and what of them stands above the questions."""


@pytest.mark.parametrize(("field", "above"), TYPED.items())
def test_the_toml_can_be_mended_where_a_field_has_a_wrong_type(
    workspace: Workspace, field: str, above: str
) -> None:
    shown = opened()
    good = {"name": '"kind"', "statement": '"It is kind."'}
    name, _, value = field.partition(" = ")
    entry = good if above else good | {name: value}
    text = above + "[[criteria]]\n" + "".join(f"{name} = {value}\n" for name, value in entry.items())
    the(shown, "text_area", "The rubric as TOML").set_value(text).run()
    assert not shown.exception
    assert "mend it there first" in said(shown)
    source = the(shown, "text_area", "The rubric as TOML")
    assert source.value == text
    source.set_value("[[criteria]]\n" + "".join(f"{name} = {value}\n" for name, value in good.items())).run()
    assert the(shown, "text_input", "Name in figures").value == "kind"


def test_the_form_says_that_it_drops_comments(workspace: Workspace) -> None:
    shown = opened()
    assert "has comments" not in said(shown), "the head that Concord writes is written again"
    text = '[[criteria]]\nname = "kind" # as agreed\nstatement = "It is #1."\n'
    the(shown, "text_area", "The rubric as TOML").set_value(text).run()
    assert "The TOML has comments. A change in the form writes it anew without them" in said(shown)
    the(shown, "text_input", "Title that").set_value("Support").run()
    assert "as agreed" not in shown.session_state[NEW]
    assert "has comments" not in said(shown)


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
    assert the(shown, "selectbox", "Preview with").options == ["brought", "played"]
    assert the(shown, "button", "Draw a sample for people")
    the(shown, "text_input", "Title that").set_value("Mine").run()
    assert not the(shown, "button", "Save").disabled
