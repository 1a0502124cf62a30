"""The mock server: chat completions, embeddings, moderations, batches and models of the OpenAI protocol."""

import asyncio
import hashlib
import hmac
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from concord.demo import server
from concord.demo.server import FINGERPRINT, MAX_BODY
from tests.mock import quirks
from tests.mock.batches import BatchApi
from tests.mock.call import BadCall, Call, read_call, read_object
from tests.mock.faults import Fault, Faults
from tests.mock.kinds import kind
from tests.mock.personas import models, reply
from tests.mock.texts import EMBEDDINGS, MODERATION, embed, moderate

BLOCK = 128
"""Tokens, of four characters, by which a prompt cache grows."""

Make = Callable[[Fault | None], dict[str, Any]]
Endpoint = Callable[[bytes], tuple[str, Make]]
"""From a request's body to the model it names and the function that makes the reply. Raises BadCall."""


@dataclass
class Counts:
    """What the server has done since it started (or since `DELETE /v1/_calls`)."""

    # By model; a call whose client left before the answer was due is not counted.
    answered: Counter[str] = field(default_factory=Counter)
    # By status, or by the name of the fault where there was none.
    failed: Counter[str] = field(default_factory=Counter)
    # Answered calls whose request had been answered before, byte for byte.
    repeated: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0


class Failed(Exception):
    """A call that is answered with an error; counted as `how`; `more` are the error's fields."""

    at_once = False
    """Whether the answer is not delayed."""

    def __init__(self, status: int, message: str, *, how: str = "", **more: str | None):
        super().__init__(message)
        self.how = how or str(status)
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
        self.response = _json({"error": error | more}, status)


class Service:
    """The handlers and what they share."""

    def __init__(
        self,
        latency: float,
        seed: int,
        faults: Faults,
        require_key: str | None,
        jitter: float,
        like: str,
    ):
        self.kind = kind(like)
        self.latency, self.seed, self.faults, self.require_key = latency, seed, faults, require_key
        self.jitter, self.random = jitter, random.Random(seed)
        self.counts = Counts()
        self.arrived = 0
        self.seen: set[bytes] = set()
        self.tokens, self.filled = 0.0, 0.0
        self.prefixes: set[tuple[str, int]] = set()

    async def timed(self, request: web.Request, endpoint: Endpoint, known: Sequence[str]) -> web.Response:
        """An answer, `latency` seconds after the request arrived, and counted; errors too."""
        clock = asyncio.get_running_loop().time
        due = clock() + self.latency * self.random.uniform(1 - self.jitter, 1 + self.jitter)
        self.counts.in_flight += 1
        self.counts.peak_in_flight = max(self.counts.peak_in_flight, self.counts.in_flight)
        try:
            body = await request.read()
            try:
                answer = await self.answer(request, body, endpoint, known)
                response = _json(answer)
            except Failed as failed:
                answer, response = None, failed.response
                self.counts.failed[failed.how] += 1
                due = 0.0 if failed.at_once else due
            await asyncio.sleep(max(0.0, due - clock()))
        finally:
            self.counts.in_flight -= 1
        if answer is not None:
            self.counts.answered[answer["model"]] += 1
            self.counts.repeated += _mark(body) in self.seen
            self.seen.add(_mark(body))
        return response

    async def answer(
        self, request: web.Request, body: bytes, endpoint: Endpoint, known: Sequence[str]
    ) -> dict[str, Any]:
        """What the endpoint replies. Raises Failed."""
        self.admit(request)
        self.throttle()
        try:
            model, make = endpoint(body)
        except BadCall as bad:
            raise Failed(400, str(bad), param=bad.param) from None
        _require_known(model, known)
        fault = None
        if not self.faults.models or model in self.faults.models:
            self.arrived += 1
            fault = self.faults.at(self.arrived)
        if fault == "rate_limit":
            after = self.faults.retry_after
            message = f"Too many requests; try again in {after:g} seconds."
            failed = Failed(429, message, type="rate_limit_error", code="rate_limit_exceeded")
            failed.response.headers["Retry-After"] = f"{after:g}"
            raise failed
        if fault == "dropped":
            if request.transport is not None:
                request.transport.abort()
            raise Failed(500, "The connection is closed.", how=fault)
        if fault == "hang":
            await asyncio.sleep(self.faults.hang_seconds)
        if fault in ("hang", "server_error"):
            raise Failed(500, "The mock server failed, as it was told to.", type="server_error")
        if fault is not None and fault in quirks.RESPONSES:
            failed = Failed(200, "", how=fault)
            failed.response = quirks.RESPONSES[fault](request)
            raise failed
        return make(fault)

    def admit(self, request: web.Request) -> None:
        """Raises Failed unless the request brings the key, where one is required."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip().encode()
        if self.require_key is not None and not hmac.compare_digest(given, self.require_key.encode()):
            raise Failed(401, "The key is missing or wrong.", code="invalid_api_key")

    def throttle(self) -> None:
        """Raises Failed beyond the capacity or the rate that the server was told to have."""
        capacity, rate = self.faults.capacity, self.faults.per_minute / 60
        wait = 0.0
        if rate:
            now = asyncio.get_running_loop().time()
            # A bucket that holds a second's calls.
            self.tokens = min(max(1.0, rate), self.tokens + (now - self.filled) * rate)
            self.filled = now
            wait = 0.0 if self.tokens >= 1 else (1 - self.tokens) / rate
            self.tokens -= wait == 0.0
        if wait or (capacity and self.counts.in_flight > capacity):
            failed = Failed(429, "Too many requests.", type="rate_limit_error", code="rate_limit_exceeded")
            failed.at_once = True
            if wait:
                failed.response.headers["Retry-After"] = f"{wait:.3f}"
            raise failed

    def complete(self, body: bytes) -> tuple[str, Make]:
        """A chat completion."""
        asked = read_object(body)
        if refusal := self.kind.refuses(asked):
            fields = {"type": refusal.type, "param": refusal.param, "code": refusal.code}
            raise Failed(refusal.status, refusal.message, how="", **fields)
        if self.kind.ignores:
            asked = {name: value for name, value in asked.items() if name not in self.kind.ignores}
        call, context = read_call(asked, self.seed), self.kind.context
        cached = self.cached(call) if self.faults.cache_from else None
        return call.model, lambda fault: _completion(call, fault, _mark(body).hex(), cached, context)

    def cached(self, call: Call) -> int:
        """The tokens at a prompt's beginning that an earlier prompt began with, in whole blocks."""
        text, known, at = "\n".join(m.content for m in call.messages), 0, BLOCK
        while at * 4 <= len(text):
            mark = call.model, hash(text[: at * 4])
            known = at if mark in self.prefixes else known
            self.prefixes.add(mark)
            at += BLOCK
        return known if known >= self.faults.cache_from else 0

    def answered(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """The status and answer of a call of a batch, counted if it is 200. Raises BadCall."""
        try:
            model, make = self.complete(body)
        except Failed as failed:
            return failed.response.status, json.loads(failed.response.text or "{}")
        self.counts.answered[model] += 1
        self.counts.repeated += _mark(body) in self.seen
        self.seen.add(_mark(body))
        return 200, make(None)

    def refused(self, request: web.Request) -> web.Response | None:
        """The answer to a request without the key; None where it may be answered."""
        try:
            self.admit(request)
        except Failed as failed:
            return failed.response
        return None

    async def models(self, request: web.Request) -> web.Response:
        """The models, or one of them."""
        try:
            self.admit(request)
            if name := request.match_info.get("name"):
                _require_known(name, models())
                return _json(_model(name))
        except Failed as failed:
            return failed.response
        return _json({"object": "list", "data": [_model(known) for known in models()]})

    async def calls(self, request: web.Request) -> web.Response:
        """The counts; DELETE starts them anew."""
        told = dict(vars(self.counts))
        if request.method == "DELETE":
            self.arrived, self.seen = 0, set()
            self.counts = Counts(in_flight=told["in_flight"], peak_in_flight=told["in_flight"])
        return _json(told)


def make_app(
    latency: float = 0.0,
    seed: int = 0,
    faults: Faults | None = None,
    require_key: str | None = None,
    jitter: float = 0.0,
    like: str = "",
) -> web.Application:
    """The server as an aiohttp application.

    Every call is answered `latency` seconds after it arrived, by up to a share of `jitter` more or less. The
    same request to a server of the same `seed`
    gets the same reply, in whatever order requests come; only `faults` depend on the order. With
    `require_key` a call without that key is answered 401. `like` is the kind of endpoint whose refusals are
    copied (`tests.mock.kinds`). Raises NotFound for an unknown kind.
    """
    service = Service(latency, seed, faults or Faults(), require_key, jitter, like)
    endpoints: dict[str, tuple[Endpoint, Sequence[str]]] = {
        "chat/completions": (service.complete, models()),
        "embeddings": (_embed, (EMBEDDINGS,)),
        "moderations": (_moderate, (MODERATION,)),
    }
    app = web.Application(client_max_size=MAX_BODY)
    for path, (endpoint, known) in endpoints.items():
        app.router.add_post(f"/v1/{path}", partial(service.timed, endpoint=endpoint, known=known))
    BatchApi(service.faults, seed, service.answered, service.refused).add_to(app)
    app.router.add_get("/v1/models", service.models)
    app.router.add_get("/v1/models/{name}", service.models)
    app.router.add_get("/v1/_calls", service.calls)
    app.router.add_delete("/v1/_calls", service.calls)
    app.router.add_route("*", "/{path:.*}", _no_such_route)
    return app


@contextmanager
def running(host: str = "127.0.0.1", port: int = 0, **how: Any) -> Iterator[str]:
    """Serve from a thread while the block lasts; gives the base URL. `how` as in `make_app`."""
    with server.running(partial(make_app, **how), host, port) as url:
        yield url


def tokens(text: str) -> int:
    """About as many tokens as a real tokenizer would count: a quarter of the bytes in UTF-8, at least one."""
    return max(1, (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // 4)


def _completion(
    call: Call, fault: Fault | None, mark: str, cached: int | None, context: int | None
) -> dict[str, Any]:
    text, most = reply(call), call.max_tokens
    if fault == "malformed":
        text = "Certainly! Here is what you asked for: {" + text[: len(text) // 2].replace('"', "'")
    elif fault == "truncated":
        most = max(1, tokens(text) // 2)
    text = text[: min((at for stop in call.stop if (at := text.find(stop)) >= 0), default=len(text))]
    finish = "stop" if most is None or tokens(text) <= most else "length"
    if finish == "length":
        text = text[: max(1, int((most or 1) * len(text) / tokens(text)))]
    given, written = sum(tokens(m.content) + 4 for m in call.messages), tokens(text)
    given = min(given, context or given)
    message = {"role": "assistant", "content": text, "refusal": None}
    made: dict[str, Any] = {
        "id": f"chatcmpl-mock-{mark}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model,
        "system_fingerprint": FINGERPRINT,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written},
    }
    if cached is not None:
        made["usage"]["prompt_tokens_details"] = {"cached_tokens": min(cached, given)}
    return quirks.COMPLETIONS[fault](made) if fault is not None and fault in quirks.COMPLETIONS else made


def _embed(body: bytes) -> tuple[str, Make]:
    """Vectors; a reply that goes wrong has one too few."""
    found = embed(body)
    return found["model"], lambda fault: {**found, "data": found["data"][: -1 if fault else None]}


def _moderate(body: bytes) -> tuple[str, Make]:
    found = moderate(body)
    return found["model"], lambda fault: found


def _mark(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).digest()


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": FINGERPRINT}


def _require_known(name: str, known: Sequence[str]) -> None:
    if name not in known:
        message = f"There is no model {name!r} here. Known: {', '.join(known)}."
        raise Failed(404, message, param="model", code="model_not_found")


async def _no_such_route(request: web.Request) -> web.Response:
    return Failed(404, f"The mock server offers no {request.method} {request.path}.").response


def _json(value: object, status: int = 200) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json")
