"""Kills the server under an annotator's desk, starts it again, and measures how soon what was pressed is
stored.

The server is killed at one of three moments, because what Streamlit's page does after reconnecting depends on
its last run: when the page was only opened (a whole run), when an answer was stored (a run of the fragment),
and while an answer is on its way.

    python -m tests.browser.restarts --times 50            one desk, as many kills
    python -m tests.browser.restarts --desks 10 --down 60   ten desks, one kill, a minute without a server
"""

from __future__ import annotations

import argparse
import contextlib
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from concord.store import access, placements, studies
from concord.workspace import Workspace
from pages.desk.form import AHEAD

from .keeper import Server, fill, serving
from .starting import chromium

Moment = Literal["opened", "stored", "on its way"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)
SOON = 5.0
"""Seconds after the server's return by which everything is stored."""
OFFLINE = "Offline – kept here, will be sent"


class House:
    """A workspace whose server is killed and started again on the same port, and what its annotators
    pressed.
    """

    def __init__(self, folder: Path, annotators: int, items: int) -> None:
        self.folder = folder
        self.workspace = Workspace.open(folder / "workspace")
        fill(self.workspace, items=items)
        self.tokens: dict[str, str] = {}
        with self.workspace.write() as db:
            for name in (f"Annotator {number}" for number in range(1, annotators + 1)):
                self.tokens[name] = access.invite(db, name)
                units = [unit["id"] for unit in studies.units(db, "keeper")]
                placements.assign(db, access.annotator_id(db, name), units)
        self.port = "0"
        self.server: Server | None = None
        self._open = contextlib.ExitStack()

    def start(self) -> float:
        """Start the server; returns the moment at which it answered."""
        self.server = self._open.enter_context(
            serving(self.workspace, self.folder / "log", "--port", self.port)
        )
        self.port = self.server.url.rpartition(":")[2]
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"{self.server.url}/_stcore/health", timeout=10).close()
                return time.monotonic()
            time.sleep(0.01)

    def kill(self) -> None:
        """End the server as a power failure does."""
        assert self.server is not None
        self.server.process.kill()
        self.server.process.wait()
        self._open.close()

    def close(self) -> None:
        """Stop the server if it runs."""
        self._open.close()

    def open(self, page: Page, annotator: str) -> None:
        """Open somebody's desk."""
        assert self.server is not None
        page.goto(self.server.link(self.tokens[annotator]))
        page.locator(".message").first.wait_for()
        # The last run of the page is over: what the desk does next is not taken for a part of it.
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()

    def stored(self, annotator: str) -> list[tuple[int, int]]:
        """(position, score) of every answer somebody gave, in the order of their items."""
        assert self.server is not None
        return self.server.rows(
            "SELECT a.position, cast(r.value AS int) FROM answers r JOIN placements a "
            "ON a.id = r.placement_id JOIN raters x ON x.id = a.rater_id "
            "WHERE x.name = ? AND r.superseded_at IS NULL ORDER BY a.position, r.id",
            annotator,
        )

    def submitted(self, annotator: str) -> int:
        """How many items somebody has submitted."""
        assert self.server is not None
        return int(
            self.server.rows(
                "SELECT count(*) FROM placements a JOIN raters x ON x.id = a.rater_id "
                "WHERE x.name = ? AND a.state = 'done'",
                annotator,
            )[0][0]
        )


@contextlib.contextmanager
def house(folder: Path, annotators: int = 1, items: int = 8) -> Iterator[House]:
    """A workspace with its server started."""
    made = House(folder, annotators, items)
    try:
        made.start()
        yield made
    finally:
        made.close()


def rate(page: Page, item: int) -> list[tuple[int, int]]:
    """Answer and submit the item in sight, the `item`th of the desk; returns what was pressed."""
    scores = [(item * 7 + k * 3) % 5 + 1 for k in range(3)]
    for key in (*map(str, scores), "Enter"):
        page.keyboard.press(key)
    return [(item, score) for score in scores]


def survive(house: House, page: Page, annotator: str, moment: Moment) -> float:
    """Kill the server at `moment`, rate on, start it again: the seconds from its return until everything was
    stored.

    For “opened” the desk was opened in a window of a browser that had nothing left to report.
    """
    given = house.stored(annotator)
    done = house.submitted(annotator)
    saving = page.locator(".saving")
    if moment != "opened":
        done += 1
        given += rate(page, done)
        if moment == "stored":
            expect(saving).to_have_attribute("data-state", "saved")
            expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    house.kill()
    done += 1
    given += rate(page, done)
    back = house.start()
    while house.stored(annotator) != given or house.submitted(annotator) != done:
        if time.monotonic() > back + 60:
            raise AssertionError(
                f"Not stored within a minute ({moment}): the desk says “{saving.inner_text()}”, "
                f"{len(house.stored(annotator))} of {len(given)} answers arrived."
            )
        time.sleep(0.01)
    took = time.monotonic() - back
    expect(saving).to_have_attribute("data-state", "saved")
    return took


def many(browser: Browser, times: int) -> list[float]:
    """Kill and start again so many times; the seconds each took."""
    took = []
    lost = 0
    with TemporaryDirectory() as folder, house(Path(folder), items=2 * times + 8) as made:
        annotator = next(iter(made.tokens))
        for number in range(times):
            moment = MOMENTS[number % len(MOMENTS)]
            if moment == "opened":
                context = browser.new_context()
                page = context.new_page()
                made.open(page, annotator)
            try:
                seconds = survive(made, page, annotator, moment)
            except AssertionError as error:
                lost += 1
                print(f"{number + 1:3}  {moment:10}  {error}", flush=True)
                made.open(page, annotator)
                expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
            else:
                took.append(seconds)
                print(f"{number + 1:3}  {moment:10}  {seconds:5.2f} s", flush=True)
            if moment == MOMENTS[-1]:
                context.close()
    within = sum(seconds <= SOON for seconds in took)
    print(
        f"{within} of {times} delivered within {SOON:g} s of the server's return, {lost} not "
        "without a reload."
    )
    if took:
        took.sort()
        print(f"median {took[len(took) // 2]:.2f} s, longest {took[-1]:.2f} s")
    return took


def in_the_midst(made: House, contexts: Mapping[str, BrowserContext], down: float) -> float:
    """Every annotator rates, in the browser given by their name, while the server is killed and stays away
    for `down` seconds; what is stored has to be what was pressed.

    The first annotator's window is closed meanwhile and opened again afterwards. Returns the seconds from the
    server's return until everything was stored.
    """
    pages = {}
    given: dict[str, list[tuple[int, int]]] = {name: [] for name in made.tokens}
    for name, context in contexts.items():
        pages[name] = context.new_page()
        made.open(pages[name], name)
    for item in (1, 2):
        for name, page in pages.items():
            given[name] += rate(page, item)
    made.kill()
    gone = time.monotonic()
    # As many items as lie ready in the browser, spread over the time without a server.
    for item in range(3, 3 + AHEAD - 1):
        for name, page in pages.items():
            given[name] += rate(page, item)
        time.sleep(max(0.0, gone + down * (item - 2) / (AHEAD - 1) - time.monotonic()))
    first = next(iter(pages))
    pages.pop(first).close(run_before_unload=False)
    back = made.start()
    page = contexts[first].new_page()
    made.open(page, first)
    pages[first] = page
    while any(made.stored(name) != pressed for name, pressed in given.items()):
        if time.monotonic() > back + 60:
            missing = {name: len(pressed) - len(made.stored(name)) for name, pressed in given.items()}
            raise AssertionError(f"Not stored within a minute; answers missing: {missing}")
        time.sleep(0.01)
    took = time.monotonic() - back
    for name, page in pages.items():
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        given[name] += rate(page, 2 + AHEAD)
        expect(page.locator(".chip.done")).to_have_count(2 + AHEAD)
        expect(page.locator(".saving")).to_have_attribute("data-state", "saved")
        assert made.stored(name) == given[name]
        page.close()
    return took


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=50, help="how often the server is killed")
    parser.add_argument("--desks", type=int, default=0, help="so many desks at once, one kill")
    parser.add_argument("--down", type=float, default=60, help="seconds without a server, with --desks")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium())
        if not options.desks:
            many(browser, options.times)
        else:
            with TemporaryDirectory() as folder, house(Path(folder), options.desks, items=12) as made:
                contexts = {name: browser.new_context() for name in made.tokens}
                seconds = in_the_midst(made, contexts, options.down)
            print(
                f"{options.desks} desks, {options.down:g} s without a server: everything that was "
                "pressed was "
                f"stored {seconds:.2f} s after its return."
            )
        browser.close()


if __name__ == "__main__":
    main()
