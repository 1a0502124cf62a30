"""Reads a prompt for a mock resident: who it is, what it remembers, what is going on.

Made for the shipped prompts, the town's templates and the mock's own sentences; what is not found is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.mock.call import Call
from tests.mock.material import load, read

DATE, TIME = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d"
PLACE, NAME = r"[A-Z][\w'’&é.: -]*?", r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)*"
SHAPES: Mapping[str, str] = {
    "what": r"[^.;?]+?",
    "what2": r"[^.;?]+?",
    "place": PLACE,
    "place2": PLACE,
    "day": rf"today|tomorrow|on {DATE}",
    "date": DATE,
    "time": TIME,
    "host": NAME,
    "whom": NAME,
    "first": NAME,
    "answer": "yes|no",
}
"""The patterns of slots, for reading a line back."""


@dataclass(frozen=True)
class Affair:
    """Something people are asked to: an event, a meeting, an errand. What was not said is empty."""

    kind: str
    what: str = ""
    host: str = ""
    place: str = ""
    date: str = ""
    time: str = ""
    whom: str = ""
    what2: str = ""
    place2: str = ""
    answer: str = ""

    @property
    def online(self) -> bool:
        """Whether people take part from anywhere."""
        return "online" in self.what or "stream" in self.what

    def with_(self, said: Mapping[str, str]) -> Affair:
        """The affair with its empty fields filled from `said`."""
        return replace(self, **{name: text for name, text in said.items() if vars(self).get(name) == ""})


@dataclass(frozen=True)
class Persona:
    """The resident of a prompt's portrait, and their own affair if they have a task."""

    name: str
    wakes: str
    sleeps: str
    home: str
    work: str
    hours: tuple[str, str]
    knows: Mapping[str, str]
    """Acquaintances and where they work."""
    affair: Affair | None


def lines() -> dict[str, Any]:
    """The material for conversations and notes."""
    return load("stss", "en", "talk")


def hears(pool: Iterable[str], text: str) -> dict[str, str] | None:
    """The slots of the first line of the pool that the text says; None if it says none."""
    return next((found for line in pool if (found := read(line, text, SHAPES)) is not None), None)


def prompt_of(call: Call) -> str:
    """The first message; after an unusable reply there are more."""
    return next((m.content for m in call.messages if m.role == "user"), "")


def persona_of(text: str) -> Persona:
    """The portrait at the head of a prompt."""
    # Reversed, so that of several such lines the first one counts.
    found = re.findall(r"(?m)^(Name|At present|Usually up from|Home|Work|Knows):? (.+)$", text)[::-1]
    said = {label: value.strip() for label, value in found}
    name, home, currently = (said.get(label, "") for label in ("Name", "Home", "At present"))
    wakes, sleeps = said.get("Usually up from", "07:00 to 23:00").split(" to ")
    work, _, hours = said.get("Work", ", 09:00 to 17:00").rpartition(", ")
    opens, closes = hours.split(" to ")
    knows = re.finditer(r"([^;(]+) \([^;)]*?(?:, works at ([^;)]+))?\)", said.get("Knows", ""))
    acquaintances = {m[1].strip(): m[2] or "" for m in knows}
    tasks = lines()["tasks"].items()
    own = ((kind, heard) for kind, pool in tasks if (heard := hears(pool, currently)) is not None)
    affair = next((Affair(kind, host=name).with_(heard) for kind, heard in own), None)
    return Persona(name, wakes, sleeps, home, work, (opens, closes), acquaintances, affair)


def section(text: str, heading: str) -> list[str]:
    """The lines under a heading that ends in a colon, up to the next empty line, without list marks."""
    found = re.search(rf"^{re.escape(heading)}[^\n]*:[ \t]*\n((?:.+\n?)*)", text, re.M)
    return [line.removeprefix("- ").strip() for line in found[1].splitlines()] if found else []


def remembered(text: str) -> list[str]:
    """The memories in a prompt, without their times."""
    return [re.sub(r"^\[[^\]]*\] ", "", line) for line in section(text, "What you remember")]


def affairs(memories: Iterable[str]) -> Iterator[Affair]:
    """What others have asked for, as noted in memories."""
    notes = lines()["notes"]
    for memory in memories:
        each = ((kind, hears(notes[kind], memory)) for kind in ("help", "meet", "gather"))
        yield from [Affair(kind).with_(found) for kind, found in each if found is not None][:1]


def own_notes(memories: Iterable[str]) -> list[dict[str, str]]:
    """Notes on having asked others: whom, what they answered, the place and time that were settled."""
    notes = lines()["notes"]["own"]
    return [found for memory in memories if (found := hears(notes, memory)) is not None]


def dialogue(text: str) -> list[tuple[str, str]]:
    """The conversation in a prompt, as (speaker, text)."""
    said = section(text, "The conversation so far") or section(text, "It is")
    pairs = (line.partition(": ") for line in said if not line.startswith("("))
    return [(speaker, spoken) for speaker, colon, spoken in pairs if colon]


def day_of(text: str) -> str:
    """The date of the prompt."""
    begins = re.search(r"^(?:The day|It is|Today is)\b.*$", text[max(0, text.rfind("The day")) :], re.M)
    found = re.search(DATE, begins[0] if begins else text)
    return found[0] if found else ""


def hour_of(text: str) -> str:
    """The time of the prompt."""
    found = re.search(rf"^It is ({TIME}) on", text, re.M)
    return found[1] if found else "00:00"
