"""How mock judges and simulated people read SimulBench's replies: by the right answer, else by form."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.benchmarks.simulbench.mock.reading import QuotedReply, asked, dialogue_of, section, topics, words_of
from core.benchmarks.simulbench.mock.simulators import lines, right_reply
from core.conversation import Conversation
from core.demo.mock.call import Call
from core.rating import Finding, Verdict

NEAR, EVEN = 2, 1.2
"""How near a judge's score must be to be reasonable, and how near two replies must be to be even."""


@dataclass(frozen=True)
class Eye:
    """How a judge sees: points of the scale of ten, shares of the verdicts."""

    shift: float = 0.0
    noise: float = 0.9
    first: float = 0.3  # how much more the reply that is shown first is liked
    sloppy: float = 0.0  # how often a verdict comes without its brackets
    chat: float = 2.0  # how much an explanation that nobody asked for costs


EYES = {name: Eye(**eye) for name, eye in lines()["eyes"].items()}


@dataclass(frozen=True)
class View:
    """What a judge sees in a reply: points 1 to 10 before its taste, a reason, a plain failure."""

    points: float
    reason: str
    failed: bool


def view(requests: Sequence[str], reply: QuotedReply, eye: Eye) -> View:
    """The reply to the last of these requests, looked at."""
    text = reply.text.strip()
    if not text:
        return View(2.0, "The reply is empty, although the request asks for something to be shown.", True)
    if text in lines()["refusals"]:
        return View(1.0, f"“{_quote(text)}”: the job is refused.", True)
    points, reason = _rightness(requests, _bare(text))
    if text.startswith(tuple(lines()["before"])):
        points -= eye.chat
        reason += f" It adds “{_quote(text)}”, which nobody asked for."
    if reply.cut:
        points -= 3.5
        reason += " It breaks off at the length limit, after repeating itself."
    return View(max(1.0, points), reason, points < 5.5)


def _rightness(requests: Sequence[str], core: str) -> tuple[float, str]:
    """Points and a reason: by the right reply where it is known, else by how far the request is taken up."""
    truth = right_reply(requests)
    if truth is None:
        told = set(words_of(requests[-1])) & set(topics(requests[0]))
        shared = min(1.0, len(told & set(words_of(core))) / max(1, min(3, len(told))))
        much = f"“{_quote(core)}” takes up {'most' if shared > 0.6 else 'little'} of the request"
        return 4.8 + 3.4 * shared, f"{much}, and whether it is right is hard to check."
    truth = _bare(truth)
    if core == truth:
        right = f"“{_quote(core)}” is what the rules lead to."
        return 9.4, right if core else "Nothing is printed, which is right."
    same = SequenceMatcher(None, core, truth, autojunk=False).ratio() if len(core) < 3000 else 0.2
    wrong = next((line for line in core.splitlines() if line not in truth.splitlines()), "")
    fault = f"“{_quote(wrong)}” is wrong" if wrong else "Something is missing"
    return 1.5 + 5.0 * same, f"{fault}: the rules lead to “{_quote(truth)}”."


def rate(call: Call) -> str:
    """A short explanation, then `Rating: [[n]]`."""
    eye, text, rng = EYES.get(call.model, Eye()), asked(call), call.rng("verdict")
    seen = view(dialogue_of(text).requests, section(text, "The last reply", "End of the last reply"), eye)
    score = max(1, min(10, round(seen.points + eye.shift + rng.gauss(0, eye.noise))))
    if rng.random() < eye.sloppy:
        return f"{seen.reason} I would call that {score} out of ten."
    return f"{seen.reason}\n\nRating: [[{score}]]"


def compare(call: Call) -> str:
    """A short comparison, then `[[A]]`, `[[B]]` or `[[C]]`; the reply shown first has a small advantage."""
    eye, text, rng = EYES.get(call.model, Eye()), asked(call), call.rng("verdict")
    requests = dialogue_of(text).requests
    a, b = (view(requests, section(text, f"Reply {name}", f"End of reply {name}"), eye) for name in "AB")
    lead = a.points - b.points + eye.first + rng.gauss(0, eye.noise)
    verdict = "C" if abs(lead) < 0.8 else "A" if lead > 0 else "B"
    if rng.random() < eye.sloppy:
        return f"Reply A: {a.reason} Reply B: {b.reason} Hard to say."
    return f"Reply A: {a.reason}\nReply B: {b.reason}\n\n[[{verdict}]]"


def challenge(call: Call) -> str:
    """The first turn whose reply is plainly wrong, then `Turn: [[n]]`."""
    eye, rng = EYES.get(call.model, Eye()), call.rng("verdict")
    dialogue = dialogue_of(asked(call))
    for number, reply in enumerate(dialogue.replies, 1):
        seen = view(dialogue.requests[:number], reply, eye)
        if seen.failed and rng.random() < 0.85:
            return f"Up to turn {number} the replies can pass. {seen.reason}\n\nTurn: [[{number}]]"
    return "Every reply keeps to the rules as far as can be told.\n\nTurn: [[0]]"


def _bare(text: str) -> str:
    """The reply itself, without phrases around it and without the fence of a code block."""
    for phrase in (*lines()["before"], *lines()["after"]):
        text = text.replace(phrase, "")
    return re.sub(r"^```\w*\n|\n?```$", "", text.strip()).strip()


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rsplit(" ", 1)[0] + " …"


def person_score(conversation: Conversation, person: str, seed: int = 0) -> int:
    """What a person would give the last reply, 1 to 10; the same arguments give the same answer."""
    return max(1, min(10, round(_points(conversation, person, seed))))


def person_finding(
    judged: float, conversation: Conversation, person: str, seed: int = 0
) -> tuple[Finding, int | None]:
    """What a person thinks of a judge's score, and their own score where it is not reasonable."""
    mine = person_score(conversation, person, seed)
    if abs(judged - mine) <= NEAR:
        return "reasonable", None
    return ("too_high", mine) if judged > mine else ("too_low", mine)


def person_preference(first: Conversation, second: Conversation, person: str, seed: int = 0) -> Verdict:
    """Which of two a person prefers; the order in which they are shown makes no difference."""
    lead = _points(first, person, seed) - _points(second, person, seed)
    return "C" if abs(lead) < EVEN else "A" if lead > 0 else "B"


def _points(conversation: Conversation, person: str, seed: int) -> float:
    requests = [m.content for m in conversation.messages if m.role == "user"]
    last = conversation.messages[-1]
    seen = view(requests, QuotedReply(last.content, bool(last.meta.get("cut"))), Eye())
    return seen.points - 0.4 + random.Random(f"{seed}|{person}|{conversation.key}").gauss(0, 0.9)
