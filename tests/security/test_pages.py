"""Every page runs under the Content-Security-Policy, and asks no other host for anything.

What untrusted texts hold (addresses of other hosts, in all the ways that Markdown and HTML know) is on the
pages that are walked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from core.store import access, studies
from core.workspace import Workspace
from pages.parts.navigation import SECTIONS
from pages.parts.server.headers import headers, inline_scripts
from tests.browser.keeper import ROOT, Server, serving

pytestmark = pytest.mark.browser
MORE = ("conversations?conversation=1", "agreement?study=demo", "town?task=harvest-supper&architecture=GA%2BTDP")
ADDRESSES = [page.address for pages in SECTIONS.values() for page in pages] + [*MORE]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The demo, in which every page has something to show."""
    folder = tmp_path_factory.mktemp("pages")
    workspace = Workspace.open(folder / "demo")
    # In a process of its own: the browser's driver keeps an event loop running in this one.
    build = ["-c", "from core.cli import main; main()", "--workspace", str(workspace.path), "demo", "--no-app"]
    subprocess.run([sys.executable, *build], cwd=ROOT, check=True, capture_output=True)
    with serving(workspace, folder / "log") as running:
        yield running


@contextmanager
def watched(browser: Browser, server: Server) -> Iterator[Page]:
    """A window that asks no other host and whose scripts go wrong nowhere."""
    own = urlsplit(server.url).netloc
    others: list[str] = []
    broken: list[str] = []

    def asked(request: Request) -> None:
        if urlsplit(request.url).scheme not in ("data", "blob") and urlsplit(request.url).netloc != own:
            others.append(request.url)

    def said(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "violates" in message.text:
            broken.append(message.text)

    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(30_000)
    context.on("request", asked)
    context.on("console", said)
    context.on("weberror", lambda error: broken.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert not others
    assert not broken


def settled(page: Page) -> None:
    """Wait until the page has been run and drawn."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)


def test_every_page_runs_under_the_policy_and_asks_no_other_host(browser: Browser, full: Server) -> None:
    with watched(browser, full) as page:
        for address in ADDRESSES:
            page.goto(f"{full.url}/{address}")
            settled(page)
            for chart in page.locator("[data-testid=stVegaLiteChart]").all():
                expect(chart.locator("canvas, svg").first).to_be_attached()
        for kind in ("BidiComponentIsolated", "VegaLiteChart"):
            page.goto(f"{full.url}/{'agreement?study=demo' if kind == 'VegaLiteChart' else MORE[-1]}")
            expect(page.locator(f"[data-testid=st{kind}]").first).to_be_visible()
