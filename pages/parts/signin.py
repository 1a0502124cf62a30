"""Sign-in of researchers when the app is served beyond its own machine: OpenID Connect or a passphrase."""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from core.errors import NotAllowed
from core.store import access
from core.workspace import Workspace
from pages.parts.people import COOKIE, Researcher, oidc_configured
from pages.parts.session import sentence

log = logging.getLogger("concord")
FREE_GUESSES = 5
LONGEST_WAIT = 60.0


@dataclass
class Guesses:
    """How often sign-in failed in a row. After five failures the wait doubles each time, up to a minute.

    There is one count for everybody, because addresses are easily changed and shared behind a proxy. The
    server's own machine never waits. An attacker has 1,440 guesses a day.
    """

    failures: int = 0
    until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, now: float) -> None:
        """Register a guess. Raises NotAllowed while the wait lasts."""
        with self.lock:
            if now < self.until:
                raise NotAllowed(f"Too many wrong guesses. Try again in {self.until - now:.0f} seconds.")
            # Counted before it is checked, so that guesses made at the same time cannot slip past the wait.
            self.failures += 1
            if self.failures > FREE_GUESSES:
                self.until = now + min(LONGEST_WAIT, 2.0 ** (self.failures - FREE_GUESSES))

    def right(self) -> None:
        """Forget the wrong guesses after a right one."""
        with self.lock:
            self.failures, self.until = 0, 0.0


@dataclass
class SetupCode:
    """The code on the server's console that the first researcher enters to set the passphrase."""

    code: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def expected(self) -> str:
        """The code; printed on the console when it is first asked for."""
        with self.lock:
            if self.code is None:
                self.code = "-".join(secrets.token_hex(2).upper() for _ in range(3))
                print(
                    "\n  No passphrase is set yet. To set one in the browser, enter this code there: "
                    f"{self.code}",
                    flush=True,
                )
                print("  (or set one here with `concord passphrase`)\n", flush=True)
            return self.code

    def used(self) -> None:
        """Forget the code after use; the next one differs."""
        with self.lock:
            self.code = None


# Values of this process, not st.cache_resource: any visitor may ask Streamlit to clear its caches.
_guesses = Guesses()
_setup = SetupCode()


def sign_in(workspace: Workspace) -> None:
    """Draw the sign-in page."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title("Concord", anchor=False)
        if oidc_configured():
            _with_oidc()
        elif _has_passphrase(workspace):
            _with_passphrase(workspace)
        else:
            _first_passphrase(workspace)
        st.caption(
            "Invited to rate conversations? Open the link you were sent: it is your key, no sign-in is "
            "needed."
        )


def stay_signed_in(who: Researcher) -> None:
    """Store the ticket in the browser, so that a reload does not ask again; and offer to sign out."""
    if who.by == "local":
        return
    with st.sidebar:
        st.caption(who.name or "Signed in as researcher")
        left = st.button("Sign out", icon=":material/logout:", width="stretch")
    if who.by == "oidc":
        if left:
            st.logout()
        return
    if left:
        st.session_state.pop(COOKIE, None)
        _keep(data={"name": COOKIE, "value": "", "seconds": 0, "reload": True}, key="keep")
        st.stop()
    ticket = st.session_state.get(COOKIE)
    if ticket and st.context.cookies.get(COOKIE) != ticket:
        _keep(data={"name": COOKIE, "value": ticket, "seconds": 12 * 3600, "reload": False}, key="keep")


# Python cannot set a cookie here, so that the browser does. The ticket is signed and expires by itself.
_keep = st.components.v2.component(
    "concord_keep",
    js="""
export default function ({ data }) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; Max-Age=${data.seconds}; Path=/; SameSite=Strict${secure}`;
  if (data.reload) location.assign("/");
}
""",
)


def _with_oidc() -> None:
    if st.user.get("is_logged_in"):
        st.error(f"{st.user.get('email') or 'This account'} is not listed as a researcher of this workspace.")
        if st.button("Use another account"):
            st.logout()
    elif st.button("Sign in", type="primary", icon=":material/login:"):
        st.login()


def _with_passphrase(workspace: Workspace) -> None:
    with st.form("sign_in", border=False):
        guess = st.text_input("Researchers' passphrase", type="password", autocomplete="current-password")
        if not st.form_submit_button("Sign in", type="primary"):
            return
    try:
        _guesses.begin(time.monotonic())
    except NotAllowed as error:
        return sentence(error)
    with workspace.read() as db:
        if not access.check_passphrase(db, guess):
            log.warning("A wrong passphrase was entered.")
            return sentence(NotAllowed("That is not the passphrase."))
        st.session_state[COOKIE] = access.ticket(db)
    _guesses.right()
    st.rerun()


def _first_passphrase(workspace: Workspace) -> None:
    expected = _setup.expected()
    st.markdown(
        "This workspace is served beyond its own machine and has no passphrase yet. "
        "The code stands in the console of the server."
    )
    with st.form("first_passphrase", border=False):
        code = st.text_input("Setup code", autocomplete="one-time-code")
        new = st.text_input(
            "New passphrase, 12 characters or more", type="password", autocomplete="new-password"
        )
        again = st.text_input("The same again", type="password", autocomplete="new-password")
        if not st.form_submit_button("Set the passphrase", type="primary"):
            return
    try:
        _guesses.begin(time.monotonic())
        if not hmac.compare_digest(code.strip().upper().encode(), expected.encode()):
            raise NotAllowed("That is not the code in the server's console.")
        _guesses.right()
        if new != again:
            raise NotAllowed("The two passphrases differ.")
        with workspace.write() as db:
            access.set_passphrase(db, new)
            st.session_state[COOKIE] = access.ticket(db)
    except NotAllowed as error:
        return sentence(error)
    _setup.used()
    st.rerun()


def _has_passphrase(workspace: Workspace) -> bool:
    with workspace.read() as db:
        return access.has_passphrase(db)
