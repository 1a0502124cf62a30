"""The form that draws a study."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from concord.store import access, studies
from concord.store.conversations import Filter
from concord.studies.drawing import StudyDraw, draw_study, left_to_draw
from concord.workspace import Workspace
from tests.filled import fill
from tests.pages.framed import FRAME

FORM = """
from pages.annotate.samples_draw import form

form()
"""


def named(widgets: Any, label: str) -> Any:
    """The widget with this label."""
    return next(widget for widget in widgets if widget.label == label)


def test_a_sample_is_spread_over_what_is_chosen(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)
    page = AppTest.from_string(FORM, default_timeout=120).run()
    named(page.number_input, "Conversations").set_value(16).run()
    named(page.multiselect, "Stratify by").set_value(["player"]).run()
    named(page.text_input, "Name of the study").set_value("next").run()
    named(page.button, "Create study").click().run()
    assert not page.exception
    with workspace.read() as db:
        drawn = studies.get(db, "next").sample
    assert (drawn.facets, drawn.size) == (("player",), 16)


def test_more_is_drawn_for_a_study_from_what_it_left(workspace: Workspace) -> None:
    """The address that the page of agreement leads to."""
    with workspace.write() as db:
        fill(db, languages=("en", "ru"), people=False)
        draw_study(db, "first", StudyDraw(10, Filter("pingpong", "ru", ("alder",)), ask=["fluency"]))
        left = left_to_draw(db, studies.get(db, "first"))
    page = AppTest.from_string(FORM, default_timeout=120)
    page.query_params["study"], page.query_params["draw"] = "first", "more"
    page.run()
    assert not page.exception
    assert named(page.multiselect, "Exclude conversations of").value == ["first"]
    assert named(page.multiselect, "Players").value == ["alder"]
    assert named(page.number_input, "Conversations").value == left == 6


def test_a_study_is_drawn_and_dealt(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)
        for person in ("Ada", "Bo"):
            access.invite(db, person)
    page = AppTest.from_string(FRAME.format(file="annotate/samples.py"), default_timeout=120).run()
    assert "Still needed: a name." in [caption.value for caption in page.caption]
    assert named(page.button, "Create study").disabled
    assert named(page.number_input, "Conversations").help == "There are 64."
    named(page.text_input, "Name of the study").set_value("pilot").run()
    named(page.number_input, "Conversations").set_value(999).run()
    named(page.button, "Create study").click().run()
    assert "There are 64 candidates for 999 units" in page.error[0].value.replace("\\", "")
    named(page.number_input, "Conversations").set_value(12).run()
    named(page.button, "Create study").click().run()
    assert "Study “pilot” created: 12 items." in page.success[0].value.replace("\\", "")
    with workspace.read() as db:
        study = studies.get(db, "pilot")
    assert [c.name for c in study.criteria] == ["in_character", "entertaining", "fluency"]
    assert "## Fluency" in study.guidelines
    named(page.button, "Assign").click().run()
    assert "Assigned. Ada: 12 items, Bo: 12 items" in page.success[0].value.replace("\\", "")


def test_an_unsaved_study_is_there_again_until_it_is_kept_or_discarded(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)
    page = AppTest.from_string(FORM, default_timeout=120).run()
    named(page.text_input, "Name of the study").set_value("next").run()
    named(page.number_input, "Conversations").set_value(16).run()
    named(page.multiselect, "Stratify by").set_value(["player"]).run()
    named(page.text_area, "Guidelines in Markdown").set_value("Read slowly.").run()

    again = AppTest.from_string(FORM, default_timeout=120).run()
    assert named(again.text_input, "Name of the study").value == "next"
    assert named(again.number_input, "Conversations").value == 16
    assert named(again.multiselect, "Stratify by").value == ["player"]
    assert named(again.text_area, "Guidelines in Markdown").value == "Read slowly."
    named(again.button, "Discard my changes").click().run()
    assert named(again.text_input, "Name of the study").value == ""
    assert named(again.number_input, "Conversations").value == 64
    assert not [button for button in again.button if button.label == "Discard my changes"]

    named(again.text_input, "Name of the study").set_value("other").run()
    named(again.button, "Create study").click().run()
    assert not again.exception
    later = AppTest.from_string(FORM, default_timeout=120).run()
    assert named(later.text_input, "Name of the study").value == ""


def test_of_two_who_save_guidelines_the_second_sees_both(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)
        draw_study(db, "first", StudyDraw(4, Filter("pingpong"), ask=["fluency"]))
    windows = [
        AppTest.from_string(FRAME.format(file="annotate/samples.py"), default_timeout=120).run()
        for _ in range(2)
    ]
    for window, text in zip(windows, ("Mine.", "Yours."), strict=True):
        named(window.text_area, "Guidelines in Markdown").set_value(text).run()
    for window in windows:
        named(window.button, "Save the guidelines").click().run()
    with workspace.read() as db:
        assert studies.get(db, "first").guidelines == "Mine."
    assert "Another version of this text was saved" in windows[1].error[0].value
    named(windows[1].button, "Use my version and overwrite the other").click().run()
    named(windows[1].button, "Save the guidelines").click().run()
    with workspace.read() as db:
        assert studies.get(db, "first").guidelines == "Yours."
