"""What Streamlit's page is told of the server: where it is, and nothing about its machine."""

import json
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_PAGE_SETTINGS = "/_stcore/host-config"

BASE = "window.__streamlit={BACKEND_BASE_URL:new URL('.',location.href).href}"
"""The script that tells a page where its server is. Without it a page with an address of its own, such as
/runs, first looks for the server below that address, and its console shows two answers of 404."""


_WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Headers of a request without which the answer comes whole and as text."""
_STAMPS = ("etag", "last-modified", "accept-ranges")
"""Headers of an answer that hold for the page as it lies on the disk."""


class PageSettings:
    """Tells a page where its server is, and turns off the dialogs in which it shows errors of its own.

    The dialog for a lost connection covers the desk and takes its keys. The desk keeps answers and says so;
    other pages show `theme.connection_notice`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and change what comes back."""
        if scope["type"] == "http" and scope["method"] == "GET":
            if scope["path"].endswith(_PAGE_SETTINGS):
                send = _changing(send, "application/json", _no_dialogs)
            elif "." not in scope["path"].rpartition("/")[2]:
                scope = {**scope, "headers": [each for each in scope["headers"] if each[0] not in _WHOLE]}
                send = _changing(send, "text/html", _based)
        elif scope["type"] == "websocket":
            send = _anonymous(send)
        await self.app(scope, receive, send)


def _anonymous(send: Send) -> Send:
    """Sends messages without the path of the installation, its number, versions and system, which Streamlit
    tells everybody. The page needs the fields: it makes a name for the app of some of them.
    """

    async def changed(message: Message) -> None:
        if frame := message.get("bytes"):
            content = ForwardMsg.FromString(frame)
            if content.WhichOneof("type") == "new_session":
                content.new_session.main_script_path = ""
                for described in ("environment_info", "user_info"):
                    part = getattr(content.new_session.initialize, described)
                    part.Clear()
                    part.SetInParent()
                message = {**message, "bytes": content.SerializeToString()}
        await send(message)

    return changed


def _no_dialogs(settings: bytes) -> bytes:
    return json.dumps({**json.loads(settings), "blockErrorDialogs": True}).encode()


def _based(page: bytes) -> bytes:
    return page.replace(b"<head>", f"<head><script>{BASE}</script>".encode(), 1)


def _changing(send: Send, kind: str, change: Callable[[bytes], bytes]) -> Send:
    """Sends answers of 200 with this type of content changed, all others as they are."""
    start: Message = {}
    body = bytearray()
    passed = False

    async def changed(message: Message) -> None:
        nonlocal start, passed
        if message["type"] == "http.response.start":
            start = message
            given = Headers(raw=message["headers"])
            passed = message["status"] != 200 or not given.get("content-type", "").startswith(kind)
        if passed or message["type"] not in ("http.response.start", "http.response.body"):
            await send(message)
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                page = change(bytes(body))
                headers = MutableHeaders(scope=start)
                for stamp in _STAMPS:
                    del headers[stamp]
                headers["content-length"] = str(len(page))
                await send(start)
                await send({"type": "http.response.body", "body": page})

    return changed
