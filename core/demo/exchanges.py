"""What kinds of endpoints refuse and answer, as data/exchanges.toml has it, for the mock server to play."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from concord.errors import check_known
from concord.files import SHIPPED, kept_toml

Body = Mapping[str, Any]


class Refused(NamedTuple):
    """An answer of an error: its status, and its body as text."""

    status: int
    body: str


@dataclass(frozen=True)
class Exchange:
    """What one kind of endpoint refuses, in this order, and what its answers have beside the reply."""

    refuses: tuple[Mapping[str, Any], ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)

    def refused(self, body: Body, api_version: str = "") -> Refused | None:
        """The error that answers a request; None where nothing of it is refused."""
        sent = {**body, "": api_version}
        for rule in self.refuses:
            if all(_CONDITIONS[name](sent, value) for name, value in rule["when"].items()):
                return Refused(int(rule.get("status", 400)), _filled(rule, body))
        return None

    def answered(self, completion: Mapping[str, Any]) -> dict[str, Any]:
        """A completion with what this kind of endpoint puts beside the reply."""
        first, *others = completion["choices"]
        choice = {**first, "message": {**first["message"], **self.message}}
        return {**completion, **self.answer, "choices": [choice, *others]}


def exchanges() -> Mapping[str, Exchange]:
    """The exchanges by kind of endpoint."""
    kinds = kept_toml(SHIPPED / "data" / "exchanges.toml")
    return {
        name: Exchange(**{**kind, "refuses": tuple(kind.get("refuses", ()))}) for name, kind in kinds.items()
    }


def exchange(name: str) -> Exchange:
    """The exchange of a kind of endpoint; “” refuses nothing. Raises NotFound."""
    if not name:
        return Exchange()
    known = exchanges()
    check_known("kind of endpoint", name, known)
    return known[name]


def _at(body: Body, path: str) -> Any:
    """The value at a path such as “response_format.json_schema”; None where there is none."""
    value: Any = body
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _schema(body: Body) -> Mapping[str, Any]:
    schema = _at(body, "response_format.json_schema.schema")
    return schema if isinstance(schema, Mapping) else {}


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema in it."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for name, value in schema.items():
        if name in ("properties", "$defs") and isinstance(value, Mapping):
            for inner in value.values():
                yield from _parts(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from _parts(inner)
        else:
            yield from _parts(value)


def _keyword(body: Body, keywords: list[str]) -> bool:
    return any(keyword in part for part in _parts(_schema(body)) for keyword in keywords)


def _integer_enums(body: Body, wanted: bool) -> bool:
    listed = any(isinstance(value, int) for part in _parts(_schema(body)) for value in part.get("enum", ()))
    return listed is wanted


def _system(body: Body, wanted: bool) -> bool:
    return any(message.get("role") == "system" for message in body.get("messages", ())) is wanted


def _said(body: Body, words: str) -> bool:
    return any(words in str(message.get("content")) for message in body.get("messages", ()))


def _each(compare: Callable[[Any, Any], bool]) -> Callable[[Body, Mapping[str, Any]], bool]:
    """Whether every parameter of a rule compares so with its value."""
    return lambda body, values: all(compare(body.get(name), value) for name, value in values.items())


_CONDITIONS: Mapping[str, Callable[[Body, Any], bool]] = {
    "has": lambda body, paths: all(_at(body, path) is not None for path in paths),
    "keywords": _keyword,
    "integer_enums": _integer_enums,
    "format": lambda body, types: _at(body, "response_format.type") in types,
    "system": _system,
    "other_than": _each(lambda sent, value: sent is not None and sent != value),
    "equals": _each(lambda sent, value: sent is not None and sent == value),
    "above": _each(lambda sent, value: sent is not None and sent > value),
    "lacks": _each(lambda sent, value: sent is None or sent is not value),
    "version_before": lambda body, version: body[""] < version,
    "words": _said,
}
"""What a rule of a refusal may ask of a request."""


def _filled(rule: Mapping[str, Any], body: Body) -> str:
    """The body of an error with the model, and the first parameter that the rule is about, put in."""
    about = next(
        (of for name, of in rule["when"].items() if name in ("has", "other_than", "above", "equals")), ()
    )
    name = next(iter(about), "")
    value = _at(body, "response_format.type") if "format" in rule["when"] else body.get(name)
    text: str = rule["body"]
    for place, filled in (("{model}", body.get("model")), ("{name}", name), ("{value}", value)):
        said = filled if isinstance(filled, str) else json.dumps(filled)
        text = text.replace(place, json.dumps(said)[1:-1])
    return text
