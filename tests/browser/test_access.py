"""Who may see what: every address of the app, asked from this machine, from elsewhere, and with links of all
kinds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from concord.store import access, placements
from concord.store.crowds import Crowd
from concord.studies import crowd
from concord.workspace import Workspace
from pages.parts.connection import is_local
from pages.parts.navigation import SECTIONS

from .asking import ask, enter
from .conftest import Invite
from .keeper import SECRETS, Server, fill, serving
from .starting import ELSEWHERE

ADDRESSES = [page.address for pages in SECTIONS.values() for page in pages]
SIGN_IN = "You need no passphrase"
FOLDER = "strandedwhale"
"""The workspace's folder: a word that only the researcher's pages show."""
PASSPHRASE = "eleven ships in one night"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Server]:
    """A server nobody has asked anything yet, without a passphrase."""
    workspace = Workspace.open(tmp_path / FOLDER)
    fill(workspace)
    with serving(workspace, tmp_path / "log") as running:
        yield running


def test_a_fresh_server_shows_no_page_to_a_stranger(fresh: Server) -> None:
    for address in [*ADDRESSES, "pages/study/overview", "app", "parts/session", ""]:
        for said in (
            ask(fresh.url, address, host=ELSEWHERE),
            ask(fresh.url, address, X_Forwarded_For="127.0.0.1"),
            ask(fresh.url, address),
        ):
            assert SIGN_IN in said, address
            assert not [word for word in (*SECRETS, "keeper", FOLDER) if word in said], address
    # The same addresses do answer the researcher: what was tested above is not simply broken.
    for address in ADDRESSES:
        said = ask(fresh.url, address, cookie=fresh.cookie)
        assert SIGN_IN not in said, address
        assert "script_finished: FINISHED_SUCCESSFULLY" in said, address
    assert FOLDER in ask(fresh.url, cookie=fresh.cookie)


def test_the_overview_has_one_address_and_its_name_leads_there(server: Server) -> None:
    for asked, led in (("/overview", "/"), ("/overview?a=b", "/?a=b")):
        assert urlopen(server.url + asked).url == server.url + led
    with pytest.raises(HTTPError, match="400"):
        urlopen(server.url + "//example.org/overview")


def test_streamlits_page_is_told_to_open_no_dialogs(server: Server) -> None:
    with urlopen(server.url + "/_stcore/host-config") as answer:
        told = json.load(answer)
    assert told["blockErrorDialogs"] is True
    assert told["allowedOrigins"] == []


def test_the_routes_for_operators_answer_nobody(server: Server) -> None:
    for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json"):
        for headers in ({}, {"Cookie": server.cookie}):
            with pytest.raises(HTTPError, match="404"):
                urlopen(Request(server.url + path, headers=headers))


@pytest.mark.parametrize(
    ("peer", "headers", "local"),
    [
        ("127.0.0.1", {"Host": "localhost:8501"}, True),
        ("127.0.0.1", {"host": "127.0.0.1:8501", "origin": "http://127.0.0.1:8501"}, True),
        ("::1", {"Host": "[::1]:8501"}, True),
        ("::ffff:127.0.0.1", {"Host": "localhost"}, True),
        ("192.0.2.7", {"Host": "localhost:8501"}, False),
        ("127.0.0.1", {"Host": "concord.example.org"}, False),
        ("127.0.0.1", {"Host": "localhost.example.org"}, False),
        ("127.0.0.1", {"Host": "127.0.0.1@example.org"}, False),
        ("127.0.0.1", {"Host": "localhost", "Origin": "https://concord.example.org"}, False),
        ("127.0.0.1", {"Host": "localhost", "Origin": "null"}, False),
        ("127.0.0.1", {"Host": "localhost", "X-Forwarded-For": "127.0.0.1"}, False),
        ("127.0.0.1", {"Host": "localhost", "forwarded": "for=127.0.0.1"}, False),
        ("127.0.0.1", {"Host": "localhost", "X-Real-IP": "127.0.0.1"}, False),
        ("127.0.0.1", {}, False),
        (None, {"Host": "localhost"}, False),
        ("", {"Host": "localhost"}, False),
    ],
)
def test_local_is_who_asks_this_machine_on_this_machine(
    peer: str | None, headers: dict[str, str], local: bool
) -> None:
    assert is_local(peer, headers.items()) is local


def test_an_annotator_reaches_the_desk_and_nothing_else(server: Server, invite: Invite) -> None:
    link = server.link(invite(3))
    for host in (None, ELSEWHERE):
        entered = enter(link, host)
        assert "token" not in entered.query
        for address in ("", "rate"):
            said = ask(server.url, address, entered.query, host, cookie=entered.cookie)
            assert "concord_desk" in said, address
        for address in {*ADDRESSES} - {"", "rate"}:
            said = ask(server.url, address, entered.query, host, cookie=entered.cookie)
            assert "page_not_found" in said, address
            assert "concord_desk" in said, address
        assert server.workspace.path.name not in ask(server.url, "", entered.query, cookie=entered.cookie)


@pytest.mark.parametrize("host", [None, ELSEWHERE])
def test_a_wrong_link_shows_a_sentence_and_nothing_else(server: Server, host: str | None) -> None:
    entered = enter(f"{server.url}/rate?token=guessed", host)
    assert not entered.cookie
    said = ask(server.url, entered.address, entered.query, host=host)
    assert "This link is not valid" in said
    assert "page_not_found" not in said
    assert "concord_desk" not in said
    assert server.workspace.path.name not in said


@pytest.mark.browser
def test_a_members_link_elsewhere_leaves_the_owner_signed_in(page: Page, server: Server) -> None:
    with server.workspace.write() as db:
        link = server.link(access.invite(db, "Mallory", "adjudicator"))
    server.sign_in(page.context)
    before = page.context.cookies()
    elsewhere = f"<a href='{link}'>here</a><form method='post' action='{server.url}/sign-in'>"
    elsewhere += f"<input name='token' value='{link.rpartition('=')[2]}'><button>there</button></form>"
    page.route("http://example.org/", lambda route: route.fulfill(body=elsewhere, content_type="text/html"))
    page.goto("http://example.org/")
    page.get_by_role("button", name="there").click()
    expect(page.get_by_text("does not come from a page of this server")).to_be_visible()
    page.goto("http://example.org/")
    page.get_by_role("link", name="here").click()
    expect(page.get_by_text("This link is for Mallory.")).to_be_visible()
    assert page.context.cookies() == before
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.goto(link)
    page.get_by_role("button", name="Sign in as adjudicator").click()
    expect(page.get_by_role("heading", name="Adjudication")).to_be_visible()
    assert "token" not in page.url


@pytest.mark.browser
def test_a_link_withdrawn_stops_working_at_once(
    page: Page, server: Server, invite: Invite, request: pytest.FixtureRequest
) -> None:
    page.goto(server.link(invite(3)))
    page.locator(".message").first.wait_for()
    with server.workspace.write() as db:
        access.revoke(db, f"{request.node.name} 1")
    page.keyboard.press("4")
    expect(page.locator(".end")).to_contain_text("Your link was withdrawn")
    assert server.rows(
        "SELECT count(*) FROM answers a JOIN placements p ON p.id = a.placement_id "
        "JOIN raters x ON x.id = p.rater_id WHERE x.name = ?",
        f"{request.node.name} 1",
    ) == [(0,)]


@pytest.mark.browser
def test_a_researcher_from_elsewhere_signs_in_by_the_passphrase(page: Page, fresh: Server) -> None:
    url = fresh.url.replace("localhost", ELSEWHERE)
    page.goto(url)
    expect(page.get_by_text("No passphrase for researchers is set yet.")).to_be_visible()
    with fresh.workspace.write() as db:
        access.set_passphrase(db, PASSPHRASE)
    page.reload()
    page.get_by_label("Researchers' passphrase").fill(PASSPHRASE)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    passphrase = page.get_by_label("Researchers' passphrase")
    passphrase.fill("not the passphrase")
    passphrase.press("Enter")
    expect(page.get_by_text("Wrong passphrase.")).to_be_visible()
    passphrase.fill(PASSPHRASE)
    passphrase.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_study_of_somebody_else_cannot_be_reported_on(server: Server, invite: Invite) -> None:
    """The items of another annotator are refused one by one, and the rest of the report counts."""
    from concord.store import desk

    mine = invite(2)
    with server.workspace.write() as db:
        me = access.of_token(db, mine).rater_id
        own = placements.on_desk(db, me, "keeper")[0][0]
        foreign = placements.on_desk(db, access.annotator_id(db, "hidden-colleague"), "turns")[0][0]
        mark, refused = desk.apply(
            db,
            me,
            "browser",
            [
                {"n": 1, "item": foreign, "do": "answer", "criterion": "fluency", "score": 5},
                {"n": 2, "item": own, "do": "answer", "criterion": "fluency", "score": 5},
            ],
        )
        assert mark == 2
        assert [(r.n, r.item) for r in refused] == [(1, foreign)]
        assert placements.get(db, me, placements.find_id(db, me, own)).answers == {"fluency": 5}


@pytest.mark.browser
def test_a_crowd_worker_gets_the_completion_code_after_the_last_item(page: Page, server: Server) -> None:
    with server.workspace.write() as db:
        made = Crowd("turns", "prolific", 5, 2, 60, "C0FFEE")
        link = crowd.open_link(db, made, server.url).partition("&")[0]
    page.goto(f"{link}&PROLIFIC_PID=5f3a&SESSION_ID=9c&STUDY_ID=1")
    expect(page).to_have_url(re.compile(r"/rate\?desk=\d+$"))
    for left in (2, 1):
        expect(page.locator(".chip.open")).to_have_count(left)
        for _ in range(3):
            page.keyboard.press("4")
        page.keyboard.press("Enter")
    expect(page.locator(".end")).to_contain_text("Your completion code: C0FFEE")
    expect(page.get_by_role("link", name="Finish on Prolific")).to_have_attribute(
        "href", "https://app.prolific.com/submissions/complete?cc=C0FFEE"
    )
