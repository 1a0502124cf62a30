"""How much anybody may send: the size and the pace of messages, connections at once, the size of uploads.

A message that is too large ends its connection, with a sentence. Messages that come too fast are read later:
the connection's own buffers fill up, and nobody else waits. A person's connections share one pace, so that
more windows give no more.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord.errors import ConcordError
from pages.parts.connection import Connection
from pages.parts.server import internals
from pages.parts.server.guesses import network
from pages.parts.server.refusal import refusal
from pages.parts.session import workspace

KIB = 1024
_NO_MESSAGE = 1002
_TOO_BIG = 1009
_TRY_LATER = 1013


@dataclass(frozen=True)
class Limits:
    """Bytes of a message, messages at once and per second in the long run, and connections at once."""

    message: int
    burst: float
    per_second: float
    connections: int


LIMITS = {
    # The sign-in page. Several people may come from one address.
    "stranger": Limits(16 * KIB, 20, 5, 40),
    # `outbox.js` reports up to 20 events and 50,000 characters, each four bytes at most, when the last report
    # was answered; who answers quickly sends three messages a second. At 25 a second others waited 16 s, at 5
    # one second.
    "annotator": Limits(256 * KIB, 30, 5, 20),
    "researcher": Limits(1024 * KIB, 200, 50, 50),
}
LARGEST = max(limits.message for limits in LIMITS.values())
"""Bytes of the largest message that anybody may send; the websocket library refuses larger ones itself."""
UPLOAD = 257 * 1024 * KIB
"""Bytes of an upload with what encodes it. Streamlit counts the file itself: `maxUploadSize`."""
BODY = 64 * KIB
"""Bytes of any other request."""
CONNECTIONS = 1000
"""Websockets of annotators that are open at once, and of researchers."""
STRANGERS = 400
"""Websockets of people who are not signed in."""
DESKS = 10
"""Annotators' sessions of one browser that are looked at: a few, because each is looked up."""
REMEMBERED = 10_000
"""People whose pace is remembered."""
_UPLOADS = "/_stcore/upload_file/"


@dataclass
class Pace:
    """When each person's next message is read: at once while their burst lasts, later beyond it."""

    next: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def delay(self, who: str, limits: Limits, now: float) -> float:
        """Seconds that a message of this person has to wait; it is counted."""
        spent = max(self.next.pop(who, 0.0), now - limits.burst / limits.per_second)
        self.next[who] = spent + 1 / limits.per_second
        if len(self.next) > REMEMBERED:
            self.next.popitem(last=False)
        return max(0.0, self.next[who] - now)


class Bounds:
    """Refuses what is too large or too much, and slows down what comes too fast."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.pace = Pace()
        self.open: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on and watch."""
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            await self._change(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, who = await asyncio.to_thread(person, scope)
        limits = LIMITS[kind]
        most = STRANGERS if kind == "stranger" else CONNECTIONS
        if self.open[who] >= limits.connections or self.kinds[kind] >= most:
            return await _refuse(scope, receive, send, "Too many windows are open. Close some.", 429)
        closed = False

        async def close(code: int, reason: str) -> Message:
            nonlocal closed
            closed = True
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return {"type": "websocket.disconnect", "code": code}

        async def bounded() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                if closed:
                    continue
                size = len(message.get("bytes") or message.get("text") or b"")
                if size > limits.message:
                    return await close(
                        _TOO_BIG, f"The message is too large: the limit is {limits.message // KIB} KiB."
                    )
                await asyncio.sleep(self.pace.delay(who, limits, time.monotonic()))
                form = internals.kind_of(message)
                if form is None:
                    return await close(_NO_MESSAGE, "The message does not come from a page of Concord.")
                if form in (internals.FOR_RESEARCHERS if kind == "researcher" else internals.FOR_ALL):
                    break
            return message

        async def unless_closed(message: Message) -> None:
            nonlocal closed
            try:
                if not closed:
                    await send(message)
            except OSError:
                closed = True  # they are gone, as `receive` says too once what they sent is read

        self.open[who] += 1
        self.kinds[kind] += 1
        try:
            await self.app(scope, bounded, unless_closed)
        finally:
            self.kinds[kind] -= 1
            self.open[who] -= 1
            if not self.open[who]:
                del self.open[who]

    async def _change(self, scope: Scope, receive: Receive, send: Send) -> None:
        uploads = _UPLOADS in scope["path"]
        if uploads and (await asyncio.to_thread(person, scope))[0] != "researcher":
            return await _refuse(scope, receive, send, "Sign in before you upload a file.", 403)
        largest = UPLOAD if uploads else BODY
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > largest:
            return await _refuse(
                scope, receive, send, f"The request is too large: the limit is {largest // KIB} KiB.", 413
            )
        await RequestBodyLimitMiddleware(self.app, largest)(scope, receive, send)


def person(scope: Scope) -> tuple[str, str]:
    """The kind of whoever a connection is from, and a name for them: their session, else their network."""
    connection = Connection.of(scope)
    try:
        with workspace().read() as db:
            if session := connection.researcher(db):
                kind = "annotator" if session.role == "adjudicator" else "researcher"
                return kind, f"session {session.id}"
            for rater in connection.annotators()[:DESKS]:
                if connection.annotator(db, rater):
                    return "annotator", f"annotator {rater}"
    except ConcordError:
        # The workspace cannot be opened. The page that follows says so.
        return "stranger", ""
    return "stranger", f"network {network(connection.source)}"


async def _refuse(scope: Scope, receive: Receive, send: Send, sentence: str, status: int) -> None:
    if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
        return await refusal(scope, sentence, status)(scope, receive, send)
    await send({"type": "websocket.close", "code": _TRY_LATER})
