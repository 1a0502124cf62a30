"""Replies of models, which are untrusted: parse, validate against a schema, ask again if unusable."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args

import json_repair
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm.completions import PLAIN, Beside, Completion, marks
from concord.rating import NOTHING_SPENT, Spent

REASKS = 2
"""How often an unusable reply is sent back with the problem named."""
UNANSWERED = ("unparsable", "truncated", "empty")
"""Kinds of CallFailed for replies that stayed unusable: the model's failure, not the endpoint's."""


class Reply(BaseModel):
    """Base of reply schemas: unknown fields are ignored when read and forbidden in the schema that is sent.

    Strict endpoints accept only required fields without defaults, and texts without length (OpenAI) or
    pattern (llama.cpp); bounds of numbers and lists are accepted. Texts are checked here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})

    @field_validator("*", mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false where a number is asked: in Python a bool is an int."""
        given = value if isinstance(value, list) else [value]
        if any(isinstance(item, bool) for item in given) and not _takes_truth(cls, info.field_name or ""):
            raise ValueError("true and false are no values of this field")
        return value


@cache
def _takes_truth(reply: type[BaseModel], field: str) -> bool:
    """Whether a field, or what it lists, may be true or false."""

    def within(kind: Any) -> bool:
        return kind is bool or any(map(within, get_args(kind)))

    return within(reply.model_fields[field].annotation)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
"""A text that is not blank."""

R = TypeVar("R", bound=Reply)


@cache
def json_schema(reply: type[Reply], turns: tuple[int, ...] = ()) -> dict[str, Any]:
    """The schema as endpoints are sent it.

    With `turns`, a list of entries that name a `turn` has as many as there are turns, and each names one of
    them: small models name turns that do not exist. That each is named once is checked by the caller.
    """
    schema = reply.model_json_schema()
    return _of_turns(schema, turns) if turns else schema


def _of_turns(schema: dict[str, Any], turns: tuple[int, ...]) -> dict[str, Any]:
    entries = {
        f"#/$defs/{name}"
        for name, entry in schema.get("$defs", {}).items()
        if entry.get("properties", {}).get("turn", {}).get("type") == "integer"
    }

    def narrowed(part: Any) -> Any:
        if isinstance(part, list):
            return [narrowed(each) for each in part]
        if not isinstance(part, dict):
            return part
        found = {name: narrowed(value) for name, value in part.items()}
        if isinstance(part.get("items"), dict) and part["items"].get("$ref") in entries:
            found |= {"minItems": len(turns), "maxItems": len(turns)}
        return found

    whole: dict[str, Any] = narrowed(schema)
    for name in entries:
        entry = whole["$defs"][name.rpartition("/")[2]]["properties"]
        entry["turn"] = {**entry["turn"], "enum": list(turns)}
    return whole


class Unusable(Exception):
    """A reply that does not answer what was asked. The message is sent to the model."""


@dataclass(frozen=True)
class Answer:
    """A usable reply: the text, the validated value (None for plain text), and what all attempts cost."""

    text: str
    value: Any
    cut: bool
    spent: Spent
    beside: Beside = PLAIN

    @property
    def meta(self) -> dict[str, Any]:
        """What is kept with the utterance: cut, refused, thinking and its tokens, each where it holds."""
        return marks(self.cut, self.beside)


ModelCall = Callable[[str, Sequence[Message]], Awaitable[Completion]]
"""One paid call: the step's name within its work and the messages to send → what was answered."""


def read(text: str, reply: type[R]) -> R:
    """The reply as its schema. Raises Unusable, naming the problem for the model.

    The whole text is tried first, then every JSON object in it, the last one first, then what is left once
    small errors (quotes, commas, code fences) are repaired. A missing or impossible value is an error.
    """
    try:
        return reply.model_validate_json(text)
    except ValidationError as error:
        wrong = error if _is_object(text) else None
    for found in reversed(_objects(text)):
        try:
            return reply.model_validate(found)
        except ValidationError as error:
            wrong = wrong or error
    # Repairing invents no value: a missing one still fails the schema.
    for part in (*reversed(_FENCE.findall(text)), text):
        repaired = json_repair.loads(part)
        for found in reversed(repaired) if isinstance(repaired, list) and part is not text else [repaired]:
            if isinstance(found, dict) and found:
                try:
                    return reply.model_validate(found)
                except ValidationError as error:
                    wrong = wrong or error
    if wrong is None:
        raise Unusable("It holds no JSON object.")
    told = [f"{'.'.join(map(str, e['loc'])) or 'the object'}: {e['msg']}" for e in wrong.errors()[:5]]
    raise Unusable("; ".join(told)) from wrong


_FENCE = re.compile(r"```[\w-]*\n(.*?)```", re.S)


def _is_object(text: str) -> bool:
    return text.lstrip().startswith("{")


_BEGINS = re.compile(r"[{\[]")


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects in a text that are inside no other object and no list, in their order."""
    found: list[dict[str, Any]] = []
    decoder, at = json.JSONDecoder(), 0
    while begins := _BEGINS.search(text, at):
        at = begins.end()
        try:
            value, at = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            if begins[0] == "[" and text[at:].lstrip().startswith("{"):
                break  # a list that is never closed
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


async def answer(
    call: ModelCall,
    step: str,
    messages: Sequence[Message],
    reply: type[R] | None,
    check: Callable[[Any], object] | None = None,
    *,
    may_be_empty: bool = False,
) -> Answer:
    """Ask until the reply is usable, at most 1 + REASKS times.

    `check` sees the validated value (the text if `reply` is None) and may raise Unusable. A reply that was
    cut off is usable only without schema and check. One without text is asked for again with the same words;
    with `may_be_empty` an empty text is a reply, but not null, thinking only, or what a filter removed.
    Raises CallFailed of kind "unparsable", "truncated" or "empty" with the last reply and the cost of all
    attempts.
    """
    said, spent, problem = list(messages), NOTHING_SPENT, ""
    for attempt in range(1 + REASKS):
        done = await call(step if attempt == 0 else f"{step} again {attempt}", said)
        text, spent, empty = done.text, spent + done.spent, not done.text.strip()
        try:
            if empty and (done.beside.lacks or not may_be_empty):
                raise Unusable(done.beside.lacks or "It is empty.")
            if done.cut and (reply or check):
                # Half a number, or a number from the middle of the reasons, would be a wrong score.
                raise Unusable("It was cut off at the length limit; keep the explanations shorter.")
            value = read(text, reply) if reply else None
            if check:
                check(value if reply else text)
            return Answer(text, value, done.cut, spent, done.beside)
        except Unusable as error:
            problem = str(error)
            mend = (
                f"This reply cannot be used. {problem} Give the whole reply again, correctly, and "
                "nothing else."
            )
            # Some endpoints refuse an empty message, and a player is told nothing that a user would not say.
            again = [] if empty else [Message("assistant", text), Message("user", mend)]
            said = [*messages, *again]
    raise CallFailed(
        f"No usable reply after {1 + REASKS} attempts: {problem}",
        kind="empty" if empty else "truncated" if done.cut else "unparsable",
        raw=done.beside.raw if empty else text,
        spent=spent,
        reason=_reason(done, problem),
    )


def _reason(done: Completion, problem: str) -> str:
    """Under which name an unusable reply is counted."""
    finish = done.beside.finish
    if finish not in ("", "stop"):
        return f"finish_reason {finish}"
    if done.beside.refused:
        return "refusal"
    return "an empty reply" if not done.text.strip() else f"not as asked: {problem.split(':')[0][:80]}"
