"""A desk with a question of every type, rated by keyboard and by mouse, and compared with the store."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, conversations
from concord.store.conversations import Filter
from concord.studies import studies
from concord.workspace import Workspace
from tests.browser.rubric_desk_helpers import kept, saved

from .keeper import Server, serving

pytestmark = pytest.mark.browser

RUBRIC = """
title = "Support dialogues"
show = ["System prompt", "order"]
[[criteria]]
name = "solved"
statement = "The problem is solved."
scale = "1..7"
anchors = { 1 = "Not at all", 7 = "Wholly" }
reason = "optional"
[[criteria]]
name = "polite"
statement = "The assistant is polite."
type = "yes-no"
[[criteria]]
name = "cause"
statement = "What was the problem about?"
categories = ["billing", "delivery", "something else"]
[[criteria]]
name = "effort"
statement = "How much effort did it cost the user?"
type = "number"
[[criteria]]
name = "refund_right"
statement = "The refund was right."
only = { topic = "refund" }
[[criteria]]
name = "safe"
statement = "Nothing said is dangerous."
reason = "required"
[[criteria]]
name = "humour"
statement = "It was funny."
required = false
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server with two conversations of a study by the rubric, and the token of somebody who rates them."""
    folder = tmp_path_factory.mktemp("rubric")
    workspace = Workspace.open(folder / "shop")
    rubric = Numbered(rubric_of("support", tomllib.loads(RUBRIC), "support.toml"), 1)
    with workspace.write() as db:
        for number, topic in enumerate(("parcel", "parcel")):
            said = (Message("system", "Returns within 30 days."), Message("user", "It is late."))
            said += (Message("assistant", "It comes tomorrow."),)
            facets = {"topic": topic, "order": f"A-{number}"}
            conversations.save(db, Conversation("shop", f"c{number}", "m", said, facets=facets))
        studies.draw_study(db, "s", studies.StudyDraw(2, Filter("shop"), strata=(), rubric=rubric))
        token = access.invite(db, "Ann")
        studies.deal_study(db, "s", ["Ann"])
    with serving(workspace, folder / "log") as server:
        yield server, token


def test_every_type_of_question_is_rated_by_keyboard(shop: tuple[Server, str], page: Page) -> None:
    server, token = shop
    page.goto(server.link(token))
    page.locator(".message").first.wait_for()
    expect(page.locator(".body > .card summary")).to_have_text(["System prompt", "order"])
    expect(page.locator(".message", has_text="Returns within 30 days.")).to_have_count(0)  # shown once
    expect(page.locator(".question:visible .name")).to_have_count(6)  # not the one about refunds
    page.keyboard.press("6")
    page.keyboard.press("w")
    page.keyboard.type("It comes, 2 days late")
    page.keyboard.press("Enter")
    page.keyboard.press("1")  # polite
    page.keyboard.press("2")  # delivery
    page.keyboard.press("7")  # effort: the first digit goes into the field, and may be all
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.type("73")
    page.keyboard.press("Enter")
    page.keyboard.press("4")  # safe, whose reason is needed: the words are asked for at once
    page.keyboard.type("Nothing hot")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("Still to answer: Safe.")
    page.keyboard.press("w")
    page.keyboard.type("Nothing hot")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # humour need not be answered
    expect(page.locator(".chip[aria-current]")).to_have_text("2")
    saved(page)
    assert kept(server, 1) == {
        "solved": (6, "It comes, 2 days late"),
        "polite": (1, ""),
        "cause": (1, ""),
        "effort": (73, ""),
        "safe": (4, "Nothing hot"),
    }
    assert server.rows("SELECT state FROM placements WHERE position = 1") == [("done",)]


def test_every_type_of_question_is_rated_by_mouse_and_comes_back(
    shop: tuple[Server, str], page: Page
) -> None:
    server, token = shop
    page.goto(server.link(token))
    page.locator(".message").first.wait_for()
    page.locator(".chip").nth(1).click()
    question = page.locator(".question:visible")
    question.nth(0).get_by_role("radio", name="7, Wholly").click()
    question.nth(0).get_by_role("textbox").fill("all fine")
    question.nth(1).get_by_role("radio", name="1, Yes").click()
    question.nth(2).get_by_role("radio", name="3, something else").click()
    slider = question.nth(3).get_by_role("slider")
    slider.click()  # the middle, where an untouched slider would stand
    expect(question.nth(3).get_by_role("spinbutton")).to_have_value("50")
    field = question.nth(3).get_by_role("spinbutton")
    field.fill("400")
    field.press("Enter")
    expect(page.locator(".notice")).to_contain_text("Write a whole number from 0 to 100.")
    question.nth(4).get_by_role("radio", name="2").click()
    page.keyboard.type("hm")
    page.keyboard.press("Enter")
    saved(page)
    page.reload()
    page.locator(".message").first.wait_for()
    page.locator(".chip").nth(1).click()
    expect(question.nth(0).get_by_role("textbox")).to_have_value("all fine")
    expect(question.nth(3).get_by_role("spinbutton")).to_have_value("50")
    assert kept(server, 2) == {
        "solved": (7, "all fine"),
        "polite": (1, ""),
        "cause": (2, ""),
        "effort": (50, ""),
        "safe": (2, "hm"),
    }


def test_a_slider_has_a_key_for_each_place_and_stands_nowhere_at_first(
    tmp_path_factory: pytest.TempPathFactory, page: Page
) -> None:
    folder = tmp_path_factory.mktemp("slider")
    workspace = Workspace.open(folder / "slider")
    text = """
        [[criteria]]
        name = "warmth"
        statement = "How warm is it?"
        type = "slider"
        anchors = { 0 = "cold", 10 = "warm" }
    """
    rubric = Numbered(rubric_of("feel", tomllib.loads(text), "feel.toml"), 1)
    with workspace.write() as db:
        for number in range(3):
            said = (Message("user", "It is late."), Message("assistant", "It comes."))
            conversations.save(db, Conversation("shop", f"c{number}", "m", said))
        studies.draw_study(db, "s", studies.StudyDraw(3, Filter("shop"), strata=(), rubric=rubric))
        token = access.invite(db, "Ann")
        studies.deal_study(db, "s", ["Ann"])
    with serving(workspace, folder / "log") as server:
        page.goto(server.link(token))
        page.locator(".message").first.wait_for()
        slider, shown = page.get_by_role("slider"), page.locator(".question output")
        expect(shown).to_have_text("–")
        expect(page.locator(".measure")).to_have_text("coldwarm X–")
        page.keyboard.press("x")
        expect(shown).to_have_text("10")
        expect(slider).to_have_value("10")
        page.keyboard.press("u")
        expect(shown).to_have_text("–")
        page.keyboard.press("7")
        page.keyboard.press("Enter")
        expect(page.locator(".chip[aria-current]")).to_have_text("2")
        expect(shown).to_have_text("–")
        slider.click()  # the middle, where an untouched slider would stand
        expect(shown).to_have_text("5")
        page.keyboard.press("Enter")
        page.keyboard.press("?")
        expect(page.locator(".dialog th").first).to_have_text("0123456789X")
        page.keyboard.press("Escape")
        page.keyboard.press("x")
        saved(page)
        assert [kept(server, item)["warmth"][0] for item in (1, 2, 3)] == [7, 5, 10]


def test_a_rubric_is_written_on_its_page_with_a_preview(shop: tuple[Server, str], page: Page) -> None:
    server, _ = shop
    page.goto(f"{server.url}/rubrics")
    page.get_by_label("Name", exact=True).fill("replies")
    page.get_by_label("Name", exact=True).press("Enter")
    text = page.get_by_label("The rubric as TOML")
    text.fill('unit = "last-reply"\n[[criteria]]\nname = "kind"\nstatment = "The reply is kind."\n')
    text.press("Control+Enter")
    expect(page.get_by_text("There is no field “statment”. Did you mean “statement”?")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    text.fill('unit = "last-reply"\n[[criteria]]\nname = "kind"\nstatement = "The reply is kind."\n')
    text.press("Control+Enter")
    expect(page.get_by_text("one step of a scale, compared by their order")).to_be_visible()
    text.fill("title")
    text.press("Control+Enter")
    expect(page.get_by_text("This is not valid TOML")).to_be_in_viewport()
    expect(page.get_by_text("one step of a scale, compared by their order")).to_have_count(0)
    text.fill('unit = "last-reply"\n[[criteria]]\nname = "kind"\nstatement = "The reply is kind."\n')
    text.press("Control+Enter")
    page.get_by_role("tab", name="As judges see it").click()
    expect(page.get_by_text("Answer the questions about the reply in turn 1 alone")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    file = server.workspace.path / "rubrics" / "replies.toml"
    expect(page.get_by_text("replies is saved.")).to_be_visible()
    expect(page.get_by_label("Rubric", exact=True).and_(page.locator("input"))).to_have_value("replies")
    expect(page.get_by_role("button", name="Draw a sample for annotators")).to_be_visible()
    assert 'unit = "last-reply"' in file.read_text()
