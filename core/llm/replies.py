"""Replies of models are untrusted: parsed, validated against a schema, and asked for again, a bounded number
of times, when unusable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Protocol, TypeVar

import json_repair
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from core.conversation import Message
from core.errors import CallFailed
from core.llm.client import Completion
from core.rating import NOTHING_SPENT, Spent

REASKS = 2
"""How often an unusable reply is sent back with what is wrong about it."""


class Reply(BaseModel):
    """Base of every reply schema: unknown fields are ignored when reading and forbidden in the schema sent to
    endpoints.

    A schema keeps to what strict endpoints accept: every field required, no defaults, and of texts neither
    length (OpenAI refuses it)
    nor pattern (llama.cpp refuses one without anchors); bounds of numbers and lists are accepted. What a text
    must be is checked here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
"""A text that says something."""

R = TypeVar("R", bound=Reply)


@cache
def json_schema(reply: type[Reply]) -> dict[str, Any]:
    """The schema as endpoints are sent it; made once per kind of reply."""
    return reply.model_json_schema()


class Unusable(Exception):
    """A reply that does not answer what was asked; the message is said to the model."""


@dataclass(frozen=True)
class Answer:
    """A usable reply: the text, the validated value (None for plain text), and what it took to get it."""

    text: str
    value: Any
    cut: bool
    spent: Spent


class ModelCall(Protocol):
    """One paid call: the step's name within its work, and the messages to send."""

    def __call__(self, step: str, messages: Sequence[Message], /) -> Awaitable[Completion]:
        """Answer, from the endpoint or from the journal."""


def read(text: str, reply: type[R]) -> R:
    """The reply as its schema. Raises Unusable, saying what is wrong in words the model can act on.

    Text around the JSON and small slips (quotes, commas, code fences) are forgiven; a missing or impossible
    value is not.
    """
    try:
        return reply.model_validate_json(text)
    except ValidationError:
        # Repairing never invents a value: what is missing afterwards still fails the schema.
        found = json_repair.loads(text)
    if not isinstance(found, dict):
        raise Unusable("It holds no JSON object.")
    try:
        return reply.model_validate(found)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc'])) or 'the object'}: {e['msg']}" for e in error.errors()[:5]]
        raise Unusable("; ".join(wrong)) from error


async def answer(
    call: ModelCall,
    step: str,
    messages: Sequence[Message],
    reply: type[R] | None,
    check: Callable[[Any], object] | None = None,
) -> Answer:
    """Ask until the reply is usable, at most 1 + REASKS times. `check` sees the validated value (the text
    where `reply` is None) and may raise
    Unusable. A reply that was cut off is usable only where nothing is read from it: without a schema and
    without a check.

    Raises CallFailed of kind "unparsable" or "truncated" with the last raw reply; its `spent` says what the
    attempts cost.
    """
    said, spent, problem, cut = list(messages), NOTHING_SPENT, "", False
    text = ""
    for attempt in range(1 + REASKS):
        done = await call(step if attempt == 0 else f"{step} again {attempt}", said)
        text, cut, spent = done.text, done.cut, spent + done.spent
        try:
            if cut and (reply or check):
                # A repaired half of a number would be a made-up score, and so would one read from the midst
                # of the reasons.
                raise Unusable("It was cut off at the length limit; keep the explanations shorter.")
            if reply is None:
                if check:
                    check(text)
                return Answer(text, None, cut, spent)
            value = read(text, reply)
            if check:
                check(value)
            return Answer(text, value, cut, spent)
        except Unusable as error:
            problem = str(error)
            said = [
                *messages,
                Message("assistant", text),
                Message(
                    "user",
                    f"This reply cannot be used. {problem} Give the whole reply again, correctly, "
                    "and nothing else.",
                ),
            ]
    raise CallFailed(
        f"No usable reply after {1 + REASKS} attempts: {problem}",
        kind="truncated" if cut else "unparsable",
        raw=text,
        spent=spent,
    )
