"""Sessions: which browsers are signed in, when and from where they were last used; sign them out."""

import streamlit as st

from concord.errors import NotAllowed
from concord.store import access, sessions
from concord.store.sessions import Session
from concord.studies import studies
from pages.parts import handout, notice
from pages.parts.navigation import heading
from pages.parts.people import Researcher
from pages.parts.plain import plain
from pages.parts.session import current_visitor, opened_at, workspace
from pages.parts.table import draw


def page() -> None:
    """Draw the page."""
    heading("sessions")
    st.caption(
        "A session ends when it is idle for too long, reaches its maximum age, or is signed out here. An "
        "annotator can sign in again with their link; to prevent this, withdraw the link."
    )
    notice.show()
    visitor = current_visitor()
    own_session = visitor.session if isinstance(visitor, Researcher) else 0
    with workspace().read() as db:
        all_sessions = sessions.live(db)
        listed = sessions.table(db, own_session)
    draw(listed, titled=False)
    with st.container(border=True, horizontal=True, vertical_alignment="bottom"):
        # This browser's own stands last, so that it is not ended by mistake.
        ordered = sorted(all_sessions, key=lambda session: session.id == own_session)
        selected = st.selectbox("Session", ordered, format_func=_session_words)
        st.button("Sign it out", icon=":material/logout:", on_click=_end, args=([selected],))
        other_sessions = [session for session in all_sessions if session.id != own_session]
        st.button(
            "Sign out all others",
            icon=":material/logout:",
            disabled=not other_sessions,
            on_click=_end,
            args=(other_sessions,),
        )
    _members()


ROLES = {
    "researcher": "Opens every page but this one.",
    "adjudicator": "Opens only Adjudication and decides items on which annotators differ.",
}
"""What each role can do"""


def _members() -> None:
    """Who comes by a link of their own: invite, renew, withdraw."""
    st.subheader("Researchers and adjudicators", anchor=False)
    st.caption("Each member has their own link. Their name is stored with their decisions.")
    handout.show(
        "members",
        "**Copy the link now and give it to this person.** It is shown only now. Anyone with "
        "the link can sign in as this person.",
    )
    with workspace().read() as db:
        members = access.members(db)
    for one in members:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(f"{one.name}: {one.role}, link {one.state}"), width="stretch")
            st.button(
                "Renew",
                key=f"renew {one.name}",
                icon=":material/key:",
                help="Create a new link. The old link stops working and its browser is signed out.",
                on_click=_make,
                args=(one.name, one.role, access.LINK_DAYS, opened_at()),
            )
            st.button(
                "Withdraw",
                key=f"withdraw {one.name}",
                icon=":material/block:",
                help="They can no longer sign in. Their decisions stay under their name.",
                disabled=one.state == "withdrawn",
                on_click=_withdraw,
                args=(one.name,),
            )
    with st.form("invite a member", clear_on_submit=True):
        left, right = st.columns(2)
        left.text_input("Name", max_chars=access.LONGEST_NAME, key="member name")
        right.selectbox(
            "Role", list(ROLES), key="member role", format_func=lambda one: f"{one}: {ROLES[one]}"
        )
        left.text_input(
            "Address of this app for annotators", opened_at(), max_chars=2000, key="member address"
        )
        right.number_input(
            "Days until the link expires (0: never)", 0, None, access.LINK_DAYS, key="member days"
        )
        handout.warn(opened_at())
        st.form_submit_button("Create link", type="primary", on_click=_invited)


def _invited() -> None:
    state = st.session_state
    name = " ".join(str(state["member name"]).split())
    with workspace().read() as db:
        names = {one.name for one in access.members(db) if one.state == "works"}
    if name in names:
        # A second link would close the first, which is somebody's way in.
        notice.failure(NotAllowed(f"{name} can sign in already. If the link was lost, renew it."))
    else:
        _make(name, state["member role"], int(state["member days"]), state["member address"])


def _make(name: str, role: str, days: int, address: str) -> None:
    with notice.writing() as db:
        handout.keep("members", studies.invite(db, [name], address, days, role))
        notice.success(f"{name} has a new link as {role}. Copy it below.")


def _withdraw(name: str) -> None:
    with notice.writing() as db:
        access.revoke(db, name, "member")
        notice.success(f"The link of {name} no longer works. Renew it to undo this.")


def _session_words(session: Session) -> str:
    name = plain(session.name) or "researcher"
    entrance = sessions.ENTRANCES[session.kind].words
    return f"{session.id}: {name}, {entrance}, {session.source}"


def _end(ended_sessions: list[Session]) -> None:
    with notice.writing() as db:
        for session in ended_sessions:
            sessions.end(db, session.id)
        notice.success(f"Signed out: {', '.join(str(session.id) for session in ended_sessions)}.")


page()
