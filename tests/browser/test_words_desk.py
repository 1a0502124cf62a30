"""Labels, passages, corrections and a question about the whole at one desk, by keyboard and by mouse."""

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
from tests.browser.thumb_desk_helpers import word

from .keeper import Server, serving

pytestmark = pytest.mark.browser

RUBRIC = """
title = "Support dialogues"
unit = "each-reply"
[[criteria]]
name = "faults"
statement = "Which of these did the assistant do?"
type = "multi-label"
categories = ["answered late", "was rude", "made something up"]
[[criteria]]
name = "wrong"
statement = "Mark what is wrong."
type = "passages"
[[criteria]]
name = "better"
statement = "Write the reply as it should be."
type = "correction"
[[criteria]]
name = "outcome"
statement = "How did it end?"
unit = "conversation"
scale = "1..5"
"""
REPLY = "Ah 🙂 it comes *tomorrow*, at nine."


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server with two conversations of a study by the rubric, and the token of somebody who rates them."""
    folder = tmp_path_factory.mktemp("words")
    workspace = Workspace.open(folder / "shop")
    rubric = Numbered(rubric_of("support", tomllib.loads(RUBRIC), "support.toml"), 1)
    with workspace.write() as db:
        for number in range(2):
            said = (Message("user", "It is late."), Message("assistant", REPLY))
            conversations.save(db, Conversation("shop", f"c{number}", "m", said))
        studies.draw_study(db, "s", studies.StudyDraw(2, Filter("shop"), strata=(), rubric=rubric))
        token = access.invite(db, "Ann")
        studies.deal_study(db, "s", ["Ann"])
    with serving(workspace, folder / "log") as server:
        yield server, token


def to(page: Page, server: Server, whole: bool) -> int:
    """Go to an open item, a reply or the whole; its position."""
    where = "IS NULL" if whole else "IS NOT NULL"
    [(position,), *_] = server.rows(
        "SELECT p.position FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE i.turn {where} AND p.state = 'open' ORDER BY p.position"
    )
    page.locator(".chip").nth(int(position) - 1).click()
    return int(position)


def test_replies_and_the_whole_are_rated_by_keyboard(shop: tuple[Server, str], page: Page) -> None:
    server, token = shop
    page.goto(server.link(token))
    page.locator(".message").first.wait_for()
    at = to(page, server, whole=False)
    expect(page.locator(".question:visible .name")).to_have_text(["Faults", "Wrong", "Better"])
    page.keyboard.press("0")
    expect(page.get_by_role("checkbox", name="0, None of these")).to_be_checked()
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator(".question.active .name")).to_have_text("Wrong")
    page.keyboard.press("1")  # into the reply: Ah 🙂 it comes *tomorrow*, at nine.
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.locator(".passage .marked")).to_have_text(["*tomorrow*,", "at nine."])
    expect(page.locator(".question.active .name")).to_have_text("Better")
    page.keyboard.press("1")
    page.keyboard.press("Control+A")
    page.keyboard.type("It comes on Monday.")
    page.keyboard.press("Control+Enter")
    saved(page)
    page.keyboard.press("Enter")
    saved(page)
    found = kept(server, at)
    assert found["faults"] == (5, "")
    assert found["wrong"][1] == "14-25 26-34 of 34"
    assert found["wrong"][0] == pytest.approx(19 / 34)
    assert found["better"][1] == "It comes on Monday."
    assert 0 < found["better"][0] < 1
    at = to(page, server, whole=True)
    expect(page.locator(".question:visible .name")).to_have_text(["Outcome"])
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    saved(page)
    assert kept(server, at) == {"outcome": (4, "")}


def test_passages_are_marked_by_mouse_taken_away_undone_and_come_back(
    shop: tuple[Server, str], page: Page
) -> None:
    server, token = shop
    page.goto(server.link(token))
    page.locator(".message").first.wait_for()
    at = to(page, server, whole=False)
    passage = page.locator(".passage")
    page.mouse.dblclick(*word(page, "comes"))
    expect(passage.locator(".marked")).to_have_text(["comes"])
    saved(page)
    page.reload()
    page.locator(".message").first.wait_for()
    page.locator(".chip").nth(at - 1).click()
    expect(passage.locator(".marked")).to_have_text(["comes"])
    passage.locator(".marked").click()
    expect(passage.locator(".marked")).to_have_count(0)
    page.locator(".question", has=passage).get_by_text("Mark what is wrong.").click()
    page.keyboard.press("u")
    expect(passage.locator(".marked")).to_have_text(["comes"])
    page.get_by_role("button", name="Leave it as it is").click()
    saved(page)
    assert kept(server, at) == {"wrong": (5 / 34, "8-13 of 34"), "better": (0, REPLY)}
    page.get_by_role("button", name="Nothing to mark").click()
    saved(page)
    assert kept(server, at)["wrong"] == (0, "of 34")
