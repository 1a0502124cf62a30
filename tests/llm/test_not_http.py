"""An endpoint that speaks another protocol is an error of the endpoint, in a sentence."""

from __future__ import annotations

import asyncio

import pytest

from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import client as clients
from concord.llm import gates
from concord.llm.client import Client
from concord.llm.models import Model

SENT = {
    "SSH": b"SSH-2.0-OpenSSH_9.6\r\n",
    "204 with a body": b"HTTP/1.1 204 No Content\r\nContent-Length: 20\r\n\r\n" + b"x" * 20,
    "a long header": b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n{}",
    "no status": b"HTTP/1.1 abc OK\r\n\r\n",
    "a broken chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
    "not gzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "too short": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello",
    "nothing": b"",
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(clients, "RETRIES", 0)
    monkeypatch.setattr(gates, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(gates, "PROBE_SECONDS", (0.001, 0.001))


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
@pytest.mark.parametrize("ask", ["call", "batches"])
def test_what_is_not_http_is_a_failed_call_that_names_the_address(sent, ask):
    async def answer(reader, writer):
        await reader.read(65536)
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def go():
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            model = Model(name="m", base_url=f"http://127.0.0.1:{port}/v1", model="x", timeout=5)
            async with Client({"m": model}) as client:
                if ask == "call":
                    await client.complete("m", [Message("user", "Hello.")])
                else:
                    await client.request(model, lambda api: api.batches.list(), retry=False)

    with pytest.raises(CallFailed, match=r"base_url right\?$") as caught:
        asyncio.run(go())
    assert caught.value.code in ("foreign_body", "unreachable")
