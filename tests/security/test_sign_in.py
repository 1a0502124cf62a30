"""Who gets in: by a one-time link on the server's machine, by a passphrase, by an annotator's link; nobody by
a header.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from click.testing import CliRunner
from starlette.datastructures import Headers

from concord.cli import main
from concord.errors import NotAllowed
from concord.store import access, audit, crowds, sessions
from concord.store.crowds import Crowd
from concord.store.database import now
from concord.store.sessions import Role
from concord.studies import crowd
from concord.workspace import Workspace
from pages.parts.connection import Connection
from pages.parts.navigation import OPEN_TO
from pages.parts.server import entrance, guesses
from pages.parts.server.guesses import Guesses, network
from tests.browser.asking import Entered, ask, enter
from tests.browser.keeper import Server, fill, serving
from tests.browser.starting import ELSEWHERE
from tests.security.sign_in_helpers import PASSPHRASE, refusal, sign_in

SIGN_IN = "You need no passphrase"
SCRYPT = access._SCRYPT
"""The parameters of a hash, read before the fixtures of all tests make it cheap."""
INSIDE = "What to do next"
"""What only a researcher's overview says."""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An app behind a proxy on its machine, with a passphrase."""
    folder = tmp_path_factory.mktemp("behind")
    workspace = Workspace.open(folder / "whalebone")
    fill(workspace)
    with workspace.write() as db:
        access.set_passphrase(db, PASSPHRASE)
    with serving(workspace, folder / "log", "--sign-in") as running:
        yield running


def shown(server: Server, cookie: str, host: str | None = None, **headers: str) -> bool:
    """Whether somebody with this cookie sees what a researcher sees."""
    said = ask(server.url, "", "", host, cookie=cookie.partition(";")[0], **headers)
    assert (INSIDE in said) != (SIGN_IN in said)
    return INSIDE in said


# -- local links


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Forwarded_For": "127.0.0.1"},
        {"X_Forwarded_Proto": "http"},
        {"X_Forwarded_Prefix": "/x"},
        {"Forwarded": "for=127.0.0.1"},
        {"X_Real_IP": "127.0.0.1"},
        {"Via": "1.1 caddy"},
    ],
)
def test_whatever_a_client_says_makes_it_no_more_local(server: Server, headers: dict[str, str]) -> None:
    """A proxy that adds nothing is no way in either, because nobody is let in without a session."""
    assert not shown(server, "")
    assert shown(server, server.cookie)
    assert not shown(server, server.cookie, **headers)
    with server.workspace.write() as db:
        link = f"{server.url}/?token={sessions.one_time(db, 'local')}"
    passed_on = enter(link, **headers)
    assert (passed_on.cookie, passed_on.query) == ("", "refused=elsewhere")
    assert not enter(link, ELSEWHERE).cookie
    assert enter(link).cookie, "The link was not used up."


def test_a_local_link_works_once(server: Server) -> None:
    with server.workspace.write() as db:
        link = f"{server.url}/runs?token={sessions.one_time(db, 'local')}&a=b"
    first = enter(link)
    assert (first.address, first.query) == ("runs", "a=b")
    assert shown(server, first.cookie)
    again = enter(link)
    assert (again.cookie, again.query) == ("", "a=b&refused=used")
    assert "was used already" in ask(server.url, "runs", again.query)
    # From the history of the browser that it let in it leads back in.
    assert enter(link, cookie=first.cookie).query == "a=b"


def test_a_link_by_command_is_one_time_too_and_leads_to_the_running_app(server: Server) -> None:
    def printed(*words: str) -> str:
        return CliRunner().invoke(main, ["--workspace", str(server.workspace.path), *words]).output

    assert printed("link").startswith(f"{server.url}/?token=")
    assert shown(server, enter(printed("link").strip()).cookie)
    assert printed("people", "invite", "Zed").startswith(f"Zed\t{server.url}/")
    assert printed("link", "--url", "http://localhost:9/").startswith("http://localhost:9/?token=")
    assert {file.stat().st_mode & 0o777 for file in server.workspace.path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "options", [["--host", "0.0.0.0"], ["--sign-in"], ["--public-url", "https://lab.org"]]
)
def test_beyond_the_machine_no_local_link_or_session_works(tmp_path: Path, options: list[str]) -> None:
    workspace = Workspace.open(tmp_path / "whalebone")
    with workspace.write() as db:
        local = sessions.begin(db, "local")
        link = sessions.one_time(db, "local")
    with serving(workspace, tmp_path / "log", *options) as beyond:
        assert not beyond.cookie
        port = beyond.url.rpartition(":")[2]
        assert enter(f"{beyond.url}/?token={link}").query == "refused=elsewhere"
        if options[0] != "--public-url":  # there only its own pages may connect
            assert not shown(beyond, f"concord_{port}={local}")


# -- sessions


def test_a_session_cookie_is_kept_from_scripts_and_other_sites(behind: Server) -> None:
    plain = sign_in(behind, {"passphrase": PASSPHRASE}, "203.0.113.1")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in plain.split(";")}
    assert "Secure" not in plain
    assert "Secure" in sign_in(
        behind, {"passphrase": PASSPHRASE}, "203.0.113.1", **{"X-Forwarded-Proto": "https"}
    )
    assert shown(behind, plain)


def test_by_a_copy_of_the_database_nobody_signs_in(behind: Server, tmp_path: Path) -> None:
    """Neither a stored hash nor anything signed with one is a session."""
    cookie = sign_in(behind, {"passphrase": PASSPHRASE}, "203.0.113.2")
    name, _, token = cookie.partition(";")[0].partition("=")
    copy = tmp_path / "copy.db"
    with sqlite3.connect(behind.workspace.db_path) as db, sqlite3.connect(copy) as into:
        db.backup(into)
        dump = "\n".join(into.iterdump())
        hashes = [found for (found,) in into.execute("SELECT token_hash FROM sessions")]
        (stored,) = into.execute("SELECT value FROM settings WHERE key = 'passphrase'").fetchone()
    assert token not in dump
    assert shown(behind, cookie)
    ends = str(int(time.time()) + 10 * 365 * 86400)
    ticket = hmac.new(stored.encode(), f"ticket {ends}".encode(), hashlib.sha256).hexdigest()
    for forged in (*hashes, stored, f"{ends}.{ticket}", hashlib.sha256(token.encode()).hexdigest()):
        assert not shown(behind, f"{name}={forged}; concord_researcher={forged}")


def test_ended_sessions_are_over_at_once(behind: Server) -> None:
    one, other = (sign_in(behind, {"passphrase": PASSPHRASE}, f"203.0.113.{n}") for n in (3, 4))
    with behind.workspace.read() as db:
        listed = {str(row["source"]): row for row in sessions.table(db).rows}
    assert (listed["203.0.113.3"]["name"], listed["203.0.113.3"]["kind"]) == ("researcher", "passphrase")
    with behind.workspace.write() as db:
        sessions.end(db, int(str(listed["203.0.113.3"]["id"])))
    assert not shown(behind, one)
    assert shown(behind, other)


@pytest.mark.parametrize("kind", sessions.ENTRANCES)
def test_a_session_expires_when_idle_and_when_old(tmp_path: Path, kind: sessions.Kind) -> None:
    with Workspace.open(tmp_path).write() as db:
        access.invite(db, "Dana", "researcher")
        name = "Dana" if kind == "member" else ""
        token = sessions.begin(db, kind, name=name)

        def aged(column: str, moment: str) -> bool:
            db.execute(f"UPDATE sessions SET {column} = ?", [moment])
            return sessions.of(db, token) is not None

        assert aged("used", now(-sessions.ENTRANCES[kind].idle * 0.99))
        assert not aged("used", now(-sessions.ENTRANCES[kind].idle * 1.01))
        assert aged("used", now())  # each use puts the end off
        assert aged("expires", now(sessions.USE_INTERVAL))
        assert not aged("expires", now(-sessions.USE_INTERVAL))  # but not beyond this
        assert sessions.live(db) == []
        short = sessions.of(db, sessions.begin(db, kind, name=name, expires=now(sessions.USE_INTERVAL)))
        assert short
        assert short.expires < now(sessions.USE_INTERVAL * 2)
        late = now(sessions.ENTRANCES[kind].longest * 2)
        long = sessions.of(db, sessions.begin(db, kind, name=name, expires=late))
        assert long
        assert long.expires < now(sessions.ENTRANCES[kind].longest * 1.01)


def test_a_new_passphrase_signs_everybody_out_who_came_by_the_old_one(tmp_path: Path) -> None:
    with Workspace.open(tmp_path).write() as db:
        access.set_passphrase(db, PASSPHRASE)
        old, local = sessions.begin(db, "passphrase"), sessions.begin(db, "local")
        access.forget_passphrase(db)
        assert sessions.of(db, old) is None
        assert sessions.of(db, local)


def test_only_the_owner_can_read_what_a_workspace_holds(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "new")
    with workspace.write() as db:
        sessions.begin(db, "local")
        beside = {file.name: file.stat().st_mode & 0o777 for file in workspace.path.iterdir()}
    assert workspace.path.stat().st_mode & 0o777 == 0o700
    assert {"concord.db", "concord.db-wal", "concord.db-shm", "models.toml"} <= beside.keys()
    assert {*beside.values()} == {0o600}
    # A database of before is closed to others; a folder that was there keeps its mode.
    workspace.db_path.chmod(0o644)
    workspace.path.chmod(0o755)
    Workspace.open(workspace.path)
    assert workspace.db_path.stat().st_mode & 0o777 == 0o600
    assert workspace.path.stat().st_mode & 0o777 == 0o755


# -- guesses


@pytest.fixture
def guessed_at(tmp_path: Path) -> Iterator[Server]:
    """An app of its own: every wrong guess makes the checks of the next hour slower."""
    workspace = Workspace.open(tmp_path / "whalebone")
    with workspace.write() as db:
        access.set_passphrase(db, PASSPHRASE)
    with serving(workspace, tmp_path / "log", "--sign-in") as running:
        yield running


def test_a_source_that_guesses_waits_and_the_owner_goes_on(guessed_at: Server) -> None:
    behind = guessed_at
    signed_in = sign_in(behind, {"passphrase": PASSPHRASE}, "203.0.113.5")
    said = [refusal(behind, {"passphrase": f"guess {n}"}, "198.51.100.7") for n in range(guesses.FREE)]
    assert {*said} == {"Wrong passphrase."}
    # However slow the checks are here: the waits grow until one is long enough to be seen below.
    while not re.search(r"Try again in (8|9|\d\d+) seconds", said[-1]):
        said.append(refusal(behind, {"passphrase": "another guess"}, "198.51.100.7"))
    for source in ("198.51.100.7", "198.51.100.99, 198.51.100.7"):
        # What the client says itself stands before what the proxy adds.
        assert "Too many wrong guesses" in refusal(behind, {"passphrase": PASSPHRASE}, source)
    assert shown(behind, signed_in)
    assert shown(behind, sign_in(behind, {"passphrase": PASSPHRASE}, "203.0.113.6"))
    # A browser that was signed in before is not taken for the others of its network.
    cookie = signed_in.partition(";")[0]
    assert shown(behind, sign_in(behind, {"passphrase": PASSPHRASE}, "198.51.100.7", Cookie=cookie))


def test_waits_grow_by_source_and_delays_for_all() -> None:
    tried, at = Guesses(), 100.0
    for _ in range(guesses.FREE):
        tried.begin("a", at)
    assert tried.begin("a", at) == pytest.approx(guesses.FREE / 20)  # starts a wait of 2 seconds
    for moment, left in ((at, "2"), (at + 1, "1")):
        with pytest.raises(NotAllowed, match=f"Try again in {left} seconds"):
            tried.begin("a", moment)
    tried.begin("a", at + 2)
    with pytest.raises(NotAllowed, match="Try again in 4 seconds"):
        tried.begin("a", at + 2)
    for _ in range(20):
        at = tried.sources["a"].until
        tried.begin("a", at)
    assert tried.sources["a"].until - at == guesses.LONGEST_WAIT
    # Others are never refused, and never wait longer than this.
    for number in range(200):
        assert tried.begin(f"source {number}", at) <= guesses.LONGEST_DELAY
    assert tried.begin("", at) == guesses.LONGEST_DELAY
    assert tried.delay(at + guesses.HOUR + 1) == 0
    tried.begin("a", at + guesses.HOUR + 1)  # and all is forgotten


def test_the_sources_remembered_are_limited() -> None:
    tried = Guesses()
    for number in range(guesses.SOURCES + 5):
        tried.begin(str(number), 1.0)
    assert len(tried.sources) == guesses.SOURCES


def test_a_source_of_ipv6_is_its_network() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff") != network("2001:db8:0:1::1")
    assert network("198.51.100.1") != network("198.51.100.2")


@pytest.mark.parametrize(
    ("peer", "added", "public", "source"),
    [
        ("8.8.4.4", "198.51.100.1", "https://lab.org", "8.8.4.4"),
        ("192.0.2.7", "", "", "192.0.2.7"),
        ("127.0.0.1", "198.51.100.1", "", "198.51.100.1"),
        ("::ffff:127.0.0.1", "198.51.100.1", "", "198.51.100.1"),
        ("127.0.0.1", "10.0.0.1, 198.51.100.1", "", "198.51.100.1"),
        ("10.0.0.5", "198.51.100.1", "https://lab.org", "198.51.100.1"),
        ("10.0.0.5", "198.51.100.1", "", "10.0.0.5"),
        ("127.0.0.1", "", "", "127.0.0.1"),
        (None, "198.51.100.1", "", ""),
    ],
)
def test_a_source_is_what_a_proxy_of_ours_says_else_the_peer(
    peer: str | None, added: str, public: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_PUBLIC_URL", public)
    headers = Headers({"x-forwarded-for": added} if added else {})
    assert Connection(peer, headers, {}).source == source


def test_nobody_is_kept_out_where_a_proxy_names_no_address(guessed_at: Server) -> None:
    behind = guessed_at
    for _ in range(guesses.FREE + 2):
        refusal(behind, {"passphrase": "a guess"})
    assert shown(behind, sign_in(behind, {"passphrase": PASSPHRASE}))


def test_a_passphrase_is_hashed_at_owasps_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_SCRYPT", SCRYPT)
    with Workspace.open(tmp_path).write() as db:
        access.set_passphrase(db, PASSPHRASE)
        stored = access.stored_passphrase(db)
    assert stored
    assert stored.startswith("n=131072$r=8$p=1$")
    assert access.is_passphrase(stored, PASSPHRASE)
    assert not access.is_passphrase(stored, "something else")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[" * 3000,
        b"[]",
        b'{"passphrase": 1}',
        b'{"passphrase": "\\ud800"}',
        b'{"passphrase": "' + b"x" * 5000 + b'"}',
        b"\xff\xfe",
        {"once": "guessed"},
    ],
)
def test_what_is_no_sign_in_is_refused_in_a_sentence(behind: Server, said: object) -> None:
    assert refusal(behind, said, "203.0.113.9").endswith(".")


def test_a_form_of_another_site_cannot_sign_in(behind: Server) -> None:
    said = {"passphrase": PASSPHRASE}
    assert "not a sign-in" in refusal(behind, said, **{"Content-Type": "text/plain"})


# -- annotators' links


def test_a_link_leaves_the_address_and_is_bound_to_its_name(behind: Server) -> None:
    with behind.workspace.write() as db:
        ann, ben = (f"{behind.url}/rate?token={access.invite(db, name)}&a=b" for name in ("Ann", "Ben"))
        number = access.annotator_id(db, "Ann")
    entered = enter(ann, X_Forwarded_For="203.0.113.77", User_Agent="a phone")
    assert (entered.address, entered.query) == ("rate", f"a=b&desk={number}")
    assert "Hello Ann" in ask(behind.url, "rate", entered.query, cookie=entered.cookie)
    others = enter(ben)
    # Two desks in one browser keep apart, and nobody gets to a desk by its number or by another's session.
    both = f"{entered.cookie}; {others.cookie}"
    assert "Hello Ann" in ask(behind.url, "rate", entered.query, cookie=both)
    assert "Hello Ben" in ask(behind.url, "rate", others.query, cookie=both)
    stolen = others.cookie.partition("=")[2]
    for cookie in ("", others.cookie, f"{entered.cookie.partition('=')[0]}={stolen}"):
        said = ask(behind.url, "rate", entered.query, cookie=cookie)
        assert "You are signed out" in said
        assert "Hello" not in said
    assert not enter(ann, cookie=entered.cookie).cookie, "Who is signed in gets no second session."
    with behind.workspace.read() as db:
        [used] = [a for a in access.annotators(db) if a.name == "Ann"]
    assert used.source in ("203.0.113.77", "127.0.0.1")
    assert used.used
    assert used.used > now(-sessions.USE_INTERVAL)
    assert used.link == "works"


def test_a_link_expires_is_renewed_and_withdrawn(behind: Server) -> None:
    def opened(token: str) -> tuple[str, str]:
        entered = enter(f"{behind.url}/rate?token={token}")
        return entered.query.partition("=")[0], entered.cookie

    def signed_in(cookie: str) -> bool:
        return "Hello Cat" in ask(behind.url, "rate", cookie=cookie)

    with behind.workspace.write() as db:
        old = access.invite(db, "Cat", days=1)
    _, cookie = opened(old)
    assert signed_in(cookie)
    with behind.workspace.write() as db:
        cat = access.annotator_id(db, "Cat")
        [session] = [s for s in sessions.live(db) if (s.kind, s.rater_id) == ("annotator", cat)]
        assert session.expires == access.of_token(db, old).expires
        db.execute("UPDATE invitations SET expires = ?", [now(-sessions.USE_INTERVAL)])
        assert [a.link for a in access.annotators(db) if a.name == "Cat"] == ["expired"]
    assert opened(old) == ("refused", "")
    with behind.workspace.write() as db:
        new = access.invite(db, "Cat")
    assert not signed_in(cookie), "Renewing a link signs out who came by the old one."
    assert opened(old) == ("refused", "")
    _, cookie = opened(new)
    assert signed_in(cookie)
    with behind.workspace.write() as db:
        access.revoke(db, "Cat")
    assert not signed_in(cookie)
    assert opened(new) == ("refused", "")


# -- a crowd platform's links


def test_a_crowds_link_makes_one_annotator_of_a_number(
    behind: Server,
) -> None:
    with behind.workspace.write() as db:
        made = Crowd("keeper", "prolific", 2, 3, 60)
        link = crowd.open_link(db, made, behind.url).partition("&")[0]

    def come(number: str, submission: str, more: str = "") -> Entered:
        return enter(f"{link}&PROLIFIC_PID={number}&SESSION_ID={submission}&STUDY_ID=t{more}")

    with ThreadPoolExecutor(4) as pool:
        visits = [*pool.map(lambda _: come("one", "s1"), range(4))]
    assert len({visit.query for visit in visits}) == 1
    [visit, *_] = visits
    assert re.fullmatch(r"desk=\d+", visit.query)
    assert all(visit.cookie for visit in visits)
    said = ask(behind.url, "rate", visit.query, cookie=visit.cookie)
    assert "concord_desk" in said
    assert "prolific one" in said
    # Nobody else's desk, and no page of a researcher.
    assert INSIDE not in ask(behind.url, "", "", cookie=visit.cookie)
    assert "page_not_found" in ask(behind.url, "annotators", visit.query, cookie=visit.cookie)
    for query, reason in (
        (("one", "s2"), "twice"),
        (("tw,o", "s2"), "number"),
        (("two", "s2", "&PROLIFIC_PID=three"), "number"),
    ):
        refused = come(*query)
        assert (refused.cookie, refused.query) == ("", f"refused={reason}")
        assert sessions.REFUSED[reason][:30] in ask(behind.url, "rate", refused.query)
    assert come("two", "s2").cookie
    assert come("three", "s3").query == "refused=full"
    assert not enter(f"{link}x&PROLIFIC_PID=two&SESSION_ID=s2").cookie, "A guessed token lets nobody in."
    assert not enter(f"{behind.url}/rate?PROLIFIC_PID=two&SESSION_ID=s2&token=").cookie
    with behind.workspace.read() as db:
        assert {one.worker: one.open for one in crowds.workers(db, "keeper")} == {"one": 3, "two": 3}


# -- researchers and adjudicators with a link of their own


@pytest.mark.parametrize("role", ["researcher", "adjudicator"])
def test_a_role_opens_its_pages_and_no_other(behind: Server, role: Role) -> None:
    with behind.workspace.write() as db:
        link = f"{behind.url}/?token={access.invite(db, f'Dana the {role}', role)}"
    entered = enter(link)
    assert (entered.query, entered.address) == ("", "")
    assert entered.cookie
    for address in sorted(OPEN_TO["owner"]):
        said = ask(behind.url, address, cookie=entered.cookie)
        assert SIGN_IN not in said, address
        shut = address not in OPEN_TO[role] and address != ""
        assert ("page_not_found" in said) is shut, address
    at_root = ask(behind.url, "", cookie=entered.cookie)
    assert (INSIDE in at_root) is (role == "researcher")
    assert ("Adjudication" in at_root) is True
    with behind.workspace.write() as db:
        access.revoke(db, f"Dana the {role}")
    assert SIGN_IN in ask(behind.url, "", cookie=entered.cookie), "Signed out at once."
    refused = enter(link)
    assert (refused.cookie, refused.query) == ("", "refused=unknown")


def test_a_members_link_is_renewed_and_expires_and_cannot_pass_for_another(behind: Server) -> None:
    with behind.workspace.write() as db:
        old = access.invite(db, "Eve", "adjudicator")
        first = enter(f"{behind.url}/?token={old}")
        new = access.invite(db, "Eve", "researcher", days=1)
    assert SIGN_IN in ask(behind.url, "", cookie=first.cookie), (
        "A new link signs out who came by the old one."
    )
    assert enter(f"{behind.url}/?token={old}").query == "refused=unknown"
    again = enter(f"{behind.url}/?token={new}")
    assert INSIDE in ask(behind.url, "", cookie=again.cookie)
    with behind.workspace.write() as db:
        db.execute("UPDATE invitations SET expires = '2000' WHERE name = 'Eve'")
        found = {(line.act, line.target, line.about) for line in audit.lines(db)}
    assert enter(f"{behind.url}/?token={new}").query == "refused=expired"
    assert {("let_in", "adjudicator", "Eve"), ("let_in", "researcher", "Eve")} <= found


def test_a_members_link_signs_nobody_in_before_a_page_of_ours_asks_for_it(behind: Server) -> None:
    """Another site may open the link, or send its form; then the owner stays the owner."""
    with behind.workspace.write() as db:
        token = access.invite(db, "<b>Mallory</b>", "researcher")
    with urlopen(f"{behind.url}/?token={token}") as answer:
        page = answer.read().decode()
        assert (answer.headers["Set-Cookie"], answer.headers["Cache-Control"]) == (None, "no-store")
    assert "This link is for &lt;b&gt;Mallory&lt;/b&gt;." in page

    def press(origin: str, token: str) -> Message:
        connection = HTTPConnection(urlsplit(behind.url).netloc, timeout=20)
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": origin}
        connection.request("POST", "/sign-in", f"token={token}", headers)
        answer = connection.getresponse()
        connection.close()
        return answer.headers

    for origin in ("https://example.org", "null"):
        assert press(origin, token)["Set-Cookie"] is None
    assert press(behind.url, token)["Set-Cookie"]
    with behind.workspace.write() as db:
        annotators = access.invite(db, "Ann of a form")
    for other in ("guessed", annotators, "", "x" * 5000):
        assert press(behind.url, other)["Set-Cookie"] is None


def test_so_many_strangers_wait_and_a_browser_that_was_here_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers guess from ever new networks, as many as they like."""
    door = entrance.SignIn()
    monkeypatch.setattr(entrance, "oidc_configured", lambda: False)
    monkeypatch.setattr(entrance, "_device", lambda connection: "known" * (connection.peer == "home"))
    monkeypatch.setattr(Guesses, "delay", lambda *_: 0.0)
    checking = threading.Event()

    def check(connection: Connection, passphrase: str) -> str:
        assert checking.wait(30)
        if passphrase != PASSPHRASE:
            raise NotAllowed("Wrong passphrase.")
        return "token"

    monkeypatch.setattr(entrance, "_by_passphrase", check)

    async def sign_in_from(address: str, passphrase: str) -> str:
        try:
            return await door._guess(Connection(address, Headers(), {}), passphrase)
        except NotAllowed as error:
            return str(error)

    async def attack() -> tuple[str, list[str]]:
        strangers = [asyncio.create_task(sign_in_from(f"2001:db8:0:{n:x}::1", "wrong")) for n in range(40)]
        while sum(task.done() for task in strangers) < 40 - entrance.WAITING:
            await asyncio.sleep(0.01)
        assert door.waiting == entrance.WAITING
        turned_away = [task.result() for task in strangers if task.done()]
        owner = asyncio.create_task(sign_in_from("home", PASSPHRASE))
        checking.set()
        await asyncio.gather(*strangers)
        return await owner, turned_away

    token, turned_away = asyncio.run(attack())
    assert token == "token"
    assert all("Too many sign-ins at once." in answer for answer in turned_away)
    assert door.waiting == 0
