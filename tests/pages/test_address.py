"""Values of widgets that stand in the address."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from tests.browser.town_helpers import fill_town
from tests.filled import fill
from tests.pages.framed import FRAME

APP = """
import streamlit as st
from pages.parts.address import bound_value

usual = {"dialogues": 5, "tasks": 7}[st.selectbox("Study", ["dialogues", "tasks"], key="study")]
chosen = bound_value(
    "items", usual, lambda key: st.number_input("Items", 0, 99, step=1, key=key), read=lambda said: int(said)
)
st.text(f"{chosen} items")
"""


def told(page: AppTest) -> str:
    assert not page.exception
    return page.text[0].value


def test_the_usual_value_is_that_of_the_study_in_sight() -> None:
    page = AppTest.from_string(APP).run()
    assert told(page) == "5 items"
    page.selectbox(key="study").select("tasks").run()
    assert told(page) == "7 items"
    assert "items" not in page.query_params


def test_what_a_reader_chose_stays() -> None:
    page = AppTest.from_string(APP).run()
    page.number_input(key="items").set_value(9).run()
    page.selectbox(key="study").select("tasks").run()
    assert told(page) == "9 items"
    assert page.query_params["items"] == "9"
    page.number_input(key="items").set_value(7).run()
    page.selectbox(key="study").select("dialogues").run()
    assert told(page) == "5 items"


def test_a_choice_stays_where_the_words_of_its_options_change() -> None:
    """A browser that has not drawn the new words yet sends the old ones, which are none of the options."""
    page = AppTest.from_string(
        "import streamlit as st\n"
        "from pages.parts.address import choice\n"
        "st.text(choice('Show', 'state', ['used', 'waiting'], 'used'))\n"
    ).run()
    page.button_group(key="state").set_value("waiting").run()
    assert page.text[0].value == "waiting"
    assert page.button_group(key="state").set_value(None).run().text[0].value == "waiting"
    assert page.query_params["state"] == "waiting"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with something on every page."""
    made = Workspace.open(tmp_path_factory.mktemp("address") / "workspace")
    fill_town(made)
    with made.write() as db:
        fill(db)
    return made.path


@pytest.mark.parametrize(
    ("file", "name", "first"),
    [
        ("study/conversations.py", "player", {}),
        ("study/conversations.py", "benchmark", {}),
        ("study/conversations.py", "language", {}),
        ("study/conversations.py", "study", {}),
        ("study/conversations.py", "order", {}),
        ("study/conversations.py", "character", {"benchmark": "pingpong"}),
        ("study/rubrics.py", "rubric", {}),
        ("study/take.py", "study", {}),
        ("annotate/rate.py", "as", {}),
        ("annotate/samples.py", "study", {}),
        ("annotate/annotators.py", "annotator", {}),
        ("annotate/adjudicate.py", "study", {}),
        ("trust/agreement.py", "study", {}),
        ("trust/agreement.py", "criterion", {}),
        ("trust/agreement.py", "tab", {}),
        ("trust/spot_check.py", "benchmark", {}),
        ("results/leaderboard.py", "benchmark", {}),
        ("results/leaderboard.py", "judges", {"benchmark": "pingpong"}),
        ("results/leaderboard.py", "weights", {"benchmark": "pingpong"}),
        ("results/leaderboard.py", "intervals", {"benchmark": "pingpong"}),
        ("stss/town.py", "conversation", {}),
    ],
)
def test_a_wrong_value_in_the_address_is_told(
    workspace: Workspace,
    filled: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    name: str,
    first: dict[str, str],
) -> None:
    monkeypatch.setenv("CONCORD_WORKSPACE", str(filled))
    page = AppTest.from_string(FRAME.format(file=file), default_timeout=120)
    for key, value in {**first, name: "nope"}.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    told_of = [warning.value for warning in page.warning if "nope" in warning.value]
    assert len(told_of) == 1, [warning.value for warning in page.warning]
    assert told_of[0].startswith("There is no ")


def test_a_link_to_a_study_that_there_is_not_shows_nothing_of_another(
    workspace: Workspace, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_WORKSPACE", str(filled))
    for file in ("trust/agreement.py", "study/take.py"):
        page = AppTest.from_string(FRAME.format(file=file), default_timeout=120)
        page.query_params["study"] = "nope"
        page.run()
        assert not page.exception
        assert (len(page.warning), len(page.tabs), len(page.selectbox), len(page.button)) == (1, 0, 0, 0)
