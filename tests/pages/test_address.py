"""Values of widgets that stand in the address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

APP = """
import streamlit as st
from pages.parts.address import held

usual = {"dialogues": 5, "tasks": 7}[st.selectbox("Study", ["dialogues", "tasks"], key="study")]
chosen = held(
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
