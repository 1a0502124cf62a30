"""Every page runs under the Content-Security-Policy, and asks no other host for anything.

What untrusted texts hold (addresses of other hosts, in all the ways that Markdown and HTML know) is on the
pages that are walked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from concord.store import access, conversations, studies
from concord.store.studies import Study
from concord.workspace import Workspace
from pages.parts.navigation import SECTIONS
from pages.parts.server.headers import headers, inline_scripts, policy
from tests.browser.keeper import CRITERIA, Server, dialogue, serving
from tests.browser.test_town import fill_town
from tests.filled import fill

URL = "https://example.org/a"
UNTRUSTED = f"{URL} www.example.org me@example.org <{URL}> [x]({URL}) ![x]({URL}.png)"
MORE = (
    "conversations?conversation=1",
    "leaderboard?benchmark=simulbench",
    "rate?as=Ada",
    "town?task=concert&architecture=GA%2BTDP",
)
ADDRESSES = [page.address for pages in SECTIONS.values() for page in pages] + [*MORE]


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
            studies.assign(db, access.annotator_id(db, name), units)
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
    server.sign_in(context)
    context.on("request", asked)
    context.on("console", said)
    context.on("weberror", lambda error: broken.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert not others
    assert not broken


def settled(page: Page) -> None:
    """Wait until the page has been run and drawn."""
    expect(page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]")).to_be_attached()
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    expect(page.locator("[data-testid=stSkeleton], [data-testid=stAppSkeleton]")).to_have_count(0)


@pytest.mark.browser
def test_every_page_runs_under_the_policy_and_asks_no_other_host(browser: Browser, full: Server) -> None:
    parts = set()
    with watched(browser, full) as page:
        for address in ADDRESSES:
            page.goto(f"{full.url}/{address}")
            settled(page)
            expect(page.locator("[data-testid=stMain] [data-testid]").first).to_be_visible()
            assert page.locator("[data-testid=stException]").count() == 0, address
            links = page.locator("[data-testid=stMain] a[href]")
            hosts = {urlsplit(link).netloc for link in links.evaluate_all("all => all.map(a => a.href)")}
            assert hosts <= {urlsplit(full.url).netloc}, address
            parts |= set(page.locator("[data-testid]").evaluate_all("all => all.map(e => e.dataset.testid)"))
    # What needs exceptions of the policy, and what would ask other hosts, was among what was drawn.
    assert {"stBidiComponentIsolated", "stVegaLiteChart", "stDataFrame", "stIconMaterial"} <= parts


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
