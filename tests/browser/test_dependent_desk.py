"""Questions that depend on an answer, at the desk: they come and go at once, by keyboard and thumb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.workspace import Workspace
from tests.browser.rubric_desk_helpers import saved
from tests.browser.thumb_desk_helpers import Shop, come

from .keeper import serving

pytestmark = pytest.mark.browser

VERDICT = """
[[criteria]]
name = "verdict"
statement = "Did it work?"
categories = ["pass", "fail"]
[[criteria]]
name = "faults"
statement = "Which faults?"
type = "multi-label"
categories = ["late", "rude"]
when = { verdict = "fail" }
[[criteria]]
name = "how_rude"
statement = "How rude was it?"
scale = "1..5"
when = { faults = "rude" }
reason = { above = 3 }
[[criteria]]
name = "overall"
statement = "How good is it?"
scale = "1..5"
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("dependent")
    workspace = Workspace.open(folder / "shop")
    with serving(workspace, folder / "log") as server:
        yield Shop(server)


def asks(page: Page, *names: str) -> None:
    expect(page.locator(".question:visible .name")).to_have_text([*names])


def marked(page: Page, name: str) -> None:
    expect(page.locator(".question.active .name")).to_have_text(name)


def test_what_an_answer_asks_for_comes_and_goes_by_keyboard(shop: Shop, page: Page) -> None:
    come(page, shop.desk(VERDICT))
    asks(page, "Verdict", "Overall")
    page.keyboard.press("2")
    asks(page, "Verdict", "Faults", "Overall")
    marked(page, "Faults")
    page.keyboard.press("2")
    asks(page, "Verdict", "Faults", "How rude", "Overall")
    page.keyboard.press("Enter")
    marked(page, "How rude")
    page.keyboard.press("4")  # needs a reason, which is asked for at once
    expect(page.locator("textarea:focus")).to_have_attribute("placeholder", "Why? (needed)")
    page.keyboard.type("it shouted")
    page.keyboard.press("Enter")
    page.keyboard.press("3")
    saved(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("1")  # pass: what it asked for is hidden, and is there again for another answer
    asks(page, "Verdict", "Overall")
    marked(page, "Overall")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")
    asks(page, "Verdict", "Faults", "How rude", "Overall")
    expect(page.get_by_role("radio", name="4", exact=True).first).to_be_checked()
    page.reload()
    asks(page, "Verdict", "Faults", "How rude", "Overall")
    page.keyboard.press("ArrowUp")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".chip[aria-current]")).to_have_text("2")
    saved(page)
    assert shop.answers() == [("overall", 3, ""), ("verdict", 0, "")]
    page.keyboard.press("ArrowLeft")
    page.locator(".question").first.click()
    page.keyboard.press("2")  # a submitted item that asks for more is open again
    asks(page, "Verdict", "Faults", "Overall")
    marked(page, "Faults")
    expect(page.locator(".chip").first).to_have_class("chip open ")
    page.keyboard.press("u")
    asks(page, "Verdict", "Overall")


def test_what_an_answer_asks_for_comes_and_goes_by_thumb(shop: Shop, phone: Page) -> None:
    come(phone, shop.desk(VERDICT))
    steps = phone.locator(".steps li:visible")
    expect(steps).to_have_text(["Verdict", "Overall"])
    phone.get_by_role("radio", name="2, fail").tap()
    expect(steps).to_have_text(["Verdict", "Faults", "Overall"])
    expect(phone.locator(".steps .active")).to_have_text("Faults")
    phone.get_by_role("checkbox", name="1, late").tap()
    steps.nth(2).tap()
    phone.get_by_role("radio", name="4", exact=True).tap()
    phone.get_by_role("button", name="Submit").tap()
    expect(phone.locator(".chip[aria-current]")).to_have_text("2")
    saved(phone)
    assert sorted(shop.answers()) == [("faults", 1, ""), ("overall", 4, ""), ("verdict", 1, "")]


def test_a_hidden_question_takes_no_key_from_another_window(shop: Shop, page: Page) -> None:
    link = shop.desk(VERDICT)
    come(page, link)
    page.keyboard.press("2")
    marked(page, "Faults")
    other = page.context.new_page()
    come(other, link)
    other.locator(".question").first.click()
    other.keyboard.press("1")
    saved(other)
    asks(page, "Verdict", "Overall")
    marked(page, "Overall")
    other.close()
