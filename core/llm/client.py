"""The async client of OpenAI-compatible endpoints: one retry layer, cost, and errors as sentences."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Self, TypeVar

from concord import messages as said
from concord.codes import Failure, Retry
from concord.configuration import UNREPORTED, Reported
from concord.conversation import Message
from concord.errors import CallFailed, RunStopped
from concord.files import extras
from concord.llm import api_errors, completions, embeddings
from concord.llm.api_errors import AttemptFailed
from concord.llm.completions import RAW, Broken, Completion, reported
from concord.llm.embeddings import BadVectors, Vector
from concord.llm.gates import Gate
from concord.llm.models import UNSET, Endpoint, Model, pick, plain_number
from concord.llm.schemas import Feature, weakened
from concord.rating import NOTHING_SPENT, Spent

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient, Headers, Request, Response
    from openai import AsyncOpenAI

RETRIES = 5
"""Repeats of a call that failed for a while: after 0.5 s, doubling to 8 s (see `concord.codes.EFFECTS`)."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
REASKS = 2
"""Repeats of a call for vectors whose reply holds no usable ones."""
THROTTLED_SECONDS = 300.0
"""How long calls wait for an endpoint that throttles and answers none; also the longest Retry-After."""
DEFAULT_CONCURRENCY = 16
IMAGE_CHARACTERS = 6000
"""So much text is an image estimated as: some 1,500 tokens."""
SHORTEST_SECRET = 8
"""Characters of a key from which on it is taken out of what endpoints say; a shorter one is no secret."""
REPLY_BYTES = 2**24
"""Of one answer, decompressed: ten times what a long reply, or 32 vectors of 4,096 numbers, takes."""
T = TypeVar("T")


@dataclass(frozen=True)
class Embedded:
    """The vectors of some texts, in their order."""

    vectors: list[Vector]
    usage: Spent
    reported: Reported = UNREPORTED


@dataclass(frozen=True)
class Moderated:
    """The scores of some texts by category, 0 to 1, in their order."""

    scores: list[dict[str, float]]
    reported: Reported = UNREPORTED


class TooLong(Exception):
    """An answer of more than REPLY_BYTES; the rest was not read."""


class Client:
    """Calls models. It belongs to one event loop: make it there, as `async with Client(models)`.

    `admit` is awaited before each call is sent; if it raises, the call is not sent. Calls wait for an
    endpoint that throttles or is down, at no cost of retries, and hold no place while they wait.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        retries: int | None = None,
        admit: Callable[[], Awaitable[None]] | None = None,
    ):
        extras.require("openai", "httpx2", purpose="Calling a model")
        self._models = dict(models)
        self._admit = admit
        self._retries = RETRIES if retries is None else retries
        self._lines: dict[Endpoint, _Line] = {}
        self._gates: dict[Endpoint, Gate] = {}
        self._secret = secrets(models.values())
        self._stopped: set[str] = set()
        """Models to which no more calls are sent."""

    async def __aenter__(self) -> Self:
        for endpoint, limit in limits(self._models.values()).items():
            self._gates[endpoint] = Gate(limit, endpoint[0] or "The OpenAI endpoint")
        return self

    async def __aexit__(self, *_error: object) -> None:
        for line in self._lines.values():
            await line.api.close()

    def stop_model(self, name: str) -> None:
        """Send no more calls to a model: those that wait raise RunStopped. Calls to others go on."""
        self._stopped.add(name)

    def stop(self) -> None:
        """End the waiting of all calls: each asks `admit` at once."""
        for gate in self._gates.values():
            gate.stop()

    def allow(self, places: Mapping[Endpoint, int]) -> None:
        """Let so many calls be in flight to each endpoint, at most its limit."""
        for endpoint, count in places.items():
            self._gates[endpoint].allow(count)

    def status(self) -> str:
        """Which endpoints calls wait for, and why; “” where they wait for none."""
        return ". ".join(filter(None, (gate.status() for gate in self._gates.values())))

    @property
    def throttles(self) -> int:
        """Calls that were throttled so far."""
        return sum(gate.throttles for gate in self._gates.values())

    async def complete(
        self,
        name: str,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        seed: int = 0,
        form: Model | None = None,
    ) -> Completion:
        """One reply; `form` is the model as a handshake settled it. Raises CallFailed after all retries."""
        model = form or pick(self._models, name)
        body = request(model, messages, params=params, schema=schema, seed=seed)
        read, seconds = await self._post(model, "/chat/completions", body, completions.read)
        return replace(self.read_without_keys(read), usage=model.usage(read.tokens, seconds))

    async def embed(self, name: str, texts: Sequence[str]) -> Embedded:
        """The vectors of texts, none of them empty, in one call; unusable ones are asked for again.

        Raises CallFailed, of code UNPARSEABLE with the last reply if no attempt gave usable ones.
        """
        model = pick(self._models, name, "embeddings")
        body = {"model": model.served, "input": list(texts), **model.params}
        usage = NOTHING_SPENT
        problem = ""
        content = b""
        for _ in range(1 + REASKS):
            content, seconds = await self._post(model, "/embeddings", body, _json)
            read = embeddings.tokens(content)
            usage += model.usage((read, 0, 0), seconds)
            try:
                return Embedded(
                    embeddings.read(content, len(texts)), usage, reported(completions.decoded(content))
                )
            except BadVectors as error:
                problem = str(error)
        raise CallFailed(
            f"“{name}” gave no usable vectors in {1 + REASKS} attempts. {problem}. "
            "Does its endpoint offer embeddings?",
            code=Failure.UNPARSEABLE,
            raw=_excerpt(content),
            spent=usage,
        )

    async def moderate(self, name: str, texts: Sequence[str]) -> Moderated:
        """The scores of texts from the endpoint's moderations, in one call. Raises CallFailed."""
        model = pick(self._models, name)
        body = {"model": model.served, "input": list(texts)}
        content, _ = await self._post(model, "/moderations", body, _json)
        try:
            results = [dict(result["category_scores"]) for result in completions.decoded(content)["results"]]
            scores = [
                {str(k): float(v) for k, v in token_scores.items() if v is not None}
                for token_scores in results
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise CallFailed(
                f"The endpoint of “{name}” is not a moderations endpoint. Does it offer one?",
                code=Failure.BAD_REQUEST,
                raw=_excerpt(content),
            ) from error
        if len(scores) != len(texts):
            raise CallFailed(
                f"“{name}” scored {len(scores)} of {len(texts)} texts.", code=Failure.BAD_REQUEST
            )
        return Moderated(scores, reported(completions.decoded(content)))

    async def request(
        self,
        model: Model,
        ask: Callable[[AsyncOpenAI], Awaitable[T]],
        *,
        time_limit: float | None = None,
        retry: bool = True,
    ) -> T:
        """Ask an endpoint something that is no call to a model, `time_limit` seconds (the model's timeout).

        Raises CallFailed. What failed for a while is asked again if `retry`; a 429 is in any case.
        """

        async def attempt() -> T:
            try:
                async with asyncio.timeout(time_limit or model.timeout):
                    return await ask(self._line(model).api)
            except Exception as error:  # the library's objects of an answer in another form, too
                raise self._attempt_failed(error, model) from error

        return (await self._with_retries(model, attempt, retry=retry))[0]

    async def rest(self, model: Model, seconds: float) -> None:
        """Wait, no longer than until `stop`."""
        await self._gates[model.endpoint].rest(seconds)

    async def _post(
        self, model: Model, path: str, body: Mapping[str, Any], read: Callable[[bytes], T]
    ) -> tuple[T, float]:
        """What the endpoint answered, read, and the seconds of the attempt that was. Raises CallFailed.

        `read` raises Broken for a body that is no answer.
        """

        async def attempt() -> T:
            content = await self.attempt(model, path, body)
            try:
                return read(content)
            except Broken as error:
                raise api_errors.body_error(error, content, model) from error

        return await self._with_retries(model, attempt)

    async def _with_retries(
        self, model: Model, attempt: Callable[[], Awaitable[T]], *, retry: bool = True
    ) -> tuple[T, float]:
        """What attempts of an endpoint give in the end, and the seconds of the last one. Raises CallFailed.

        Without `retry` it is tried again only where the endpoint throttles.
        """
        gate = self._gates[model.endpoint]
        tried = 0
        down_since: float | None = None
        while True:
            sent_at = await gate.enter()
            rest = 0.0
            try:
                if model.name in self._stopped:
                    raise RunStopped(f"No more calls to “{model.name}” are made.")
                if self._admit:
                    await self._admit()
                started = time.perf_counter()
                try:
                    answer = await attempt()
                except AttemptFailed as problem:
                    problem.args = (self.text_without_keys(str(problem)),)
                    problem.raw = self.text_without_keys(problem.raw)
                    problem.words = self.text_without_keys(problem.words)
                    if not retry and problem.code.retry is not Retry.THROTTLED:
                        raise
                    if _costs_a_retry(gate, problem, sent_at, down_since or sent_at, tried < self._retries):
                        rest = min(LONGEST_WAIT, FIRST_WAIT * 2**tried) * random.uniform(0.5, 1)
                        tried += 1
                    down_since = gate.now
                else:
                    gate.record_answer()
                    return answer, time.perf_counter() - started
            finally:
                gate.leave()
            if rest:
                await gate.rest(rest)

    async def attempt(self, model: Model, path: str, body: Mapping[str, Any]) -> bytes:
        """One attempt: the body of an answer of status 200. Raises AttemptFailed.

        Here, and nowhere else, bytes come in: keys that an endpoint repeats are taken out of them.
        """
        line = self._line(model)
        try:
            # The library's timeout is for each read: a body that trickles would never end.
            async with asyncio.timeout(model.timeout):
                response = await line.http.send(line.request(path, body))
        except Exception as error:
            raise self._attempt_failed(error, model) from error
        content = self.without_keys(bytes(response.content))
        if response.status_code >= 300:
            raise api_errors.status_error(response.status_code, response.headers, content, model)
        return content

    def _attempt_failed(self, error: Exception, model: Model) -> AttemptFailed:
        """What went wrong, by what the library raised; anything else is an answer that it cannot read."""
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            content = self.without_keys(error.response.content)
            return api_errors.status_error(error.status_code, error.response.headers, content, model)
        if isinstance(error, openai.APIError | httpx2.RequestError | TimeoutError):
            return api_errors.connection_error(error, model)
        if isinstance(error, TooLong):
            return api_errors.oversized(REPLY_BYTES, model)
        message = " ".join(f"{type(error).__name__}: {error}".split())[:RAW]
        content = self.without_keys(message.encode("utf-8", "replace"))
        return api_errors.body_error(Broken(content[:200].decode("utf-8", "ignore")), content, model)

    def without_keys(self, content: bytes) -> bytes:
        """What an endpoint sent, without the keys that it repeats, escaped in any way (see `secrets`)."""
        return self._secret.sub(b"(key)", content) if self._secret else content

    def text_without_keys(self, text: str) -> str:
        """A text that was decoded, or put together from parts, without the keys that are in it now."""
        content = text.encode("utf-8", "surrogatepass")
        clean = self.without_keys(content)
        return text if clean == content else clean.decode("utf-8", "surrogatepass")

    def read_without_keys(self, read: Completion) -> Completion:
        """What a body says without the keys that were in parts, or under escapes, before it was read."""
        details = read.details
        clean = self.text_without_keys
        thinking = clean(details.thinking)
        raw = clean(details.raw)
        details = replace(details, thinking=thinking, raw=raw, finish=clean(details.finish))
        reported_clean = Reported(clean(read.reported.model), clean(read.reported.fingerprint))
        return replace(read, text=clean(read.text), reported=reported_clean, details=details)

    def _line(self, model: Model) -> _Line:
        if (line := self._lines.get(model.endpoint)) is None:
            limit = limits(self._models.values())[model.endpoint]  # that of its gate may grow to this
            line = self._lines[model.endpoint] = _open_line(model, limit)
        return line


@dataclass
class _Line:
    """Connections to an endpoint: the library's client and, of its requests, what is alike in all.

    Requests of calls are made here: the library makes options, headers and address of each anew, which
    takes as long as the sending.
    """

    api: AsyncOpenAI
    http: AsyncClient
    headers: Headers
    query: bytes = b""
    """What ends every address, such as “?api-version=…”."""
    urls: dict[str, URL] = field(default_factory=dict)

    def request(self, path: str, body: Mapping[str, Any]) -> Request:
        """A call with this body, at this path below the endpoint's address."""
        from httpx2 import Request

        if path not in self.urls:
            base = self.api.base_url
            place = base.raw_path.partition(b"?")[0] + path.lstrip("/").encode()
            self.urls[path] = base.copy_with(raw_path=place + self.query)
        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return Request("POST", self.urls[path], headers=self.headers, content=content)


def _open_line(model: Model, limit: int) -> _Line:
    """Connections to a model's endpoint, at most so many at once."""
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    url = httpx2.URL(model.base_url) if model.base_url else None
    http = DefaultAioHttpClient(
        # A redirect could carry the key to another host.
        follow_redirects=False,
        event_hooks={"response": [_bound]},
        limits=httpx2.Limits(max_connections=limit, max_keepalive_connections=limit),
        timeout=model.timeout,
        # What HTTP_PROXY names cannot reach this machine.
        mounts={f"all://{_host(url)}": None} if url is not None and _loopback(url.host) else None,
    )
    sent_headers = model.sent_headers()
    api = AsyncOpenAI(
        api_key=model.key(),
        base_url=url.copy_with(query=None) if url is not None else None,
        default_query=dict(url.params) if url is not None else None,
        default_headers=sent_headers,
        max_retries=0,
        timeout=model.timeout,
        http_client=http,
    )
    headers = httpx2.Headers(
        {k: v for k, v in {**api.auth_headers, **api.default_headers}.items() if isinstance(v, str)}
    )
    if sent_headers and not model.key_variable and "authorization" not in map(str.lower, sent_headers):
        del headers["authorization"]  # there is no key but in a header of its own
    query = url.query if url is not None else b""
    return _Line(api, http, headers, b"?" + query if query else b"")


def _host(url: URL) -> str:
    return f"[{url.host}]" if ":" in url.host else url.host


def _loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def secrets(models: Iterable[Model]) -> re.Pattern[bytes] | None:
    """Finds keys of models in what is sent; None where they have none of SHORTEST_SECRET characters.

    Each character may stand as it is, behind backslashes, as \\u0073 or as %73: a judge's reply is JSON in
    JSON, so that an escape may be escaped itself.
    """
    keys = {os.environ.get(variable, "") for model in models for variable in model.variables}
    patterns = [
        rb"\\{0,8}".join(map(_as_json, key))
        for key in sorted(keys, key=len, reverse=True)
        if len(key) >= SHORTEST_SECRET
    ]
    return re.compile(b"|".join(patterns)) if patterns else None


def _as_json(one: str) -> bytes:
    percent = b"".join(b"%%%02x" % byte for byte in one.encode())
    return rb"(?:%s|(?i:\\{1,8}u%04x|%s))" % (re.escape(one.encode()), ord(one), percent)


async def _bound(response: Response) -> None:
    """Have a body be read up to REPLY_BYTES, decompressed. A file is bounded by who writes it to the disk."""
    if response.is_success and response.request.url.path.endswith("/content"):
        return
    parts = response.aiter_bytes

    async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in parts(chunk_size):
            size += len(part)
            if size > REPLY_BYTES:
                raise TooLong
            yield part

    response.aiter_bytes = bounded  # type: ignore[method-assign]


def _costs_a_retry(
    gate: Gate, problem: AttemptFailed, sent_at: float, down_since: float, retries_left: bool
) -> bool:
    """Tell the gate what went wrong; whether the next attempt counts, or the gate decides when it is made.

    `down_since` is when the call failed last, or was sent. Raises it if there is no next attempt.
    """
    if problem.code.retry is Retry.THROTTLED:
        wait = problem.after or 0.0
        longest = THROTTLED_SECONDS
        silent = gate.throttled(sent_at, problem.after)
        if wait > longest:
            problem.args = (f"{problem}{said.waits_too_long(wait, longest)}",)
        if max(wait, silent) > longest:
            raise problem
        return False
    if problem.code.retry is Retry.DOWN:
        left = gate.unreachable(down_since)
        if left is not None and left <= 0:
            raise problem
        if left is not None:
            return False
    elif problem.code not in (Failure.TIMEOUT, Failure.LOST_WORKER):
        gate.record_answer()
    if problem.code.retry is Retry.NEVER or not retries_left:
        raise problem
    return True


def limits(models: Iterable[Model]) -> dict[Endpoint, int]:
    """Calls in flight allowed per endpoint: the smallest limit that a model on it states."""
    limits_by_endpoint: dict[Endpoint, list[int]] = {}
    for model in models:
        limits_by_endpoint.setdefault(model.endpoint, []).extend(filter(None, [model.max_concurrency]))
    return {
        endpoint: min(numbers, default=DEFAULT_CONCURRENCY)
        for endpoint, numbers in limits_by_endpoint.items()
    }


def request(
    model: Model,
    messages: Sequence[Message],
    *,
    params: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The body of a call: the prompt's parameters, overridden by the model's, then unset and renamed."""
    if model.system == "merge":
        messages = merge(messages)
    body: dict[str, Any] = {
        "model": model.served,
        "messages": [{"role": m.role, "content": _parts(m) if model.vision else m.content} for m in messages],
        **(params or {}),
        **model.params,
    }
    for name in [name for name, value in body.items() if value == UNSET]:
        del body[name]
    for name, maximum in model.at_most.items():
        if isinstance(value := body.get(name), int | float):
            body[name] = min(value, plain_number(maximum))
    for name, minimum in model.at_least.items():
        if isinstance(value := body.get(name), int | float):
            body[name] = max(value, plain_number(minimum))
    for name, new_name in model.rename.items():
        if name in body:
            body[new_name] = body.pop(name)
    if model.seed:
        body["seed"] = seed
    if schema is not None and model.replies == "json_schema":
        described = {"name": "reply", "schema": weakened(schema, model.schema_without), "strict": True}
        if Feature.STRICT in model.schema_without:
            del described["strict"]
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    elif schema is not None and model.replies == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def _parts(message: Message) -> str | list[dict[str, Any]]:
    """What is said, and each image after what stands for it in the text."""
    if not message.images:
        return message.content
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}]
    for text, url in message.images.items():
        parts += [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]
    return parts


def billed(body: str) -> int:
    """Characters of a request as they are estimated: an image as IMAGE_CHARACTERS."""
    return len(re.sub(r'(?<=")data:image/[^"]*', " " * IMAGE_CHARACTERS, body).encode("utf-8", "replace"))


def merge(messages: Sequence[Message]) -> list[Message]:
    """For models without a system role: the instructions begin the first user message."""
    instructions = "\n\n".join(m.content for m in messages if m.role == "system")
    rest = [m for m in messages if m.role != "system"]
    if not instructions:
        return rest
    if rest and rest[0].role == "user":
        return [Message("user", f"{instructions}\n\n{rest[0].content}", rest[0].meta), *rest[1:]]
    return [Message("user", instructions), *rest]


def _json(content: bytes) -> bytes:
    """The body as it is. Raises Broken unless it is JSON."""
    completions.decoded(content)
    return content


def _excerpt(content: bytes) -> str:
    return content[:RAW].decode("utf-8", "replace")
