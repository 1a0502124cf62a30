"""The pictures of the README: the demo workspace, each main page in a real browser. Run by `make
screenshots`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect, sync_playwright

from concord.cli import main as command
from concord.demo import workspace as demo
from concord.demo.workspace import VISITOR
from concord.store import access
from concord.workspace import Workspace
from tests.browser.keeper import serving
from tests.browser.starting import ROOT, chromium

PICTURES = ROOT / "docs" / "pictures"

WAIT = 120_000
"""Milliseconds for which a page is waited for."""

# name → address, width, height, colours
SHOTS = {
    "overview": ("/", 1280, 860, "light"),
    "runs": ("/runs", 1280, 1000, "light"),
    "conversations": ("/conversations?conversation=1", 1280, 1100, "light"),
    "desk": ("/rate?token={token}&study=try-the-desk", 1280, 860, "light"),
    "desk-phone": ("/rate?token={token}&study=try-the-desk", 390, 800, "dark"),
    "agreement": ("/agreement?study=demo", 1280, 1400, "light"),
    "leaderboard": ("/leaderboard", 1280, 900, "light"),
    "spot-check": (
        "/spot-check?benchmark=simulbench&work=triage&these=697%20718%20713%20695",
        1280,
        900,
        "light",
    ),
    "town": ("/town?conversation=742", 1280, 1950, "light"),
}


def main() -> None:
    """Put the demo into a folder of its own, serve it, take the pictures."""
    wanted = [name for name in sys.argv[1:] or SHOTS if name in SHOTS]
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "demo")
        demo.load(workspace)
        with workspace.write() as db:
            token = access.invite(db, VISITOR)
        log = Path(folder) / "log"
        with serving(workspace, log) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(**chromium())
            context = browser.new_context()
            server.sign_in(context)
            signed_in = context.storage_state()
            for name in wanted:
                address, width, height, colours = SHOTS[name]
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme=colours,
                    storage_state=signed_in,
                )
                page.goto(f"{server.url}{address.format(token=token)}")
                _settle(page)
                page.screenshot(path=PICTURES / f"{name}.png")
                page.close()
            if not sys.argv[1:] or "report" in sys.argv[1:]:
                _report(browser, Path(folder) / "report.html")
            browser.close()


def _report(browser: Browser, file: Path) -> None:
    """The report of the table of labels that ships."""
    table = ROOT / "data" / "examples" / "ratings.csv"
    done = CliRunner().invoke(command, ["check", str(table), "--html", str(file)])
    assert done.exit_code == 0, done.output
    page = browser.new_page(viewport={"width": 1100, "height": 1000})
    page.goto(file.as_uri())
    page.screenshot(path=PICTURES / "report.png")
    page.close()


def _settle(page: Page) -> None:
    """Wait until the page has run and its charts are drawn."""
    ran = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
    page.locator(f"[data-testid=stApp]{ran}").wait_for(state="attached", timeout=WAIT)
    page.locator("[data-testid=stMain] [data-testid]").first.wait_for(state="attached", timeout=WAIT)
    unfinished = "[data-testid=stSkeleton], [data-testid=stAppSkeleton], [data-stale=true]"
    expect(page.locator(unfinished)).to_have_count(0, timeout=WAIT)
    page.wait_for_timeout(3000)  # tables and charts are drawn by the browser, which does not say when
    page.locator(f"[data-testid=stApp]{ran}").wait_for(state="attached", timeout=WAIT)


if __name__ == "__main__":
    main()
