"""The reviewer's name, stored with what they decide."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import StudyError
from concord.store import audit
from concord.store.actor import acting
from pages.parts.people import Researcher
from pages.parts.session import here, workspace

_KEPT, _TYPED = "person who reviews", "name of the person who reviews"
LONGEST = 60


def ask() -> str:
    """The reviewer's name, asked for on the page and kept for the session; a member has their own."""
    if (member := _member()) is not None:
        return member
    given = st.text_input(
        "Your name",
        _known(),
        key=_TYPED,
        max_chars=LONGEST,
        help="Stored with your decisions.",
        placeholder="researcher",
    )
    name = " ".join(given.split()) or "researcher"
    st.session_state[_KEPT] = name
    return name


def begin(work: str, **at: str) -> None:
    """Open the reviewer's desk on the same page.

    For callbacks of buttons: they run before the page has seen a name that was typed a moment ago.
    """
    typed = " ".join(str(st.session_state.get(_TYPED) or "").split())
    for name, value in {"work": work, "as": _member() or typed or _known(), **at}.items():
        if value:
            st.query_params[name] = value


def named() -> str:
    """The name of a member; else that in the address, else that of the session.

    Raises StudyError for one that is too long.
    """
    if (member := _member()) is not None:
        return member
    name = " ".join(st.query_params.get("as", "").split()) or _known()
    if len(name) > LONGEST:
        raise StudyError("This name is too long. Choose a shorter name.")
    st.session_state[_KEPT] = name
    return name


@contextmanager
def writing() -> Iterator[Database]:
    """The store to write into, as who is here."""
    with as_here(), workspace().write() as db:
        yield db


@contextmanager
def as_here() -> Iterator[None]:
    """What is done within this block is stored as done by who is here."""
    with acting(named()):
        yield


def exported(what: str, study: str = "") -> None:
    """Write an export by page into the audit log."""
    with writing() as db:
        audit.record(db, AuditAct.EXPORTED, study, target=what)


def _member() -> str | None:
    """The name of whoever came by a link of their own: nobody decides under another one."""
    who = here()
    return who.name if isinstance(who, Researcher) and who.by == "member" else None


def _known() -> str:
    who = here()
    mine = who.name if isinstance(who, Researcher) else ""
    return str(st.session_state.get(_KEPT) or mine or "researcher")
