"""JSON values in the text of a reply: where each stands, and what looks like one and is none."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from concord.llm.surrogates import paired

MOST_VALUES = 50
"""Lists and objects of JSON that are looked at in one reply."""
_BEGINS = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*["'{])""")
"""Where a JSON value begins; braces in prose do not."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.S)
_SPACE = r"[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]"
_SPACES = re.compile(_SPACE)
_STRINGS_AND_SPACES = re.compile(rf'"(?:[^"\\]|\\.)*+"|{_SPACE}', re.S)


class JsonValue(NamedTuple):
    """A list or an object in a text, from `start` to `end`; where it cannot be read, `problem` says why.

    `unclosed` says that something before it began as JSON and never ended: it may be a part of that.
    """

    start: int
    end: int
    value: Any = None
    problem: str = ""
    unclosed: bool = False


def values(text: str) -> Iterator[JsonValue]:
    """The JSON values of a text that are inside no other one, in their order; at most MOST_VALUES, and one
    more. It takes time proportional to the length of the text.

    Of what cannot be read nothing is guessed: it is passed over up to the bracket that closes it. Where none
    does, what was read of it is passed over.
    """
    position = count = 0
    unclosed = False
    while count <= MOST_VALUES and (begins := _BEGINS.search(text, position)):
        count += 1
        start = begins.start()
        try:
            value, position = decoded_at(text, start)
        except (ValueError, RecursionError) as error:
            end = None if unclosed else _closed(text, start)
            unclosed = unclosed or end is None
            position = end or max(start + 1, getattr(error, "pos", len(text)))
            yield JsonValue(start, position, problem=f"It holds a JSON value that cannot be read: {error}.")
        else:
            yield JsonValue(start, position, value, unclosed=unclosed)


def decoded_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins there, and where it ends. Raises ValueError or RecursionError.

    Spaces of other kinds between its parts, such as no-break spaces, are taken as spaces.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if not _SPACES.match(text, error.pos):
            raise
        plain = _STRINGS_AND_SPACES.sub(lambda part: " " if len(part[0]) == 1 else part[0], text[start:])
        value, end = _DECODER.raw_decode(plain)
        end += start
    if "\\ud" in text[start:end].lower():
        value = json.loads(paired(json.dumps(value, ensure_ascii=False)))
    return value, end


def _closed(text: str, start: int) -> int | None:
    """Behind the bracket that closes the one that stands there; None where none does."""
    depth = 0
    for bracket in _BRACKETS.finditer(text, start):
        if bracket[0] in "{[":
            depth += 1
        elif bracket[0] in "}]":
            depth -= 1
            if not depth:
                return bracket.end()
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields have one value each."""
    fields = dict(pairs)
    if len(fields) < len(pairs) and any(fields[name] != value for name, value in pairs):
        raise ValueError("a field has two values")
    return fields


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_no_number)
