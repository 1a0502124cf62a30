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

# `pages/` is no folder of bare scripts. Streamlit learns that from the first run of `app.py`; until then it
# takes it for one and answers a visit to any page's own address, an annotator's link too, with “page not
# found”.
PagesManager.uses_pages_directory = False

_OPERATORS = ("/_stcore/metrics", "/_stcore/agent")
# What Streamlit's page asks the server for before it connects.
_PAGE_SETTINGS = "/_stcore/host-config"
# The overview lies at the root and nowhere else; whoever types its name is led there.
_NAMED_ROOT = "/overview"
_HEADERS = {
    # The address of an annotator's desk holds their token: no other site may learn it, none may show the desk
    # in a frame.
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Keeps the routes that tell of the server's inner life to its own machine, and other sites away from its
    pages.
    """

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

    The one it opens when the server is gone covers the desk and takes its keys, and it recommends a command
    that is not ours. The desk keeps answers and says so; on other pages `theme.connection_notice` says what
    has happened.
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
    """What nobody foresaw: Streamlit has written the details to the server's log, the visitor gets a
    sentence.
    """
    st.error("Something went wrong here that should not have. The details are in the server's log.")
    return True


app = App(
    Path(__file__).resolve().parents[2] / "app.py",
    middleware=[Middleware(Guard)],
    on_script_error=_unforeseen,
)
