"""Sentence material: TOML files of lines with slots, and the engine that fills a line and reads it back.

A line holds slots such as `{name}`. A part in square brackets is left out where one of its slots is empty:
`I am holding {what}[ at {place}].` The same lines serve to say something and to recognise it later.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import read_toml

DATA = Path(__file__).parent / "data"
SLOT = re.compile(r"\{(\w+)\}")
LONG = re.compile(r"\w{5,}")
OPTIONAL = re.compile(r"\[([^][]*)\]")

Slots = Mapping[str, str]


@cache
def load(benchmark: str, language: str, name: str) -> dict[str, Any]:
    """The content of `tests/mock/data/<benchmark>/<language>/<name>.toml`. Raises ConfigError.

    `slots` at the top names the slots that lines may use. Every list of strings is a list of lines.
    """
    path = DATA / benchmark / language / f"{name}.toml"
    content = read_toml(path)
    known = frozenset(content.pop("slots", ()))
    for lines in lists_in(content):
        if not lines or not all(isinstance(line, str) and line.strip() for line in lines):
            raise ConfigError(f"{path} has an empty list or line. Remove it.")
        if len(set(lines)) < len(lines):
            raise ConfigError(f"{path} has a line twice in one list. Remove one: “{lines[0]}” …")
        if unknown := {slot for line in lines for slot in SLOT.findall(line)} - known:
            raise ConfigError(f"{path} uses slots that `slots` does not name: {', '.join(sorted(unknown))}.")
    return content


def lists_in(content: Any) -> Iterable[list[str]]:
    """Every list of lines in loaded material, at whatever depth."""
    if isinstance(content, list) and all(isinstance(value, str) for value in content):
        yield content
    elif isinstance(content, list | Mapping):
        for value in content.values() if isinstance(content, Mapping) else content:
            yield from lists_in(value)


def fill(line: str, slots: Slots) -> str | None:
    """The line with its slots filled; None where a slot outside brackets is empty."""

    def empty(part: str) -> bool:
        return not all(slots.get(slot) for slot in SLOT.findall(part))

    shown = OPTIONAL.sub(lambda part: "" if empty(part[1]) else part[1], line)
    return None if empty(shown) else SLOT.sub(lambda slot: slots[slot[1]], shown)


def pick(lines: Sequence[str], rng: random.Random, slots: Slots | None = None, before: str = "") -> str:
    """One of the lines, filled, if possible one that `before` does not say; "" where none can be filled."""
    able = {line: said for line in lines if (said := fill(line, slots or {})) is not None}
    return rng.choice([able[line] for line in fresh(list(able), before)] or list(able.values()) or [""])


def fresh(lines: Sequence[str], before: str) -> list[str]:
    """The lines that `before` does not say: neither literally nor most of their longer words."""
    before = before.lower()
    said = frozenset(LONG.findall(before))
    return [line for line in lines if not (_core(line) in before or _mostly(line, said))]


def _mostly(line: str, said: frozenset[str]) -> bool:
    known = [word in said for word in set(LONG.findall(SLOT.sub(" ", line.lower())))]
    return len(known) > 3 and sum(known) > 0.6 * len(known)


@cache
def _core(line: str) -> str:
    """The longest run of words between the slots of a line."""
    return max(re.split(r"\{\w+\}|[][]", line), key=len).strip().lower()


def read(line: str, text: str, shapes: Slots) -> dict[str, str] | None:
    """What the slots of a line hold in `text`, by the slots' patterns `shapes`; None without the line."""
    found = _pattern(line, tuple(shapes.items())).search(text)
    return {slot: said.strip() for slot, said in found.groupdict().items() if said} if found else None


@cache
def _pattern(line: str, shapes: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    known = dict(shapes)
    parts = re.split(r"(\{\w+\}|[][])", line)
    signs = {"[": "(?:", "]": ")?"}
    pattern = (
        f"(?P<{p[1:-1]}>{known[p[1:-1]]})" if SLOT.fullmatch(p) else signs.get(p) or re.escape(p)
        for p in parts
    )
    return re.compile("".join(pattern))


def pieces(mark: str, text: str) -> list[tuple[re.Match[str], str]]:
    """Each match of `mark`, with the text from its end to the next match or the end."""
    marks = list(re.finditer(mark, text))
    ends = [found.start() for found in marks[1:]] + [len(text)]
    return [(found, text[found.end() : end]) for found, end in zip(marks, ends, strict=False)]
