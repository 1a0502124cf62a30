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
from pages.parts.session import current_visitor, workspace

_REVIEWER = "person who reviews"
_TYPED = "name of the person who reviews"
LONGEST = 60


def ask() -> str:
    """The reviewer's name, asked for on the page and kept for the session; a member has their own."""
    if (member := _member()) is not None:
        return member
    typed = st.text_input(
        "Your name",
        _default_name(),
        key=_TYPED,
        max_chars=LONGEST,
        help="Stored with your decisions.",
        placeholder="researcher",
    )
    name = " ".join(typed.split()) or "researcher"
    st.session_state[_REVIEWER] = name
    return name


def begin(work: str, **parameters: str) -> None:
    """Open the reviewer's desk on the same page.

    For callbacks of buttons: they run before the page has seen a name that was typed a moment ago.
    """
    typed = " ".join(str(st.session_state.get(_TYPED) or "").split())
    for name, value in {"work": work, "as": _member() or typed or _default_name(), **parameters}.items():
        if value:
            st.query_params[name] = value


def reviewer_name() -> str:
    """The name of a member; else that in the address, else that of the session.

    Raises StudyError for one that is too long.
    """
    if (member := _member()) is not None:
        return member
    name = " ".join(st.query_params.get("as", "").split()) or _default_name()
    if len(name) > LONGEST:
        raise StudyError("This name is too long. Choose a shorter name.")
    st.session_state[_REVIEWER] = name
    return name


@contextmanager
def writing() -> Iterator[Database]:
    """The store to write into, as who is here."""
    with as_here(), workspace().write() as db:
        yield db


@contextmanager
def as_here() -> Iterator[None]:
    """What is done within this block is stored as done by who is here."""
    with acting(reviewer_name()):
        yield


def exported(content: str, study: str = "") -> None:
    """Write an export by page into the audit log."""
    with writing() as db:
        audit.record(db, AuditAct.EXPORTED, study, target=content)


def _member() -> str | None:
    """The name of whoever came by a link of their own: nobody decides under another one."""
    visitor = current_visitor()
    return visitor.name if isinstance(visitor, Researcher) and visitor.by == "member" else None


def _default_name() -> str:
    visitor = current_visitor()
    own_name = visitor.name if isinstance(visitor, Researcher) else ""
    return str(st.session_state.get(_REVIEWER) or own_name or "researcher")
