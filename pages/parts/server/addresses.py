"""Addresses that Concord answers itself instead of Streamlit."""

import asyncio

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from concord.errors import ConcordError
from pages.parts.connection import Connection
from pages.parts.server.refusal import refusal
from pages.parts.session import workspace

_OPERATORS = ("/_stcore/metrics", "/_stcore/agent")
# The overview is at the root; its name redirects there.
_NAMED_ROOT = "/overview"


class Operators:
    """Serves the addresses with the server's metrics to researchers only."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        guarded = scope["type"] == "http" and scope["path"].startswith(_OPERATORS)
        if guarded and not await asyncio.to_thread(_by_researcher, Connection.of(scope)):
            return await refusal(scope, "There is nothing at this address.", 404)(scope, receive, send)
        await self.app(scope, receive, send)


class NamedRoot:
    """Leads the overview's name to the root."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect, or pass on."""
        if scope["type"] == "http" and scope["path"].endswith(_NAMED_ROOT):
            # Relative to where it was asked, so that it leads nowhere else.
            query = scope["query_string"].decode("latin-1")
            return await RedirectResponse(f"./?{query}" if query else "./")(scope, receive, send)
        await self.app(scope, receive, send)


def _by_researcher(connection: Connection) -> bool:
    try:
        with workspace().read() as db:
            session = connection.researcher(db)
    except ConcordError:
        return False  # the page says what is wrong with the workspace or the settings
    return session is not None and session.role == "owner"
