"""Who is here: a researcher, an annotator, or somebody unknown. A session proves it, never a header.

A session is a cookie that the server set (`pages.parts.server.entrance`). Streamlit reads cookies once for
each connection; whether their sessions still hold is asked on every run.
"""

import time
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from concord.errors import NotAllowed
from concord.store import access, sessions
from concord.store.sessions import Role, Session
from concord.workspace import Workspace
from pages.parts.connection import Connection, is_listed, rater_in

FRESH = 300.0
"""Seconds for which the confirmation of an account can be exchanged for a session."""


class SignedOut(NotAllowed):
    """Nobody is signed in any more. Whoever was may come back, and a desk keeps what is done until then."""

    def __init__(self, remedy: str = "Sign in again") -> None:
        super().__init__(
            f"You are signed out. {remedy}: your answers are kept in this browser and sent after that."
        )


@dataclass(frozen=True)
class Researcher:
    """An owner, a researcher or an adjudicator; `navigation.OPEN_TO` says which pages each may open."""

    by: Literal["local", "oidc", "passphrase", "member"]
    name: str = ""
    session: int = 0
    role: Role = "owner"


@dataclass(frozen=True)
class AnnotatorHere:
    """An annotator, by their link; sees their desk and nothing else."""

    rater_id: int
    name: str


def who_is_here(workspace: Workspace) -> Researcher | AnnotatorHere | None:
    """Decide who is here. It is decided on every run, so that ending a session works at once.

    Raises NotAllowed for a link that lets nobody in and for an annotator whose session is over, ConfigError
    for OIDC without a list of researchers.
    """
    connection = _connection()
    if connection is None:
        return None
    if reason := st.query_params.get("refused"):
        raise sessions.LinkRefused(reason if reason in sessions.REFUSED else "unknown")
    desk = st.query_params.get("desk", "")
    with workspace.read() as db:
        session = None if desk else connection.researcher(db)
        if session is None:
            session = connection.annotator(db, rater_in(desk))
    if session is None and desk:
        with workspace.read() as db:
            if access.is_withdrawn(db, connection.token(rater_in(desk))):
                raise sessions.LinkRefused("withdrawn")
        raise SignedOut("Open your link again (the new link if it was renewed)")
    if session is None:
        return None
    if sessions.overdue(session, connection.source):
        current = session
        workspace.change(lambda db: sessions.use(db, current, connection.source))
    return _visitor(session)


def _visitor(session: Session) -> Researcher | AnnotatorHere:
    """Whom a session stands for."""
    if session.kind == "annotator":
        assert session.rater_id is not None
        return AnnotatorHere(session.rater_id, session.name)
    assert session.role
    return Researcher(session.kind, session.name, session.id, session.role)


def account() -> str | None:
    """The e-mail address of the researcher's account that the provider has just confirmed; None as long as it
    has confirmed none.

    Raises NotAllowed for an account that is not listed (a public provider confirms anybody), and for one
    whose provider does not say that its address was verified; ConfigError without a list.
    """
    email = str(st.user.get("email") or "").lower()
    # An older confirmation is only a cookie that was left behind: it begins no session.
    if not st.user.get("is_logged_in") or time.time() - _number(st.user.get("iat")) > FRESH:
        return None
    if st.user.get("email_verified") is not True:
        raise NotAllowed(
            f"The provider does not confirm that the address {email or 'of this account'} was verified "
            "(email_verified is not true)."
        )
    if not is_listed(email):
        raise NotAllowed(f"{email} is not listed as a researcher of this workspace.")
    return email


def _number(claim: object) -> float:
    return float(claim) if isinstance(claim, int | float) else 0.0


def is_here_locally() -> bool:
    """Whether a one-time link works over the present connection."""
    connection = _connection()
    return connection is not None and connection.local


def _connection() -> Connection | None:
    """The connection of the present Streamlit session."""
    context = get_script_run_ctx()
    client = runtime.get_instance().get_client(context.session_id) if context and runtime.exists() else None
    if client is None or client.client_context is None:
        return None
    return Connection.of_client(client.client_context)
