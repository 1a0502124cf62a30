"""Floods: nobody can send more than their part, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import AsyncExitStack, suppress
from http.client import HTTPConnection
from itertools import cycle
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from concord.store import access, placements, studies
from pages.desk.report import EVENTS
from pages.parts.server import bounds
from pages.parts.server.bounds import BODY, LIMITS, UPLOAD, Bounds, Limits, Pace
from tests.browser.asking import enter
from tests.browser.keeper import CRITERIA, Server
from tests.wire import LINK, Desk, Wire, opened

from .conftest import finish

SCORES = {c.name: 3.0 for c in CRITERIA}
"""What an annotator answers."""
UPLOADS = "/_stcore/upload_file/session/file"


@pytest.fixture
def invited(server: Server, request: pytest.FixtureRequest) -> Any:
    """Makes an annotator with every item on their desk; returns the token."""

    def one(name: str) -> str:
        name = f"{name} {abs(hash(request.node.name)) % 10**6}"
        with server.workspace.write() as db:
            token = access.invite(db, name)
            units = [unit["id"] for unit in studies.units(db, "keeper")]
            placements.assign(db, access.annotator_id(db, name), units)
        return token

    return one


async def refused(wire: Wire, data: bytes | str) -> int | None:
    """Send a frame; the code with which the server closes the connection."""
    with suppress(ConnectionClosed):
        await wire.socket.send(data)
        async for _ in wire.messages():
            pass
    return wire.socket.close_code


def rerun(padding: int) -> bytes:
    asked = BackMsg()
    asked.rerun_script.query_string = "x" * padding
    return asked.SerializeToString()


def test_a_frame_may_be_as_large_as_its_sender_needs(server: Server, invited: Any) -> None:
    async def attack(kind: str, **opening: Any) -> None:
        async with opened(server.url, **opening) as wire:
            await wire.socket.send(rerun(LIMITS[kind].message - 100))
            await wire.finished()
            assert await refused(wire, rerun(LIMITS[kind].message)) == 1009

    async def all_kinds() -> None:
        await attack("stranger")
        await attack("annotator", token=invited("large"))
        await attack("researcher", headers={"Cookie": server.cookie})

    finish(all_kinds())


@pytest.mark.parametrize("frame", [b"\xff" * 100, b"", "text"])
def test_what_is_no_message_ends_the_connection_and_nothing_else(server: Server, frame: bytes | str) -> None:
    async def attack() -> None:
        async with opened(server.url) as wire:
            assert await refused(wire, frame) == 1002
        async with opened(server.url):
            pass

    finish(attack())


@pytest.mark.parametrize(
    "crafted",
    [
        BackMsg(clear_cache=True),
        BackMsg(set_run_on_save=True),
        BackMsg(load_git_info=True),
        BackMsg(debug_disconnect_websocket=True),
        BackMsg(debug_shutdown_runtime=True),
        BackMsg(file_urls_request={"request_id": "1", "file_names": ["x"] * 1000, "session_id": "x"}),
        BackMsg(backend_operation_request={"request_id": "1"}),
    ],
    ids=lambda crafted: crafted.WhichOneof("type"),
)
def test_streamlit_is_not_given_what_no_page_of_theirs_sends(
    crafted: BackMsg, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It clears the caches of all, or tells the changed files of its folder, to anybody who asks."""
    wanted = BackMsg(stop_script=True)
    frames = [{"type": "websocket.receive", "bytes": each.SerializeToString()} for each in (crafted, wanted)]
    given: list[Any] = []

    async def streamlit(scope: Any, receive: Any, send: Any) -> None:
        given.append(await receive())

    async def attack() -> None:
        left = iter(frames)

        async def receive() -> Any:
            return next(left)

        await Bounds(streamlit)({"type": "websocket"}, receive, receive)

    monkeypatch.setattr(bounds, "person", lambda scope: ("annotator", "annotator 1"))
    finish(attack())
    assert given == [frames[1]]


async def beside(desk: Desk, attack: Any) -> Any:
    """Rate at a desk while an attack goes on; returns what the attack says."""
    under_way = asyncio.ensure_future(attack)
    items = cycle(desk.open_items())
    while not under_way.done() or not desk.stored:
        desk.rate(next(items), SCORES)
        await desk.report()
        assert not desk.waiting
        await asyncio.sleep(0.05)
    return await under_way


async def many_events(desk: Desk) -> str:
    for n in range(20_000):
        desk.do(desk.open_items()[n % 40], "answer", criterion=CRITERIA[0].name, score=1 + n % 5)
    return await told(desk)


async def as_many_as_fit(desk: Desk) -> str:
    """Reports as large as they may be, one after the other: they are taken, as fast as a person's are."""
    for n in range(50 * EVENTS):
        desk.do(desk.open_items()[n % 40], "answer", criterion=CRITERIA[0].name, score=1 + n % 5)
    everything = desk.waiting
    for start in range(0, len(everything), EVENTS):
        desk.waiting = everything[start : start + EVENTS]
        if said := await told(desk):
            return said
    return ""


async def a_long_name(desk: Desk) -> str:
    desk.do(desk.open_items()[0], "answer", criterion="x" * 10_000_000, score=1)
    return await told(desk)


async def a_long_item(desk: Desk) -> str:
    desk.do("x" * 100_000, "answer", criterion="fluency", score=1)  # type: ignore[arg-type]
    return await told(desk)


async def many_wishes(desk: Desk) -> str:
    try:
        news = await desk.report(want=[desk.open_items()[0]] * 5_000)
    except ConnectionError as error:
        return str(error)
    return f"{len(news['items'])} items"


async def nested_lists(desk: Desk) -> str:
    component, fragment = desk.wire.components[LINK]
    asked = BackMsg()
    asked.rerun_script.query_string = desk.wire.query
    asked.rerun_script.fragment_id = fragment
    nested = "[" * 60_000 + "]" * 60_000
    asked.rerun_script.widget_states.widgets.add(id=component.id, json_value=f'{{"report": {nested}}}')
    await desk.wire.socket.send(asked.SerializeToString())
    await desk.wire.finished()
    return "nothing"


async def told(desk: Desk) -> str:
    """What the server says to a report; "" where it takes it."""
    try:
        await desk.report()
    except ConnectionClosed as closed:
        return closed.rcvd.reason if closed.rcvd else "closed without a word"
    except ConnectionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        (many_events, "frame with .* exceeds limit"),
        (as_many_as_fit, "^$"),
        (a_long_name, "frame with .* exceeds limit"),
        (a_long_item, "^$"),  # refused alone
        (many_wishes, "could not read"),
        (nested_lists, "nothing"),
    ],
)
def test_what_one_desk_sends_too_much_is_refused_and_another_goes_on(
    server: Server, invited: Any, attack: Any, says: str
) -> None:
    tokens = invited("floods"), invited("beside")

    async def both() -> str:
        async with (
            opened(server.url, token=tokens[0], study="keeper") as one,
            opened(server.url, token=tokens[1], study="keeper") as other,
        ):
            found = await beside(Desk(other, "beside"), attack(Desk(one, "floods")))
        async with opened(server.url, token=tokens[0], study="keeper") as one:
            assert Desk(one, "floods again").open_items()
        return found

    said = finish(both())
    assert re.search(says, said), said


def test_a_person_may_have_so_many_windows_and_others_still_come_in(server: Server, invited: Any) -> None:
    cookie = enter(f"{server.url}/?token={invited('many')}").cookie
    most = LIMITS["annotator"].connections

    async def attack() -> None:
        async with AsyncExitStack() as stack:

            async def more() -> None:
                where = server.url.replace("http", "ws") + "/_stcore/stream"
                origin = Origin(server.url)
                await stack.enter_async_context(
                    connect(where, origin=origin, additional_headers={"Cookie": cookie})
                )

            for _ in range(most):
                await more()
            with pytest.raises(InvalidStatus, match="429"):
                await more()
            async with opened(server.url, headers={"Cookie": server.cookie}):
                pass
        async with opened(server.url, headers={"Cookie": cookie}):
            pass

    finish(attack())


def test_the_pace_of_a_person_is_one_for_all_their_windows() -> None:
    pace, limits = Pace(), Limits(1, burst=10, per_second=5, connections=1)
    assert [pace.delay("one", limits, 100.0) for _ in range(10)] == pytest.approx([0.0] * 10)
    assert pace.delay("one", limits, 100.0) == pytest.approx(0.2)
    assert pace.delay("one", limits, 100.0) == pytest.approx(0.4)
    assert pace.delay("another", limits, 100.0) == 0.0
    assert pace.delay("one", limits, 200.0) == 0.0


def test_a_flood_from_ten_windows_gets_the_runs_of_one_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 25 runs a second, after 100 at once, others waited up to 16 s until an answer was saved."""
    monkeypatch.setattr(bounds, "person", lambda scope: ("annotator", "annotator 1"))
    runs = 0

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal runs
        while await receive():
            runs += 1

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "websocket.receive", "bytes": rerun(0)}

    async def attack() -> float:
        begun, flooded = time.monotonic(), Bounds(streamlit)
        windows = (flooded({"type": "websocket"}, receive, receive) for _ in range(10))  # type: ignore[arg-type]
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.gather(*windows)
        return time.monotonic() - begun

    seconds = finish(attack())
    assert 0 < runs <= 31 + 5 * seconds


@pytest.mark.parametrize("gone", [OSError, None], ids=["sending fails", "closed"])
def test_what_was_sent_before_leaving_runs_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch, gone: type[OSError] | None
) -> None:
    """It was read on at their pace, and each window left two tracebacks in the log."""
    monkeypatch.setattr(bounds, "person", lambda scope: ("annotator", "annotator 1"))
    sent = BackMsg(stop_script=True).SerializeToString()
    large = bytes(LIMITS["annotator"].message + 1)
    frames: list[Message] = [{"type": "websocket.receive", "bytes": sent if gone else large}]
    frames += [{"type": "websocket.receive", "bytes": sent}] * 1000
    frames += [{"type": "websocket.disconnect", "code": 1006}]
    given: list[Message] = []

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        given.append(await receive())
        await send({"type": "websocket.send", "bytes": b""})
        given.append(await receive())

    async def attack() -> None:
        left = iter(frames)

        async def receive() -> Message:
            return next(left)

        async def send(message: Message) -> None:
            if gone:
                raise gone

        await Bounds(streamlit)({"type": "websocket"}, receive, send)

    finish(attack())
    assert given[-1]["type"] == "websocket.disconnect"


@pytest.mark.parametrize("who", ["stranger", "annotator"])
def test_only_researchers_upload(server: Server, invited: Any, who: str) -> None:
    cookie = "" if who == "stranger" else enter(f"{server.url}/?token={invited(who)}").cookie
    assert change(server, "/_stcore/upload_file/a/b", b"x", Cookie=cookie) == (
        403,
        "Sign in before you upload a file.\n",
    )
    # What a researcher uploads reaches Streamlit, which asks for its own token.
    assert "XSRF" in change(server, "/_stcore/upload_file/a/b", b"x", Cookie=server.cookie)[1]


@pytest.mark.parametrize(("path", "largest"), [(UPLOADS, UPLOAD), ("/rate", BODY)])
def test_a_body_is_bounded(server: Server, path: str, largest: int) -> None:
    # Only the head is sent: the refusal comes before the body, which a server that refuses does not read.
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.putrequest("PUT", path)
    head = {"Origin": server.url, "Cookie": server.cookie, "Content-Length": str(largest + 1)}
    for name, value in head.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_that_tells_no_length_is_bounded_too() -> None:
    read, status = 0, 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal read
        while True:
            read += len((await receive())["body"])

    async def endless() -> Message:
        return {"type": "http.request", "body": bytes(1000), "more_body": True}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    chunked = {"type": "http", "method": "POST", "path": "/", "headers": [(b"transfer-encoding", b"chunked")]}
    finish(Bounds(app)(chunked, endless, send))
    assert (read, status) == (BODY // 1000 * 1000, 413)


def test_a_browser_is_refused_on_a_page_with_a_heading(server: Server) -> None:
    told = change(server, UPLOADS, b"x", Accept="text/html,*/*")
    assert told[0] == 403
    assert "<h1>Forbidden</h1>" in told[1]
    assert "<p>Sign in before you upload a file.</p>" in told[1]


def change(server: Server, path: str, body: bytes, **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a PUT."""
    asked = Request(server.url + path, body, {"Origin": server.url, **headers}, method="PUT")
    try:
        with urlopen(asked) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_an_annotators_token_under_a_researchers_name_is_no_researchers(server: Server, invited: Any) -> None:
    """Nor may they send what a researcher may: who somebody is, is decided in one place."""
    name, _, token = enter(f"{server.url}/?token={invited('renames')}").cookie.partition("=")
    forged = {"Cookie": f"{name.rpartition('_')[0]}={token}"}
    assert change(server, UPLOADS, b"x", **forged)[0] == 403

    async def attack() -> None:
        async with opened(server.url, headers=forged) as wire:
            assert await refused(wire, rerun(LIMITS["annotator"].message)) == 1009

    finish(attack())
