"""The app as an ASGI application: `concord app` serves it with uvicorn, and so may any other ASGI server."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App

from pages.parts.people import is_local

# Until the first run of `app.py` Streamlit takes `pages/` for a folder of bare scripts and answers a visit to
# any page's own address, an annotator's link too, with “page not found”.
PagesManager.uses_pages_directory = False

_OPERATORS = ("/_stcore/metrics", "/_stcore/agent")
# Streamlit's page asks the server for this before it connects.
_PAGE_SETTINGS = "/_stcore/host-config"
# The overview is at the root; its name redirects there.
_NAMED_ROOT = "/overview"
_HEADERS = {
    # The address of a desk holds the annotator's token: no other site may learn it or show it in a frame.
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Serves the routes with the server's metrics to its own machine only, and sets security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        peer = scope["client"][0] if scope["client"] else None
        if scope["path"].startswith(_OPERATORS) and not is_local(peer, Headers(scope=scope).items()):
            return await PlainTextResponse("Not found", 404)(scope, receive, with_headers)
        if scope["path"].endswith(_NAMED_ROOT):
            # Relative to where it was asked, so that it leads nowhere else.
            query = scope["query_string"].decode("latin-1")
            return await RedirectResponse(f"./?{query}" if query else "./")(scope, receive, with_headers)
        if scope["path"].endswith(_PAGE_SETTINGS) and scope["method"] == "GET":
            return await self.app(scope, receive, _no_dialogs(with_headers))
        await self.app(scope, receive, with_headers)


def _no_dialogs(send: Send) -> Send:
    """Turn off the dialogs in which Streamlit's page shows errors of its own.

    The one for a lost connection covers the desk and takes its keys. The desk keeps answers and says so;
    other pages show `theme.connection_notice`.
    """
    start: Message = {}
    body = bytearray()

    async def changed(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
            return
        body.extend(message.get("body", b""))
        if message.get("more_body"):
            return
        told = bytes(body)
        if start["status"] == 200:
            told = json.dumps({**json.loads(told), "blockErrorDialogs": True}).encode()
            MutableHeaders(scope=start)["content-length"] = str(len(told))
        await send(start)
        await send({"type": "http.response.body", "body": told})

    return changed


def _unforeseen(error: Exception) -> bool:
    """Show a sentence for an unexpected error; Streamlit has written the details to the server's log."""
    st.error("Something went wrong here that should not have. The details are in the server's log.")
    return True


app = App(
    Path(__file__).resolve().parents[2] / "app.py",
    middleware=[Middleware(Guard)],
    on_script_error=_unforeseen,
)
