"""The annotator's desk, driven by the keyboard as an annotator does, and compared with what the store holds afterwards."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Page, expect

from .conftest import Invite
from .keeper import CRITERIA, Server

pytestmark = pytest.mark.browser


def open_desk(page: Page, server: Server, token: str, study: str = "") -> None:
    page.goto(server.link(token, study))
    page.locator(".message").first.wait_for()


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def answers(server: Server, token_name: str) -> list[tuple[int, str, int]]:
    """(position, criterion, score) of every answer somebody gave."""
    return server.rows(
        "SELECT a.position, r.criterion, cast(r.score AS int) FROM ratings r JOIN raters x ON x.id = r.rater_id "
        "JOIN study_units u ON u.study_id = r.study_id AND u.conversation_id = r.conversation_id AND ifnull(u.turn, 0) = ifnull(r.turn, 0) "
        "JOIN assignments a ON a.unit_id = u.id AND a.rater_id = r.rater_id WHERE x.name = ? ORDER BY a.position, r.id",
        token_name,
    )


@pytest.mark.parametrize("gap", [0, 10, 25])
def test_fast_typing_loses_and_shifts_nothing(
    page: Page, server: Server, invite: Invite, request: pytest.FixtureRequest, gap: int
) -> None:
    chance = random.Random(gap)
    open_desk(page, server, invite(40))
    given = [[chance.randint(1, 5) for _ in CRITERIA] for _ in range(40)]
    for scores in given:
        for score in scores:
            page.keyboard.press(str(score))
            page.wait_for_timeout(gap) if gap else None
        page.keyboard.press("Enter")
        page.wait_for_timeout(gap) if gap else None
    expect(page.locator(".end h1")).to_contain_text("All done")
    saved(page)
    wanted = [
        (i + 1, c.name, score)
        for i, scores in enumerate(given)
        for c, score in zip(CRITERIA, scores, strict=True)
    ]
    assert sorted(answers(server, f"{request.node.name} 1")) == sorted(wanted)
