"""What helps at the desk: tools folded, JSON as code, replies of one dialogue, time left, lists, help."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Conversation, Message
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, conversations
from concord.store.conversations import Filter
from concord.studies import studies
from concord.workspace import Workspace
from tests.browser.every_page_helpers import faults
from tests.browser.rubric_desk_helpers import saved
from tests.browser.thumb_desk_helpers import come

from .keeper import Server, serving

pytestmark = pytest.mark.browser

RUBRIC = """
unit = "each-reply"
[[criteria]]
name = "helpful"
statement = "The reply helps."
scale = "1..7"
guideline = "Think of the **customer**: 7 means that all is solved."
"""
CALL = 'get_order({"id": 5})'
RESULT = '{"status": "late", "items": [{"name": "<b>cup</b>"}]}'


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A desk with three dialogues of three replies each, of which the second is JSON and follows a tool."""
    folder = tmp_path_factory.mktemp("aids")
    workspace = Workspace.open(folder / "shop")
    rubric = Numbered(rubric_of("support", tomllib.loads(RUBRIC), "support.toml"), 1)
    with workspace.write() as db:
        for n in range(3):
            said = (
                Message("user", f"Where is it, {n}?"),
                Message("assistant", "Which parcel? " * 60),
                Message("user", "Number 5."),
                Message("tool", CALL, {"calls": True}),
                Message("tool", RESULT),
                Message("assistant", '{"eta": [1, 2]}'),
                Message("user", "So?"),
                Message("assistant", "Soon."),
            )
            conversations.save(db, Conversation("shop", f"c{n}", "m", said))
        studies.draw_study(db, "s", studies.StudyDraw(3, Filter("shop"), strata=(), rubric=rubric))
        token = access.invite(db, "Ann")
        studies.deal_study(db, "s", ["Ann"])
    with serving(workspace, folder / "log") as server:
        yield server, server.link(token)


def at(page: Page, number: int) -> None:
    expect(page.locator(".chip[aria-current]")).to_have_text(str(number))


def test_tools_are_folded_and_json_is_set_as_code(desk: tuple[Server, str], page: Page) -> None:
    come(page, desk[1])
    tools = page.locator(".message.tool")
    expect(tools).to_have_count(2)
    expect(tools.first.locator("summary")).to_have_text(f"Tool call 2 {CALL}")
    expect(tools.first.locator("pre")).to_be_hidden()
    tools.first.locator("summary").click()
    tools.nth(1).locator("summary").click()
    expect(tools.first.locator(".text")).to_have_text(re.compile("get_order"))
    expect(tools.first.locator("pre")).to_have_text('{\n  "id": 5\n}')
    expect(tools.nth(1).locator("pre")).to_contain_text('"name": "<b>cup</b>"')
    expect(page.locator(".message.reply pre")).to_have_text('{\n  "eta": [\n    1,\n    2\n  ]\n}')
    page.locator(".statement").click()
    page.keyboard.press("m")  # letter for letter
    expect(page.locator(".message.tool")).to_have_count(0)
    expect(page.get_by_text(RESULT)).to_be_visible()


def test_replies_of_one_dialogue_are_rated_on_one_screen(desk: tuple[Server, str], page: Page) -> None:
    come(page, desk[1])
    siblings = page.locator(".sibling")
    expect(siblings).to_have_text(["Rate this one", "Rate this one"])
    siblings.last.click()
    at(page, 3)
    expect(page.locator(".message.rated.reply")).to_contain_text("Soon.")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    at(page, 4)  # the next open one
    page.locator(".chip").first.click()
    expect(siblings).to_have_text(["Rate this one", "submitted 5"])
    page.keyboard.press("2")
    siblings.first.click()
    at(page, 2)
    expect(siblings).to_have_text(["Continue rating 2", "submitted 5"])
    saved(page)


def test_time_left_and_what_was_skipped_and_flagged(desk: tuple[Server, str], page: Page) -> None:
    server, link = desk
    come(page, link)
    page.keyboard.press("l")
    expect(page.locator(".notice")).to_contain_text("no skipped or flagged items")
    expect(page.locator(".left")).to_have_text("")
    for answer in "345":
        page.keyboard.press(answer)
        page.keyboard.press("Enter")
    at(page, 4)
    saved(page)
    with server.workspace.write() as db:
        db.execute("UPDATE placements SET seconds = 120 WHERE state = 'done'")
    page.keyboard.press("s")
    page.keyboard.press("3")
    at(page, 5)
    expect(page.locator(".left")).to_have_text("about 10 min left")  # five items of two minutes
    page.keyboard.press("f")
    page.keyboard.type("odd")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("ArrowRight")
    saved(page)
    come(page, link)
    page.locator(".chip").last.click()
    page.keyboard.press("l")
    expect(page.locator(".dialog.mine li")).to_have_text(
        ["Item 4 The dialogue is broken or cut off", "Item 5 odd"]
    )
    page.get_by_role("button", name="Item 4", exact=True).click()
    at(page, 4)


def test_a_question_is_explained_beside_it(desk: tuple[Server, str], page: Page) -> None:
    come(page, desk[1])
    words = page.locator(".question .help .prose")
    expect(words).to_be_hidden()
    page.get_by_text("What counts?").click()
    expect(words).to_have_text("Think of the customer: 7 means that all is solved.")
    expect(words.locator("strong")).to_have_text("customer")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    at(page, 2)
    expect(words).to_be_visible()  # as it was left


def test_limits_are_told_before_one_writes(desk: tuple[Server, str], page: Page) -> None:
    come(page, desk[1])
    page.keyboard.press("f")
    expect(page.locator(".dialog .hint", has_text="At most 2,000 characters")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.locator(".dialog .hint", has_text="At most 500 characters")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_at_the_desk_can_be_read_in_both_themes(
    desk: tuple[Server, str], device: Page, scheme: Literal["light", "dark"]
) -> None:
    device.emulate_media(color_scheme=scheme)
    come(device, desk[1])
    device.keyboard.press("f")
    device.keyboard.type("odd")
    device.keyboard.press("Control+Enter")
    expect(device.get_by_role("button", name="Flagged", exact=False).last).to_be_visible()
    device.get_by_text("What counts?").click()
    device.locator(".message.tool summary").first.click()
    saved(device)
    assert not faults(device, "color-contrast", "target-size")
