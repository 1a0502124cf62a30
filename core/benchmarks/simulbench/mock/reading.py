"""What a mock understands of SimulBench's prompts: the question, the job, the dialogue, the replies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.demo.mock.call import Call
from core.demo.mock.material import load, pieces

DIALOGUE = re.compile(r"^=== The dialogue(?: so far)? ===$(.*)^=== End of the dialogue ===$", re.M | re.S)
CUT = "(the reply was cut off here by the length limit)"
EMPTY = ("(an empty reply)", "(nothing)")
WORD = re.compile(r"\b[A-Za-z][a-z-]{3,14}\b")


@dataclass(frozen=True)
class QuotedReply:
    """An assistant's reply as a prompt quotes it."""

    text: str
    cut: bool = False


@dataclass(frozen=True)
class Dialogue:
    """What the user said (the job's description first), and the replies to it, one fewer or as many."""

    requests: tuple[str, ...]
    replies: tuple[QuotedReply, ...]


def question_of(call: Call) -> str | None:
    """Which of SimulBench's questions this is; None where it is none of them."""
    if call.names("user") and call.names("strategy" if not call.fields else "user"):
        return "request"
    if call.names("task_description"):
        return "propose"
    if call.fields:
        return None
    quoting = asked(call)
    if "=== The dialogue ===" in quoting:
        if "=== Reply A ===" in quoting:
            return "compare"
        return "rate" if "=== The last reply ===" in quoting else "challenge"
    return "simulate" if call.messages[0].role == "user" and not call.wants_json else None


def asked(call: Call) -> str:
    """The prompt that quotes the dialogue; it is not the last message when a bad reply was sent back."""
    quoting = (m.content for m in call.messages if m.role != "assistant" and "=== The dialogue" in m.content)
    return next(quoting, "")


def dialogue_of(text: str) -> Dialogue:
    """The dialogue between its two marks; empty where there is none."""
    found = DIALOGUE.search(text)
    said: dict[str, list[str]] = {"User": [], "Assistant": []}
    for mark, part in pieces(r"(?m)^(User|Assistant):$", found[1] if found else ""):
        said[mark[1]].append(re.sub(r"(?m)^Turn \d+$", "", part))
    requests = tuple(text.strip() for text in said["User"])
    return Dialogue(requests, tuple(_reply(text) for text in said["Assistant"]))


def section(text: str, name: str, end: str) -> QuotedReply:
    """The reply between `=== name ===` and `=== end ===`."""
    found = re.search(rf"^=== {name} ===\n(.*?)\n?=== {end} ===", text, re.M | re.S)
    return _reply(found[1] if found else "")


def topics(description: str) -> list[str]:
    """What a job is about: the telling words that its description says more than once, else all of them."""
    said = [w.lower() for w in WORD.findall(description)]
    return [w for w in words_of(description) if said.count(w) > 1] or words_of(description) or ["it"]


def words_of(text: str) -> list[str]:
    """The telling words of a text, each once, in their order."""
    said = dict.fromkeys(word.lower() for word in WORD.findall(text))
    return [word for word in said if word not in load("simulbench", "en", "talk")["common"].split()]


def _reply(said: str) -> QuotedReply:
    said = said.strip("\n")
    text = said.removesuffix(CUT).rstrip("\n") if said.endswith(CUT) else said
    return QuotedReply("" if text.strip() in EMPTY else text, cut=said.endswith(CUT))
