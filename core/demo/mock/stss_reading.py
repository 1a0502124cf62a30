"""What a mock resident of the town understands of the prompt for a thought: who it is, what it remembers, what is going on.

Made for the sentences of the shipped prompts, templates and of the mock models themselves; what cannot be found is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from core.demo.mock.call import Call
from core.demo.mock.reading import fields_asked

Thought = Literal[
    "outline",
    "schedule",
    "approach",
    "utterance",
    "summary",
    "revision",
    "tdp_plan",
    "tdp_day",
    "tdp_talk",
    "goals",
]
Kind = Literal["gather", "meet", "join", "help"]

# Each thought by the fields of its reply; a revision replies like a schedule and is told from it by its prompt.
FIELDS: dict[Thought, frozenset[str]] = {
    "outline": frozenset({"wake", "plan"}),
    "schedule": frozenset({"actions"}),
    "approach": frozenset({"reason", "talk"}),
    "utterance": frozenset({"utterance", "done"}),
    "summary": frozenset({"summary", "importance", "changes_today"}),
    "tdp_plan": frozenset({"steps"}),
    "tdp_day": frozenset({"reminder"}),
    "tdp_talk": frozenset({"items"}),
    "goals": frozenset({"conversation", "own_summary", "naturalness", "rationality", "quality"}),
}
DATE, TIME, PLACE = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d", r"[A-Z][\w'’&é.: -]*?"

TASKS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("join", re.compile(rf"wants to find company for (?P<what>.+?) at (?P<place>{PLACE}) at some time on (?P<date>{DATE})")),
    ("meet", re.compile(rf"wants to meet (?P<whom>[\w' -]+?) for (?P<what>.+?) at some time on (?P<date>{DATE})")),
    ("gather", re.compile(rf"wants to hold (?P<what>.+?)(?: at (?P<place>{PLACE}))? on (?P<date>{DATE}) at (?P<time>{TIME})")),
    (
        "help",
        re.compile(
            rf"cannot get away on (?P<date>{DATE}) and wants somebody else to (?P<what>.+?) at (?P<place>{PLACE}) and then "
            rf"(?P<what2>.+?) to (?P<place2>{PLACE})\.?$",
            re.M,
        ),
    ),
)  # fmt: skip

# How mock models write down what they heard, so that they can read it again a day later.
NOTED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "help",
        re.compile(
            rf"(?P<host>[\w' -]+?) asked me for help: (?P<what>[^;]+?)(?: at (?P<place>{PLACE}))?"
            rf"(?:, then (?P<what2>[^;]+?)(?: to (?P<place2>{PLACE}))?)?(?:, on (?P<date>{DATE}))?; I said (?P<answer>yes|no)\."
        ),
    ),
    (
        "meet",
        re.compile(
            rf"(?P<host>[\w' -]+?) and I meet for (?P<what>[^;]+?)(?: at (?P<place>{PLACE}))?(?: on (?P<date>{DATE}))?(?: at (?P<time>{TIME}))?; "
            r"I said (?P<answer>yes|no)\."
        ),
    ),
    (
        "gather",
        re.compile(
            rf"(?P<host>[\w' -]+?) invited me to (?P<what>[^;]+?)(?: at (?P<place>{PLACE}))?(?: on (?P<date>{DATE}))?(?: at (?P<time>{TIME}))?; "
            r"I said (?P<answer>yes|no)\."
        ),
    ),
)
ASKED = re.compile(
    r"I (?:invited|asked) (?P<whom>[\w' -]+?) (?:to|for) .*?; (?P<who>[\w'-]+) said (?P<answer>yes|no)\."
)
OWN_TIME = re.compile(rf"; we said (?:(?P<place>{PLACE}) )?at (?P<time>{TIME})\.")


@dataclass(frozen=True)
class Affair:
    """Something people are asked to: an event, a meeting, an errand. Empty fields were not said. `host` is whose affair it is."""

    kind: Kind
    what: str
    host: str = ""
    place: str = ""
    date: str = ""
    time: str = ""
    whom: str = ""
    what2: str = ""
    place2: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Persona:
    """Who one is: what the portrait in the prompt says, and one's own affair where one has a task."""

    name: str
    currently: str
    wakes: str
    sleeps: str
    home: str
    work: str
    hours: tuple[str, str]
    knows: dict[str, str]
    """Acquaintances and where they work."""
    affair: Affair | None


def thought_of(call: Call) -> Thought | None:
    """Which thought is asked for: by the fields of the schema, or where there is none by the shape that the prompt shows."""
    fields = frozenset(fields_asked(call))
    if not fields:
        shown = call.asked
        fields = next((f for f in FIELDS.values() if all(f'"{name}":' in shown for name in f)), frozenset())
    found = next((thought for thought, wanted in FIELDS.items() if fields == wanted), None)
    return "revision" if found == "schedule" and "What happened:" in call.asked else found


def prompt_of(call: Call) -> str:
    """What was asked first: after an unusable reply there are further messages."""
    return next((m.content for m in call.messages if m.role == "user"), "")


def persona_of(text: str) -> Persona:
    """The portrait at the head of a prompt."""
    name, currently = _line("Name", text), _line("At present", text)
    usual = re.search(rf"^Usually up from ({TIME}) to ({TIME})", text, re.M)
    work = re.search(rf"^Work: (.+), ({TIME}) to ({TIME})$", text, re.M)
    knows = _line("Knows", text)
    return Persona(
        name,
        currently,
        usual[1] if usual else "07:00",
        usual[2] if usual else "23:00",
        _line("Home", text),
        work[1] if work else "",
        (work[2], work[3]) if work else ("09:00", "17:00"),
        {
            m[1].strip(): m[2] or ""
            for m in re.finditer(r"([^;(]+) \([^;)]*?(?:, works at ([^;)]+))?\)", knows)
        },
        _own_affair(name, currently),
    )


def _own_affair(name: str, currently: str) -> Affair | None:
    for kind, pattern in TASKS:
        found = pattern.search(currently)
        if found:
            given = {k: v.strip() for k, v in found.groupdict().items() if v}
            return Affair(kind, host=name, **given)
    return None


def section(text: str, heading: str) -> list[str]:
    """The lines under a heading that ends in a colon, up to the next empty line, without list marks."""
    found = re.search(rf"^{re.escape(heading)}[^\n]*:[ \t]*\n((?:.+\n?)*)", text, re.M)
    return [line.removeprefix("- ").strip() for line in found[1].splitlines()] if found else []


def remembered(text: str) -> list[str]:
    """The memories in a prompt, without their times."""
    return [re.sub(r"^\[[^\]]*\] ", "", line) for line in section(text, "What you remember")]


def affairs(memories: list[str]) -> Iterator[Affair]:
    """What others have asked one to, as one wrote it down."""
    for memory in memories:
        for kind, pattern in NOTED:
            found = pattern.search(memory)
            if found:
                given = {k: v.strip() for k, v in found.groupdict().items() if v}
                yield Affair(kind, **given)
                break


def said_to(memories: list[str]) -> dict[str, str]:
    """Whom one has asked oneself, and what they answered."""
    return {m["whom"]: m["answer"] for memory in memories if (m := ASKED.search(memory))}


def settled(memories: list[str]) -> tuple[str, str]:
    """The time and place one has named to others for one's own affair; empty where there is none yet."""
    found = [m for memory in memories if (m := OWN_TIME.search(memory))]
    return (found[-1]["time"], (found[-1]["place"] or "").strip()) if found else ("", "")


def dialogue(text: str) -> list[tuple[str, str]]:
    """The conversation in a prompt, as (speaker, text)."""
    lines = section(text, "The conversation so far") or section(text, "It is")
    pairs = [line.split(": ", 1) for line in lines if ": " in line and not line.startswith("(")]
    return [(speaker, said) for speaker, said in pairs]


def partner_of(text: str) -> str:
    """Whom one is talking with or looking at."""
    found = re.search(
        r"^(?:You are talking with|In the same room:|It is .* You have talked with) ([^(,:\n]+)", text, re.M
    )
    return found[1].strip() if found else ""


def day_of(text: str) -> str:
    """The date of the prompt."""
    found = re.search(rf"\b({DATE})\b", text[text.rfind("The day") :] if "The day" in text else _clock(text))
    return found[1] if found else ""


def hour_of(text: str) -> str:
    """The time of the prompt."""
    found = re.search(rf"^It is ({TIME}) on", text, re.M)
    return found[1] if found else "00:00"


def merged(first: Affair, second: Affair) -> Affair:
    """One affair from two mentions: what the second says and the first leaves open is added."""
    added = {k: v for k, v in vars(second).items() if v and not getattr(first, k)}
    return replace(first, **added)


def _clock(text: str) -> str:
    found = re.search(r"^(?:It is|Today is) .*$", text, re.M)
    return found[0] if found else text


def _line(label: str, text: str) -> str:
    found = re.search(rf"^{label}: (.+)$", text, re.M)
    return found[1].strip() if found else ""
