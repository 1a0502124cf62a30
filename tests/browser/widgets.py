"""Streamlit's widgets, used as a person uses them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TookTooLong

from .keeper import Server

TRIES = 10
SOON = 6000
"""Milliseconds after which an act is tried again."""
MOVE = """
address => new Promise(begun => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...sent) {
    WebSocket.prototype.send = send;
    const drawn = () => requestAnimationFrame(() => requestAnimationFrame(begun));
    this.addEventListener("message", drawn, { once: true });
    return send.apply(this, sent);
  };
  setTimeout(begun, 20000);
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
})
"""
"""Resolves when the run of the page at an address has begun: a short one may be over by then."""


def move(page: Page, url: str) -> None:
    """Go to another address of the app that the window shows, as a link within the app does: nothing is
    loaded, which costs two thirds of a visit. Widgets with a key keep their values.
    """
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    page.evaluate(MOVE, url)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()


def visit(page: Page, url: str) -> None:
    """Go to an address of a researcher's pages: inside the app where the window shows them (`shows_pages`),
    else by loading it. `page.goto` begins a new session.
    """
    where = urlsplit(url)
    if shows_pages(page) and urlsplit(page.url).netloc == where.netloc:
        move(page, url)
    else:
        page.goto(url)


def shows_pages(page: Page) -> bool:
    """Whether a window shows the app to a researcher."""
    return page.locator("[data-testid=stSidebarNav]").count() > 0


def choose(page: Page, label: str, *names: str) -> None:
    """Pick from a select box or a multiselect, as one types into it.

    A run of the page draws an open list anew and takes the option away from under the pointer: then the list
    is opened again.
    """
    box = page.get_by_label(label, exact=True).and_(page.locator("input")).first
    for name in names:
        for left in reversed(range(TRIES)):
            box.click()
            box.fill(name)
            try:
                page.get_by_role("option", name=re.compile(f"^{re.escape(name)}")).first.click(timeout=6000)
                break
            except TookTooLong:
                if not left:
                    raise
                page.keyboard.press("Escape")
    if len(names) > 1:
        # A list of several stays open; in a box for one, Escape would take the choice back.
        page.keyboard.press("Escape")


def until(act: Callable[[], object], seen: Locator) -> None:
    """Act until something is seen: a chart that is drawn anew as its width changes loses a click on it."""
    again(act, lambda: seen.first.wait_for(timeout=SOON))


def again(act: Callable[[], object], holds: Callable[[], object]) -> None:
    """Act until something holds, which raises an error as long as it does not."""
    for left in reversed(range(TRIES)):
        act()
        try:
            holds()
            return
        except (TookTooLong, AssertionError):
            if not left:
                raise


def write_rubric(app: Server, page: Page, name: str, text: str) -> None:
    """Write a rubric on its page, and save it."""
    page.goto(f"{app.url}/rubrics")
    page.get_by_role("button", name="New rubric").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Name", exact=True).press("Enter")
    field = page.get_by_label("The rubric as TOML")
    expect(field).to_have_value(re.compile('^.*title = ""', re.DOTALL))  # that of a new one is in its place
    # A run of the page that is under way may put its own text over the one that is written.
    statement = tomllib.loads(text)["criteria"][0]["statement"]
    shown = page.get_by_role("tabpanel").get_by_text(statement).first  # as annotators see it

    def write() -> None:
        field.fill(text)
        field.press("Control+Enter")

    again(write, lambda: expect(shown).to_be_visible(timeout=SOON))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{name} is saved.")).to_be_visible()


def bring(app: Server, page: Page, file: Path, recognised: str) -> None:
    """Choose a file on the page Import, which says what it holds."""
    move(page, f"{app.url}/import")
    page.locator("input[type=file]").set_input_files(file)
    drawn(page, recognised)


def drawn(page: Page, words: str) -> None:
    """The page shows these words, and is complete: what it showed before is gone."""
    expect(page.get_by_text(words).first).to_be_visible()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
