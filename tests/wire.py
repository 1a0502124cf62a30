"""A client that speaks Streamlit's websocket protocol, as its page in a browser does, without a browser."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.browser.asking import enter

LINK = "concord_desk_link"
"""The component by which a desk reports and is answered."""


@dataclass
class Wire:
    """One session. `components` holds what each component of the page was sent last, by its name."""

    socket: ClientConnection
    query: str
    components: dict[str, tuple[BidiComponent, str]] = field(default_factory=dict)
    _kept: dict[str, ForwardMsg] = field(default_factory=dict)

    async def run(self, fragment: str = "", **states: Any) -> None:
        """Ask for a run of the page, or of one fragment, with the state of components by their id."""
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.fragment_id = fragment
        asked.rerun_script.cached_message_hashes.extend(self._kept)
        for name, value in states.items():
            asked.rerun_script.widget_states.widgets.add(id=name, json_value=json.dumps(value))
        await self.socket.send(asked.SerializeToString())

    async def messages(self) -> AsyncIterator[ForwardMsg]:
        """What the server sends, as it arrives; references to earlier messages are resolved."""
        async for frame in self.socket:
            assert isinstance(frame, bytes)
            told = ForwardMsg()
            told.ParseFromString(frame)
            if told.WhichOneof("type") == "ref_hash":
                metadata, told = told.metadata, self._kept[told.ref_hash]
                told.metadata.CopyFrom(metadata)
            elif told.metadata.cacheable:
                self._kept[told.hash] = told
            element = told.delta.new_element
            if element.WhichOneof("type") == "bidi_component":
                component = element.bidi_component
                self.components[component.component_name] = component, told.delta.fragment_id
            yield told

    async def finished(self) -> None:
        """Wait until a run has ended."""
        async for told in self.messages():
            if told.WhichOneof("type") == "script_finished":
                return
        raise ConnectionError("The server closed the connection.")


@asynccontextmanager
async def opened(url: str, *, headers: Mapping[str, str] | None = None, **query: str) -> AsyncIterator[Wire]:
    """A session whose page has been run once. `url` begins with http; `query` is what stands behind `?`.

    An annotator's token in it is exchanged first, as for a browser.
    """
    if "token" in query:
        entered = await asyncio.to_thread(enter, f"{url}/?{urlencode(query)}")
        headers = {**(headers or {}), "Cookie": entered.cookie}
        query = dict(parse_qsl(entered.query))
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    async with connect(
        address,
        subprotocols=[Subprotocol("streamlit")],
        origin=url,  # type: ignore[arg-type]
        additional_headers=headers,
        max_size=None,
        compression=None,
        # No limits of time: a machine may be slow.
        open_timeout=None,
        ping_interval=None,
    ) as socket:
        wire = Wire(socket, urlencode(query))
        await wire.run()
        await wire.finished()
        yield wire


@dataclass
class Desk:
    """An annotator's desk without a browser: reports events as `outbox.js` does, one report at a time."""

    wire: Wire
    client: str
    n: int = 0
    k: int = 0
    stored: int = 0
    waiting: list[dict[str, Any]] = field(default_factory=list)

    @property
    def news(self) -> dict[str, Any]:
        """What the server told the desk last."""
        data: dict[str, Any] = json.loads(self.wire.components[LINK][0].json)
        return data

    def do(self, item: int, do: str, **more: Any) -> int:
        """Something done at the desk; returns its number."""
        self.n += 1
        event = {"n": self.n, "at": time.time() * 1000, "item": item, "do": do, "seconds": 0.5, **more}
        self.waiting.append(event)
        return self.n

    def rate(self, item: int, scores: Mapping[str, float]) -> int:
        """Answer and submit an item; returns the number of the last event."""
        for criterion, score in scores.items():
            self.do(item, "answer", criterion=criterion, score=score)
        return self.do(item, "submit")

    async def report(self, want: Sequence[int] = ()) -> dict[str, Any]:
        """Report everything that is not known to be stored, and wait for the answer."""
        self.k += 1
        component, fragment = self.wire.components[LINK]
        report = {
            "k": self.k,
            "boxes": {self.client: self.waiting} if self.waiting else {},
            "want": list(want),
        }
        await self.wire.run(fragment, **{component.id: {"report": report}})
        async for _ in self.wire.messages():
            news = self.news
            if refused := news.get("closed") or news.get("unreadable"):
                raise ConnectionError(refused)
            if news["seen"] == self.k:
                self.stored = max(self.stored, news["marks"].get(self.client, 0))
                self.waiting = [event for event in self.waiting if event["n"] > self.stored]
                return news
        raise ConnectionError("The server closed the connection.")

    def open_items(self) -> list[int]:
        """The items of this desk that are still to be rated, in their order."""
        return [unit for unit, state, _ in self.news["strip"] if state == "open"]
