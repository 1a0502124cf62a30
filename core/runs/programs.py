"""Judges that are programs: a Python function that is given a conversation and returns the answers.

What it returns is read as a model's reply is.
"""

import asyncio
import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.codes import Failure
from concord.conversation import Conversation
from concord.errors import CallFailed
from concord.files.callables import bring
from concord.llm.models import Model
from concord.llm.prompts import RenderedPrompt
from concord.llm.surrogates import paired


def program_input(conversations: Sequence[Conversation], prompt: RenderedPrompt) -> dict[str, Any]:
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
    """What the function returns, as JSON. It is waited for up to the time limit, and not stopped.

    A function that models.toml names lies in this folder, in the current one, or where Python finds it.
    Raises CallFailed UNPARSEABLE for one that fails or takes too long, and ConfigError or NotFound
    for one that cannot be imported.
    """
    function = model.python_function or bring(model.function, "judge", (folder, Path.cwd()))
    try:
        async with asyncio.timeout(model.timeout):
            returned = await asyncio.to_thread(function, dict(values))
            if inspect.isawaitable(returned):
                returned = await returned
        return paired(json.dumps(returned, ensure_ascii=False, default=_plain))
    except TimeoutError:
        raise _failed(f"It took longer than {model.timeout:g} seconds.", "timeout") from None
    except Exception as error:
        raise _failed(f"It raised {type(error).__name__}: {error}", type(error).__name__) from error


def _plain(value: Any) -> Any:
    """A number of numpy as Python's. Raises TypeError for what JSON does not have."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _failed(message: str, reason: str) -> CallFailed:
    return CallFailed(message, code=Failure.UNPARSEABLE, reason=f"a program: {reason}")
