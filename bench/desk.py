"""How long an annotator waits from submitting to the next item, in a real browser: `python -m bench.desk`.

The baseline is bench/plain_desk.py (a form with radios, the way Streamlit suggests), served by the same
server with the same settings from the same kind of workspace. The clock starts with the key or click that
submits and stops with the first frame in which the next dialogue is there and its questions can be answered;
“stored” is when the desk says that everything is saved (the plain desk shows the next item only then).
bench/crowd.py measures more people than a machine can open browsers for.

Ten windows, their browser and the server share the machine's cores. Most of the time is the browser's: of 85
ms of CPU for an item, 8 are the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.async_api import Browser, Page, async_playwright

from bench.aims import AIMS, reached
from concord.store import access, placements, studies
from concord.workspace import Workspace
from tests.browser.keeper import fill
from tests.browser.starting import chromium, started

THINK = 0.15  # seconds between keys: quick for a person, who also has to read
# Both desks are watched alike: from the event that submits to the first frame that shows another item, ready
# to be answered.
WATCH = """(names) => {
  const [event, item, ready, stored] = [names[0], ...names.slice(1).map(eval)];
  globalThis.measured = new Promise((done) => {
    const before = item();
    window.addEventListener(event, (submitting) => {
      const since = () => performance.now() - submitting.timeStamp;
      const look = () => (item() !== before && ready() ? wait(since()) : requestAnimationFrame(look));
      // No frames are asked for while it is stored: they would take the time of the others.
      const wait = (next) => {
        if (stored()) return done([next, since()]);
        const root = document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot;
        const changes = new MutationObserver(() => {
          if (!stored()) return;
          changes.disconnect();
          requestAnimationFrame(() => done([next, since()]));
        });
        changes.observe(root, { subtree: true, attributes: true, attributeFilter: ['data-state'] });
      };
      requestAnimationFrame(look);
    }, { capture: true, once: true });
  });
}"""
OURS = (
    "keydown",
    "() => "
    "document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot.querySelector('.chip[aria-current]')?.textContent",
    "() => { const r = document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot; "
    "return r.querySelector('.message') && !r.querySelector('.option').disabled }",
    "() => "
    "document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot"
    ".querySelector('.saving').dataset.state "
    "=== 'saved'",
)
PLAIN = (
    "pointerdown",
    "() => [...document.querySelectorAll('[data-testid=stCaptionContainer]')].map((n) => "
    "n.textContent).join()",
    "() => document.querySelectorAll('[data-testid=stForm] input[type=radio]').length === 15 && "
    "!document.querySelector('input[type=radio]:checked')",
    "() => true",
)


async def ours(page: Page, items: int) -> list[tuple[float, float]]:
    """Rate with the keyboard; milliseconds to the next item, and until it is stored."""
    await page.locator(".message").first.wait_for()
    waits = []
    for _ in range(items - 1):
        for key in ("3", "4", "5"):
            await asyncio.sleep(THINK)
            await page.keyboard.press(key)
        await asyncio.sleep(THINK)
        await page.evaluate(WATCH, OURS)
        await page.keyboard.press("Enter")
        waits.append(await page.evaluate("measured"))
    return waits


async def plain(page: Page, items: int) -> list[tuple[float, float]]:
    """The same by the mouse, as the plain desk has no keys; an item comes when the last one is stored."""
    await page.get_by_role("button", name="Submit").wait_for()
    waits = []
    for _ in range(items - 1):
        for number, label in enumerate(("3 Neither", "4 Agree", "5 Strongly agree")):
            await asyncio.sleep(THINK)
            # Events of our own, so that only the click on the button is a real one.
            await page.get_by_role("radio", name=label).nth(number).evaluate("node => node.click()")
        await asyncio.sleep(THINK)
        await page.evaluate(WATCH, PLAIN)
        await page.get_by_role("button", name="Submit").click()
        waits.append(await page.evaluate("measured"))
    return waits


async def measure(browser: Browser, rate, url: str, tokens: list[str], items: int):  # type: ignore[no-untyped-def]
    """So many annotators at once, each in a window of their own."""
    # The watching script is evaluated from a text, which the policy of the pages forbids.
    size = {"width": 1400, "height": 900}
    contexts = [await browser.new_context(viewport=size, bypass_csp=True) for _ in tokens]
    pages = [await context.new_page() for context in contexts]
    for page, token in zip(pages, tokens, strict=True):
        await page.goto(f"{url}/?token={token}&study=keeper")

    async def begun(number: int, page: Page) -> list[tuple[float, float]]:
        # Within the time for one item, one after the other: people do not press in the same instant.
        await asyncio.sleep(number / len(pages) * 4 * THINK)
        return await rate(page, items)  # type: ignore[no-any-return]

    results = await asyncio.gather(*map(begun, range(len(pages)), pages))
    for context in contexts:
        await context.close()
    return [next_item for waits in results for next_item, _ in waits], [
        stored for waits in results for _, stored in waits
    ]


@contextmanager
def serving(application: str, workspace: Workspace) -> Iterator[tuple[str, int]]:
    """An application with the settings of `concord app`: its address and process."""
    call = f"serve(port=0, browser=False, application={application!r})"
    code = f"from concord.commands.app import serve; {call}"
    with started("-c", code, CONCORD_WORKSPACE=str(workspace.path)) as (process, link):
        yield link.partition("/?")[0].replace("localhost", "127.0.0.1"), process.pid


def invited(workspace: Workspace, people: int) -> list[str]:
    """The tokens of so many annotators with every item on their desks."""
    tokens = []
    with workspace.write() as db:
        units = [unit["id"] for unit in studies.units(db, "keeper")]
        for person in range(people):
            tokens.append(access.invite(db, f"{people} at once: {person}"))
            placements.assign(db, access.annotator_id(db, f"{people} at once: {person}"), units)
    return tokens


async def main(items: int) -> None:
    """Measure both desks, alone and ten at once, one after the other."""
    kinds = (("plain form", plain, "bench.plain_server:app"), ("Concord", ours, "pages.parts.server:app"))
    medians: dict[tuple[str, int], float] = {}
    p95 = 0.0
    print(
        f"{'desk':12} {'at once':>7} {'items':>6} {'median':>8} {'p95':>8} {'stored median':>14} "
        f"{'p95':>8}   (ms)"
    )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**chromium())
        for name, rate, application in kinds:
            with tempfile.TemporaryDirectory() as folder:
                workspace = Workspace.open(folder)
                fill(workspace, items=items)
                tokens = {people: invited(workspace, people) for people in (1, 10)}
                with serving(application, workspace) as (url, _):
                    for people in (1, 10):
                        waits, stored = await measure(browser, rate, url, tokens[people], items)
                        medians[name, people], p95 = statistics.median(waits), _p95(stored)
                        figures = [
                            statistics.median(waits),
                            _p95(waits),
                            statistics.median(stored),
                            p95,
                        ]
                        print(
                            f"{name:12} {people:7} {len(waits):6} {figures[0]:8.1f} "
                            f"{figures[1]:8.1f} {figures[2]:14.1f} {figures[3]:8.1f}",
                            flush=True,
                        )
        await browser.close()
    for people in (1, 10):
        ratio = medians["plain form", people] / medians["Concord", people]
        print(
            f"{people} at once: Concord's next item comes {ratio:.1f} times as fast as the plain "
            "form's (ratio of medians)."
        )
    if f"desk of {items}" in AIMS:
        reached(f"desk of {items}", 1 / ratio)
        reached(f"desk of {items} stored", p95)
    print("For orientation, published elsewhere: Potato 237 ms, Label Studio 426 ms.")


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", default="12,50", help="items each annotator rates, several by commas")
    for items in map(int, parser.parse_args().items.split(",")):
        asyncio.run(main(items))
