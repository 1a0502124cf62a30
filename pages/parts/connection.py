"""What is known of a connection: its address, its headers, and the sessions that its cookies prove."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st
from sqlite_utils import Database
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope
from streamlit.runtime.session_manager import ClientContext

from concord.errors import ConfigError
from concord.store import sessions
from concord.store.sessions import Session
from concord.workspace import LOCAL, PUBLIC_URL

_PROXY = (
    "forwarded",
    "x-forwarded",
    "x-real-ip",
    "x-client-ip",
    "x-original",
    "via",
    "cf-",
    "true-client-ip",
)
"""How the names of headers begin that only a proxy sends."""


@dataclass(frozen=True)
class Connection:
    """A request, or the handshake of a websocket: `peer` is the address at its other end."""

    peer: str | None
    headers: Headers
    cookies: Mapping[str, str]

    @classmethod
    def of(cls, scope: Scope) -> Connection:
        """The connection of an ASGI scope."""
        client = scope["client"]
        return cls(client[0] if client else None, Headers(scope=scope), HTTPConnection(scope).cookies)

    @classmethod
    def of_client(cls, client: ClientContext) -> Connection:
        """The connection of a Streamlit session."""
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in client.headers]
        return cls(client.remote_ip, Headers(raw=raw), client.cookies)

    @property
    def local(self) -> bool:
        """Whether a one-time link may be used over it: the server listens on loopback only, and no proxy lies
        between. This alone lets nobody in.
        """
        return os.environ.get(LOCAL) == "1" and is_local(self.peer, self.headers.items())

    @property
    def source(self) -> str:
        """The address of the browser: of the peer, or what a proxy last added to X-Forwarded-For.

        A proxy is on this machine; where a public address is configured, also on a private network (the
        host of a container).
        """
        peer = _address(self.peer or "")
        public = bool(os.environ.get(PUBLIC_URL))
        forwarded = self.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        if forwarded and peer and (peer.is_loopback or (public and peer.is_private)):
            return forwarded
        return str(peer or "")

    def cookie(self, rater: int | None = None) -> str:
        """The name of the cookie of a researcher's session, or of an annotator's.

        It names the port of the public address (else of the Host), because browsers do not tell the ports of
        a host apart. An annotator's names the annotator, so that several desks can be open in one browser.
        """
        public = urlsplit(os.environ.get(PUBLIC_URL, "")).netloc
        port = (public or self.headers.get("host", "")).rpartition(":")[2]
        name = f"concord_{port}" if port.isdecimal() else "concord"
        return name if rater is None else f"{name}_{rater}"

    def token(self, rater: int | None = None) -> str:
        """The token of a researcher, or of an annotator; "" where there is none."""
        return self.cookies.get(self.cookie(rater), "")

    def researcher(self, db: Database) -> Session | None:
        """The session of an owner, a researcher or an adjudicator that the browser shows, if it holds.

        All that asks for one asks here. One begun by a local link needs a local connection; one by passphrase
        or by account, that people sign in so here (still), and that the account is listed. An annotator's
        token is none, whatever the name of the cookie. Raises ConfigError for OIDC without a list of
        researchers.
        """
        session = sessions.of(db, self.token())
        if session is None or session.kind == "annotator":
            return None
        if session.kind == "local":
            holds = self.local
        elif session.kind == "oidc":
            holds = oidc_configured() and is_listed(session.name)
        else:
            holds = session.kind == "member" or not oidc_configured()
        return session if holds else None

    def annotator(self, db: Database, rater: int | None = None) -> Session | None:
        """An annotator's session that the browser shows: that of this one, or the only one there is."""
        numbers = self.annotators() if rater is None else [rater]
        session_of = ((number, sessions.of(db, self.token(number))) for number in numbers)
        valid = [s for number, s in session_of if s and s.kind == "annotator" and s.rater_id == number]
        return valid[0] if len(valid) == 1 else None

    def annotators(self) -> list[int]:
        """The annotators whose sessions the browser claims to have, by the names of its cookies."""
        prefix = f"{self.cookie()}_"
        suffixes = (name.removeprefix(prefix) for name in self.cookies if name.startswith(prefix))
        return [number for number in map(rater_in, suffixes) if number is not None]


def rater_in(text: str) -> int | None:
    """The annotator's number in the name of a cookie or in an address; None where there is none."""
    return int(text) if text.isdecimal() and len(text) < 16 else None


def oidc_configured() -> bool:
    """Whether `.streamlit/secrets.toml` sets up sign-in with OpenID Connect."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def is_listed(email: str) -> bool:
    """Whether an e-mail address, or its domain, is listed as a researcher's. Raises ConfigError."""
    listed = [str(entry).lower() for entry in st.secrets.get("concord", {}).get("researchers", ())]
    if not listed:
        raise ConfigError(
            "Sign-in is set up in .streamlit/secrets.toml without researchers. Add a section [concord] with "
            'researchers = ["name@example.org", "@example.org"].'
        )
    return "@" in email and (email in listed or email[email.rindex("@") :] in listed)


def is_local(peer: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether the other end is on this machine, its host and origin are loopback names, and no header is a
    proxy's.
    """
    lower_headers = [(name.lower(), value) for name, value in headers]
    if any(name.startswith(_PROXY) for name, _ in lower_headers):
        return False
    hosts = [_host(f"//{value}") for name, value in lower_headers if name == "host"]
    origins = [_host(value) for name, value in lower_headers if name == "origin"]
    return bool(hosts) and all(map(_is_loopback, [peer or "", *hosts, *origins]))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
