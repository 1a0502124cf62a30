"""A session that ends while somebody works: the desk goes on, and nothing that was pressed is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from concord.store import access, sessions

from .keeper import Server
from .restarts import house, rate
from .widgets import until

pytestmark = pytest.mark.browser
PASSPHRASE = "eleven ships in one night"


def end_all(server: Server) -> None:
    with server.workspace.write() as db:
        for session in sessions.live(db):
            sessions.end(db, session.id)


def test_an_annotator_who_is_signed_out_rates_on_and_opens_the_link_again(page: Page, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        made.open(page, "Annotator 1")
        assert made.server is not None
        assert "token" not in page.url
        given = rate(page, 1)
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        end_all(made.server)
        given += rate(page, 2)
        expect(page.locator(".out")).to_contain_text("Open your link again")
        given += rate(page, 3)
        expect(page.get_by_role("button", name="Item 3, submitted")).to_be_visible()
        assert made.stored("Annotator 1") == given[:3]
        # In the same window: the page is left while the server knows nothing of the answers.
        page.goto(made.server.link(made.tokens["Annotator 1"]))
        expect(page.get_by_role("button", name="Item 3, submitted")).to_be_visible()
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        assert made.stored("Annotator 1") == given
        given += rate(page, 4)
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        assert made.stored("Annotator 1") == given


def test_a_researcher_signed_out_at_a_desk_signs_in_in_the_same_window(page: Page, tmp_path: Path) -> None:
    with house(tmp_path) as made:
        assert made.server is not None
        with made.workspace.write() as db:
            access.set_passphrase(db, PASSPHRASE)
        made.server.sign_in(page.context)
        page.goto(f"{made.server.url}/rate?as=Annotator 1")
        page.locator(".message").first.wait_for()
        end_all(made.server)
        given = rate(page, 1)
        expect(page.locator(".out")).to_contain_text("Sign in again")
        given += rate(page, 2)
        page.get_by_role("button", name="Sign in").click()
        passphrase = page.get_by_label("Researchers' passphrase")
        passphrase.fill(PASSPHRASE)
        passphrase.press("Enter")
        expect(page.get_by_role("button", name="Item 2, submitted")).to_be_visible()
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        assert made.stored("Annotator 1") == given


def test_a_researcher_sees_who_is_signed_in_and_signs_others_out(page: Page, server: Server) -> None:
    with server.workspace.write() as db:
        for source in ("203.0.113.8", "203.0.113.9"):
            sessions.begin(db, "passphrase", source=source, browser="a browser")
    page.goto(f"{server.url}/sessions")
    table = page.get_by_test_id("stDataFrame")
    expect(table.get_by_text("203.0.113.8")).to_be_attached()
    expect(table.get_by_text("(this browser)")).to_be_attached()
    box = page.get_by_label("Session", exact=True).and_(page.locator("input")).first
    option = page.get_by_role("option", name=re.compile("203.0.113.9"))
    until(box.click, option)  # a run of the page closes an open list
    option.click()
    page.get_by_role("button", name="Sign it out").click()
    expect(page.get_by_text("Signed out:")).to_be_visible()
    page.get_by_role("button", name="Sign out all others").click()
    expect(table.get_by_text("203.0.113.8")).not_to_be_attached()
    expect(table.get_by_text("(this browser)")).to_be_attached()
    with server.workspace.read() as db:
        assert [session.kind for session in sessions.live(db)] == ["local"]
