"""The real app, and a real browser to look at it with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, sync_playwright

from concord.store import access, placements, studies
from concord.workspace import Workspace

from .keeper import RUNNING, Server, fill, serving
from .starting import chromium, patient
from .widgets import shows_pages

patient()
Invite = Callable[..., str]
SIZE = ViewportSize(width=1400, height=900)
PHONE = ViewportSize(width=390, height=844)
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1"


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
        # Signs that a page is at work move at 60 frames a second, which is a tenth of what a browser takes.
        running.new_context = partial(running.new_context, reduced_motion="reduce")  # type: ignore[method-assign]
        yield running
        running.close()


@contextmanager
def lasting(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser's memory of many windows: Streamlit's scripts are compiled once, for 2 s of CPU."""
    context = browser.new_context(**options)
    # While a window of the same site is open, the process that compiled the scripts goes on.
    open = context.new_page()
    open.route("**", lambda asked: asked.fulfill(body=""))
    open.goto("http://localhost/")
    yield context
    context.close()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[BrowserContext]:
    """The browser that most tests use. Several annotators' desks may be open in it."""
    with lasting(browser, viewport=SIZE) as context:
        yield context


@pytest.fixture(scope="session")
def devices(browser: Browser) -> Iterator[BrowserContext]:
    """Another browser, which knows nothing of the first."""
    with lasting(browser, viewport=SIZE) as context:
        yield context


@pytest.fixture(scope="session")
def telephones(browser: Browser) -> Iterator[BrowserContext]:
    """The browser of a telephone."""
    looks = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    looks |= {"device_scale_factor": 2, "user_agent": IPHONE}
    with lasting(browser, **looks) as context:
        yield context


@pytest.fixture
def device(devices: BrowserContext) -> Iterator[Page]:
    """A window of another browser, in which nobody is signed in."""
    with opened(devices) as page:
        yield page


@pytest.fixture
def phone(telephones: BrowserContext) -> Iterator[Page]:
    """A window of a telephone, on which nobody is signed in."""
    with opened(telephones) as page:
        yield page


@contextmanager
def opened(context: BrowserContext) -> Iterator[Page]:
    """A window, whose broken scripts fail the test; who was signed in in it is not for the next one."""
    page = context.new_page()
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    yield page
    forget(page)
    page.close(run_before_unload=False)
    context.clear_cookies()
    assert not broken, broken


def forget(page: Page) -> None:
    """Take away how somebody read at a desk: the browser keeps it for whoever comes next."""
    with suppress(Error):  # a page that could not be loaded, or was closed, keeps nothing
        page.evaluate("localStorage.removeItem('concord-reading')")


class Window:
    """A window that one test after the other uses: a new one is a fifth of what the load of a page costs."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.broken: list[str] = []
        self.changed = False
        """Whether a test listens to it, or changes what it loads: then it is closed with the test."""
        page.on("pageerror", lambda error: self.broken.append(str(error)))
        for name in ("on", "once", "route", "add_init_script"):
            setattr(page, name, self._noting(getattr(page, name)))

    def _noting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def noted(*arguments: Any, **options: Any) -> Any:
            self.changed = True
            return call(*arguments, **options)

        return noted

    def leave(self) -> None:
        """End what the test had open, and keep the window for the next one if it is as it was."""
        if self.page.is_closed():
            return
        forget(self.page)
        if self.changed or not RUNNING:
            self.page.close()
            return
        if not shows_pages(self.page):  # else the next test may `visit` another of them
            # Of the same site as every page, so that its process goes on, and nothing is on it.
            self.page.goto(f"{RUNNING[-1].url}/_stcore/health")
            self.page.evaluate("sessionStorage.clear()")
        self.page.set_viewport_size(SIZE)
        self.page.set_default_timeout(30_000)


@pytest.fixture(scope="session")
def kept() -> list[Window]:
    """The window of the tests before; none where there is none."""
    return []


@pytest.fixture
def page(windows: BrowserContext, kept: list[Window]) -> Iterator[Page]:
    """A window of a researcher who is signed in; what went wrong in its scripts fails the test."""
    for server in RUNNING:
        server.sign_in(windows)
    if not kept or kept[0].page.is_closed():
        kept[:] = [Window(windows.new_page())]
    [window] = kept
    window.broken.clear()
    yield window.page
    broken = [*window.broken]
    window.leave()
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
