"""Replies as labelled lines, for models that cannot write JSON: read as strictly as JSON is.

Each field is a line `name: value`, and the last line is `end`, so that a part of a reply is none. A list
stands below its name, an item a line; an item with several fields has them in their order with “|” between.
docs/replies.md lists the rules.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from concord.llm.places import JudgedText
from concord.llm.replies import NOTHING_JUDGED, Reply, Unusable
from concord.llm.thinking import visible_reply

R = TypeVar("R", bound=Reply)

_ITEM = re.compile(r"\s*(?:[-*•]|[0-9]{1,3}[.)])\s+(?P<item>\S.*)")
_END = re.compile(r"^[ \t]*[*_]{0,3}end[*_.]{0,3}\s*\Z", re.M | re.I)
_PLACE = re.compile(r"<[^<>]{1,80}>")
"""What a form shows in the place of words."""


def read(text: str, reply: type[R], judged: JudgedText = NOTHING_JUDGED, draft: str = "") -> R:
    """The fields of a reply as its schema. Raises Unusable, naming the problem for the model.

    Each field must be named once, at the beginning of a line, and `end` must be the last line: what was cut
    off has another value or none. Words before the first field are passed over. A line
    of a list that is no item, an item of another number of parts, and a form that is copied are no reply.
    Neither is what stands in the text that is `judged`. Thinking, and what a reply thought before a tag that
    closed it (`draft`), is not read.
    """
    body = visible_reply(text, judged=True).text.lstrip("\ufeff").replace("\r\n", "\n")
    if not (ending := _END.search(body)):
        raise Unusable("Its last line must be “end”.")
    body = body[: ending.start()]
    names = {field.alias or name: field.annotation for name, field in reply.model_fields.items()}
    label = _label(names)
    if not (first := label.search(body)):
        raise Unusable(f"It must have the lines {_forms(names)}.")
    if judged.holds(body[first.start() :]):
        raise Unusable("It only repeats an answer that stands in the text to be rated. Give your own alone.")
    values: dict[str, Any] = {}
    for name, lines in _fields(body, label):
        if name in values:
            raise Unusable(f"It has the line “{name}:” more than once.")
        values[name] = _value(name, lines, names[name])
    if missing := [name for name in names if name not in values]:
        raise Unusable(f"It lacks the line “{missing[0]}:”.")
    try:
        return reply.model_validate(values)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:5])
        raise Unusable("; ".join(faults)) from error


def _label(names: Mapping[str, Any]) -> re.Pattern[str]:
    """The beginning of a field's line: its name, in any case, emphasised or not, with a colon."""
    one = "|".join(re.escape(name).replace("_", "[_ ]") for name in names)
    return re.compile(rf"^[ \t]*[*_#]{{0,3}}[ \t]?(?P<name>{one})[*_]{{0,3}}[ \t]*:[*_]{{0,3}}", re.M | re.I)


def _forms(names: Mapping[str, Any]) -> str:
    return ", ".join(f"“{name}:”" for name in names)


def _fields(body: str, label: re.Pattern[str]) -> Iterator[tuple[str, list[str]]]:
    """Each field with its lines, blank ones excluded."""
    marks = list(label.finditer(body))
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    for mark, end in zip(marks, ends, strict=True):
        name = re.sub(" ", "_", mark["name"].lower())
        yield name, [line.strip() for line in body[mark.end() : end].splitlines() if line.strip()]


def _value(name: str, lines: Sequence[str], kind: Any) -> Any:
    """The value of a field: a text, or the items of a list, each a text or an entry."""
    listed = _listed(kind)
    if listed is None:
        return _without_quotes(" ".join(lines))
    items = [_ITEM.fullmatch(line) for line in lines]
    if not lines or None in items:
        raise Unusable(f"Below “{name}:” each line must begin with “- ”.")
    texts = [item["item"].strip() for item in items if item]
    return [
        _entry(text, listed) if issubclass(listed, BaseModel) else _without_quotes(text) for text in texts
    ]


def _without_quotes(text: str) -> str:
    """A text that is no copy of the form. Raises Unusable."""
    if _PLACE.fullmatch(text):
        raise Unusable(f"“{text}” is to be replaced by your own words.")
    return text


def _entry(text: str, kind: type[BaseModel]) -> dict[str, str]:
    fields = [field.alias or name for name, field in kind.model_fields.items()]
    parts = [_without_quotes(part.strip()) for part in text.strip("|").split("|")]
    if len(parts) != len(fields):
        form = " | ".join(fields)
        raise Unusable(f"“{text[:80]}” must have {len(fields)} parts with “|” between: {form}.")
    return dict(zip(fields, parts, strict=True))


def _listed(kind: Any) -> type[Any] | None:
    """What a list holds: texts or entries; None for what is no list."""
    if get_origin(kind) is not list:
        return None
    inner = get_args(kind)[0]
    while not isinstance(inner, type):
        inner = get_args(inner)[0]
    return inner
