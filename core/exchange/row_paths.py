"""What a path leads to in a row.

A path is names joined by dots; a number is a place in a list (-1: the last). Texts that hold JSON are read on
the way, not at the end: the text of a message stays as it is, unless the path ends in “~”, “#” or “?”.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from concord.conversation import Role
from concord.exchange.embedded_text import chat, parsed, talk
from concord.files import parse_json

Paths = tuple[str, ...]
JSON_TEXT = "~"
"""The end of a path to a text that is written as JSON."""
TALK = "#"
"""The end of a path to a text that is a whole dialogue: “Human: … Assistant: …”."""
CHAT = "?"
"""The end of a path to a text that may be messages with roles, written as JSON, and is itself otherwise."""


def value_at(value: Any, path: str) -> Any:
    """What a path leads to in a row; None where it leads nowhere, or to null or an empty text."""
    if type(value) is dict and path:
        if path in value:
            return None if (inside := value[path]) == "" else inside
        for name, rest in _splits(path):
            inside = value.get(name)
            if inside is not None and (inner := value_at(inside, rest)) is not None:
                return inner
        return None
    if isinstance(value, str) and path and value.lstrip()[:1] in ("{", "["):
        try:
            value = parse_json(value)
        except ValueError:
            return None
    if not path:
        return None if value == "" else value
    if isinstance(value, Mapping) and path in value:
        return value_at(value[path], "")
    for name, rest in _splits(path):
        if (inside := _step(value, name)) is not None and (inner := value_at(inside, rest)) is not None:
            return inner
    return _step(value, path)


@cache
def _splits(path: str) -> tuple[tuple[str, str], ...]:
    """The ways to divide a path into a name and the rest."""
    dots = (place for place, sign in enumerate(path) if sign == ".")
    return tuple((path[:place], path[place + 1 :]) for place in dots)


@cache
def _heads(paths: Paths) -> frozenset[str]:
    """The names under which one of these paths may begin in an object."""
    bare = {path.rstrip(JSON_TEXT + TALK + CHAT) for path in paths}
    return frozenset(bare | {head for path in bare for head, _ in _splits(path)})


def absent(fields: Any, paths: Paths) -> bool:
    """Whether an object has no field at which one of the paths may begin: most rows lack most of them."""
    return type(fields) is dict and "" not in paths and _heads(paths).isdisjoint(fields)


def _step(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str) and name.removeprefix("-").isdecimal():
        place = int(name[:9])
        return value[place] if -len(value) <= place < len(value) else None
    return None


def first(value: Any, paths: Paths) -> Any:
    """What the first of the paths leads to that leads to something; None where none does."""
    return next((inside for path in paths if (inside := value_at(value, path)) is not None), None)


def part_at(fields: Any, paths: Paths, role: Role) -> tuple[str, Any]:
    """The first of the paths of a `Side` that leads to something, and what it leads to; ("", None) if none.

    Texts stay as they are; one that is marked as JSON is what it holds, if it is JSON.
    """
    if absent(fields, paths):
        return "", None
    for marked in paths:
        path = marked.rstrip(JSON_TEXT + TALK + CHAT)
        if (value := value_at(fields, path)) is not None:
            if marked.endswith(TALK):
                return path, talk(value)
            if marked.endswith(CHAT):
                return path, chat(value, role)
            return path, parsed(value) if path != marked else value
    return "", None
