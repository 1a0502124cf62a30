"""Sessions: which browsers are signed in, when and from where they were last used; sign them out."""

import streamlit as st

from concord.store import access, sessions
from concord.store.sessions import Session
from concord.studies import studies
from pages.parts import notice
from pages.parts.navigation import heading
from pages.parts.people import Researcher
from pages.parts.plain import plain
from pages.parts.session import here, opened_at, workspace
from pages.parts.table import draw


def page() -> None:
    """Draw the page."""
    heading("sessions")
    st.caption(
        "A session ends when it is not used for a while or grows too old, and here. An annotator may open "
        "their link again: withdraw the link to keep them out."
    )
    notice.show()
    who = here()
    mine = who.session if isinstance(who, Researcher) else 0
    with workspace().read() as db:
        every, listed = sessions.each(db), sessions.table(db, mine)
    draw(listed, titled=False)
    with st.container(border=True, horizontal=True, vertical_alignment="bottom"):
        # This browser's own stands last, so that it is not ended by mistake.
        ordered = sorted(every, key=lambda session: session.id == mine)
        chosen = st.selectbox("Session", ordered, format_func=_named)
        st.button("End it", icon=":material/logout:", on_click=_end, args=([chosen],))
        others = [session for session in every if session.id != mine]
        st.button(
            "End all others", icon=":material/logout:", disabled=not others, on_click=_end, args=(others,)
        )
    _members()


def _members() -> None:
    """Researchers and adjudicators: let them in by a link of their own, or keep them out."""
    st.subheader("Researchers and adjudicators", anchor=False)
    st.caption(
        "Each has a link and a name that stands with what they decide. A researcher may open every page but "
        "this one, an adjudicator only Adjudication."
    )
    if made := st.session_state.pop("member link", ""):
        st.markdown("**Hand this link to its person.** It is shown this once.")
        st.code(made, language=None, wrap_lines=True)
    with workspace().read() as db:
        everybody = access.members(db)
    for one in everybody:
        st.markdown(plain(f"{one.name}: {one.role}, link {one.state}"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Name of a researcher", key="member name", max_chars=80)
        st.selectbox("Role", ["researcher", "adjudicator"], key="member role")
        st.button("Make a link", key="member invite", on_click=_let_in)
    if working := [one.name for one in everybody if not one.ended]:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("Researcher", working, key="member out")
            st.button("Withdraw the link", key="member revoke", on_click=_keep_out)


def _let_in() -> None:
    with notice.writing() as db:
        name, role = st.session_state["member name"].strip(), st.session_state["member role"]
        [st.session_state["member link"]] = studies.invite(db, [name], opened_at(), role=role).values()
        notice.done(f"{name} may come in.")


def _keep_out() -> None:
    with notice.writing() as db:
        access.revoke(db, st.session_state["member out"], "member")
        notice.done(f"The link of {st.session_state['member out']} no longer works.")


def _named(session: Session) -> str:
    name, how = plain(session.name) or "researcher", sessions.ENTRANCES[session.kind].words
    return f"{session.id}: {name}, {how}, {session.source}"


def _end(chosen: list[Session]) -> None:
    with notice.writing() as db:
        for session in chosen:
            sessions.end(db, session.id)
        notice.done(f"Signed out: {', '.join(str(session.id) for session in chosen)}.")


page()
