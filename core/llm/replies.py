"""Replies of models, which are untrusted: parse, validate against a schema, ask again if unusable."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm.completions import PLAIN, Beside, Completion, marks, paired
from concord.rating import NOTHING_SPENT, Spent

REASKS = 2
"""How often an unusable reply is sent back with the problem named."""
LONGEST = 100_000
"""Characters of a reply that is read for a verdict; a longer one is unusable."""
SENT_BACK = 20_000
"""Characters of an unusable reply that the model is shown."""
MOST_VALUES = 50
"""Lists and objects of JSON in one reply."""


class Reply(BaseModel):
    """Base of reply schemas: unknown fields are ignored when read and forbidden in the schema that is sent.

    Strict endpoints accept only required fields without defaults, and texts without length (OpenAI) or
    pattern (llama.cpp); bounds of numbers and lists are accepted. Texts are checked here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})

    @field_validator("*", mode="before")
    @classmethod
    def _plain_values(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse what pydantic would turn into a number: true and false, and texts such as “1_0” or “+7”."""
        given = value if isinstance(value, list) else [value]
        field = info.field_name or ""
        if any(isinstance(item, bool) for item in given) and not _takes(cls, field, bool):
            raise ValueError("true and false are no values of this field")
        texts = [item for item in given if isinstance(item, str)]
        is_number = _takes(cls, field, int, float) and not _takes(cls, field, str)
        if is_number and not all(_NUMBER.fullmatch(text) for text in texts):
            raise ValueError("it must be one number")
        return value


_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


@cache
def _takes(reply: type[BaseModel], field: str, *kinds: type) -> bool:
    """Whether a field, or what it lists, may be of one of these kinds."""

    def within(kind: Any) -> bool:
        return kind in kinds or any(map(within, get_args(kind)))

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
        values = {name: narrowed(value) for name, value in part.items()}
        if isinstance(part.get("items"), dict) and part["items"].get("$ref") in entries:
            values |= {"minItems": len(turns), "maxItems": len(turns)}
        return values

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

    Only a complete JSON object is read: a prefix of a reply gives the same or nothing, whatever its
    finish_reason. What begins as JSON and is none is an error, which no guess mends; so are a missing or
    impossible value, and two objects that fit and differ.
    """
    fitting: list[R] = []
    wrong: ValidationError | None = None
    for value in _objects(text):
        try:
            fitting.append(reply.model_validate(value))
        except ValidationError as error:
            wrong = error
    if fitting and all(other == fitting[0] for other in fitting):
        return fitting[0]
    if fitting:
        raise Unusable("It holds several JSON objects that differ.")
    if wrong is None:
        raise Unusable("It holds no JSON object.")
    problems = [f"{'.'.join(map(str, e['loc'])) or 'the object'}: {e['msg']}" for e in wrong.errors()[:5]]
    raise Unusable("; ".join(problems)) from wrong


_BEGINS = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*["'{])""")
"""Where a JSON value begins; braces in prose do not."""


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that are inside no other object and no list, in their order.

    Raises Unusable for a value that cannot be read, and beyond the limits. It takes time proportional to the
    length of the text.
    """
    if len(text) > LONGEST:
        raise Unusable(f"It is longer than {LONGEST:,} characters.")
    at = count = 0
    while begins := _BEGINS.search(text, at):
        count += 1
        if count > MOST_VALUES:
            raise Unusable(f"It holds more than {MOST_VALUES} JSON values.")
        start = begins.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            # What is inside it, or what it would have become, is not guessed.
            raise Unusable(f"It holds a JSON value that cannot be read: {error}.") from error
        if "\\ud" in text[start:at].lower():
            value = json.loads(paired(json.dumps(value, ensure_ascii=False)))
        if isinstance(value, dict):
            yield value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields have one value each."""
    fields = dict(pairs)
    if len(fields) < len(pairs) and any(fields[name] != value for name, value in pairs):
        raise ValueError("a field has two values")
    return fields


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_no_number)


def usable(text: str, reply: type[R] | None, check: Callable[[Any], object] | None = None) -> R | str:
    """The reply as its schema, or the text if there is none, once `check` has seen it. Raises Unusable.

    Any error of a reader means that the reply is unusable: it comes from outside.
    """
    try:
        if len(text) > LONGEST:
            raise Unusable(f"It is longer than {LONGEST:,} characters.")
        value = read(text, reply) if reply else text
        if check:
            check(value)
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(f"It cannot be read ({type(error).__name__}).") from error
    return value


_PLACES = re.compile(r"""\"((?:'?<[^<>"\n]{1,80}>'?[ ]?)+)\"""")


def _copied(text: str, messages: Sequence[Message]) -> str:
    """A text of the form that was asked for, such as “<one or two sentences>”, that the reply has as it was;
    “” for none.
    """
    if "<" not in text:
        return ""
    places = (place for message in messages for place in _PLACES.findall(message.content))
    return next((place for place in places if f'"{place}"' in text), "")


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
    Raises CallFailed, UNPARSEABLE, TRUNCATED or EMPTY, with the last reply and the cost of all
    attempts.
    """
    sent, spent, problem = list(messages), NOTHING_SPENT, ""
    for attempt in range(1 + REASKS):
        done = await call(step if attempt == 0 else f"{step} again {attempt}", sent)
        text, spent, empty = done.text, spent + done.spent, not done.text.strip()
        try:
            if empty and (done.beside.lacks or not may_be_empty):
                raise Unusable(done.beside.lacks or "It is empty.")
            if done.cut and (reply or check):
                # Half a number, or a number from the middle of the reasons, would be a wrong score.
                raise Unusable("It was cut off at the length limit; keep the explanations shorter.")
            value = usable(text, reply, check) if reply or check else None
            if reply and (place := _copied(text, messages)):
                raise Unusable(f"“{place}” is to be replaced by your own words.")
            return Answer(text, value if reply else None, done.cut, spent, done.beside)
        except Unusable as error:
            problem = str(error)
            mend = (
                f"This reply cannot be used. {problem} Give the whole reply again, correctly, and "
                "nothing else."
            )
            # Some endpoints refuse an empty message, and a player is told nothing that a user would not say.
            again = [] if empty else [Message("assistant", text[:SENT_BACK]), Message("user", mend)]
            sent = [*messages, *again]
    raise CallFailed(
        f"No usable reply after {1 + REASKS} attempts: {problem}",
        code=Failure.EMPTY if empty else Failure.TRUNCATED if done.cut else Failure.UNPARSEABLE,
        raw=done.beside.raw if empty else text[:LONGEST],
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
