"""What a mock understands of SimulBench's prompts: which of its questions is asked, the job's description, the dialogue, the replies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.demo.mock.call import Call
from core.demo.mock.reading import CARD_BEGINS, fields_asked

Question = Literal["request", "simulate", "challenge", "rate", "compare", "propose"]

_SPEAKER = re.compile(r"^(User|Assistant):$", re.M)
_TURN = re.compile(r"^Turn \d+$", re.M)
_CUT = "(the reply was cut off here by the length limit)"
_EMPTY = ("(an empty reply)", "(nothing)")
_WAY = re.compile(r"^(\d+)\. ([^.\n]+)\. ", re.M)


@dataclass(frozen=True)
class Reply:
    """An assistant's reply as a prompt quotes it."""

    text: str
    cut: bool = False


@dataclass(frozen=True)
class Dialogue:
    """A dialogue as a prompt quotes it: what the user said (the job's description first), and the replies to it, one fewer or as many."""

    requests: tuple[str, ...]
    replies: tuple[Reply, ...]

    @property
    def description(self) -> str:
        """The job."""
        return self.requests[0] if self.requests else ""


def question_of(call: Call) -> Question | None:
    """Which of SimulBench's questions this is; None where it is none of them."""
    fields = fields_asked(call)
    if "user" in fields or (not fields and '"strategy"' in call.asked and '{"user":' in call.asked):
        return "request"
    if "task_description" in fields or (not fields and '{"task_name":' in call.asked):
        return "propose"
    if fields:
        return None
    quoting = asked(call)
    if "=== The dialogue ===" in quoting:
        if "=== Reply A ===" in quoting:
            return "compare"
        return "rate" if "=== The last reply ===" in quoting else "challenge"
    first = call.messages[0]
    alone = first.role == "user" and not CARD_BEGINS.search(first.content)
    return "simulate" if alone and call.replies == "text" and "json" not in call.asked.lower() else None


def asked(call: Call) -> str:
    """The prompt that quotes the dialogue; when a bad reply is sent back, it is no longer the last message."""
    return next(
        (m.content for m in call.messages if m.role != "assistant" and "=== The dialogue" in m.content), ""
    )


def dialogue_of(text: str) -> Dialogue:
    """The dialogue between its two marks; empty where there is none."""
    found = re.search(
        r"^=== The dialogue(?: so far)? ===$(.*)^=== End of the dialogue ===$", text, re.M | re.S
    )
    inside = found.group(1) if found else ""
    marks = list(_SPEAKER.finditer(inside))
    requests: list[str] = []
    replies: list[Reply] = []
    for mark, end in zip(marks, [m.start() for m in marks[1:]] + [len(inside)], strict=True):
        said = _TURN.sub("", inside[mark.end() : end]).strip("\n")
        if mark.group(1) == "User":
            requests.append(said.strip())
        else:
            replies.append(_reply(said))
    return Dialogue(tuple(requests), tuple(replies))


def section(text: str, name: str, end: str) -> Reply:
    """The reply between `=== name ===` and `=== end ===`."""
    found = re.search(rf"^=== {name} ===\n(.*?)\n?=== {end} ===", text, re.M | re.S)
    return _reply(found.group(1) if found else "")


def history_of(call: Call) -> tuple[str, ...]:
    """What a simulator has been asked so far, the job's description first."""
    return tuple(m.content for m in call.messages if m.role == "user")


def ways(text: str) -> Sequence[tuple[str, str]]:
    """The ways to go on that a user agent is offered: (number, title)."""
    after = text.partition("Ways to go on:")[2]
    return [(found.group(1), found.group(2)) for found in _WAY.finditer(after)]


def _reply(said: str) -> Reply:
    said = said.strip("\n")
    cut = said.endswith(_CUT)
    text = said.removesuffix(_CUT).rstrip("\n") if cut else said
    return Reply("" if text.strip() in _EMPTY else text, cut)
