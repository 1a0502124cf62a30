"""The reviewer's name, stored with what they decide."""

import streamlit as st
from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import audit
from pages.parts.people import Researcher
from pages.parts.session import here, workspace

_KEPT = "person who reviews"
LONGEST = 60


def ask() -> str:
    """The reviewer's name, asked for on the page and kept for the session; a member has their own."""
    if (member := _member()) is not None:
        return member
    given = st.text_input(
        "Your name", _known(), max_chars=LONGEST, help="Stored with your decisions.", placeholder="researcher"
    )
    name = " ".join(given.split()) or "researcher"
    st.session_state[_KEPT] = name
    return name


def named() -> str:
    """The name of a member; else that in the address, else that of the session.

    Raises StudyError for one that is too long.
    """
    if (member := _member()) is not None:
        return member
    name = " ".join(st.query_params.get("as", "").split()) or _known()
    if len(name) > LONGEST:
        raise StudyError("This name is too long. Choose a shorter one.")
    st.session_state[_KEPT] = name
    return name


def decided(db: Database, what: str, study: str = "", about: str = "", detail: str = "") -> None:
    """Write a decision made on a page into the audit log, in the transaction that carries it out."""
    audit.record(db, named(), what, study, about, detail)


def exported(what: str, study: str = "") -> None:
    """Write an export by page into the audit log; a workspace that is read-only has none."""
    if not workspace().read_only:
        by = named()
        with workspace().write() as db:
            audit.record(db, by, f"exported {what}", study)


def _member() -> str | None:
    """The name of whoever came by a link of their own: nobody decides under another one."""
    who = here()
    return who.name if isinstance(who, Researcher) and who.by == "member" else None


def _known() -> str:
    who = here()
    mine = who.name if isinstance(who, Researcher) else ""
    return str(st.session_state.get(_KEPT) or mine or "researcher")
