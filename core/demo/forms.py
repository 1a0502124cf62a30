"""The schema of a reply, read from the form that a prompt shows: for mock models that are sent no schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from concord.llm.schemas import Schema

_FORM = re.compile(r"^\{\n(?:.*\n)+?\}$", re.M)
_FIELD = re.compile(r'\s*"((?:[^"\\]|\\.)+)": (.+?),?')
_RANGE = re.compile(r"<(-?[\d.]+) to (-?[\d.]+)>")
_LABELS = re.compile(r'"(?:[^"\\<]|\\.)*"')


def schema_of(text: str) -> Schema | None:
    """The schema of the last form in a text, such as `{ "clear": <1 to 5> }`; None where it shows none."""
    forms = _FORM.findall(text)
    if not forms:
        return None
    lines = iter(forms[-1].splitlines()[1:])
    schema = _object(lines)
    return schema if schema["properties"] else None


def _object(lines: Iterator[str]) -> dict[str, Any]:
    """The object whose fields these lines are, to the line that closes it."""
    properties: dict[str, Any] = {}
    for line in lines:
        if line.strip().startswith("}"):
            break
        field = _FIELD.fullmatch(line)
        if field is None:
            continue
        name = json.loads(f'"{field[1]}"')
        form = field[2].strip()
        if form == "[":
            next(lines, None)  # the line that opens the entry
            properties[name] = {"type": "array", "items": _object(lines)}
            next(lines, None)  # the line that closes the list
        elif form != "null":
            properties[name] = _value(form.removesuffix(" or null"))
    return {"type": "object", "properties": properties, "required": list(properties)}


def _value(form: str) -> dict[str, Any]:
    if numbers := _RANGE.fullmatch(form):
        return {"type": "integer", "minimum": int(float(numbers[1])), "maximum": int(float(numbers[2]))}
    if form == "true or false":
        return {"type": "boolean"}
    if form.startswith("<"):
        return {"type": "integer"}
    labels = [json.loads(label) for label in _LABELS.findall(form)]
    if form.startswith("["):
        entry: dict[str, Any] = {"type": "string"}
        return {"type": "array", "items": entry | ({"enum": labels} if labels else {})}
    return {"type": "string"} | ({"enum": labels} if len(labels) > 1 else {})
