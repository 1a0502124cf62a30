"""Which part of a request an endpoint refuses, by its complaint, and the weaker forms of that part.

A part is recognised by the parameter that a complaint names, in any spelling and wherever it stands, and not
by one vendor's sentence. `PARTS` is the table: a part, the words that name it, its weaker forms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from concord.codes import RequestPart
from concord.llm.completions import Broken, decoded
from concord.llm.models import UNSET, Model
from concord.llm.schemas import KEYWORDS, Feature

Body = Mapping[str, Any]
"""What was sent."""
STATUSES = (400, 404, 405, 406, 409, 415, 422, 500, 501)
"""Of an answer that may refuse a part of a request; 200 where its body holds an error."""
READ = 8000
"""Characters of a complaint that are read."""


class Objection(NamedTuple):
    """What an error's body says: its messages, and the fields of it that name parameters."""

    text: str
    fields: tuple[str, ...] = ()


_MESSAGES = (
    "message",
    "msg",
    "detail",
    "error",
    "reason",
    "description",
    "cause",
    "raw",
    "metadata",
    "violation",
    "issue",
    "inner",
    "title",
)
"""Parts of the names under which complaints lie, or others in which they lie."""
_FIELDS = ("param", "parameter", "loc", "field", "path", "parameters", "fields", "argument", "code", "type")
"""Names of what names a parameter. What else a body has, such as the request itself, names nothing."""
_CLOSED = re.compile(r"additional properties are not (allowed|permitted)", re.I)
"""What validators say of a parameter that they do not know; it is not about a schema's keyword."""
_LOC = re.compile(r"""['"]?loc['"]?\s*[:=]\s*[\[(]([^\])]*)[\])]""")


def objection(content: bytes | str) -> Objection:
    """What an error's body says, of whatever form: nested, in a list, as text in JSON, as no JSON at all."""
    text = content if isinstance(content, str) else content[: 8 * READ].decode("utf-8", "replace")
    messages: list[str] = []
    fields: list[str] = []
    _gather(text, messages, fields, depth=0)
    full_text = " ".join(_CLOSED.sub(" ", " ".join(messages)).split())[:READ]
    return Objection(full_text, (*fields, *_LOC.findall(full_text)))


def _gather(value: Any, messages: list[str], fields: list[str], depth: int) -> None:
    if depth > 8:
        return
    if isinstance(value, list):
        for item in value[:20]:
            _gather(item, messages, fields, depth + 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            key = name.lower()
            if key in _FIELDS:
                fields.append(_as_text(inner))
            elif any(word in key for word in _MESSAGES):
                _gather(inner, messages, fields, depth + 1)
    elif isinstance(value, str):
        inner = _inside(value)
        if inner is None:
            messages.append(value[:READ])
        else:
            _gather(inner, messages, fields, depth + 1)


def _inside(text: str) -> Any:
    """The JSON value that a text is, or holds after a few words; None for neither."""
    begins = re.search(r"[\[{]", text[:200])
    if begins is None or '"' not in text:
        return None
    try:
        value = decoded(text[begins.start() :])
    except Broken:
        return None
    if not isinstance(value, dict | list) or not value:
        return None
    return [text[: begins.start()], value] if text[: begins.start()].strip() else value


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value[:20]))
    return value[:READ] if isinstance(value, str) else ""


def words(text: str) -> str:
    """A text as words in small letters: `presencePenalty` and `presence_penalty` alike."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return " ".join(re.findall(r"[a-z0-9]+", spaced.lower()))


@dataclass(frozen=True)
class RefusablePart:
    """A part of a request: the words by which complaints name it, when a request has it, its weaker forms.

    `forms` gives the model as it would be asked with the next weaker forms, the strongest first.
    """

    part: RequestPart
    pattern: re.Pattern[str]
    applies: Callable[[Model, Body], bool]
    forms: Callable[[Model, Body, Objection], Iterator[Model]]


def weaker(model: Model, body: Body, status: int, content: bytes | str) -> Iterator[Model] | None:
    """The forms to ask next, the strongest first, after an endpoint refused a request.

    None where the complaint is about no part of the request's form: a context that is too short, a filter, a
    model that is not known. Without a part that is named these are `guesses`.
    """
    objection_ = objection(content)
    if status not in (*STATUSES, 200) or _not_of_form(objection_):
        return None
    part = named_part(model, body, objection_)
    if part is not None and (status < 500 or _REFUSING.search(objection_.text.lower())):
        return part.forms(model, body, objection_)
    if status in (500, 501, 200) or not _of_form(objection_, status):
        return None
    return guesses(model, body, objection_)


def names_part(content: bytes | str) -> bool:
    """Whether an error, whatever its status, says that a part of the request is refused."""
    objection_ = objection(content)
    refuses = _REFUSING.search(objection_.text.lower()) and not _not_of_form(objection_)
    return bool(refuses) and mentioned(content) is not None


def mentioned(content: bytes | str) -> RequestPart | None:
    """The part that an error names, whether or not the request has it still."""
    objection_ = objection(content)
    for text in (*objection_.fields, _LISTED.split(objection_.text, maxsplit=1)[0]):
        if part := _first(PARTS, words(text)):
            return part.part
    return None


def named_part(model: Model, body: Body, objection_: Objection) -> RefusablePart | None:
    """The part that a complaint names: by a field of its own, else in the message, there the first one."""
    sent_parts = [part for part in (*PARTS, *_own_parts(model, body)) if part.applies(model, body)]
    for field in objection_.fields:
        if part := _first(sent_parts, words(field)):
            return part
    text = words(_LISTED.split(objection_.text, maxsplit=1)[0])
    all_words = words(objection_.text)
    if _THINKING in sent_parts and _THINKING.pattern.search(text):
        return _THINKING  # whatever else cannot be had with it
    if _EXCLUSIVE.search(text):
        for part in reversed(_SAMPLING):
            if part in sent_parts and part.pattern.search(text):
                return part
    return _first(sent_parts, text) or _first(sent_parts, all_words)


def _first(parts: Sequence[RefusablePart], text: str) -> RefusablePart | None:
    """The part that is named first in a text; of two at one place the longer name."""
    first: RefusablePart | None = None
    best_place = (len(text), 0)
    for part in parts:
        match = part.pattern.search(text)
        if match and (match.start(), -len(match[0])) < best_place:
            first = part
            best_place = (match.start(), -len(match[0]))
    return first


def _phrases(*alternatives: str) -> re.Pattern[str]:
    """Finds any of these phrases as whole words."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


_LISTED = re.compile(
    r"(?<!not )(?<!un)\b(?:supported|allowed|valid|known|permitted|available|accepted|recognized)"
    r"(?:\s+\w+){0,4}\s*(?:\bare\b|\binclude\b|:)|\bexpected one of\b|\bone of:",
    re.I,
)
"""Behind it stands what an endpoint does take."""
_EXCLUSIVE = _phrases(
    "both", "together", "only one of", "mutually exclusive", "simultaneously", "at the same time", "either"
)
_REFUSING = _phrases(
    "unsupported",
    r"not support\w*",
    "no support",
    "unknown",
    "unexpected",
    "unrecogni[sz]ed",
    "invalid",
    "parse",
    "parsing",
    "must",
    "only",
    "cannot",
    "can't",
    "failed to",
    "unavailable",
    r"conver\w+",
    "grammar",
    "template",
    "not (?:allowed|permitted|enabled|available|implemented|found)",
)
_CONTEXT = _phrases(
    "maximum context",
    "context (?:length|size|limit)",
    "exceeds? the (?:available )?context",
    "longer than the context",
    r"\d+ in the messages",
    "reduce the length",
    "prompt is too long",
    "prompt contains",
    "input length",
    "prompt (?:length|tokens?|and)",
    "sum of",
    "total (?:number of )?tokens",
    "inputs? tokens",
    "tokens? in (?:the|your) (?:prompt|input)",
)
"""A context that is too short, which `max_tokens` may be named in: no form of the request helps."""
_NEGATIVE = re.compile(r"\bgot -\d")
"""How an endpoint says that less than nothing of its context is left for a reply."""
_ELSEWHERE = _phrases(
    "content (?:management )?policy",
    "content filter",
    "moderat(?:ion|ed)",
    "responsible ai",
    "safety",
    "api key",
    "unauthori[sz]ed",
    "credits?",
    "quota",
    "billing",
    "do not have access",
    "unknown model",
    r"model \S+ (?:was )?(?:not found|does not exist|not exist)",
    "model not found",
    "no such model",
    "(?:image|audio|video)(?: input)?s? (?:is|are) not",
)
_ABOUT_FORM = _phrases(
    "parameters?",
    "arguments?",
    "inputs?",
    "fields?",
    "property",
    "properties",
    "options?",
    "features?",
    "formats?",
    "schema",
    "unsupported",
    "not supported",
    "invalid request",
    "bad request",
    "validation",
    "unprocessable",
    "extra",
)


def _not_of_form(objection_: Objection) -> bool:
    text = words(" ".join((objection_.text, *objection_.fields)))
    if _CONTEXT.search(text) or _NEGATIVE.search(objection_.text):
        return True
    return bool(_ELSEWHERE.search(text)) and not any(
        _first(PARTS, words(field)) for field in objection_.fields
    )


def _of_form(objection_: Objection, status: int) -> bool:
    """Whether a complaint that names no part may be about one."""
    text = words(objection_.text)
    if status == 404:
        return bool(re.search(r"\bparameters?\b", text)) and not re.search(r"\b(page|url|route)\b", text)
    if len(text) < 40 and not re.search(r"\b(model|message|url|path|json)\b", text):
        return True  # “Bad Request”, or nothing at all
    return bool(_ABOUT_FORM.search(text))


# ── The forms of each part ────────────────────────────────────────────────────────────────────────────────


def _entry_name(model: Model, name: str) -> str:
    """What an entry calls the parameter that is sent under this name."""
    return next((entry_name for entry_name, sent_name in model.rename.items() if sent_name == name), name)


def _unset(model: Model, name: str) -> Model:
    """The model without a parameter, which is sent under this name."""
    entry_name = _entry_name(model, name)
    params = {**model.params, entry_name: UNSET}
    if name == "seed" and model.seed:
        return model.changed(seed=False, params=params if "seed" in model.params else model.params)
    return model.changed(params=params)


def _of_number(name: str, model: Model, body: Body, objection_: Objection) -> Iterator[Model]:
    """A value within the range that is named, else none at all."""
    yield from _in_range(name, model, body, objection_)
    yield _unset(model, name)


def _in_range(name: str, model: Model, body: Body, objection_: Objection) -> Iterator[Model]:
    value = body.get(name)
    entry_name = _entry_name(model, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    tokens = entry_name in LIMITS
    low, high = allowed(objection_.text, value, 1 if tokens else NEAR)
    if tokens and (high is None or high < FEW_TOKENS):
        high = _only_smaller(objection_.text, value)
    if high is not None and high < value:
        yield model.changed(at_most={**model.at_most, entry_name: high})
    elif low is not None and low > value and not tokens:
        yield model.changed(at_least={**model.at_least, entry_name: low})


def _of_limit(model: Model, body: Body, objection_: Objection) -> Iterator[Model]:
    """The limit of tokens: lower, under its other name, not at all; one where an endpoint requires it."""
    sent_name = next((name for name in LIMITS if name in body), None)
    if sent_name is None:
        if _REQUIRED.search(words(objection_.text)):
            yield model.changed(params={**model.params, "max_tokens": USUAL_LIMIT})
        return
    entry_name = _entry_name(model, sent_name)
    yield from _in_range(sent_name, model, body, objection_)
    for name in (*_SUGGESTED.findall(objection_.text), *LIMITS):
        if name in LIMITS and name != sent_name:
            yield model.changed(rename={**model.rename, entry_name: name})
    yield _unset(model, sent_name)


LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_SUGGESTED = re.compile(r"\b(max_\w*tokens)\b")


def _merged(model: Model, _body: Body, _objection: Objection) -> Iterator[Model]:
    yield model.changed(system="merge")


def _of_format(model: Model, _body: Body, objection_: Objection) -> Iterator[Model]:
    """A schema without the features that are named, else without bounds; then JSON; then text."""
    if model.replies == "json_schema":
        for feature in (*_features(objection_), Feature.BOUNDS):
            if feature not in model.schema_without:
                yield model.changed(schema_without=(*model.schema_without, feature))
    if model.replies != "json_object":
        yield model.changed(replies="json_object", schema_without=())
    yield model.changed(replies="text", schema_without=())


def _features(objection_: Objection) -> list[Feature]:
    """The features of a schema that a complaint names, by their keywords."""
    text = " ".join((*objection_.fields, objection_.text))
    spelled = words(text).split()
    features: list[Feature] = []
    for feature, keywords in _NAMED_FEATURES.items():
        if any(_is_named(keyword, text, spelled) for keyword in keywords):
            features.append(feature)
    return features


def _is_named(keyword: str, text: str, spelled: Sequence[str]) -> bool:
    """Whether a keyword stands in a text, or in its words."""
    if keyword.startswith("$"):
        return keyword in text
    parts = words(keyword).split()
    return any(list(spelled[n : n + len(parts)]) == parts for n in range(len(spelled)))


_NAMED_FEATURES: Mapping[Feature, tuple[str, ...]] = {
    Feature.STRICT: ("strict",),
    Feature.INTEGER_ENUMS: KEYWORDS[Feature.INTEGER_ENUMS],
    Feature.BOUNDS: tuple(word for word in KEYWORDS[Feature.BOUNDS] if word != "format"),
    Feature.REFERENCES: (*KEYWORDS[Feature.REFERENCES], "references"),
    Feature.CLOSED_OBJECTS: KEYWORDS[Feature.CLOSED_OBJECTS],
    Feature.TITLES: KEYWORDS[Feature.TITLES][:1],
}


def _drop(name: str, model: Model, _body: Body, _objection: Objection) -> Iterator[Model]:
    yield _unset(model, name)


def _not_thinking(model: Model, _body: Body, _objection: Objection) -> Iterator[Model]:
    """Without the thinking that an endpoint offers for streamed replies alone."""
    yield model.changed(params={**model.params, "enable_thinking": False})


def _has(name: str, _model: Model, body: Body) -> bool:
    return name in body


def _always(_model: Model, _body: Body) -> bool:
    return True


def _has_format(_model: Model, body: Body) -> bool:
    return "response_format" in body


def _has_system(_model: Model, body: Body) -> bool:
    return any(message["role"] == "system" for message in body.get("messages", ()))


def _may_be(name: str, _model: Model, body: Body) -> bool:
    """Whether a parameter is not switched off."""
    return body.get(name) is not False


def _number(part: RequestPart, *phrases: str) -> RefusablePart:
    return RefusablePart(part, _phrases(*phrases), partial(_has, part.value), partial(_of_number, part.value))


_SAMPLING = (
    _number(RequestPart.TEMPERATURE, "temperature"),
    _number(RequestPart.TOP_P, "top ?p", "nucleus"),
    _number(
        RequestPart.FREQUENCY_PENALTY,
        "frequency penalt(?:y|ies)",
        "(?<!presence )(?<!repetition )penalt(?:y|ies)",
    ),
    _number(
        RequestPart.PRESENCE_PENALTY,
        "presence penalt(?:y|ies)",
        "(?<!frequency )(?<!repetition )penalt(?:y|ies)",
    ),
    _number(RequestPart.SEED, "(?:random )?seed"),
)
_THINKING = RefusablePart(
    RequestPart.THINKING, _phrases("enable thinking"), partial(_may_be, "enable_thinking"), _not_thinking
)
_REQUIRED = _phrases("required", "missing", "must be (?:set|given|specified|provided)", "requires")
USUAL_LIMIT = 4096
"""The limit of tokens where an endpoint requires one."""
PARTS: tuple[RefusablePart, ...] = (
    RefusablePart(
        RequestPart.LIMIT,
        _phrases("max(?:imum)? (?:number of )?(?:completion |output |new |generated )?tokens", "maxtokens"),
        _always,
        _of_limit,
    ),
    *_SAMPLING,
    _THINKING,
    RefusablePart(
        RequestPart.STOP,
        _phrases(
            "stop ?(?:sequences?|words?|strings?|tokens?)",
            "(?:parameters?|arguments?|fields?|property|option|body|name) stop",
            "^stop$",
            "^stop (?:is|was|must|cannot)",
        ),
        partial(_has, "stop"),
        partial(_drop, "stop"),
    ),
    RefusablePart(
        RequestPart.SYSTEM,
        _phrases(
            "(?:system|developer) (?:role|message|prompt|instruction|content)s?",
            r"roles?\b.{0,60}\b(?:system|developer)",
            r"(?:system|developer)\b.{0,40}\broles?",
            "roles? must (?:strictly )?alternate",
            "messages 0 role",
            r"only (?:support\w* )?(?:the )?(?:user|assistant|model) (?:and|or) (?:user|assistant|model)",
            r"first message (?:must|should|has to)\b.{0,30}\buser",
        ),
        _has_system,
        _merged,
    ),
    RefusablePart(
        RequestPart.FORMAT,
        _phrases(
            "response (?:format|schema|mime type|json schema)",
            "json (?:schema|object|mode)",
            "structured (?:output|generation)s?",
            "guided (?:json|decoding|grammar|generation)",
            "(?:output|text) (?:format|config|schema)",
            "(?:invalid|unsupported|unknown) format",
            "grammars?",
            "schemas?",
            "xgrammar",
            "outlines",
            "(?:min|max|unique) items",
            "(?:min|max) length",
            "exclusive (?:minimum|maximum)",
            "multiple of",
            "additional properties",
            "propert(?:y|ies) (?:minimum|maximum)",
            "(?:minimum|maximum) (?:keyword|property)",
        ),
        _has_format,
        _of_format,
    ),
)
"""Each part with what names it, when a request has it, and its weaker forms."""

_REQUIRED_FIELDS = ("model", "messages", "response_format", "stream")


def _own_parts(model: Model, body: Body) -> Iterator[RefusablePart]:
    """Parameters that an entry or a prompt sends and the table does not know; a complaint must quote them."""
    known_names = {*LIMITS, *(part.part.value for part in PARTS), *_REQUIRED_FIELDS} - {
        RequestPart.THINKING.value
    }
    for name in body:
        if name in known_names:
            continue
        spelled = words(name)
        alone = " " not in spelled
        pattern = (
            rf"\b(parameters?|arguments?|fields?|property|option|body|name) {spelled}\b"
            if alone
            else rf"\b{spelled}\b"
        )
        yield RefusablePart(
            RequestPart.OTHER,
            re.compile(f"{pattern}|^{spelled}$"),
            partial(_has, name),
            partial(_drop, name),
        )


def guesses(model: Model, body: Body, objection_: Objection) -> Iterator[Model]:
    """Forms to try where a complaint names no part: each part alone at its weakest, the least loss first;
    then all of them.
    """
    weakest = model
    for part in _LEAST_LOSS:
        refusable = _LISTED_PARTS.get(part)
        if refusable is None or not refusable.applies(model, body):
            continue
        forms = list(refusable.forms(model, body, Objection("")))
        if forms:
            yield from forms
            weakest = _combine(weakest, model, forms[-1])
    yield weakest


def _combine(one: Model, before: Model, after: Model) -> Model:
    """A model with what another step changed as well."""
    update: dict[str, Any] = {}
    for name in Model.model_fields:
        was = getattr(before, name)
        now = getattr(after, name)
        base = getattr(one, name)
        if was != now:
            update[name] = {**base, **now} if isinstance(now, dict) else now
    return one.changed(**update)


_LISTED_PARTS = {refusable.part: refusable for refusable in reversed(PARTS)}
"""Each part of a request as `PARTS` has it first."""
_LEAST_LOSS = (
    RequestPart.SEED,
    RequestPart.PRESENCE_PENALTY,
    RequestPart.FREQUENCY_PENALTY,
    RequestPart.TOP_P,
    RequestPart.LIMIT,
    RequestPart.FORMAT,
    RequestPart.SYSTEM,
    RequestPart.TEMPERATURE,
)


# ── Ranges ────────────────────────────────────────────────────────────────────────────────────────────────

_NUMBER = r"[`'\"]?(-?\d[\d,]*(?:\.\d+)?)[`'\"]?"
_UPPER = r"[`'\"]?(-?\d[\d,]*(?:\.\d+)?|\+?(?:inf\w*|∞))[`'\"]?"
"""The end of a range that may have none."""
_RANGE = re.compile(rf"([\[(])\s*{_NUMBER}\s*[,;]\s*{_UPPER}\s*([\])])")
_BETWEEN = re.compile(rf"between\s+{_NUMBER}\s+and\s+{_NUMBER}")
_FROM_TO = re.compile(
    rf"from\s+{_NUMBER}\s*(\((?:in|ex)clusive\))?\s*to\s+{_NUMBER}\s*(\((?:in|ex)clusive\))?"
)
_NOT_ABOVE = re.compile(r"(?:not|no|n't)\s+(?:be\s+)?(?:greater|larger|higher|more|bigger|above)(?:\s+than)?")
_NOT_BELOW = re.compile(r"(?:not|no|n't)\s+(?:be\s+)?(?:less|smaller|lower|below)(?:\s+than)?")


def _before_number(*phrases: str) -> re.Pattern[str]:
    """Finds a number behind any of these phrases."""
    return re.compile(rf"(?:{'|'.join(phrases)})\s*(?:the )?(?:maximum )?(?:of )?{_NUMBER}")


_AT_MOST = _before_number(
    "at most",
    "(?:less|smaller|lower) than or equal to",
    "below or equal to",
    "<=",
    "≤",
    "up to",
    "exceed(?:s|ed|ing)?",
    "limit(?:ed)?(?: of| is| to|:)?",
    "capped at",
    "supports?(?: only)?",
    r"max(?:imum)?(?: [a-z_]+){0,5}?(?: of| is|:|=| \()?",
)
_BELOW = _before_number("(?:less|smaller|lower) than", r"(?<![<>=])<(?!\d+>)")
_AT_LEAST = _before_number(
    "at least",
    "(?:greater|larger|higher) than or equal to",
    ">=",
    "≥",
    "min(?:imum)?(?: value)?(?: of| is|:)",
)
_GREATER = _before_number("(?:greater|larger|higher|more) than", "(?<![<>=])>")
_POSITIVE = re.compile(r"strictly positive|must be positive|greater than zero|non-?zero")
_COMPARED = re.compile(rf"{_NUMBER}\s*>\s*{_NUMBER}")
_ALONE = re.compile(r"(?<![\w.,-])\d[\d,]*(?![\w-]|[.,]\d)")
"""A whole number that is no part of a name, a date or a fraction."""
_TOO_MUCH = _phrases("too (?:large|high|big|many|long)", r"exceed\w*", "maximum", "limit", "out of range")
NEAR = 0.01
"""How far from an end that is not allowed itself."""


def allowed(text: str, value: float, step: float = NEAR) -> tuple[float | None, float | None]:
    """The lowest and highest value of the range that a complaint about a value names; None for no end.

    An end that is not allowed itself is moved by a `step`. What the value keeps to is no end.
    """
    text = " ".join(text.lower().split())
    text = _NOT_BELOW.sub("at least", _NOT_ABOVE.sub("at most", text))
    lows: list[float] = []
    highs: list[float] = []
    for low, high in _ranges(text, step):
        if low < high:
            lows.append(low)
            highs.append(high)
    lows += [_end(number) for number in _AT_LEAST.findall(text)]
    lows += [_end(number, step) for number in _GREATER.findall(text)]
    if _POSITIVE.search(text):
        lows.append(step)
    highs += [_end(number) for number in _AT_MOST.findall(text)]
    highs += [_end(number, -step) for number in _BELOW.findall(text)]
    for compared_value, high in _COMPARED.findall(text):
        if _end(compared_value) == value:
            highs.append(_end(high))
    return (
        max((low for low in lows if low > value), default=None),
        min((high for high in highs if high < value), default=None),
    )


def _ranges(text: str, step: float) -> Iterator[tuple[float, float]]:
    """The ranges that a complaint names with both ends: “[0, 2)”, “between 0 and 1”, “from 0 to 1”."""
    for opening, low, high, closing in _RANGE.findall(text):
        yield _inner_end(low, step, opening == "("), _inner_end(high, -step, closing == ")")
    for low, high in _BETWEEN.findall(text):
        yield _end(low), _end(high)
    for low, first, high, last in _FROM_TO.findall(text):
        yield _inner_end(low, step, "ex" in first), _inner_end(high, -step, "ex" in last)


def _inner_end(number: str, offset: float, exclusive: bool) -> float:
    """The last value that is allowed at an end of a range."""
    return _end(number, offset if exclusive else 0)


def _only_smaller(text: str, value: float) -> float | None:
    """The one number in a complaint that something is too much that is smaller than it; None for none."""
    smaller: set[float] = set()
    for number in _ALONE.findall(text):
        if FEW_TOKENS <= _end(number) < value:
            smaller.add(_end(number))
    if len(smaller) != 1 or not _TOO_MUCH.search(words(text)):
        return None
    return smaller.pop()


FEW_TOKENS = 16
"""No endpoint has a lower limit."""


def _end(number: str, offset: float = 0) -> float:
    if number.lstrip("+").startswith(("inf", "∞")):
        return math.inf
    value = round(float(number.replace(",", "").rstrip(".")) + offset, 6)
    return int(value) if value == int(value) else value
