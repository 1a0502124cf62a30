"""Sign-in of researchers: OpenID Connect or a passphrase. `server.entrance` checks what is said here."""

from pathlib import Path

import streamlit as st

from concord.errors import NotAllowed
from concord.store import access, sessions
from concord.workspace import Workspace
from pages.parts.connection import oidc_configured
from pages.parts.people import Researcher, account, is_here_locally
from pages.parts.session import sentence

HERE = Path(__file__).resolve().parent
_form = st.components.v2.component(
    "concord_sign_in",
    html='<form><div role="alert"></div></form>',
    css=(HERE / "signin.css").read_text(encoding="utf-8"),
    js=(HERE / "signin.js").read_text(encoding="utf-8"),
)


def sign_in(workspace: Workspace) -> None:
    """Draw the sign-in page."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title("Concord", anchor=False)
        if oidc_configured():
            _with_oidc(workspace)
        elif _has_passphrase(workspace):
            _with_passphrase()
        elif is_here_locally():
            st.markdown(
                "On this machine, open the link that the server printed in its console; it works once. "
                "`concord --workspace DIR link` prints another; DIR is the folder of this workspace."
            )
        else:
            st.markdown(
                "No passphrase for researchers is set yet. Run `concord passphrase` on the server's "
                "machine to set it."
            )
        st.caption("Invited to rate conversations? Open the link that you were sent. You need no passphrase.")


def sign_out(workspace: Workspace, who: Researcher) -> None:
    """Say who is signed in, and offer to end the session."""
    if who.by == "local":
        return
    with st.sidebar:
        st.caption(who.name or "Signed in as researcher")
        if not st.button("Sign out", icon=":material/logout:", width="stretch"):
            return
    with workspace.write() as db:
        sessions.end(db, who.session)
    if who.by == "oidc":
        st.logout()
        st.stop()
    st.rerun()


def _with_oidc(workspace: Workspace) -> None:
    try:
        confirmed = account()
    except NotAllowed as error:
        sentence(error)
        if st.button("Use another account"):
            st.logout()
        return
    if confirmed:
        if "once" not in st.session_state:
            with workspace.write() as db:
                st.session_state["once"] = sessions.one_time(db, "oidc", confirmed)
        _form(data={"once": st.session_state["once"]}, key="sign in")
    elif st.button("Sign in", type="primary", icon=":material/login:"):
        st.login()


def _with_passphrase() -> None:
    field = {"name": "passphrase", "label": "Researchers' passphrase", "autocomplete": "current-password"}
    _form(data={"fields": [field], "button": "Sign in"}, key="sign in")
    if is_here_locally():
        st.caption("Without the passphrase: run `concord link` for a link that opens this app once.")


def _has_passphrase(workspace: Workspace) -> bool:
    with workspace.read() as db:
        return access.stored_passphrase(db) is not None
