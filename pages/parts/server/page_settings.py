"""What Streamlit's page asks the server before it connects."""

import json

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PAGE_SETTINGS = "/_stcore/host-config"


class PageSettings:
    """Turns off the dialogs in which Streamlit's page shows errors of its own.

    The one for a lost connection covers the desk and takes its keys. The desk keeps answers and says so;
    other pages show `theme.connection_notice`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and change what comes back."""
        asked = scope["type"] == "http" and scope["method"] == "GET"
        if asked and scope["path"].endswith(_PAGE_SETTINGS):
            send = _no_dialogs(send)
        await self.app(scope, receive, send)


def _no_dialogs(send: Send) -> Send:
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
