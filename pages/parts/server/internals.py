"""What of Streamlit is not for browsers: its addresses for operators, messages, and facts about the machine.

Streamlit obeys some messages from anybody that no page of ours sends: to clear every session's caches, to
tell the branch and the changed files of the folder it runs in.
"""

from pathlib import Path

import streamlit
from google.protobuf.message import DecodeError
from starlette.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.parts.server.refusal import refusal

FOR_ALL = {"rerun_script", "stop_script", "app_heartbeat"}
FOR_RESEARCHERS = {*FOR_ALL, "file_urls_request", "backend_operation_request"}
"""Uploads, and the rows of a long table."""
_OPERATORS = ("/_stcore/metrics", "/_stcore/agent")
_PAGE_SETTINGS = "/_stcore/host-config"

PAGE = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
BASE = "window.__streamlit={BACKEND_BASE_URL:new URL('.',location.href).href}"
"""The script that tells a page where its server is. Without it a page with an address of its own, such as
/runs, first looks for the server below that address, and its console shows two answers of 404."""


def page() -> HTMLResponse:
    """Streamlit's page, which any of our pages is drawn in."""
    content = PAGE.replace("<head>", f"<head><script>{BASE}</script>", 1)
    return HTMLResponse(content, headers={"Cache-Control": "no-cache"})


class Internals:
    """Keeps what is Streamlit's own, and turns off the dialogs in which its page shows errors.

    The dialog for a lost connection covers the desk and takes its keys. The desk keeps answers and says so;
    other pages show `theme.connection_notice`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on without what Streamlit says of the machine."""
        answer = self.app
        if scope["type"] == "websocket":
            send = _anonymous(send)
        elif scope["type"] == "http" and scope["path"] == _PAGE_SETTINGS:
            answer = JSONResponse({"allowedOrigins": [], "blockErrorDialogs": True})
        elif scope["type"] == "http" and scope["path"].startswith(_OPERATORS):
            answer = refusal(scope, "This page does not exist.", 404)
        await answer(scope, receive, send)


def kind_of(message: Message) -> str | None:
    """The kind of message in a frame; None for text, or for what is none of Streamlit's protocol."""
    data = message.get("bytes")
    try:
        return BackMsg.FromString(data).WhichOneof("type") if data else None
    except DecodeError:
        return None


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
