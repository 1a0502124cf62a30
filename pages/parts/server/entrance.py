"""How a browser comes by a session: an annotator's link, a one-time link, a passphrase or an account.

The session's token is a cookie that scripts cannot read. Links are taken out of the address at once.

A member's link asks first, because its session takes the place of another one: otherwise any site could open
such a link, and what its visitor then does would go under another name. Whether somebody is signed in cannot
be seen at that moment: browsers do not send the cookie when another site leads here.
"""

import asyncio
import logging
import os
import time
from html import escape
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from concord.errors import ConcordError, NotAllowed
from concord.store import access, crowds, sessions
from concord.store.sessions import ENTRANCES, Kind
from concord.studies import crowd
from concord.workspace import PUBLIC_URL
from pages.parts.connection import Connection, oidc_configured
from pages.parts.server.guesses import Guesses, network
from pages.parts.server.refusal import plain_page
from pages.parts.session import workspace

log = logging.getLogger("concord")
SIGN_IN = "/sign-in"
LARGEST = 4096
"""Bytes that a sign-in may have."""
WAITING = 20
"""So many strangers may wait for the check of a guess, which takes a core and 128 MiB."""
_NO_SIGN_IN = "This is not a sign-in request."
_TEXTS = TypeAdapter(dict[str, str])
FORM = "application/x-www-form-urlencoded"
_FORM = """<form method="post" action="./sign-in">
<input type="hidden" name="token" value="{}"><button>{}</button>
</form>"""


class SignIn:
    """Exchanges passphrases and accounts for sessions, and members' links by the form that asks first."""

    def __init__(self) -> None:
        self.guesses = Guesses()
        # Browsers that were signed in before do not queue behind strangers.
        self.known = asyncio.Semaphore(1)
        self.strangers = asyncio.Semaphore(1)
        self.waiting = 0

    async def answer(self, request: Request) -> Response:
        """The session's cookie, or the reason for refusing one."""
        connection = Connection.of(request.scope)
        kind: Kind
        try:
            body = await request.body()
            if len(body) > LARGEST:
                raise NotAllowed(_NO_SIGN_IN)
            if request.headers.get("content-type") == FORM:
                token = dict(parse_qsl(body.decode("latin-1"))).get("token", "")
                return await asyncio.to_thread(_by_invitation, request.scope, token)
            fields = _fields(request, body)
            if once := fields.get("once"):
                kind = "oidc"
                token = await asyncio.to_thread(_by_account, connection, once)
            else:
                kind = "passphrase"
                token = await self._guess(connection, fields.get("passphrase", ""))
        except ConcordError as error:
            return JSONResponse({"message": str(error)}, 403)
        answer = JSONResponse({})
        _keep(answer, connection, request.scope, kind, token)
        return answer

    async def _guess(self, connection: Connection, passphrase: str) -> str:
        """A session for the right passphrase."""
        if oidc_configured():
            raise NotAllowed("Researchers sign in with their account here.")
        device = await asyncio.to_thread(_device, connection)
        source = device or network(connection.source)
        if not device and self.waiting >= WAITING:
            raise NotAllowed("Too many sign-ins at once. Try again in a few seconds.")
        self.waiting += not device
        try:
            await asyncio.sleep(self.guesses.begin(source, time.monotonic()))
            async with self.known if device else self.strangers:
                token = await asyncio.to_thread(_by_passphrase, connection, passphrase)
        finally:
            self.waiting -= not device
        self.guesses.right(source)
        return token


def _fields(request: Request, body: bytes) -> dict[str, str]:
    """What a sign-in says. A form of another site cannot send JSON. Raises NotAllowed."""
    if request.headers.get("content-type") != "application/json":
        raise NotAllowed(_NO_SIGN_IN)
    try:
        return _TEXTS.validate_json(body)
    except ValidationError:
        raise NotAllowed(_NO_SIGN_IN) from None


def by_link(scope: Scope) -> Response:
    """Lead on to the same address without its token, with a session or the reason for refusing one."""
    connection = Connection.of(scope)
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    token = next((value for name, value in query if name == "token"), "")
    dropped = {"token", "desk", "refused", *crowd.NAMES}
    shown = [(name, value) for name, value in query if name not in dropped]
    rater = began = None
    try:
        with workspace().read() as db:
            once = sessions.is_one_time(db, token)
            study = crowds.of_token(db, token)
        invited = _of_crowd(study, query) if study else None
        with workspace().read() as db:
            link = invited or (None if once else access.of_token(db, token))
            rater = link.rater_id if link else None
            signed_in = rater is not None and connection.annotator(db, rater) is not None
        if link and link.for_member:
            sentence = f"This link is for {link.name}. Any other user of this browser will be signed out."
            button = f"Sign in as {link.role}"
            return plain_page("Sign in", sentence, form=_FORM.format(escape(token), escape(button)))
        if link:
            shown.append(("desk", str(rater)))
            if not signed_in:
                began = _begin(connection, "annotator", link.name, rater, link.expires)
        else:
            began = _by_local_link(connection, token)
    except sessions.LinkRefused as error:
        shown.append(("refused", error.reason))
    last = quote(scope["path"].rpartition("/")[2])
    # Relative to where it was asked, so that it leads nowhere else.
    answer = RedirectResponse(f"./{last}" + (f"?{urlencode(shown)}" if shown else ""), 303)
    answer.headers["Cache-Control"] = "no-store"
    if began:
        _keep(answer, connection, scope, "annotator" if link else "local", began, rater)
    return answer


def _by_invitation(scope: Scope, token: str) -> Response:
    """A member's session, as the form of their link asks for it. It came from our own page: `SameOrigin`."""
    connection = Connection.of(scope)
    try:
        with workspace().read() as db:
            member = access.of_token(db, token)
        if not member.for_member:
            raise sessions.LinkRefused("unknown")
    except sessions.LinkRefused as error:
        return RedirectResponse(f"./?refused={error.reason}", 303)
    answer = RedirectResponse("./", 303)
    began = _begin(connection, "member", member.name, expires=member.expires)
    _keep(answer, connection, scope, "member", began)
    return answer


def _of_crowd(study: crowds.Crowd, query: list[tuple[str, str]]) -> access.Invitation:
    """Whoever comes by a study's link for a crowd platform. Raises LinkRefused."""
    came = crowd.visitor(study.platform, query)
    with workspace().write() as db:
        worker = crowd.enter(db, study, came)
    return access.Invitation(worker.rater, worker.name, None)


def _by_local_link(connection: Connection, token: str) -> str | None:
    if not connection.local:
        raise sessions.LinkRefused("elsewhere")
    with workspace().write() as db:
        if connection.researcher(db):
            return None  # signed in already: the link may be opened again from the browser's history
        sessions.redeem(db, token, "local")
    return _begin(connection, "local")


def _by_account(connection: Connection, once: str) -> str:
    """A session for the account that the sign-in page has found at the provider."""
    with workspace().write() as db:
        name = sessions.redeem(db, once, "oidc")
    return _begin(connection, "oidc", name)


def _by_passphrase(connection: Connection, passphrase: str) -> str:
    """A session for the passphrase."""
    with workspace().read() as db:
        stored = access.stored_passphrase(db)
    if stored is None:
        raise NotAllowed("No passphrase is set. Run `concord passphrase` on the server's machine to set one.")
    if not access.is_passphrase(stored, passphrase):
        log.warning("A wrong passphrase was entered from %r.", connection.source[:64])
        raise NotAllowed("Wrong passphrase.")
    return _begin(connection, "passphrase")


def _begin(
    connection: Connection, kind: Kind, name: str = "", rater: int | None = None, expires: str | None = None
) -> str:
    """The token of a new session."""
    with workspace().write() as db:
        return sessions.begin(
            db,
            kind,
            name=name,
            rater=rater,
            source=connection.source,
            browser=connection.headers.get("user-agent", ""),
            expires=expires,
        )


def _device(connection: Connection) -> str:
    """A name for a browser that was signed in as a researcher before; "" for any other."""
    with workspace().read() as db:
        number = sessions.was_signed_in(db, connection.token())
    return f"session {number}" if number else ""


def _keep(
    answer: Response, connection: Connection, scope: Scope, kind: Kind, token: str, rater: int | None = None
) -> None:
    """Give the browser its session."""
    public = urlsplit(os.environ.get(PUBLIC_URL, "")).scheme
    passed_on = Headers(scope=scope).get("x-forwarded-proto", "").rpartition(",")[2].strip()
    answer.set_cookie(
        connection.cookie(rater),
        token,
        max_age=int(ENTRANCES[kind].longest.total_seconds()),
        secure="https" in (scope["scheme"], passed_on, public),
        httponly=True,
        samesite="strict",
    )
