"""Replies of models, which are untrusted: parse, validate against a schema, ask again if unusable."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from concord.codes import Failure
from concord.conversation import Message
from concord.errors import CallFailed
from concord.llm import completions
from concord.llm.completions import PLAIN, Completion, ReplyDetails, marks
from concord.llm.json_values import MOST_VALUES, values
from concord.llm.places import JudgedText, place
from concord.llm.surrogates import paired
from concord.llm.thinking import LONGEST, visible_reply
from concord.rating import NOTHING_SPENT, Spent


class Unusable(Exception):
    """A reply that does not answer what was asked. The message is sent to the model."""


NOTHING_JUDGED = JudgedText()
"""No text that a verdict could be quoted from."""
REASKS = 2
"""How often an unusable reply is sent back with the problem named."""
SENT_BACK = 20_000
"""Characters of an unusable reply that the model is shown."""


class _Missable:
    """Marks a field of a reason, which may be missing."""


Reason = Annotated[str, _Missable()]
"""The reason of a verdict; “” where the reply has none."""
OptionalReason = Annotated[str | None, _Missable()]
"""The reason of an answer that may be missing itself."""


class Reply(BaseModel):
    """Base of reply schemas: unknown fields are ignored when read and forbidden in the schema that is sent.

    Strict endpoints accept only required fields without defaults, and texts without length (OpenAI) or
    pattern (llama.cpp); bounds of numbers and lists are accepted. Texts are checked here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _missing_reasons(cls, value: Any) -> Any:
        """A reason that is missing, null or blank is kept as missing."""
        if not isinstance(value, dict):
            return value
        names = _reasons(cls)
        missing = [name for name in names if value.get(name) is None or _is_blank(value[name])]
        return {**value, **dict.fromkeys(missing, "")} if missing else value

    @field_validator("*", mode="before")
    @classmethod
    def _plain_values(cls, value: Any, info: ValidationInfo) -> Any:
        """What a value plainly means; refuse what pydantic would turn into a number: true and false, and
        texts such as “1_0” or “+7”.
        """
        field = info.field_name or ""
        if _lists(cls, field) and isinstance(value, str | dict):
            value = _split(value, _labels(cls, field)) if isinstance(value, str) else [value]
        listed = isinstance(value, list)
        values = [_plain(item, cls, field) for item in (value if listed else [value])]
        if any(isinstance(item, bool) for item in values) and not _takes(cls, field, bool):
            raise ValueError("true and false are no values of this field")
        texts = [item for item in values if isinstance(item, str)]
        is_number = _takes(cls, field, int, float) and not _takes(cls, field, str)
        if is_number and not all(_NUMBER.fullmatch(text) for text in texts):
            raise ValueError("it must be one number")
        return values if listed else values[0]


_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_SEPARATORS = re.compile(r"\s*[,;|]\s*")
_SAME_SIGN = re.compile(r"[\s_-]+")


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _plain(value: Any, reply: type[BaseModel], field: str) -> Any:
    """A text without the space around it, as the label, the number or the truth value that it is."""
    if not isinstance(value, str) or _takes(reply, field, str):
        return value
    labels = _labels(reply, field)
    text = value.strip()
    if value in labels:
        return value
    if label := _label(text, labels):
        return label
    if _takes(reply, field, bool):
        return text.rstrip(".")
    numbers = [n for n in _literals(reply, field) if isinstance(n, int)]
    if numbers and _NUMBER.fullmatch(text):
        return next((n for n in numbers if n == float(text)), value)
    return text if _NUMBER.fullmatch(text) else value


def _label(text: str, labels: Sequence[str]) -> str:
    """The one label that a text is in another case, with other spaces, in quotes or with a full stop; “” for
    none.
    """
    folded = _folded(text)
    matches = [label for label in labels if _folded(label) == folded]
    return matches[0] if len(matches) == 1 else ""


def _folded(text: str) -> str:
    return _SAME_SIGN.sub(" ", text.strip().strip("\"'`“”‘’").removesuffix(".")).strip().casefold()


def _split(text: str, labels: Sequence[str]) -> list[str]:
    """A list that was given as a text: one of the labels, or several of them with commas between."""
    parts = _SEPARATORS.split(text.strip())
    if labels and not _label(text, labels) and len(parts) > 1 and all(_label(part, labels) for part in parts):
        return parts
    return [text]


@cache
def _parts(reply: type[BaseModel], field: str) -> tuple[Any, ...]:
    """The types that a field is made of, its own first."""

    def nested(kind: Any) -> Iterator[Any]:
        yield kind
        for part in get_args(kind) if get_origin(kind) is not Literal else ():
            yield from nested(part)

    return tuple(nested(reply.model_fields[field].annotation))


@cache
def _takes(reply: type[BaseModel], field: str, *kinds: type) -> bool:
    """Whether a field, or what it lists, may be of one of these kinds."""
    return any(part in kinds for part in _parts(reply, field))


@cache
def _lists(reply: type[BaseModel], field: str) -> bool:
    """Whether a field is a list."""
    return any(get_origin(part) is list for part in _parts(reply, field))


@cache
def _literals(reply: type[BaseModel], field: str) -> tuple[Any, ...]:
    """The values that a field may have, where they are listed."""
    return tuple(
        value for part in _parts(reply, field) if get_origin(part) is Literal for value in get_args(part)
    )


@cache
def _labels(reply: type[BaseModel], field: str) -> tuple[str, ...]:
    return tuple(value for value in _literals(reply, field) if isinstance(value, str))


@cache
def _names(reply: type[BaseModel]) -> Mapping[str, str]:
    """Fields of a schema by the names that a reply gives them."""
    return {field.alias or name: name for name, field in reply.model_fields.items()}


@cache
def _reasons(reply: type[BaseModel]) -> tuple[str, ...]:
    """The names of the fields that may be missing."""
    marks = {name: field.metadata for name, field in reply.model_fields.items()}
    return tuple(
        alias for alias, name in _names(reply).items() if any(isinstance(m, _Missable) for m in marks[name])
    )


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
            return [narrowed(item) for item in part]
        if not isinstance(part, dict):
            return part
        values = {name: narrowed(value) for name, value in part.items()}
        if isinstance(part.get("items"), dict) and part["items"].get("$ref") in entries:
            values |= {"minItems": len(turns), "maxItems": len(turns)}
        return values

    narrowed_schema: dict[str, Any] = narrowed(schema)
    for name in entries:
        entry = narrowed_schema["$defs"][name.rpartition("/")[2]]["properties"]
        entry["turn"] = {**entry["turn"], "enum": list(turns)}
    return narrowed_schema


@dataclass(frozen=True)
class Answer:
    """A usable reply: the text, the validated value (None for plain text), and what all attempts cost."""

    text: str
    value: Any
    cut: bool
    usage: Spent
    details: ReplyDetails = PLAIN

    @property
    def meta(self) -> dict[str, Any]:
        """What is kept with the utterance: cut, refused, thinking and its tokens, each where it holds."""
        return marks(self.cut, self.details)


Reader = Callable[[str, type[Any], JudgedText, str], Any]
"""Reads a reply as its schema, as `read` does."""

ModelCall = Callable[[str, Sequence[Message]], Awaitable[Completion]]
"""One paid call: the step's name within its work and the messages to send → what was answered."""


def read(text: str, reply: type[R], judged: JudgedText = NOTHING_JUDGED, draft: str = "") -> R:
    """The verdict of a reply as its schema. Raises Unusable, naming the problem for the model.

    `judged` is the text that the verdict is about, `draft` what a reply thought before a tag that closed its
    thinking. Only a complete JSON object is read, where `concord.llm.places` says that it counts: a prefix
    of a reply gives the same or nothing, whatever its finish_reason. What is nearly JSON is not mended; a
    missing or impossible value is none; two objects that fit and differ are no verdict. docs/replies.md lists
    the rules.
    """
    parts = visible_reply(_encoded(text), judged=True)
    body = parts.text.lstrip("\ufeff").replace("\r\n", "\n")
    candidates = _fitting(body, reply, judged)
    drafts = _fitting(parts.draft or draft, reply, judged)
    verdicts_ = [one.reply for one in candidates if one.counts and one.reply is not None]
    if not verdicts_:
        raise Unusable(_problem(candidates))
    alternatives = [one.reply for one in (*candidates, *drafts) if one.reply is not None and one.possible]
    if any(alternative != verdicts_[0] for alternative in alternatives):
        raise Unusable("It holds several JSON objects that differ.")
    fields = _answers(verdicts_[0])
    for one in candidates:
        if one.reply is None and any(fields.get(name, value) != value for name, value in one.partial.items()):
            raise Unusable("It holds several JSON objects that differ.")
    return cast("R", verdicts_[0])


@dataclass(frozen=True)
class _Candidate:
    """A JSON value in a reply: as its schema (None where it does not fit) and whether it `counts` there.

    `possible` says that it would have counted had the reply ended behind it; `partial` are the valid answers
    of one that does not fit, `problem` is why it does not.
    """

    reply: Reply | None
    counts: bool = False
    possible: bool = False
    partial: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    repeated: bool = False


def _fitting(body: str, reply: type[R], judged: JudgedText) -> list[_Candidate]:
    """The JSON values of a text, in their order. Raises Unusable beyond the limits."""
    if not body:
        return []
    if len(body) > LONGEST:
        raise Unusable(f"It is longer than {LONGEST:,} characters.")
    found_values = list(values(body))
    if len(found_values) > MOST_VALUES:
        raise Unusable(f"It holds more than {MOST_VALUES} JSON values.")
    edges = [0, *(edge for value in found_values for edge in (value.start, value.end)), len(body)]
    gaps = [body[start:end] for start, end in pairwise(edges)][::2]
    candidates = []
    for number, value in enumerate(found_values):
        if value.problem:
            candidates.append(_Candidate(None, problem=value.problem))
            continue
        fits, partial, problem = _unwrapped(value.value, reply)
        if fits is None:
            candidates.append(_Candidate(None, partial=partial, problem=problem))
            continue
        verdict_place = place(body, value.start, value.end)
        before = "\n".join(gaps[: number + 1])
        behind = "\n".join(gaps[number + 1 :])
        repeated = not verdict_place.is_complete and judged.holds(body[value.start : value.end])
        allowed = not repeated and (verdict_place.paragraph or not value.unclosed)
        candidates.append(
            _Candidate(
                fits,
                counts=allowed and verdict_place.counts(before, behind),
                possible=(verdict_place.first or not repeated) and not verdict_place.quoted,
                repeated=repeated,
            )
        )
    return candidates


def _problem(candidates: Sequence[_Candidate]) -> str:
    """Why no verdict is read."""
    if any(one.repeated for one in candidates):
        return "It only repeats an answer that stands in the text to be rated. Give your own alone."
    if any(one.reply is not None for one in candidates):
        return "Its JSON object stands in the midst of other words: give the object alone."
    problems = [one.problem for one in candidates if one.problem and not one.problem.startswith(_NO_OBJECT)]
    return problems[-1] if problems else "It holds no JSON object."


_NO_OBJECT = "It is a list"


def _answers(reply: Reply) -> dict[str, Any]:
    """The values of a reply's fields, without its texts."""
    kind = type(reply)
    return {name: getattr(reply, name) for name in kind.model_fields if not _takes(kind, name, str)}


_PAYLOADS = ("arguments", "parameters", "input", "args")
_BESIDE_PAYLOAD = {"name", "id", "type", "function", "index", "tool", "tool_name", "role", "recipient_name"}
_DEEPEST = 4
"""Wrappers around an object that are taken off."""


def _unwrapped(value: Any, reply: type[R], depth: int = 0) -> tuple[R | None, dict[str, Any], str]:
    """A value as its schema; else the valid answers in it, and why it does not fit.

    One object alone in a list, under one key, as the arguments of a tool call, or as a text is that object.
    """
    if isinstance(value, str) and depth < _DEEPEST and value.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return None, {}, "It holds a text of JSON that cannot be read."
    if isinstance(value, list) and len(value) == 1 and depth < _DEEPEST:
        return _unwrapped(value[0], reply, depth + 1)
    if not isinstance(value, dict):
        return None, {}, f"{_NO_OBJECT}, and no object."
    if not (value.keys() & _names(reply).keys()) and depth < _DEEPEST:
        inner = _payload(value)
        if inner is not None:
            fits = _unwrapped(inner, reply, depth + 1)
            if fits[0] is not None:
                return fits
    try:
        return reply.model_validate(value), {}, ""
    except ValidationError as error:
        faults = error.errors()
        wrong = {str(fault["loc"][0]) for fault in faults if fault["loc"]}
        problems = [f"{'.'.join(map(str, f['loc'])) or 'the object'}: {f['msg']}" for f in faults[:5]]
        valid = {alias: name for alias, name in _names(reply).items() if alias in value.keys() - wrong}
        partial = {name: value[alias] for alias, name in valid.items() if not _takes(reply, name, str)}
        return None, partial, "; ".join(problems)


def _payload(value: Mapping[str, Any]) -> Any:
    """What is wrapped in an object that has no field of the schema; None for nothing."""
    if isinstance(value.get("function"), dict) and value.keys() <= _BESIDE_PAYLOAD:
        return value["function"]
    for name in _PAYLOADS:
        if name in value and value.keys() <= _BESIDE_PAYLOAD | {name}:
            return value[name]
    return next(iter(value.values())) if len(value) == 1 else None


def _encoded(text: str) -> str:
    """A reply that is one JSON text, as the text that it is."""
    bare = text.strip().lstrip("\ufeff")
    if len(bare) <= LONGEST and bare.startswith('"') and bare.endswith('"') and len(bare) > 1:
        try:
            inner = json.loads(bare, strict=False)
        except ValueError:
            return text
        if isinstance(inner, str):
            return paired(inner)
    return text


def usable(
    text: str,
    reply: type[R] | None,
    check: Callable[[Any], object] | None = None,
    *,
    judged: JudgedText = NOTHING_JUDGED,
    draft: str = "",
    reader: Reader | None = None,
) -> R | str:
    """The reply as its schema, or the text if there is none, once `check` has seen it. Raises Unusable.

    `reader` reads it as something else than JSON.

    Any error of a reader means that the reply is unusable: it comes from outside.
    """
    try:
        if len(text) > LONGEST:
            raise Unusable(f"It is longer than {LONGEST:,} characters.")
        value = (reader or read)(text, reply, judged, draft) if reply else text
        if check:
            check(value)
    except Unusable:
        raise
    except Exception as error:
        raise Unusable(f"It cannot be read ({type(error).__name__}).") from error
    return value


_PLACES = re.compile(r"""\"((?:'?<[^<>"\n]{1,80}>'?[ ]?)+)\"""")


def _copied(value: Any, messages: Sequence[Message]) -> str:
    """A text of the form that was asked for, such as “<one or two sentences>”, that the verdict has as it
    was; “” for none.
    """
    text = json.dumps(value.model_dump(mode="json"), ensure_ascii=False) if isinstance(value, Reply) else ""
    if "<" not in text:
        return ""
    forms = (form for message in messages for form in _PLACES.findall(message.content))
    return next((form for form in forms if json.dumps(form, ensure_ascii=False) in text), "")


async def answer(
    call: ModelCall,
    step: str,
    messages: Sequence[Message],
    reply: type[R] | None,
    check: Callable[[Any], object] | None = None,
    *,
    may_be_empty: bool = False,
    judged: JudgedText = NOTHING_JUDGED,
    reader: Reader | None = None,
) -> Answer:
    """Ask until the reply is usable, at most 1 + REASKS times; what a filter removed, once more.

    `check` sees the validated value (the text if `reply` is None) and may raise Unusable; `judged` is the
    text that a verdict is about. A reply that was cut off is usable only without schema and check. One
    without text, or that the endpoint ended, is asked for again with the same words; with `may_be_empty` an
    empty text is a reply, but not null, thinking only, or what a filter removed. Arguments of a tool call are
    a reply to a schema. Raises CallFailed, UNPARSEABLE, TRUNCATED, EMPTY or REFUSED, with the last reply and
    the cost of all attempts.
    """
    sent_messages = list(messages)
    usage = NOTHING_SPENT
    problem = ""
    for attempt in range(1 + REASKS):
        completion = await call(step if attempt == 0 else f"{step} again {attempt}", sent_messages)
        text = verdict_text(completion) if reply else completion.text
        usage = usage + completion.usage
        empty = not text.strip()
        try:
            if empty and (completion.details.lacks or not may_be_empty):
                raise Unusable(completion.details.lacks or "It is empty.")
            if completion.cut and (reply or check):
                # Half a number, or a number from the middle of the reasons, would be a wrong score.
                raise Unusable(completions.ended_early(completion.details.finish))
            draft = completion.details.thinking if completion.details.unopened else ""
            reading: dict[str, Any] = {"judged": judged, "draft": draft, "reader": reader}
            value = usable(text, reply, check, **reading) if reply or check else None
            if reply and (form := _copied(value, messages)):
                raise Unusable(f"“{form}” is to be replaced by your own words.")
            return Answer(text, value if reply else None, completion.cut, usage, completion.details)
        except Unusable as error:
            problem = str(error)
            mend = (
                f"This reply cannot be used. {problem} Give the whole reply again, correctly, and "
                "nothing else."
            )
            # Some endpoints refuse an empty message, and a player is told nothing that a user would not say.
            by_endpoint = empty or completions.ended_by_endpoint(completion.details.finish)
            correction = [Message("assistant", text[:SENT_BACK]), Message("user", mend)]
            sent_messages = [*messages, *([] if by_endpoint else correction)]
            if completions.filtered(completion.details.finish) and attempt:
                break
    raise CallFailed(
        f"No usable reply after {_times(attempt + 1)}: {problem}",
        code=_code(completion, empty=empty),
        raw=completion.details.raw if empty else text[:LONGEST],
        spent=usage,
        reason=_reason(completion, problem),
    )


def verdict_text(completion: Completion) -> str:
    """What a verdict is read from: the text, and the arguments of tool calls."""
    return "\n\n".join(filter(str.strip, (completion.text, *completion.details.arguments)))


def _times(attempts: int) -> str:
    return f"{attempts} attempts" if attempts > 1 else "one attempt"


def _code(completion: Completion, *, empty: bool) -> Failure:
    """What a reply that stayed unusable failed with."""
    if completions.filtered(completion.details.finish):
        return Failure.REFUSED
    if empty:
        return Failure.EMPTY
    return Failure.TRUNCATED if completion.cut else Failure.UNPARSEABLE


def _reason(completion: Completion, problem: str) -> str:
    """Under which name an unusable reply is counted."""
    finish = completion.details.finish
    if finish not in ("", "stop"):
        return f"finish_reason {finish}"
    if completion.details.refused:
        return "refusal"
    return "an empty reply" if not completion.text.strip() else f"not as asked: {problem.split(':')[0][:80]}"
