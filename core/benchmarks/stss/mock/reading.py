"""Reads a prompt for a mock resident: who it is, what it remembers, what is going on.

Made for the shipped prompts, the town's templates and the mock's own sentences; what is not found is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from core.benchmarks.stss.generative import THOUGHTS
from core.benchmarks.stss.goals import Verdict
from core.demo.mock.call import Call
from core.demo.mock.material import load, read

# Each thought by the fields of its reply. A revision has those of a schedule and is told by its prompt.
REPLIES = {name: reply for name, reply in THOUGHTS.items() if name != "revision"} | {"goals": Verdict}
FIELDS = {name: frozenset(reply.model_fields) for name, reply in REPLIES.items()}
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
        named = {field.name for field in fields(self)}
        return replace(self, **{k: v for k, v in said.items() if k in named and not getattr(self, k)})


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

    def works_at(self, time: str) -> bool:
        """Whether this is working time."""
        return bool(time) and self.hours[0] <= time < self.hours[1]


def lines() -> dict[str, Any]:
    """The material for conversations and notes."""
    return load("stss", "en", "talk")


def hears(pool: Iterable[str], text: str) -> dict[str, str] | None:
    """The slots of the first line of the pool that the text says; None if it says none."""
    return next((found for line in pool if (found := read(line, text, SHAPES)) is not None), None)


def thought_of(call: Call) -> str | None:
    """The thought asked for, by the fields of the schema, or without one by those that the prompt shows."""
    named = frozenset(call.fields)

    def asks(wanted: frozenset[str]) -> bool:
        return named == wanted if named else all(f'"{name}":' in call.asked for name in wanted)

    thought = next((thought for thought, wanted in FIELDS.items() if asks(wanted)), None)
    return "revision" if thought == "schedule" and "What happened:" in call.asked else thought


def prompt_of(call: Call) -> str:
    """The first message; after an unusable reply there are more."""
    return next((m.content for m in call.messages if m.role == "user"), "")


def persona_of(text: str) -> Persona:
    """The portrait at the head of a prompt."""
    name, currently = _line("Name", text), _line("At present", text)
    usual = re.search(rf"^Usually up from ({TIME}) to ({TIME})", text, re.M)
    work = re.search(rf"^Work: (.+), ({TIME}) to ({TIME})$", text, re.M)
    knows = re.finditer(r"([^;(]+) \([^;)]*?(?:, works at ([^;)]+))?\)", _line("Knows", text))
    tasks = lines()["tasks"].items()
    own = ((kind, found) for kind, pool in tasks if (found := hears(pool, currently)) is not None)
    kind, found = next(own, ("", {}))
    return Persona(
        name,
        usual[1] if usual else "07:00",
        usual[2] if usual else "23:00",
        _line("Home", text),
        work[1] if work else "",
        (work[2], work[3]) if work else ("09:00", "17:00"),
        {m[1].strip(): m[2] or "" for m in knows},
        Affair(kind, host=name).with_(found) if kind else None,
    )


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


def partner_of(text: str) -> str:
    """The other resident in a prompt."""
    begins = r"^(?:You are talking with|In the same room:|It is .* You have talked with) ([^(,:\n]+)"
    found = re.search(begins, text, re.M)
    return found[1].strip() if found else ""


def day_of(text: str) -> str:
    """The date of the prompt."""
    begins = re.search(r"^(?:The day|It is|Today is)\b.*$", text[max(0, text.rfind("The day")) :], re.M)
    found = re.search(DATE, begins[0] if begins else text)
    return found[0] if found else ""


def hour_of(text: str) -> str:
    """The time of the prompt."""
    found = re.search(rf"^It is ({TIME}) on", text, re.M)
    return found[1] if found else "00:00"


def _line(label: str, text: str) -> str:
    found = re.search(rf"^{label}: (.+)$", text, re.M)
    return found[1].strip() if found else ""
