"""How long a page takes until it stands still, against plain Streamlit pages in the same browser.

    python -m bench.page_times [WORKSPACE] [--rounds 3]

- cold: a new browser window opens the page's address; until nothing changes in it any more;
- in the app: the page's entry in the navigation is clicked, from the overview;
- first: the same for the first time since the server started, the processor time of the server alone.

The baseline is a page of Streamlit's with nothing but a table and a chart, opened before each opening of a
page. The aims are on the processor time of browser and server together for a cold page, as a ratio, the
median over the rounds: what else the machine does hardly changes it. What a grid tells screen readers, 300 ms
after it is drawn, is no change. The first page after a start is held against the first of the plain one.
Both servers find their code compiled, as after an installation, and Concord the figures of studies in
figures.db, as after its first day: the first round of starts, which is not counted, leaves both.

Without a workspace the demo is built first. A line also counts what the browser's console warned of, answers
of 400 and above, and requests to another host.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from bench.aims import reached
from pages.parts.navigation import SECTIONS
from tests.browser.starting import ROOT, chromium, started

IDLE = 2000
"""Milliseconds that a reader looks at the overview before the first click."""
QUIET = 500
"""Milliseconds without a change after which a page stands still."""
WATCH = """
window.changed = performance.now();
const element = node => node.nodeType === 1 ? node : node.parentElement ?? document.body;
new MutationObserver(records => {
  if (records.some(each => !element(each.target).closest("canvas"))) window.changed = performance.now();
})
  .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
"""
STILL = f"""() => {{
  const app = document.querySelector('[data-testid="stApp"]');
  return app && app.dataset.testScriptState === "notRunning" && performance.now() - window.changed > {QUIET};
}}"""


PLAIN = """
import altair, pandas, streamlit
numbers = pandas.DataFrame({"a": range(20), "b": range(20)})
streamlit.title("A table and a chart")
streamlit.dataframe(numbers)
streamlit.altair_chart(altair.Chart(numbers).mark_point().encode(x="a", y="b"))
"""


def main() -> None:
    """Measure every page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspace", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", metavar="TITLE", nargs="+", help="Pages, by their titles; all without it.")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        workspace = wanted.workspace or demo(Path(folder))
        browser = playwright.chromium.launch(**chromium())
        plain = Path(folder, "plain.py")
        plain.write_text(PLAIN)
        given = ("-m", "concord.cli", "--workspace", str(workspace), "app", "--no-browser", "--port", "0")
        bare = ("-m", "streamlit", "run", str(plain), "--server.headless", "true", "--server.port", "0")
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
        firsts = []
        for _ in range(wanted.rounds + 1):
            with started(*bare, **compiled) as (_, base):
                theirs = cold(browser, base, {})
            with started(*given, **compiled) as (_, link):
                ours = cold(browser, link, {})
            firsts.append(ours.cpu / theirs.cpu)
            print(f"first page {ours.cpu:.0f} ms of CPU, {theirs.cpu:.0f} of the plain one", flush=True)
        firsts = firsts[1:]
        print(
            f"{'page':14} {'CPU':>7} {'of plain':>9} {'cold':>7} {'of plain':>9} {'in app':>7} {'first':>7}"
            "  warned, failed, elsewhere   (ms)"
        )
        with started(*bare, **compiled) as (_, base), started(*given, **compiled) as (server, link):
            url = link.partition("/?")[0]
            page = browser.new_context(viewport=SIZE, bypass_csp=True).new_page()
            page.add_init_script(WATCH)
            page.goto(link)
            page.wait_for_function(STILL, timeout=120_000)
            state = page.context.storage_state()
            page.wait_for_timeout(IDLE)
            titles = [each.title for pages in SECTIONS.values() for each in pages if each.address]
            titles = [title for title in titles if not wanted.only or title in wanted.only]
            visits = {title: first_visit(page, url, server.pid, title) for title in titles}
            ratios = []
            for each in [page for pages in SECTIONS.values() for page in pages]:
                if wanted.only and each.title not in wanted.only:
                    continue
                rounds, inside = [], []
                for _ in range(wanted.rounds):
                    theirs = cold(browser, base, {})
                    ours = cold(browser, f"{url}/{each.address}", state)
                    rounds.append((ours.cpu, ours.cpu / theirs.cpu, ours.ms, ours.ms / theirs.ms))
                    inside.append(clicked(page, url, each.title))
                cpu, ratio, ms, longer = map(statistics.median, zip(*rounds, strict=True))
                ratios.append(ratio)
                print(
                    f"{each.title:14} {cpu:7.0f} {ratio:9.2f} {ms:7.0f} {longer:9.2f} "
                    f"{statistics.median(inside):7.0f} {visits.get(each.title, 0):7.0f}  "
                    + ", ".join(str(n) for n in ours.trouble),
                    flush=True,
                )
        browser.close()
    reached("page", max(ratios))
    reached("first page", statistics.median(firsts))
    reached("first visit", round(max(visits.values())))


SIZE = {"width": 1400, "height": 900}


class Cold(NamedTuple):
    """Milliseconds until a page stands still in a new window, those of the processor that browser and server
    took, and warnings, failures and requests elsewhere.
    """

    ms: float
    cpu: float
    trouble: tuple[int, int, int]


def at_work() -> dict[int, float]:
    """The milliseconds of each process that this one has started, and of those that they have."""
    spent = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            spent[process.pid] = 1000 * (times.user + times.system)
    return spent


def cold(browser: Browser, address: str, state: object) -> Cold:
    """Open an address in a new window, until it stands still."""
    before = at_work()
    context = browser.new_context(viewport=SIZE, storage_state=state, bypass_csp=True)
    context.add_init_script(WATCH)
    page = context.new_page()
    warned, failed, elsewhere = [], [], []
    host = re.sub(r"^(https?://[^/]+).*", r"\1", address)
    page.on("console", lambda m: warned.append(m.text) if m.type in ("warning", "error") else None)
    page.on("response", lambda r: failed.append(r.url) if r.status >= 400 else None)
    page.on(
        "request", lambda r: None if r.url.startswith((host, "data:", "blob:")) else elsewhere.append(r.url)
    )
    page.goto(address)
    page.wait_for_function(STILL, timeout=120_000)
    took = page.evaluate("window.changed")
    cpu = sum(spent - before.get(process, 0.0) for process, spent in at_work().items())
    context.close()
    for text in {*warned, *failed, *elsewhere}:
        print(f"    {text[:200]}", file=sys.stderr)
    return Cold(took, cpu, (len(warned), len(failed), len(elsewhere)))


def clicked(page: Page, url: str, title: str) -> float:
    """Milliseconds from a click in the navigation until the page stands still."""
    page.goto(url)
    still(page)
    page.evaluate(WATCH)
    entry = page.get_by_test_id("stSidebarNavLink").filter(has_text=title).first
    begun = page.evaluate("performance.now()")
    entry.click()
    page.wait_for_function(STILL, timeout=120_000)
    return page.evaluate("window.changed") - begun  # type: ignore[no-any-return]


def first_visit(page: Page, url: str, server: int, title: str) -> float:
    """Milliseconds of the server's processor time from a click in the navigation until the page stands
    still.
    """
    page.goto(url)
    page.wait_for_function(STILL, timeout=120_000)
    page.evaluate(WATCH)
    before = psutil.Process(server).cpu_times()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=title).first.click()
    page.wait_for_function(STILL, timeout=120_000)
    after = psutil.Process(server).cpu_times()
    return 1000 * (after.user + after.system - before.user - before.system)


def still(page: Page) -> None:
    """Wait until the page has been drawn."""
    page.wait_for_function(
        "() => document.querySelector('[data-testid=\"stApp\"]')?.dataset.testScriptState === 'notRunning'",
        timeout=120_000,
    )


def demo(folder: Path) -> Path:
    """A demo workspace."""
    given = ["-m", "concord.cli", "--workspace", str(folder / "demo"), "demo", "--no-app"]
    subprocess.run([sys.executable, *given], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "demo"


if __name__ == "__main__":
    main()
