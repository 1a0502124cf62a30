"""The mock server: the OpenAI protocol on this machine, for models whose names begin with `mock-`.

Nothing in Concord knows that a model is a mock but by its name. `concord.demo.rules` says what it replies.
"""

import asyncio
import hashlib
import json
import math
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from anyio.from_thread import start_blocking_portal

from concord.commands.printing import echo
from concord.demo.exchanges import exchange
from concord.demo.rules import MockRequest, reply
from concord.errors import ConfigError

FINGERPRINT = "concord-mock"
MAX_BODY = 64 * 1024**2
MODELS = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy", "mock-player", "mock-user")
"""The names that are listed; any other that begins with `mock-` is answered as well."""
DIMENSIONS = 64
Make = Callable[[], web.Application]


def make_app(seed: int = 0, like: str = "") -> web.Application:
    """The server as an aiohttp application. The same request to the same seed gets the same reply.

    `like` is the kind of endpoint whose refusals and answers it plays (data/exchanges.toml). It answers below
    any address, such as /openai/deployments/NAME. Raises NotFound for an unknown kind.
    """
    kind = exchange(like)

    async def answer(request: web.Request) -> web.Response:
        try:
            body = await request.json()
            name = str(body["model"])
            completes = request.path.endswith("/chat/completions")
            if not name.startswith("mock-"):
                return _refused(404, f"There is no model {name!r} here. A mock's name begins with “mock-”.")
            if completes and (refusal := kind.refused(body, request.query.get("api-version", ""))):
                return web.Response(text=refusal.body, status=refusal.status, content_type="application/json")
            make = next(make for path, make in _ANSWERS.items() if request.path.endswith(path))
            made = await asyncio.to_thread(make, name, body, seed)
            return web.json_response(kind.answered(made) if completes else made)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _refused(400, f"The request cannot be read: {type(error).__name__}: {error}.")

    async def models(_request: web.Request) -> web.Response:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": FINGERPRINT} for name in MODELS]
        return web.json_response({"object": "list", "data": listed})

    app = web.Application(client_max_size=MAX_BODY)
    for path in _ANSWERS:
        app.router.add_post(f"/{{below:.*}}{path}", answer)
    app.router.add_get("/v1/models", models)
    return app


def _complete(model: str, body: dict[str, Any], seed: int) -> dict[str, Any]:
    messages = [(str(m["role"]), _text(m["content"])) for m in body["messages"]]
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    text = reply(MockRequest(model, messages, schema, f"{seed} {body.get('seed')}"))
    most = body.get("max_completion_tokens") or body.get("max_tokens") or math.inf
    cut = _tokens(text) > most
    text = text[: int(most) * 4] if cut else text
    given = sum(_tokens(content) for _, content in messages)
    written = _tokens(text)
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-mock-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": FINGERPRINT,
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if cut else "stop"}],
        "usage": {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written},
    }


def _embed(model: str, body: dict[str, Any], _seed: int) -> dict[str, Any]:
    """A vector of length 1 for each text: texts with words in common are near each other."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = int(body.get("dimensions") or DIMENSIONS)
    data = [{"object": "embedding", "index": n, "embedding": _vector(t, size)} for n, t in enumerate(texts)]
    read = sum(map(_tokens, texts))
    usage = {"prompt_tokens": read, "total_tokens": read}
    return {"object": "list", "model": model, "data": data, "usage": usage}


def _vector(text: str, size: int) -> list[float]:
    numbers = [0.0] * size
    for word in re.findall(r"\w+", text.lower()):
        mark = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        numbers[(mark >> 1) % size] += 1.0 if mark & 1 else -1.0
    length = math.hypot(*numbers)
    return [number / length for number in numbers] if length else [1.0, *numbers[1:]]


def _moderate(model: str, body: dict[str, Any], _seed: int) -> dict[str, Any]:
    """Next to no harm in any text."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    one = {"flagged": False, "categories": {"harassment": False}, "category_scores": {"harassment": 0.0005}}
    return {"id": "modr-mock", "model": model, "results": [one for _ in texts]}


_ANSWERS: dict[str, Callable[[str, dict[str, Any], int], dict[str, Any]]] = {
    "/chat/completions": _complete,
    "/embeddings": _embed,
    "/moderations": _moderate,
}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def _refused(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return web.json_response({"error": error}, status=status)


@asynccontextmanager
async def listening(app: web.Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve `app` in the running loop; gives the base URL (`http://…/v1`). Port 0 takes a free one.

    At its end calls in flight are dropped: aiohttp gives them a moment, and fails where one ends with it.
    """
    at_work: set[asyncio.Task[Any]] = set()
    ending = asyncio.Event()

    @web.middleware
    async def followed(request: web.Request, handler: Handler) -> web.StreamResponse:
        task = asyncio.current_task()
        if ending.is_set() or task is None:
            raise web.HTTPServiceUnavailable
        at_work.add(task)
        try:
            return await handler(request)
        finally:
            at_work.discard(task)

    async def drop(_app: web.Application) -> None:
        ending.set()
        for task in (tasks := list(at_work)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    app.middlewares.append(followed)
    app.on_shutdown.append(drop)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=1024).start()
        except OSError as error:
            message = f"The mock server cannot listen on {host}:{port} ({error.strerror})."
            remedy = "Choose another port with --port, or in models.toml where that names it."
            raise ConfigError(f"{message} {remedy}") from None
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


@contextmanager
def running(make: Make, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve what `make` makes from a thread while the block lasts; gives the base URL."""
    with start_blocking_portal(name="concord-mock") as portal:
        app = portal.call(make)
        with portal.wrap_async_context_manager(listening(app, host, port)) as url:
            yield url


def serve(make: Make, host: str = "127.0.0.1", port: int = 8601) -> None:
    """Serve until interrupted or terminated; prints the URL when ready."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running(make, host, port) as url:
        echo(f"Concord mock models listening on {url}")
        while True:
            time.sleep(3600)
