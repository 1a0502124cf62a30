"""An answer is read up to a limit; keys that an endpoint repeats are taken out, however it writes them."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import tracemalloc
from contextlib import asynccontextmanager

import pytest

from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import batch
from concord.llm import client as clients
from concord.llm.client import Client
from concord.llm.models import Model

KEY = 'sk-MARK/1"key'
BOMB = gzip.compress(b" " * 50_000_000, 9)
ASKS = {
    "chat": lambda client, model: client.complete("m", [Message("user", "Hello.")]),
    "vectors": lambda client, model: client.embed("v", ["text"]),
    "moderation": lambda client, model: client.moderate("m", ["text"]),
    "batches": lambda client, model: batch.look(client, model, "b"),
}


@asynccontextmanager
async def served(*parts, head="200 OK", endless=False):
    """An endpoint that answers everything with these bytes, the last ones again and again if `endless`."""
    headers, *rest = parts

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {head}\r\nConnection: close\r\n".encode() + headers + b"\r\n")
        try:
            for part in rest:
                writer.write(part)
            while endless:
                writer.write(rest[-1])
                await writer.drain()
            await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        entry = {"base_url": url, "model": "x", "timeout": 20, "api_key_env": "BOUNDS_KEY"}
        models = {"m": Model(name="m", **entry), "v": Model(name="v", kind="embeddings", **entry)}
        async with Client(models, retries=0) as client:
            yield client, models["m"]


@pytest.fixture(autouse=True)
def with_a_key(monkeypatch):
    monkeypatch.setenv("BOUNDS_KEY", KEY)


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
@pytest.mark.parametrize("head", ["200 OK", "400 Bad Request"])
@pytest.mark.parametrize("body", ["bomb", "endless"])
def test_a_body_beyond_the_limit_is_given_up_while_it_is_read(ask, head, body, monkeypatch):
    async def go():
        headers = b"Content-Encoding: gzip\r\n" if body == "bomb" else b""
        parts = BOMB if body == "bomb" else b" " * 100_000
        async with served(headers, parts, head=head, endless=body == "endless") as (client, model):
            await ask(client, model)

    monkeypatch.setattr(clients, "REPLY_BYTES", 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(CallFailed, match=r"sent more than 1,048,576 bytes") as caught:
            asyncio.run(go())
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()
    assert caught.value.reason == "an answer too long"


def test_a_file_of_a_batch_is_written_up_to_what_its_lines_may_take(monkeypatch):
    monkeypatch.setattr(batch, "REPLY_BYTES", 1000)
    monkeypatch.setattr(batch, "LINE_BYTES", 1000)
    answered = b'{"custom_id": "a"}\n'

    async def go(into):
        async with served(b"", answered, b"x" * 100_000, endless=True) as (client, model):
            await batch.download(client, model, "f", into, lines=3)
            return list(batch.results(client, model, into))

    into = io.BytesIO()
    [only] = asyncio.run(go(into))
    assert len(into.getvalue()) < 300_000
    assert only.id == "a"


def escaped(key):
    """A key as endpoints may write it inside JSON."""
    plain = json.dumps(key)[1:-1]
    each = "".join(f"\\u{ord(one):04x}" for one in key)
    return {
        "plain": plain,
        "slash": plain.replace("/", "\\/"),
        "one letter": "\\u0073" + plain[1:],
        "capitals": each.upper().replace("\\U", "\\u"),
        "JSON in JSON": json.dumps(json.dumps({"reason": each})[1:-1])[1:-1],
        "percent": "%73k-MARK%2f1%22key",
        "parts": None,
    }


@pytest.mark.parametrize("how", escaped(KEY))
def test_a_key_is_taken_out_however_it_is_written(how):
    told = escaped(KEY)[how]
    content = f'"before {told} after"'
    if how == "parts":
        content = json.dumps([{"type": "text", "text": KEY[:6]}, {"type": "text", "text": KEY[6:]}])
    thinking = f'"{told}"' if told else '""'
    message = f'{{"content": {content}, "reasoning": {thinking}}}'
    body = f'{{"choices": [{{"message": {message}}}], "model": {thinking}}}'

    async def go():
        async with served(b"", body.encode()) as (client, _):
            done = await client.complete("m", [Message("user", "Hello.")])
            line = f'{{"custom_id": "a", "response": {{"status_code": 200, "body": {body}}}}}'
            (result,) = batch.results(client, Model(name="m"), io.BytesIO(line.encode()))
        return done, result.answer

    for read in asyncio.run(go()):
        kept = " ".join([read.text, read.details.thinking, read.reported.model])
        assert "MARK" not in kept
        assert "(key)" in read.text
        while "\\" in kept:  # a judge's reply is decoded once more, and what it holds maybe again
            kept = json.loads(f'"{kept}"') if '"' not in kept else json.loads(kept)
            assert "MARK" not in str(kept)


@pytest.mark.parametrize("place", ["body", "header", "batch"])
def test_a_key_in_an_error_is_taken_out(place):
    told = escaped(KEY)["one letter"]
    wrong = f'{{"error": {{"message": "no key {told} here"}}}}'

    async def go():
        header = f"Location: /a/{KEY}\r\n".encode() if place == "header" else b""
        async with served(header, wrong.encode(), head="302 F" if header else "400 B") as (client, _):
            if place == "batch":
                line = f'{{"custom_id": "a", "response": {{"status_code": 400, "body": {wrong}}}}}'
                (result,) = batch.results(client, Model(name="m"), io.BytesIO(line.encode()))
                raise result.failure
            await client.complete("m", [Message("user", "Hello.")])

    with pytest.raises(CallFailed) as caught:
        asyncio.run(go())
    assert "(key)" in str(caught.value)
    assert "MARK" not in str(caught.value) + caught.value.raw
