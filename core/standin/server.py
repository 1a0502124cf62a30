"""The stand-in server: chat completions and models of the OpenAI protocol, answered offline by personas."""

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
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from core.errors import ConfigError
from core.standin.call import BadCall, Call, read_call
from core.standin.faults import Faults
from core.standin.personas import PERSONAS

FINGERPRINT = "concord-standin"
MAX_BODY = 64 * 1024**2


@dataclass
class Counts:
    """What the server has done since it started (or since `DELETE /v1/_calls`)."""

    answered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    """Answered calls whose request had been answered before, byte for byte: work that somebody paid for twice."""
    in_flight: int = 0
    peak_in_flight: int = 0
    arrived: int = 0
    """Calls the faults count; only these have a number."""
    seen: set[bytes] = field(default_factory=set)


def make_app(
    latency: float = 0.0, seed: int = 0, faults: Faults | None = None, require_key: str | None = None
) -> web.Application:
    """The server as an aiohttp application.

    Each completion is answered `latency` seconds after it arrived. The same request to a server of the same `seed` gets the same reply,
    in whatever order requests come; `faults` alone depend on the order. With `require_key` a call without that key is answered 401.
    """
    counts = Counts()
    faults = faults or Faults()

    async def completions(request: web.Request) -> web.StreamResponse:
        arrived = asyncio.get_running_loop().time()
        counts.in_flight += 1
        counts.peak_in_flight = max(counts.peak_in_flight, counts.in_flight)
        try:
            body = await request.read()
            response = await answer(request, body)
            wait = latency - (asyncio.get_running_loop().time() - arrived)
            if wait > 0:
                await asyncio.sleep(wait)
        finally:
            counts.in_flight -= 1
        return response

    async def answer(request: web.Request, body: bytes) -> web.StreamResponse:
        if not _key_fits(request, require_key):
            counts.failed["401"] += 1
            return _error(
                401, "The key is missing or wrong.", "invalid_request_error", code="invalid_api_key"
            )
        try:
            call = read_call(body, seed)
        except BadCall as bad:
            counts.failed["400"] += 1
            return _error(400, str(bad), "invalid_request_error", param=bad.param)
        persona = PERSONAS.get(call.model)
        if persona is None:
            counts.failed["404"] += 1
            return _no_such_model(call.model)
        fault = None
        if faults.touch(call.model):
            counts.arrived += 1
            fault = faults.at(counts.arrived)
        if fault == "rate_limit":
            counts.failed["429"] += 1
            response = _error(
                429, "Too many requests; try again later.", "rate_limit_error", code="rate_limit_exceeded"
            )
            response.headers["Retry-After"] = f"{faults.retry_after:g}"
            return response
        if fault == "dropped":
            counts.failed["dropped"] += 1
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        if fault in ("server_error", "hang"):
            counts.failed["500" if fault == "server_error" else "hang"] += 1
            if fault == "hang":
                await asyncio.sleep(faults.hang_seconds)
            return _error(500, "The stand-in server failed, as it was told to.", "server_error")
        text = persona(call)
        if fault == "malformed":
            text = "Certainly! Here is what you asked for: {" + text[: len(text) // 2].replace('"', "'")
        elif fault == "truncated":
            call, text = _cut_in_half(call, text)
        mark = hashlib.blake2b(body, digest_size=8)
        counts.answered[call.model] += 1
        counts.repeated += mark.digest() in counts.seen
        counts.seen.add(mark.digest())
        return _json(_completion(call, text, mark.hexdigest()))

    async def models(request: web.Request) -> web.Response:
        if not _key_fits(request, require_key):
            return _error(
                401, "The key is missing or wrong.", "invalid_request_error", code="invalid_api_key"
            )
        return _json({"object": "list", "data": [_model(name) for name in PERSONAS]})

    async def model(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return _json(_model(name)) if name in PERSONAS else _no_such_model(name)

    async def calls(request: web.Request) -> web.Response:
        told = {
            "answered": dict(counts.answered),
            "failed": dict(counts.failed),
            "repeated": counts.repeated,
            "in_flight": counts.in_flight,
            "peak_in_flight": counts.peak_in_flight,
        }
        if request.method == "DELETE":
            counts.answered.clear()
            counts.failed.clear()
            counts.seen.clear()
            counts.repeated = counts.arrived = 0
            counts.peak_in_flight = counts.in_flight
        return _json(told)

    app = web.Application(client_max_size=MAX_BODY)
    app.router.add_post("/v1/chat/completions", completions)
    app.router.add_get("/v1/models", models)
    app.router.add_get("/v1/models/{name}", model)
    app.router.add_get("/v1/_calls", calls)
    app.router.add_delete("/v1/_calls", calls)
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
                f"The stand-in server cannot listen on {host}:{port} ({error.strerror}); choose another port with --port."
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

    thread = threading.Thread(target=asyncio.run, args=(stay(),), name="concord-standin", daemon=True)
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
    port: int = 8090,
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
            print(f"Concord stand-in models listening on {url}", flush=True)
            await stop.wait()

    try:
        asyncio.run(stay())
    except KeyboardInterrupt:
        sys.exit(130)


def _key_fits(request: web.Request, key: str | None) -> bool:
    if key is None:
        return True
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return hmac.compare_digest(given.encode(), key.encode())


def _completion(call: Call, text: str, mark: str) -> dict[str, Any]:
    text, finish = _limited(call, text)
    given = sum(tokens(m.content) + 4 for m in call.messages)
    made = tokens(text)
    return {
        "id": f"chatcmpl-standin-{mark}",
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


def _cut_in_half(call: Call, text: str) -> tuple[Call, str]:
    return replace(call, max_tokens=max(1, tokens(text) // 2)), text


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": FINGERPRINT}


def _no_such_model(name: str) -> web.Response:
    message = f"There is no model {name!r} here. Known: {', '.join(PERSONAS)}."
    return _error(404, message, "invalid_request_error", param="model", code="model_not_found")


async def _no_such_route(request: web.Request) -> web.Response:
    return _error(
        404, f"The stand-in server offers no {request.method} {request.path}.", "invalid_request_error"
    )


def _error(
    status: int, message: str, kind: str, param: str | None = None, code: str | None = None
) -> web.Response:
    return _json({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)


def _json(value: object, status: int = 200) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json")
