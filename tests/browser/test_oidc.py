"""Sign-in by an account: who gets in is who is listed, with an address that the provider has verified."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urljoin
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from concord.store import access, sessions
from concord.workspace import Workspace
from tests.security.sign_in_helpers import PASSPHRASE, refusal

from .asking import ask
from .keeper import Server, serving
from .provider import CLIENT, Provider, provider

pytestmark = pytest.mark.browser
ADA: dict[str, Any] = {"email": "Ada@lab.org", "email_verified": True}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Provider]]:
    """An app whose researchers sign in at a provider."""
    folder = tmp_path_factory.mktemp("oidc")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    workspace = Workspace.open(folder / "whalebone")
    with workspace.write() as db:
        access.set_passphrase(db, PASSPHRASE)
    with provider() as running:
        settings = folder / ".streamlit"
        settings.mkdir()
        (settings / "secrets.toml").write_text(
            f"""
            [auth]
            redirect_uri = "http://localhost:{port}/oauth2callback"
            cookie_secret = "{"0123456789abcdef" * 4}"
            client_id = "{CLIENT}"
            client_secret = "secret"
            server_metadata_url = "{running.url}/.well-known/openid-configuration"
            [concord]
            researchers = ["@lab.org", "bob@else.org"]
            """
        )
        with serving(
            workspace,
            folder / "log",
            "--sign-in",
            "--port",
            str(port),
            HOME=str(folder),
            AUTHLIB_INSECURE_TRANSPORT="1",
        ) as server:
            yield server, running


@pytest.fixture
def page(windows: BrowserContext) -> Iterator[Page]:
    """A window of somebody who is not signed in, anywhere."""
    page = windows.new_page()
    yield page
    page.close()
    windows.clear_cookies()


def sign_in(page: Page, lab: tuple[Server, Provider], account: dict[str, Any]) -> None:
    """Sign in with an account of which the provider claims this."""
    server, running = lab
    running.account = account
    page.goto(server.url)
    page.get_by_role("button", name="Sign in", exact=True).click()


def confirmed(lab: tuple[Server, Provider], account: dict[str, Any]) -> str:
    """The cookies that signing in with such an account leaves in a browser, as a request sends them."""
    server, running = lab
    running.account = account
    [way] = re.findall(r'auth_redirect \{\s+url: "(.+?)"', ask(server.url, press="Sign in"))
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    for address in (way, "/_stcore/health"):
        browser.open(urljoin(server.url, address)).close()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


def test_a_listed_researcher_signs_in_and_out(page: Page, lab: tuple[Server, Provider]) -> None:
    server, _ = lab
    sign_in(page, lab, ADA)
    heading = page.get_by_role("heading", name="Overview")
    expect(heading).to_be_visible()
    with server.workspace.read() as db:
        assert [(s.kind, s.name) for s in sessions.live(db)] == [("oidc", "ada@lab.org")]
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    with server.workspace.read() as db:
        assert sessions.live(db) == []
    page.reload()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    ("account", "why"),
    [
        ({"email": "ada@lab.org"}, "was verified"),
        ({"email": "ada@lab.org", "email_verified": False}, "was verified"),
        ({"email": "ada@lab.org", "email_verified": "true"}, "was verified"),
        ({"email_verified": True}, "not listed"),
        ({"email": "eve@else.org", "email_verified": True}, "not listed"),
        ({"email": "eve@notlab.org", "email_verified": True}, "not listed"),
        ({"email": "ada@lab.org@else.org", "email_verified": True}, "not listed"),
        ({"email": "@lab.org.example.org", "email_verified": True}, "not listed"),
    ],
)
def test_an_account_that_is_not_verified_or_not_listed_stays_out(
    lab: tuple[Server, Provider], account: dict[str, Any], why: str
) -> None:
    server, _ = lab
    said = ask(server.url, cookie=confirmed(lab, account))
    assert why in said
    assert "Use another account" in said
    with server.workspace.read() as db:
        assert sessions.live(db) == []


def test_a_confirmation_of_long_ago_begins_no_session(lab: tuple[Server, Provider]) -> None:
    """A session that was ended elsewhere does not begin again by the cookie that Streamlit keeps."""
    server, _ = lab
    cookies = confirmed(lab, {**ADA, "iat": 1_700_000_000})
    assert "_streamlit_user" in cookies
    assert 'label: "Sign in"' in ask(server.url, cookie=cookies)
    with server.workspace.read() as db:
        assert sessions.live(db) == []


def test_a_passphrase_and_its_sessions_are_no_way_in(lab: tuple[Server, Provider]) -> None:
    server, _ = lab
    assert "with their account" in refusal(server, {"passphrase": PASSPHRASE})
    with server.workspace.write() as db:
        by_passphrase = sessions.begin(db, "passphrase")
        by_account = [sessions.begin(db, "oidc", name=name) for name in ("ada@lab.org", "was@listed.org")]
    port = server.url.rpartition(":")[2]
    seen = [
        "What to do next" in ask(server.url, cookie=f"concord_{port}={token}")
        for token in (by_passphrase, *by_account)
    ]
    assert seen == [False, True, False]
    with server.workspace.write() as db:
        sessions.end_all(db, "oidc", "passphrase")
