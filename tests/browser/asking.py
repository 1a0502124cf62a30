"""Asks the server for a page as a browser does, but with any headers one likes, and opens links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urljoin, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

FORM = re.compile(r'method="(\w+)" action="(.+?)".*?name="(\w+)" value="(.+?)"', re.DOTALL)
"""The form of a member's link."""


def ask(
    url: str, address: str = "", query: str = "", host: str | None = None, *, press: str = "", **headers: str
) -> str:
    """Everything the server sends for an address, as text, and after a button with this label is pressed.
    `headers` are given with underscores.
    """
    where = urlsplit(url)
    message = BackMsg()
    message.rerun_script.page_name = address
    message.rerun_script.query_string = query
    named = f"{host or where.hostname}:{where.port}"
    # What a page of the server does to prove that it is one: without it no account's cookie is read.
    proof = re.findall(r"_streamlit_xsrf=([^;]+)", headers.get("cookie", ""))
    with connect(
        f"ws://{named}/_stcore/stream",
        origin=f"http://{named}",  # type: ignore[arg-type]
        sock=_socket(where.port),
        subprotocols=[Subprotocol(word) for word in ("streamlit", *proof)],
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        max_size=None,
    ) as stream:
        answers = _run(stream, message)
        if press:
            elements = [answer.delta.new_element for answer in answers]
            [button] = [element.button for element in elements if element.button.label == press]
            message.rerun_script.widget_states.widgets.add(id=button.id, trigger_value=True)
            answers += _run(stream, message)
    return "\n".join(map(str, answers))


def _run(stream: ClientConnection, message: BackMsg) -> list[ForwardMsg]:
    """Have the page run; what the server sends until it has."""
    stream.send(message.SerializeToString())
    answers = []
    while not answers or answers[-1].WhichOneof("type") != "script_finished":
        answer = ForwardMsg()
        answer.ParseFromString(stream.recv(timeout=60))
        answers.append(answer)
    return answers


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
