"""The page Judge lab: divide, make a version, compare, choose, open the sealed part, adopt."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.lab import parts
from concord.rubrics import rubric_store
from concord.store import lab
from concord.workspace import Workspace
from tests.mock import lab as mock
from tests.pages.framed import FRAME


def page(**address: str) -> AppTest:
    shown = AppTest.from_string(FRAME.format(file="trust/lab.py"), default_timeout=60)
    shown.query_params.update(address)
    shown.run()
    assert not shown.exception
    return shown


def said(shown: AppTest) -> str:
    return "\n".join(each.value for each in [*shown.markdown, *shown.info, *shown.caption]).replace("\\", "")


def press(shown: AppTest, label: str) -> None:
    next(button for button in shown.button if button.label == label).click().run()
    assert not shown.exception


@pytest.fixture
def shop(workspace: Workspace) -> Workspace:
    mock.made(workspace)
    of = mock.divided(workspace)
    base = rubric_store.find(workspace, mock.RUBRIC)
    with workspace.write() as db:
        better = mock.variant(db, of, base, mock.CURE)
        for used in (base, better):
            mock.answer(db, used, of.keys(""))
    return workspace


def test_without_people_it_says_where_to_begin(workspace: Workspace) -> None:
    assert "No ratings by annotators yet" in said(page())


def test_a_study_is_divided_once_or_the_page_says_why_not(workspace: Workspace) -> None:
    mock.made(workspace, scenarios=12)
    shown = page()
    assert "enough only for a large gain" in "".join(each.value for each in shown.warning)
    press(shown, "Divide the items")
    with workspace.read() as db:
        assert len(parts.read(db, mock.STUDY).units) == 24
    assert any(button.label == "Save as a version" for button in shown.button)


def test_too_few_items_are_a_sentence(workspace: Workspace) -> None:
    mock.made(workspace, scenarios=4)
    shown = page()
    press(shown, "Divide the items")
    assert "8 items" in "".join(each.value for each in shown.error)


def test_the_bench_keeps_a_version_and_compares_two_of_one_judge(shop: Workspace) -> None:
    used = rubric_store.find(shop, mock.RUBRIC, 2)
    with shop.write() as db:
        mock.answer(db, used, parts.read(db, mock.STUDY).keys("develop"), "z-judge")
    shown = page()
    assert "mock-judge by shop v2 agrees with annotators better than mock-judge by shop v1" in said(shown)
    assert not any(button.label.startswith("Adopt") for button in shown.button)
    shown.text_area[0].set_value("Rate deeds").run()
    press(shown, "Save as a version")
    with shop.read() as db:
        assert "shop v3" in lab.origins(db, mock.STUDY)
        assert rubric_store.used(db, mock.RUBRIC, 3).rubric.judge.instructions == "Rate deeds"


@pytest.mark.parametrize(("one", "other", "offered"), [(1, 2, True), (2, 1, False)])
def test_only_a_version_that_is_shown_to_be_better_can_be_adopted(
    shop: Workspace, one: int, other: int, offered: bool
) -> None:
    shown = page(step="test")
    for label, version in (("From", one), ("To", other)):
        box = next(box for box in shown.selectbox if box.label == label)
        box.set_value(next(judge for judge in box.options if judge.endswith(f"v{version}"))).run()
    next(t for t in shown.text_input if t.label.startswith("Why")).set_value("chosen").run()
    shown.checkbox[0].check().run()
    press(shown, "Open the test part")
    assert any(button.label == f"Adopt shop v{other}" for button in shown.button) == offered
    if offered:
        press(shown, "Adopt shop v2")
        assert rubric_store.find(shop, mock.RUBRIC).version == 2


def test_the_best_on_select_is_named(shop: Workspace) -> None:
    assert "Best on select: mock-judge by shop v2" in said(page(step="choose"))


def test_the_sealed_part_stays_closed_until_both_have_answered_it(shop: Workspace) -> None:
    used = rubric_store.find(shop, mock.RUBRIC, 2)
    with shop.write() as db:
        mock.answer(db, used, parts.read(db, mock.STUDY).keys("select"), "z-judge")
    shown = page(step="test")
    next(t for t in shown.text_input if t.label.startswith("Why")).set_value("chosen").run()
    shown.checkbox[0].check().run()
    boxes = {box.label: box for box in shown.selectbox}
    boxes["To"].set_value(next(j for j in boxes["To"].options if j.startswith("z-judge"))).run()
    assert "z-judge by shop v2 has not answered 20 conversations of “test” yet" in said(shown)
    assert next(b for b in shown.button if b.label == "Open the test part").disabled


def test_the_sealed_part_opens_with_a_reason_only(shop: Workspace) -> None:
    shown = page(step="test")
    assert next(b for b in shown.button if b.label == "Open the test part").disabled
    next(t for t in shown.text_input if t.label.startswith("Why")).set_value("chosen").run()
    shown.checkbox[0].check().run()
    press(shown, "Open the test part")
    assert "agrees with annotators better" in said(shown)
    with shop.read() as db:
        assert [one.detail for one in lab.openings(db, mock.STUDY)] == ["chosen"]


def test_disagreements_lead_to_their_desk(shop: Workspace) -> None:
    shown = page(step="review")
    assert any(button.label == "Mark why they differ" for button in shown.button)
    assert "disagreements have a cause" in said(shown)
