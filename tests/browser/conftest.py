"""The real app, and a real browser to look at it with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from concord.store import access, placements, studies
from concord.workspace import Workspace

from .keeper import RUNNING, Server, fill, serving
from .starting import chromium, patient

patient()
Invite = Callable[..., str]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("browser")
    workspace = Workspace.open(folder / "whalebone")
    fill(workspace)
    with serving(workspace, folder / "log") as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(**chromium())
        except Error as error:
            why = (
                "No browser could be started (set CONCORD_CHROMIUM, or `playwright install "
                f"chromium`): {error}"
            )
            if os.environ.get("CI") == "true":
                pytest.fail(why)
            pytest.skip(why)
        yield running
        running.close()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[BrowserContext]:
    """One browser's memory for all windows, so that Streamlit's scripts are loaded and compiled once."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    # While a window of the same site is open, the process that compiled the scripts goes on.
    open = context.new_page()
    open.route("**", lambda asked: asked.fulfill(body=""))
    open.goto("http://localhost/")
    yield context
    context.close()


@pytest.fixture
def page(windows: BrowserContext) -> Iterator[Page]:
    """A window of a researcher who is signed in; what went wrong in its scripts fails the test."""
    for server in RUNNING:
        server.sign_in(windows)
    page = windows.new_page()
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    yield page
    page.close()
    windows.clear_cookies()
    assert not broken, broken


@pytest.fixture
def invite(server: Server, request: pytest.FixtureRequest) -> Invite:
    """Makes an annotator with items of a study: `invite(12)` gives a token to a desk with twelve items."""
    made = 0

    def one(items: int, study: str = "keeper", *more: str) -> str:
        nonlocal made
        made += 1
        name = f"{request.node.name} {made}"
        with server.workspace.write() as db:
            token = access.invite(db, name)
            rater = access.annotator_id(db, name)
            for each in (study, *more):
                placements.assign(db, rater, [unit["id"] for unit in studies.units(db, each)][:items])
        return token

    return one
