"""Sessions: which browsers are signed in, when and from where they were last used; sign them out."""

from datetime import datetime

import pandas as pd
import streamlit as st

from concord.store import sessions
from concord.store.sessions import Session
from pages.parts import told
from pages.parts.people import Researcher
from pages.parts.plain import plain
from pages.parts.session import here, workspace

KINDS = {
    "local": "Link on the server's machine",
    "passphrase": "Passphrase",
    "oidc": "Account",
    "annotator": "Annotator's link",
}


def page() -> None:
    """Draw the page."""
    st.title("Sessions", anchor=False)
    st.caption(
        "Every browser that is signed in. A session ends when it is not used for a while, when it grows too "
        "old, and when it is ended here. An annotator whose session was ended may open their link again: "
        "withdraw the link to keep them out."
    )
    told.show()
    who = here()
    mine = who.session if isinstance(who, Researcher) else 0
    with workspace().read() as db:
        found = sessions.each(db)
    rows = [
        {
            "session": s.id,
            "who": s.name or "Researcher",
            "by": KINDS[s.kind] + (" (this browser)" if s.id == mine else ""),
            "used": datetime.fromisoformat(s.used),
            "from": s.source,
            "began": datetime.fromisoformat(s.begun),
            "browser": s.browser,
        }
        for s in found
    ]
    when = st.column_config.DatetimeColumn
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder="",
        alt="Sessions",
        column_config={
            "session": st.column_config.NumberColumn("Session", format="%d"),
            "who": "Who",
            "by": "Signed in by",
            "used": when("Last used", format="distance"),
            "from": "From",
            "began": when("Since", format="distance"),
            "browser": "Browser",
        },
    )
    with st.container(border=True, horizontal=True, vertical_alignment="bottom"):
        # This browser's own stands last, so that it is not ended by mistake.
        ordered = sorted(found, key=lambda session: session.id == mine)
        chosen = st.selectbox("Session", ordered, format_func=_named)
        st.button("End it", icon=":material/logout:", on_click=_end, args=([chosen],))
        others = [session for session in found if session.id != mine]
        st.button(
            "End all others", icon=":material/logout:", disabled=not others, on_click=_end, args=(others,)
        )


def _named(session: Session) -> str:
    return f"{session.id}: {plain(session.name) or 'Researcher'}, {KINDS[session.kind]}, {session.source}"


def _end(chosen: list[Session]) -> None:
    with told.writing() as db:
        for session in chosen:
            sessions.end(db, session.id)
        told.done(f"Signed out: {', '.join(str(session.id) for session in chosen)}.")


page()
