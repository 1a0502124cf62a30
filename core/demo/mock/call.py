"""One chat-completion request, checked: Call, and the sentence that says what is wrong with a bad one."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from core.conversation import Message, Role
from core.demo.mock.schemas import Schema, resolve

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
}

Answer = str | Mapping[str, Any] | None
"""What a slice's mock replies: text, the fields of a JSON object, or None for a request that is not its own."""


class BadCall(ValueError):
    """A request the protocol does not allow; `param` is the field at fault."""

    def __init__(self, message: str, param: str | None = None):
        super().__init__(message)
        self.param = param


@dataclass(frozen=True)
class Call:
    """What a persona sees of a request. `replies` is how the answer was asked for; `schema` only with json_schema."""

    model: str
    messages: tuple[Message, ...]
    replies: Literal["text", "json_object", "json_schema"] = "text"
    schema: Schema | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int = 0
    """The server's."""
    own_seed: object = None
    """The request's, where it has one."""

    @cached_property
    def asked(self) -> str:
        """Everything said to the model, without its own earlier replies."""
        return "\n\n".join(m.content for m in self.messages if m.role != "assistant")

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The fields that the reply must have, by name; empty where no schema was sent."""
        fields = resolve(self.schema or {}, self.schema or {}).get("properties")
        return fields if isinstance(fields, dict) else {}

    @cached_property
    def wants_json(self) -> bool:
        """Whether the reply is to be JSON: by the request's format, or as the prompt says."""
        return self.replies != "text" or bool(re.search(r"\breply with (?:one|the) JSON\b", self.asked, re.I))

    def names(self, field: str) -> bool:
        """Whether the reply is to have this field: by the schema, or where none was sent as the prompt shows it."""
        return field in self.fields if self.fields else f'"{field}"' in self.asked

    def rng(self, *salt: object) -> random.Random:
        """Chance that depends on both seeds, the model and the whole of the messages."""
        return self._random(self.messages, (self.own_seed, *salt))

    def steady_rng(self, *salt: object) -> random.Random:
        """Chance that depends on how the conversation began alone, so that it stays the same through it."""
        return self._random(self.messages[: 2 if self.messages[0].role == "system" else 1], salt)

    def _random(self, messages: tuple[Message, ...], salt: tuple[object, ...]) -> random.Random:
        said = [(m.role, m.content) for m in messages]
        text = json.dumps([self.seed, self.model, said, [str(s) for s in salt]], ensure_ascii=False)
        return random.Random(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def read_call(body: bytes, seed: int = 0) -> Call:
    """The request in `body`, or BadCall with a sentence that names the field and what is expected of it."""
    try:
        data = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadCall(f"The request's body is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise BadCall("The request's body must be a JSON object.")
    model = data.get("model")
    if not isinstance(model, str) or not model:
        raise BadCall("The request must name a model.", "model")
    if data.get("stream"):
        raise BadCall(
            "Streaming is not offered by the mock server; send the request without `stream`.", "stream"
        )
    if data.get("n", 1) not in (1, None):
        raise BadCall("The mock server gives one choice per request; leave `n` out.", "n")
    _check_number(data, "temperature", 0, 2)
    _check_number(data, "top_p", 0, 1)
    limit = "max_completion_tokens" if data.get("max_completion_tokens") is not None else "max_tokens"
    _check_number(data, limit, 1, None)
    messages = _messages(data.get("messages"))
    replies, schema = _response_format(data.get("response_format"), messages)
    return Call(
        model=model,
        messages=messages,
        replies=replies,
        schema=schema,
        max_tokens=data.get(limit),
        stop=_stop(data.get("stop")),
        seed=seed,
        own_seed=data.get("seed"),
    )


def _check_number(data: dict[str, Any], name: str, low: float, high: float | None) -> None:
    value = data.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadCall(f"`{name}` must be a number.", name)
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise BadCall(f"`{name}` must be {bounds}, not {value}.", name)


def _messages(value: object) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        raise BadCall("`messages` must be a list with at least one message.", "messages")
    messages = []
    for position, item in enumerate(value):
        where = f"messages[{position}]"
        if not isinstance(item, dict):
            raise BadCall(f"{where} must be an object with `role` and `content`.", where)
        role = ROLES.get(str(item.get("role")))
        if role is None:
            raise BadCall(
                f"{where}.role must be one of {', '.join(ROLES)}, not {item.get('role')!r}.", f"{where}.role"
            )
        messages.append(Message(role, _text(item.get("content"), where)))
    if all(m.role == "assistant" for m in messages):
        raise BadCall(
            "`messages` holds only the model's own replies; there is nothing to answer.", "messages"
        )
    return tuple(messages)


def _text(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        if all(isinstance(part, str) for part in parts):
            return "\n".join(str(part) for part in parts)
    raise BadCall(f"{where}.content must be text, or a list of parts with text.", f"{where}.content")


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    stops = [value] if isinstance(value, str) else value
    if isinstance(stops, list) and len(stops) <= 4 and all(isinstance(s, str) for s in stops):
        return tuple(s for s in stops if s)
    raise BadCall("`stop` must be a text or a list of at most four.", "stop")


def _response_format(
    value: object, messages: tuple[Message, ...]
) -> tuple[Literal["text", "json_object", "json_schema"], Schema | None]:
    if value is None:
        return "text", None
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return "text", None
    if kind == "json_object":
        if not any("json" in m.content.lower() for m in messages):
            raise BadCall("With response_format json_object the messages must mention JSON.", "messages")
        return "json_object", None
    if kind != "json_schema" or not isinstance(value, dict):
        raise BadCall(
            "response_format.type must be text, json_object or json_schema.", "response_format.type"
        )
    described = value.get("json_schema")
    schema = described.get("schema") if isinstance(described, dict) else None
    if (
        not isinstance(described, dict)
        or not isinstance(schema, dict)
        or not isinstance(described.get("name"), str)
    ):
        raise BadCall(
            "response_format.json_schema needs a `name` and a `schema`.", "response_format.json_schema"
        )
    if described.get("strict"):
        _check_strict(schema)
    return "json_schema", schema


def _check_strict(schema: Schema) -> None:
    """The two rules of strict schemas that are most often broken: objects are closed, and all their fields required."""
    for part in _parts(schema):
        fields = part.get("properties")
        if not isinstance(fields, dict):
            continue
        if part.get("additionalProperties") is not False:
            raise BadCall(
                "A strict schema's objects need `additionalProperties: false`.", "response_format.json_schema"
            )
        missing = sorted(set(fields) - set(part.get("required", ())))
        if missing:
            raise BadCall(
                f"A strict schema must require every field; missing: {', '.join(missing)}.",
                "response_format.json_schema",
            )


def _parts(schema: object) -> Iterator[Schema]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _parts(value)
