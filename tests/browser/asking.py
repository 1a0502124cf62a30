"""Asks the server for a page as a browser does, but with any headers one likes."""

from __future__ import annotations

from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect


def ask(url: str, address: str = "", query: str = "", host: str | None = None, **headers: str) -> str:
    """Everything the server sends for an address, as text. `headers` are given with underscores."""
    where = urlsplit(url)
    message = BackMsg()
    message.rerun_script.page_name = address
    message.rerun_script.query_string = query
    said = []
    named = f"{host or where.hostname}:{where.port}"
    with connect(
        f"ws://{named}/_stcore/stream",
        origin=f"http://{named}",  # type: ignore[arg-type]
        sock=_socket(where.port),
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        max_size=None,
    ) as stream:
        stream.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(stream.recv(timeout=20))
            said.append(str(answer))
            if answer.WhichOneof("type") == "script_finished":
                return "\n".join(said)


def _socket(port: int | None):  # type: ignore[no-untyped-def]
    import socket

    return socket.create_connection(("127.0.0.1", port or 80))
