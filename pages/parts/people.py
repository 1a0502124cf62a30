"""Who is here: the researcher, an annotator by their link, or somebody unknown.

*Local* means that the browser runs on the server's machine: the connection comes from a loopback address, the
request and its origin name a loopback host, and no header names a proxy. A proxy on the same machine that
sends none of these headers looks local; behind one, set CONCORD_SIGN_IN=always (`concord app --sign-in`).
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import ConfigError
from core.store import access
from core.workspace import Workspace

COOKIE = "concord_researcher"
_PASSED_ON = {"forwarded", "via", "x-real-ip"} | {
    f"x-forwarded-{of}" for of in ("for", "host", "proto", "server")
}


@dataclass(frozen=True)
class Researcher:
    """A researcher, who may see and do everything."""

    by: Literal["local", "oidc", "passphrase"]
    name: str = ""


@dataclass(frozen=True)
class AnnotatorHere:
    """An annotator, by their link; sees their desk and nothing else."""

    rater_id: int
    name: str


def who_is_here(workspace: Workspace) -> Researcher | AnnotatorHere | None:
    """Decide who is here. Whoever opens a link is that annotator for the rest of the session.

    It is decided on every run, so that withdrawing a link or renewing the passphrase works at once. Raises
    NotAllowed for a link that does not work, ConfigError for OIDC without a list of researchers.
    """
    token = st.query_params.get("token") or st.session_state.get("token")
    if token:
        with workspace.read() as db:
            annotator = AnnotatorHere(*access.annotator_of(db, token))
        st.session_state["token"] = token
        return annotator
    if _local_session():
        return Researcher("local")
    if oidc_configured():
        return _by_oidc()
    shown = st.session_state.get(COOKIE) or st.context.cookies.get(COOKIE)
    if shown:
        with workspace.read() as db:
            if access.ticket_holds(db, shown):
                return Researcher("passphrase")
    return None


def is_local(peer: str | None, headers: Iterable[tuple[str, str]]) -> bool:
    """Whether a connection from this address with these headers was made on the server's own machine."""
    if peer is None or os.environ.get("CONCORD_SIGN_IN") == "always":
        return False
    told = [(name.lower(), value) for name, value in headers]
    if any(name in _PASSED_ON for name, _ in told):
        return False
    asked = [_host(f"//{value}") for name, value in told if name == "host"]
    came_from = [_host(value) for name, value in told if name == "origin"]
    return bool(asked) and all(map(_is_loopback, [peer, *asked, *came_from]))


def oidc_configured() -> bool:
    """Whether `.streamlit/secrets.toml` sets up sign-in with OpenID Connect."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def _by_oidc() -> Researcher | None:
    """The account that the provider confirms, if it is listed; a public provider confirms anybody."""
    listed = [str(entry).lower() for entry in st.secrets.get("concord", {}).get("researchers", ())]
    if not listed:
        raise ConfigError(
            "Sign-in is set up in .streamlit/secrets.toml without researchers. Add a section [concord] with "
            'researchers = ["name@example.org", "@example.org"].'
        )
    email = str(st.user.get("email") or "").lower()
    if not st.user.get("is_logged_in") or st.user.get("email_verified") is False or "@" not in email:
        return None
    if email in listed or email[email.index("@") :] in listed:
        return Researcher("oidc", email)
    return None


def _local_session() -> bool:
    """Whether the present session is local. Address and headers are read from one connection."""
    context = get_script_run_ctx()
    client = runtime.get_instance().get_client(context.session_id) if context and runtime.exists() else None
    if client is None or client.client_context is None:
        return False
    return is_local(client.client_context.remote_ip, client.client_context.headers)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback
