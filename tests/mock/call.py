"""One chat-completion request, checked: Call, and the sentence that says what is wrong with a bad one."""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from concord.conversation import Message, Role
from concord.llm.schemas import Schema, resolve

ROLES: dict[str, Role] = {name: name for name in get_args(Role)} | {"developer": "system", "tool": "user"}
Replies = Literal["text", "json_object", "json_schema"]
Answer = str | Mapping[str, Any] | None
"""What a slice's mock replies: text, the fields of a JSON object, or None for a request not made for it."""


class BadCall(ValueError):
    """A request the protocol does not allow; `param` is the field at fault."""

    def __init__(self, message: str, param: str | None = None):
        super().__init__(message)
        self.param = param


@dataclass(frozen=True)
class Call:
    """What a persona sees of a request. `replies` is the format; json_schema comes with `schema`."""

    model: str
    messages: tuple[Message, ...]
    replies: Replies = "text"
    schema: Schema | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int = 0  # the server's
    own_seed: object = None  # the request's, where it has one

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
        """Whether the reply is to be JSON: by the request's format, or because the prompt says so."""
        return self.replies != "text" or bool(re.search(r"\breply with (?:one|the) JSON\b", self.asked, re.I))

    def names(self, field: str) -> bool:
        """Whether the reply is to have this field: by the schema, else by the prompt."""
        return field in self.fields if self.fields else f'"{field}"' in self.asked

    def rng(self, *salt: object) -> random.Random:
        """Chance that depends on both seeds, the model and all messages."""
        return self._random(self.messages, (self.own_seed, *salt))

    def steady_rng(self, *salt: object) -> random.Random:
        """Chance that depends on how the conversation began, and so stays the same throughout it."""
        return self._random(self.messages[: 2 if self.messages[0].role == "system" else 1], salt)

    def _random(self, messages: tuple[Message, ...], salt: tuple[object, ...]) -> random.Random:
        said = [(m.role, m.content) for m in messages]
        text = json.dumps([self.seed, self.model, said, [str(s) for s in salt]], ensure_ascii=False)
        return random.Random(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a request's body. Raises BadCall."""
    try:
        data = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadCall(f"The request's body is not JSON: {error}.") from None
    require(isinstance(data, dict), "The request's body must be a JSON object.")
    return dict(data)


def read_call(data: Mapping[str, Any], seed: int = 0) -> Call:
    """The request in a body's object. Raises BadCall, which names the field and what is expected of it."""
    model, stops = str(data.get("model") or ""), data.get("stop") or []
    require(model, "The request must name a model.", "model")
    require(not data.get("stream"), "Streaming is not offered; send the request without `stream`.", "stream")
    require(data.get("n", 1) in (1, None), "There is one choice per request; leave `n` out.", "n")
    limit = "max_completion_tokens" if data.get("max_completion_tokens") is not None else "max_tokens"
    for name, low, high in (("temperature", 0, 2), ("top_p", 0, 1), (limit, 1, None)):
        if (value := data.get(name)) is not None:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            require(number, f"`{name}` must be a number.", name)
            bounds = f"at least {low}" if high is None else f"between {low} and {high}"
            fine = low <= value and (high is None or value <= high)
            require(fine, f"`{name}` must be {bounds}, not {value}.", name)
    stops = [stops] if isinstance(stops, str) else stops
    fine = isinstance(stops, list) and len(stops) <= 4 and all(isinstance(stop, str) for stop in stops)
    require(fine, "`stop` must be a text or a list of at most four.", "stop")
    messages = _messages(data.get("messages"))
    replies, schema = _response_format(data.get("response_format") or {"type": "text"}, messages)
    stop = tuple(filter(None, stops))
    return Call(model, messages, replies, schema, data.get(limit), stop, seed, data.get("seed"))


def require(fine: object, message: str, param: str | None = None) -> None:
    """Raises BadCall unless the request is fine."""
    if not fine:
        raise BadCall(message, param)


def _messages(value: Any) -> tuple[Message, ...]:
    require(
        isinstance(value, list) and value, "`messages` must be a list with at least one message.", "messages"
    )
    messages = []
    for position, item in enumerate(value):
        where = f"messages[{position}]"
        require(isinstance(item, dict), f"{where} must be an object with `role` and `content`.", where)
        role, content = item.get("role"), item.get("content")
        known = f"{where}.role must be one of {', '.join(ROLES)}, not {role!r}."
        require(isinstance(role, str) and role in ROLES, known, f"{where}.role")
        parts = content if isinstance(content, list) else [{"text": content}]
        parts = [part for part in parts if not (isinstance(part, dict) and part.get("type") == "image_url")]
        texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
        fine = all(isinstance(text, str) for text in texts)
        require(fine, f"{where}.content must be text, or a list of parts with text.", f"{where}.content")
        messages.append(Message(ROLES[role], "\n".join(map(str, texts))))
    asked = any(m.role != "assistant" for m in messages)
    require(asked, "`messages` holds only the model's own replies: nothing to answer.", "messages")
    return tuple(messages)


def _response_format(value: Any, messages: Sequence[Message]) -> tuple[Replies, Schema | None]:
    where = "response_format"
    kind: Any = value.get("type") if isinstance(value, dict) else None
    known = f"{where}.type must be text, json_object or json_schema."
    require(kind in get_args(Replies), known, f"{where}.type")
    if kind == "json_object":
        said = any("json" in m.content.lower() for m in messages)
        require(said, "With response_format json_object the messages must mention JSON.", "messages")
    if kind != "json_schema":
        return kind, None
    where = f"{where}.json_schema"
    described = value.get("json_schema")
    schema = described.get("schema") if isinstance(described, dict) else None
    fine = isinstance(schema, dict) and isinstance(described.get("name"), str)
    require(fine, f"{where} needs a `name` and a `schema`.", where)
    for part in _objects(schema) if described.get("strict") else ():
        # The two rules of strict schemas that are most often broken.
        closed = part.get("additionalProperties") is False
        require(closed, "A strict schema's objects need `additionalProperties: false`.", where)
        missing = ", ".join(sorted(set(part["properties"]) - set(part.get("required", ()))))
        require(not missing, f"A strict schema must require every field; missing: {missing}.", where)
    return kind, schema


def _objects(schema: object) -> Iterator[Schema]:
    """Every object with fields in a schema, at whatever depth."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for value in schema:
            yield from _objects(value)
