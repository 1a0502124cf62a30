"""The mock server: chat completions, embeddings, moderations and models of the OpenAI protocol, answered offline by rules."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from core.demo.mock.call import BadCall, Call, read_call
from core.demo.mock.embeddings import MODEL as EMBEDDINGS
from core.demo.mock.embeddings import embed
from core.demo.mock.faults import Fault, Faults
from core.demo.mock.moderation import MODEL as MODERATION
from core.demo.mock.moderation import BadRequest, moderate
from core.demo.mock.personas import models, reply
from core.errors import ConfigError

Answer = tuple[str | None, web.Response]
"""The model that answered, none where the response is an error."""
FINGERPRINT = "concord-mock"
MAX_BODY = 64 * 1024**2


@dataclass
class Counts:
    """What the server has done since it started (or since `DELETE /v1/_calls`)."""

    answered: Counter[str] = field(default_factory=Counter)
    """By model. A call whose client left before the answer was due is not counted."""
    failed: Counter[str] = field(default_factory=Counter)
    """By status, or by the name of the fault where there was none."""
    repeated: int = 0
    """Answered calls whose request had been answered before, byte for byte: work that somebody paid for twice."""
    in_flight: int = 0
    """Calls taken up and not yet answered: with a latency of 0 that is hardly ever more than one."""
    peak_in_flight: int = 0
    arrived: int = 0
    """Calls that the faults count."""
    seen: set[bytes] = field(default_factory=set)


@dataclass
class Service:
    """The handlers and what they share."""

    latency: float
    seed: int
    faults: Faults
    require_key: str | None
    counts: Counts = field(default_factory=Counts)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """A chat completion."""
        return await self.timed(request, self.answer)

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        """The vectors of texts."""
        return await self.timed(request, self.embed)

    async def timed(
        self, request: web.Request, answer: Callable[[web.Request, bytes], Awaitable[Answer]]
    ) -> web.StreamResponse:
        """An answer, `latency` seconds after the request arrived, and counted; errors too."""
        clock = asyncio.get_running_loop().time
        due = clock() + self.latency
        self.counts.in_flight += 1
        self.counts.peak_in_flight = max(self.counts.peak_in_flight, self.counts.in_flight)
        try:
            body = await request.read()
            model, response = await answer(request, body)
            if (wait := due - clock()) > 0:
                await asyncio.sleep(wait)
        finally:
            self.counts.in_flight -= 1
        if model is not None:
            mark, counts = _mark(body).digest(), self.counts
            counts.answered[model] += 1
            counts.repeated += mark in counts.seen
            counts.seen.add(mark)
        return response

    async def answer(self, request: web.Request, body: bytes) -> Answer:
        """What a persona replies."""
        if not self.admits(request):
            return self.failed("401", _wrong_key())
        try:
            call = read_call(body, self.seed)
        except BadCall as bad:
            return self.failed("400", _error(400, str(bad), "invalid_request_error", param=bad.param))
        if call.model not in models():
            return self.failed("404", _no_such_model(call.model, models()))
        fault = self.next_fault(call.model)
        if broken := await self.broken(request, fault):
            return broken
        text = reply(call)
        if fault == "malformed":
            text = "Certainly! Here is what you asked for: {" + text[: len(text) // 2].replace('"', "'")
        elif fault == "truncated":
            call = replace(call, max_tokens=max(1, tokens(text) // 2))
        return call.model, _json(_completion(call, text, _mark(body).hexdigest()))

    async def embed(self, request: web.Request, body: bytes) -> Answer:
        """Vectors; with a malformed or truncated one for fewer texts than were sent."""
        if not self.admits(request):
            return self.failed("401", _wrong_key())
        try:
            reply = embed(body)
        except BadRequest as bad:
            return self.failed("400", _error(400, str(bad), "invalid_request_error", param="input"))
        if reply["model"] != EMBEDDINGS:
            return self.failed("404", _no_such_model(str(reply["model"]), [EMBEDDINGS]))
        fault = self.next_fault(EMBEDDINGS)
        if broken := await self.broken(request, fault):
            return broken
        if fault in ("malformed", "truncated"):
            reply["data"].pop()
        return EMBEDDINGS, _json(reply)

    async def broken(self, request: web.Request, fault: Fault | None) -> Answer | None:
        """The failure that a fault is, where it is one of the endpoint and not of the reply."""
        if fault == "rate_limit":
            return self.failed("429", _rate_limited(self.faults.retry_after))
        if fault == "dropped":
            if request.transport is not None:
                request.transport.abort()
            return self.failed(fault, web.Response())
        if fault == "hang":
            await asyncio.sleep(self.faults.hang_seconds)
        if fault in ("hang", "server_error"):
            return self.failed(
                "500", _error(500, "The mock server failed, as it was told to.", "server_error")
            )
        return None

    def next_fault(self, model: str) -> Fault | None:
        """What goes wrong with this call, if anything."""
        if not self.faults.touch(model):
            return None
        self.counts.arrived += 1
        return self.faults.at(self.counts.arrived)

    def failed(self, how: str, response: web.Response) -> Answer:
        """An error, counted."""
        self.counts.failed[how] += 1
        return None, response

    def admits(self, request: web.Request) -> bool:
        """Whether the request brings the key, where one is required."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        return self.require_key is None or hmac.compare_digest(given.encode(), self.require_key.encode())

    async def moderations(self, request: web.Request) -> web.Response:
        """The scores of texts by category."""
        if not self.admits(request):
            return self.failed("401", _wrong_key())[1]
        try:
            reply = moderate(await request.read())
        except BadRequest as bad:
            return self.failed("400", _error(400, str(bad), "invalid_request_error", param="input"))[1]
        if reply["model"] != MODERATION:
            return self.failed("404", _no_such_model(str(reply["model"]), [MODERATION]))[1]
        self.counts.answered[MODERATION] += 1
        return _json(reply)

    async def models(self, request: web.Request) -> web.Response:
        """The models, or one of them."""
        if not self.admits(request):
            return _wrong_key()
        name = request.match_info.get("name")
        if name is None:
            return _json({"object": "list", "data": [_model(known) for known in models()]})
        return _json(_model(name)) if name in models() else _no_such_model(name, models())

    async def calls(self, request: web.Request) -> web.Response:
        """The counts; DELETE starts them anew."""
        c = self.counts
        told = {
            "answered": dict(c.answered),
            "failed": dict(c.failed),
            "repeated": c.repeated,
            "in_flight": c.in_flight,
            "peak_in_flight": c.peak_in_flight,
        }
        if request.method == "DELETE":
            self.counts = Counts(in_flight=c.in_flight, peak_in_flight=c.in_flight)
        return _json(told)


def make_app(
    latency: float = 0.0, seed: int = 0, faults: Faults | None = None, require_key: str | None = None
) -> web.Application:
    """The server as an aiohttp application.

    Each completion and embedding is answered `latency` seconds after it arrived. The same request to a server of the same `seed` gets the same reply,
    in whatever order requests come; `faults` alone depend on the order. With `require_key` a call without that key is answered 401.
    """
    service = Service(latency, seed, faults or Faults(), require_key)
    app = web.Application(client_max_size=MAX_BODY)
    app.router.add_post("/v1/chat/completions", service.completions)
    app.router.add_post("/v1/embeddings", service.embeddings)
    app.router.add_post("/v1/moderations", service.moderations)
    app.router.add_get("/v1/models", service.models)
    app.router.add_get("/v1/models/{name}", service.models)
    app.router.add_get("/v1/_calls", service.calls)
    app.router.add_delete("/v1/_calls", service.calls)
    app.router.add_route("*", "/{path:.*}", _no_such_route)
    return app


@asynccontextmanager
async def listening(app: web.Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve `app` in the running loop; gives the base URL (`http://…/v1`). Port 0 takes a free one."""
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=1024).start()
        except OSError as error:
            raise ConfigError(
                f"The mock server cannot listen on {host}:{port} ({error.strerror}); choose another port with --port."
            ) from None
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


@contextmanager
def running(
    latency: float = 0.0,
    seed: int = 0,
    faults: Faults | None = None,
    require_key: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[str]:
    """Serve from a thread with a loop of its own while the block lasts; gives the base URL (`http://…/v1`)."""
    ready = threading.Event()
    outcome: dict[str, Any] = {}

    async def stay() -> None:
        try:
            async with listening(make_app(latency, seed, faults, require_key), host, port) as url:
                outcome["loop"], outcome["stop"] = asyncio.get_running_loop(), asyncio.Event()
                outcome["url"] = url
                ready.set()
                await outcome["stop"].wait()
        except ConfigError as error:
            outcome["error"] = error
        finally:
            ready.set()

    thread = threading.Thread(target=asyncio.run, args=(stay(),), name="concord-mock", daemon=True)
    thread.start()
    ready.wait()
    if "error" in outcome:
        raise outcome["error"]
    try:
        yield outcome["url"]
    finally:
        outcome["loop"].call_soon_threadsafe(outcome["stop"].set)
        thread.join()


def serve(
    host: str = "127.0.0.1",
    port: int = 8601,
    latency: float = 0.0,
    seed: int = 0,
    require_key: str | None = None,
    faults: Faults | None = None,
) -> None:
    """Serve until interrupted (SIGINT or SIGTERM). When ready, one line on stdout ends in the base URL."""

    async def stay() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
            except NotImplementedError:  # Windows' loops take no signal handlers; there Ctrl-C raises instead
                break
        async with listening(make_app(latency, seed, faults, require_key), host, port) as url:
            print(f"Concord mock models listening on {url}", flush=True)
            await stop.wait()

    try:
        asyncio.run(stay())
    except KeyboardInterrupt:
        sys.exit(130)


def _completion(call: Call, text: str, mark: str) -> dict[str, Any]:
    text, finish = _limited(call, text)
    given = sum(tokens(m.content) + 4 for m in call.messages)
    made = tokens(text)
    return {
        "id": f"chatcmpl-mock-{mark}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model,
        "system_fingerprint": FINGERPRINT,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made},
    }


def tokens(text: str) -> int:
    """About as many tokens as a real tokenizer would count: a quarter of the bytes in UTF-8, at least one."""
    return max(1, (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // 4)


def _limited(call: Call, text: str) -> tuple[str, str]:
    """The text up to the first stop sequence and the token limit, and the reason it ended."""
    ends = [at for at in (text.find(stop) for stop in call.stop) if at >= 0]
    if ends:
        text = text[: min(ends)]
    if call.max_tokens is None or tokens(text) <= call.max_tokens:
        return text, "stop"
    per_token = len(text) / tokens(text)
    return text[: max(1, int(call.max_tokens * per_token))], "length"


def _mark(body: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(body, digest_size=8)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": FINGERPRINT}


def _no_such_model(name: str, known: Iterable[str]) -> web.Response:
    message = f"There is no model {name!r} here. Known: {', '.join(known)}."
    return _error(404, message, "invalid_request_error", param="model", code="model_not_found")


def _wrong_key() -> web.Response:
    return _error(401, "The key is missing or wrong.", "invalid_request_error", code="invalid_api_key")


def _rate_limited(seconds: float) -> web.Response:
    message = f"Too many requests; try again in {seconds:g} seconds."
    response = _error(429, message, "rate_limit_error", code="rate_limit_exceeded")
    response.headers["Retry-After"] = f"{seconds:g}"
    return response


async def _no_such_route(request: web.Request) -> web.Response:
    return _error(404, f"The mock server offers no {request.method} {request.path}.", "invalid_request_error")


def _error(
    status: int, message: str, kind: str, param: str | None = None, code: str | None = None
) -> web.Response:
    return _json({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)


def _json(value: object, status: int = 200) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json")
