"""Sessions: which browsers are signed in, when and from where they were last used; sign them out."""

import streamlit as st

from concord.store import access, sessions
from concord.store.sessions import Session
from pages.parts import notice
from pages.parts.navigation import heading
from pages.parts.people import Researcher
from pages.parts.plain import plain
from pages.parts.session import here, workspace
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
    """Who comes by a link of their own."""
    st.subheader("Researchers and adjudicators", anchor=False)
    st.caption(
        "Each has a link and a name that stands with what they decide. A researcher may open every page but "
        "this one, an adjudicator only Adjudication. `concord people invite NAME --role researcher` makes or "
        "renews a link, `concord people revoke NAME` withdraws it."
    )
    with workspace().read() as db:
        for one in access.members(db):
            st.markdown(plain(f"{one.name}: {one.role}, link {one.state}"))


def _named(session: Session) -> str:
    name, how = plain(session.name) or "researcher", sessions.ENTRANCES[session.kind].words
    return f"{session.id}: {name}, {how}, {session.source}"


def _end(chosen: list[Session]) -> None:
    with notice.writing() as db:
        for session in chosen:
            sessions.end(db, session.id)
        notice.done(f"Signed out: {', '.join(str(session.id) for session in chosen)}.")


page()
