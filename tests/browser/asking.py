"""Asks the server for a page as a browser does, but with any headers one likes, and opens links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urljoin, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

FORM = re.compile(r'method="(\w+)" action="(.+?)".*?name="(\w+)" value="(.+?)"', re.DOTALL)
"""The form of a member's link."""


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


@dataclass(frozen=True)
class Entered:
    """Where a link led, and the cookie that it set as a request sends it; "" if it set none."""

    address: str
    query: str
    cookie: str


def enter(link: str, host: str | None = None, **headers: str) -> Entered:
    """Open an annotator's or a one-time link, and follow it no further; a member's, and press its button."""
    where = urlsplit(link)
    connection = HTTPConnection("127.0.0.1", where.port or 80, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named["Host"] = f"{host or where.hostname}:{where.port}"
    connection.request("GET", f"{where.path or '/'}?{where.query}", headers=named)
    answer = connection.getresponse()
    if answer.status == 200:
        assert answer.headers["Set-Cookie"] is None
        [(method, action, name, value)] = FORM.findall(answer.read().decode())
        named |= {"Origin": f"http://{named['Host']}", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method.upper(), urljoin(where.path or "/", action), f"{name}={value}", named)
        answer = connection.getresponse()
    assert answer.status == 303, answer.status
    led = urlsplit(answer.headers["Location"])
    cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
    connection.close()
    return Entered(led.path.removeprefix("./"), led.query, cookie)


def _socket(port: int | None):  # type: ignore[no-untyped-def]
    import socket

    return socket.create_connection(("127.0.0.1", port or 80))
