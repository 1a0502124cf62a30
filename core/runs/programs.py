"""Judges that are programs: one JSON object on standard input, one on standard output, within a time limit.

A program runs without a shell, in the workspace's folder. What it prints is read as a model's reply is.
"""

import asyncio
import inspect
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from concord.conversation import Conversation
from concord.errors import CallFailed, ConfigError
from concord.llm.completions import paired
from concord.llm.models import Model
from concord.llm.prompts import RenderedPrompt

MOST_BYTES = 2**20
"""A program may print so much."""
GRACE_SECONDS = 5.0
"""How long a program that was ended may keep its pipes."""
SHOWN = 2000
"""Characters of what a failed program said."""


def given(conversations: Sequence[Conversation], prompt: RenderedPrompt) -> dict[str, Any]:
    """What a program is given: a conversation and the turns to be rated, or the ones shown as A and as B, and
    all that are shown; and the schema of its reply.
    """
    described = [_described(conversation) for conversation in conversations]
    one: dict[str, Any] = {"conversation": described[0], "turns": list(prompt.turns)}
    if len(described) > 1:
        one = {"first": described[0], "second": described[1], "sides": described}
    return {**one, "schema": prompt.schema or {}}


def _described(conversation: Conversation) -> dict[str, Any]:
    return {
        "key": conversation.key,
        "player": conversation.player,
        "language": conversation.language,
        "messages": [{"role": m.role, "content": m.content} for m in conversation.messages],
        "facets": dict(conversation.facets),
        "context": {name.removeprefix("_"): value for name, value in conversation.context.items()},
    }


async def answer(model: Model, values: Mapping[str, Any], folder: Path) -> str:
    """What the program prints. Raises CallFailed of kind “unparsable” for one that fails, prints too much or
    takes too long, and ConfigError for one that cannot be started.
    """
    if model.called is not None:
        return await _returned(model, model.called, values)
    command = list(model.command)
    paths = [str(folder), str(Path.cwd())]
    environment = dict(os.environ)
    if model.function:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-m", "concord.runs.function", model.function, *paths]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            start_new_session=True,
            env=environment,
        )
    except OSError as error:
        raise ConfigError(
            f"The judge “{model.name}” cannot be started: {command[0]}: {error.strerror}. "
            f"Check `command` of [models.{model.name}]."
        ) from error
    try:
        async with asyncio.timeout(model.timeout):
            output, wrong = await _talked(process, json.dumps(values, ensure_ascii=False).encode())
    except TimeoutError:
        raise _failed(f"It took longer than {model.timeout:g} seconds.", "", "timeout") from None
    finally:
        _end(process)
        # What is left in its pipes is read, because it is not known to have ended before.
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.communicate()
    if len(output) > MOST_BYTES:
        raise _failed(f"It printed more than {MOST_BYTES:,} bytes.", "", "too long")
    if process.returncode:
        code = process.returncode
        raise _failed(f"It ended with {code}.", wrong.decode(errors="replace")[-SHOWN:], f"exit {code}")
    return output.decode(errors="replace")


async def _returned(model: Model, function: Callable[..., Any], values: Mapping[str, Any]) -> str:
    """What a function of this process returns. It is waited for up to the time limit, and not stopped."""
    try:
        async with asyncio.timeout(model.timeout):
            returned = await asyncio.to_thread(function, dict(values))
            if inspect.isawaitable(returned):
                returned = await returned
        return paired(json.dumps(returned, ensure_ascii=False, default=_plain))
    except TimeoutError:
        raise _failed(f"It took longer than {model.timeout:g} seconds.", "", "timeout") from None
    except Exception as error:
        raise _failed(f"It raised {type(error).__name__}: {error}", "", type(error).__name__) from error


def _plain(value: Any) -> Any:
    """A number of numpy as Python's. Raises TypeError for what JSON does not have."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


async def _talked(process: asyncio.subprocess.Process, stdin: bytes) -> tuple[bytes, bytes]:
    """What it printed, and what it said of errors; one that prints without end is ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None

    async def give(into: asyncio.StreamWriter) -> None:
        # A program may answer without reading.
        with suppress(BrokenPipeError, ConnectionResetError):
            into.write(stdin)
            await into.drain()
            into.close()

    async def read(stream: asyncio.StreamReader) -> bytes:
        content = b""
        while part := await stream.read(65536):
            if len(content) > MOST_BYTES:
                _end(process)
            else:
                content += part
        return content

    output, wrong, _ = await asyncio.gather(read(process.stdout), read(process.stderr), give(process.stdin))
    await process.wait()
    return output, wrong


def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and what it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(message: str, raw: str, reason: str) -> CallFailed:
    return CallFailed(message, kind="unparsable", raw=raw, reason=f"a program: {reason}")
