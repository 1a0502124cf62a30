"""The Batch API of an endpoint (`/v1/files`, `/v1/batches`): many calls in a file, answered within a day.

A file holds calls of one model. An output says of each line, by its `custom_id`, what was answered; lines may
be missing, repeated or broken, and come in any order.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any, Literal

from concord.codes import Failure, Retry
from concord.errors import CallFailed
from concord.llm import api_errors, completions
from concord.llm.client import REPLY_BYTES, Client
from concord.llm.completions import RAW, Broken, Completion
from concord.llm.models import Model

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MOST_LINES = 50_000
MOST_BYTES = 180_000_000
"""Of one file. OpenAI takes 50,000 lines and 200 MB."""
LINE_BYTES = 2**18
"""Of an output, for each line that was asked: four times what a long reply takes."""
TRANSFER_SECONDS = 3600.0
"""How long the sending or reading of a file may take."""
MARK = "concord"
"""The name, in a batch's metadata, of the mark by which it is found again."""
LISTED = 2000
"""Batches of an endpoint, the newest first, among which one is looked for."""
FINAL_STATES = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True)
class BatchStanding:
    """What an endpoint says of a batch: its status, its files of outputs, and, where it was refused, why."""

    id: str
    status: str
    outputs: tuple[str, ...] = ()
    reason: str = ""
    full: bool = False
    """Whether it was refused because too much is queued at the endpoint."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more will be answered."""
        return self.status in FINAL_STATES


@dataclass(frozen=True)
class Result:
    """What an output says of one call: an answer; or a failure, final or (`retry`) to be asked once more.

    `counts` is for how many tries it counts: none where the batch expired or was cancelled before, two where
    an answer came that cannot be read, which may have been paid for.
    """

    id: str
    answer: Completion | None = None
    failure: CallFailed | None = None
    retry: bool = False
    counts: int = 1


def line(call: str, body: Mapping[str, Any]) -> bytes:
    """One call as a line of a file of requests."""
    request = {"custom_id": call, "method": "POST", "url": PATH, "body": body}
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


async def upload(client: Client, model: Model, name: str, file: IO[bytes]) -> str:
    """Send a file of requests; returns the endpoint's name for it. Raises CallFailed."""
    file.seek(0)

    async def send(api: AsyncOpenAI) -> str:
        upload_file = await api.files.create(file=(name, file), purpose="batch", timeout=TRANSFER_SECONDS)
        return str(upload_file.id)

    return await client.request(model, send, time_limit=TRANSFER_SECONDS, retry=False)


async def create(client: Client, model: Model, file: str, mark: str) -> BatchStanding:
    """Begin a batch. Raises CallFailed; with one that may be tried again it may have begun."""

    async def begin(api: AsyncOpenAI) -> BatchStanding:
        batch = await api.batches.create(
            input_file_id=file, endpoint=PATH, completion_window="24h", metadata={MARK: mark}
        )
        return _standing(client, batch)

    return await client.request(model, begin, retry=False)


async def look(client: Client, model: Model, batch: str) -> BatchStanding:
    """How a batch stands. Raises CallFailed."""

    async def ask(api: AsyncOpenAI) -> BatchStanding:
        return _standing(client, await api.batches.retrieve(batch))

    return await client.request(model, ask)


async def find(client: Client, model: Model, mark: str) -> BatchStanding | None:
    """The batch with this mark, among the latest at the endpoint. Raises CallFailed."""

    async def ask(api: AsyncOpenAI) -> BatchStanding | None:
        left = LISTED
        async for batch in api.batches.list(limit=100):
            if (batch.metadata or {}).get(MARK) == mark:
                return _standing(client, batch)
            left -= 1
            if not left:
                break
        return None

    return await client.request(model, ask)


async def download(client: Client, model: Model, file: str, target: IO[bytes], *, lines: int) -> None:
    """Write a file of the endpoint that answers so many lines. Raises CallFailed.

    Of one that is too large the beginning is written: calls that it omits count as not answered.
    """
    limit = max(REPLY_BYTES, lines * LINE_BYTES)

    async def read(api: AsyncOpenAI) -> None:
        target.seek(0)
        target.truncate()
        async with api.files.with_streaming_response.content(file) as response:
            async for part in response.iter_bytes(1 << 16):
                await asyncio.to_thread(target.write, part)
                if target.tell() > limit:
                    break

    await client.request(model, read, time_limit=TRANSFER_SECONDS)


def results(client: Client, model: Model, file: IO[bytes]) -> Iterator[Result]:
    """What an output says, line by line, without lines that are no result, such as a part of a long one."""
    file.seek(0)
    while text := file.readline(REPLY_BYTES):
        if result := _result(client.without_keys(text), model):
            if result.answer is not None:
                result = replace(result, answer=client.read_without_keys(result.answer))
            yield result


def _result(text: bytes, model: Model) -> Result | None:
    try:
        entry = completions.decoded(text)
        call = entry["custom_id"]
        response = entry.get("response")
        error = entry.get("error")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not isinstance(call, str):
        return None
    if not isinstance(response, dict):
        complaint = error if isinstance(error, dict) else {"message": "no response"}
        code = str(complaint.get("code") or "no response")
        message = str(complaint.get("message") or code)[:300]
        failure = CallFailed(
            f"The Batch API gave no answer of “{model.name}”: {message}",
            code=Failure.SERVER,
            reason=f"batch: {code}"[:100],
            raw=text[:RAW].decode("utf-8", "replace"),
        )
        return Result(call, failure=failure, retry=True, counts=int(code not in _UNTRIED))
    body_value = response.get("body", response if "choices" in response else None)
    # Some servers write the body as a text.
    body_text = body_value if isinstance(body_value, str) else json.dumps(body_value, ensure_ascii=False)
    body = body_text.encode("utf-8", "replace")
    status = _status(response.get("status_code", response.get("status")))
    if status is None:
        # What is said tells whether it is an answer.
        status = 200
    if status != 200:
        status = status if 300 <= status < 600 else 500
        wrong = api_errors.status_error(status, {}, body, model)
    else:
        try:
            return Result(call, completions.read(body))
        except Broken as error:
            wrong = api_errors.body_error(error, body, model)
    counts = 2 if wrong.code is Failure.FOREIGN_BODY else 1
    return Result(call, failure=wrong, retry=wrong.code.retry is not Retry.NEVER, counts=counts)


def _status(value: object) -> int | None:
    """The status that a line states, as a number or a text; None for none."""
    if isinstance(value, str) and value.isdigit():
        return int(value[:3])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_UNTRIED = ("batch_expired", "batch_cancelled")
_FULL = ("token_limit_exceeded", "request_limit_exceeded")


def _standing(client: Client, batch: Batch) -> BatchStanding:
    """What the endpoint's object says."""
    errors = (batch.errors.data or []) if batch.errors else []
    reason = "; ".join(
        f"{error.message or error.code}{f' (line {error.line})' if error.line else ''}"
        for error in errors[:3]
    )
    return BatchStanding(
        batch.id,
        batch.status,
        tuple(filter(None, (batch.output_file_id, batch.error_file_id))),
        client.text_without_keys(reason)[:500],
        any(error.code in _FULL for error in errors),
    )
