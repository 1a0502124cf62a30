"""Every page runs under the Content-Security-Policy, asks no other host for anything, and passes axe-core.

What untrusted texts hold (addresses of other hosts, in all the ways that Markdown and HTML know) is on the
pages that are walked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from concord.store import access, conversations, placements, studies
from concord.store.studies import Study
from concord.workspace import Workspace
from pages.parts.navigation import SECTIONS
from pages.parts.server.headers import headers, inline_scripts, policy
from tests.browser.every_page_helpers import faults
from tests.browser.town_helpers import fill_town
from tests.filled import fill

from .keeper import CRITERIA, Server, dialogue, serving
from .widgets import move

URL = "https://example.org/a"
UNTRUSTED = f"{URL} www.example.org me@example.org <{URL}> [x]({URL}) ![x]({URL}.png)"
MORE = (
    "conversations?conversation=1",
    "leaderboard?benchmark=simulbench",
    f"rate?as={quote(f'Bo {URL}')}",
    "town?conversation=3",
)
ADDRESSES = [page.address for pages in SECTIONS.values() for page in pages] + [*MORE]
View = tuple[Literal["light", "dark"], int]
LIGHT: View = ("light", 1400)
DARK: View = ("dark", 390)
SEEN = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
"""Rules of axe-core about what a theme and a width change; the others are about what a page consists of."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Something to show on every page, with addresses of another host in texts and names."""
    folder = tmp_path_factory.mktemp("pages")
    workspace = Workspace.open(folder / "workspace")
    fill_town(workspace)
    with workspace.write() as db:
        fill(db)
        study = Study("addresses", CRITERIA, UNTRUSTED)
        studies.create(db, study)
        said = dialogue(2, "addresses")
        texts = tuple(replace(message, content=UNTRUSTED) for message in said.messages)
        told = replace(said, player=UNTRUSTED, messages=texts, context={UNTRUSTED: UNTRUSTED})
        number = conversations.save(db, told)
        units = studies.add_units(db, "addresses", [(number, None, "")])
        for name in ("Ada", f"Bo {URL}"):
            access.invite(db, name)
            placements.assign(db, access.annotator_id(db, name), units)
    with serving(workspace, folder / "log") as running:
        yield running


FINISHED = """
() => document.getAnimations().every(
  a => a.playState !== "running" || a.effect?.getComputedTiming().iterations === Infinity
)
"""
"""Whether every animation that has an end has ended; that of a spinner has none. The promise that an
animation gives is not kept where its element goes."""


def same_machine(netloc: str) -> str:
    """A host and its port, with one name for this machine, of which a page may use either."""
    host, _, port = netloc.partition(":")
    return f"{'localhost' if host == '127.0.0.1' else host}:{port}"


@contextmanager
def watched(page: Page, server: Server) -> Iterator[None]:
    """See that a window asks no other host and does nothing that the policy forbids.

    What the window showed before is taken away first: on a busy machine it may still ask its own server.
    """
    page.goto("about:blank")
    own = same_machine(urlsplit(server.url).netloc)
    others: list[str] = []
    broken: list[str] = []

    def asked(request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and same_machine(where.netloc) != own:
            others.append(request.url)

    def said(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "violates" in message.text:
            broken.append(message.text)

    page.on("request", asked)
    page.on("console", said)
    yield
    assert not others
    assert not broken


def settled(page: Page) -> None:
    """Wait until the page has been run and drawn."""
    expect(page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]")).to_be_attached()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    expect(page.locator("[data-testid=stSkeleton], [data-testid=stAppSkeleton]")).to_have_count(0)


def look(page: Page, scheme: Literal["light", "dark"], width: int) -> None:
    """Show the page in a theme and a width, and wait until it is drawn so."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)
    page.wait_for_function(FINISHED)
    settled(page)


@pytest.mark.browser
def test_every_page_keeps_the_policy_asks_no_host_and_passes_axe(full: Server, page: Page) -> None:
    parts = set()
    grave = {}
    views = [LIGHT, DARK]
    with watched(page, full):
        page.goto(full.url)
        for address in ADDRESSES:
            move(page, f"{full.url}/{address}")
            settled(page)
            expect(page.locator("[data-testid=stMain] [data-testid]").first).to_be_visible()
            assert page.locator("[data-testid=stException]").count() == 0, address
            links = page.locator("[data-testid=stMain] a[href]")
            every = links.evaluate_all("all => all.map(a => a.href)")
            hosts = {same_machine(urlsplit(link).netloc) for link in every}
            assert hosts <= {same_machine(urlsplit(full.url).netloc)}, address
            if (menu := page.get_by_role("button", name="Download", exact=True)).count():
                menu.click()
                expect(page.get_by_test_id("stDownloadButton").last).to_be_visible()
                settled(page)
            parts |= set(page.locator("[data-testid]").evaluate_all("all => all.map(e => e.dataset.testid)"))
            page.keyboard.press("Escape")
            for view in views:
                look(page, *view)
                grave[address, *view] = faults(page, *(SEEN if view == DARK else ()))
            views.reverse()  # the next page is looked at first as this one was last
    # What needs exceptions of the policy, and what would ask other hosts, was among what was drawn.
    assert {"stBidiComponentIsolated", "stVegaLiteChart", "stDataFrame", "stIconMaterial"} <= parts
    assert not {where: found for where, found in grave.items() if found}


def test_an_answer_of_any_kind_carries_the_headers(server: Server) -> None:
    for path in ("/", "/rate", "/_stcore/health", "/no/such/page", "/static/js/none.js", "/_stcore/metrics"):
        try:
            answer = urlopen(server.url + path)
        except HTTPError as refused:
            answer = refused
        assert {name: answer.headers[name] for name in headers()} == headers(), path


def test_scripts_come_from_the_server_and_none_is_made_from_text() -> None:
    allowed = policy()
    assert allowed["default-src"] == ("'none'",)
    assert allowed["connect-src"] == ("'self'",)
    assert not {"'unsafe-inline'", "'unsafe-eval'", "'wasm-unsafe-eval'", "*", "https:"} & {
        *allowed["script-src"]
    }


def test_a_script_in_the_page_is_allowed_by_its_hash() -> None:
    # printf 'alert(1)' | openssl dgst -sha256 -binary | base64
    assert inline_scripts("<p><script>alert(1)</script>") == [
        "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    ]
