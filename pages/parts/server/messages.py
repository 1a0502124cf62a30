"""Which messages of a browser Streamlit is given.

Streamlit obeys some from anybody that no page of ours sends: to clear every session's caches, to tell the
branch and the changed files of the folder it runs in.
"""

from google.protobuf.message import DecodeError
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg

FOR_ALL = {"rerun_script", "stop_script", "app_heartbeat"}
FOR_RESEARCHERS = {*FOR_ALL, "file_urls_request", "backend_operation_request"}
"""Uploads, and the rows of a long table."""


def kind_of(message: Message) -> str | None:
    """The kind of message in a frame; None for text, or for what is none of Streamlit's protocol."""
    data = message.get("bytes")
    try:
        return BackMsg.FromString(data).WhichOneof("type") if data else None
    except DecodeError:
        return None
