"""How mock judges read SimulBench's replies: against the right answer where they know the job, else by form and manners."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.demo.mock import simulbench_talk as talk
from core.demo.mock.call import Call
from core.demo.mock.simulbench_engines import right_reply
from core.demo.mock.simulbench_reading import Reply, asked, dialogue_of, section


@dataclass(frozen=True)
class Eye:
    """A judge: `shift` in points of the scale of ten, `noise` as their standard deviation, `first` how much more the reply shown first is liked,
    `sloppy` how often a verdict comes without its brackets, `chat` how many points an unwanted explanation costs."""

    shift: float = 0.0
    noise: float = 0.9
    first: float = 0.3
    sloppy: float = 0.0
    chat: float = 2.0


EYES: dict[str, Eye] = {
    "mock-judge-strict": Eye(shift=-0.9, noise=0.7, first=0.1, chat=3.0),
    "mock-judge-lenient": Eye(shift=1.1, noise=0.8, first=0.5, chat=0.6),
    "mock-judge-noisy": Eye(noise=1.9, first=1.2, sloppy=0.03),
    "mock-judge-erratic": Eye(noise=1.4, first=0.8, sloppy=0.45),
}


@dataclass(frozen=True)
class View:
    """What a judge sees in a reply: points 1 to 10 before its taste, a reason, and whether something is plainly wrong."""

    points: float
    reason: str
    failed: bool


def view(requests: Sequence[str], reply: Reply, eye: Eye) -> View:
    """The reply to the last of these requests, looked at."""
    text = reply.text.strip()
    truth = right_reply(requests)
    if not text:
        return View(2.0, "The reply is empty, although the request asks for something to be shown.", True)
    if any(text.startswith(refusal[:20]) for refusal in talk.REFUSALS):
        return View(1.0, f"“{_quote(text)}”: the job is refused.", True)
    core = _bare(text)
    chatty = any(text.startswith(phrase) for phrase in talk.BEFORE)
    if truth is not None:
        same = SequenceMatcher(None, core, _bare(truth), autojunk=False).ratio() if len(core) < 3000 else 0.2
        points = 9.4 if core == _bare(truth) else 1.5 + 5.0 * same
        reason = (
            f"“{_quote(core)}” is what the rules lead to."
            if core == _bare(truth)
            else f"“{_quote(core)}” is wrong; by the rules it begins “{_quote(_bare(truth))}”, and the two part later at the latest."
        )
    else:
        told = set(talk.words_of(requests[-1])) & set(talk.topics(requests[0]))
        shared = len(told & set(talk.words_of(core))) / max(1, min(3, len(told)))
        points = 4.8 + 3.4 * min(1.0, shared)
        reason = f"“{_quote(core)}” takes up {'most' if shared > 0.6 else 'little'} of the request, and whether it is right can hardly be checked."
    if chatty:
        points -= eye.chat
        reason += f" It adds “{_quote(text)}”, which nobody asked for."
    if reply.cut:
        points -= 3.5
        reason += " It breaks off at the length limit, after repeating itself."
    return View(max(1.0, points), reason, points < 5.5)


def rate(call: Call) -> str:
    """A short explanation, then `Rating: [[n]]`."""
    eye, text = _eye(call), asked(call)
    dialogue, reply = dialogue_of(text), section(text, "The last reply", "End of the last reply")
    seen, rng = view(dialogue.requests, reply, eye), _chance(call)
    score = max(1, min(10, round(seen.points + eye.shift + rng.gauss(0, eye.noise))))
    if rng.random() < eye.sloppy:
        return f"{seen.reason} I would call that {score} out of ten."
    return f"{seen.reason}\n\nRating: [[{score}]]"


def compare(call: Call) -> str:
    """A short comparison, then `[[A]]`, `[[B]]` or `[[C]]`; the reply shown first has a small advantage, as with many judges."""
    eye, text, rng = _eye(call), asked(call), _chance(call)
    requests = dialogue_of(text).requests
    a, b = (view(requests, section(text, f"Reply {name}", f"End of reply {name}"), eye) for name in "AB")
    lead = a.points - b.points + eye.first + rng.gauss(0, eye.noise)
    verdict = "C" if abs(lead) < 0.8 else "A" if lead > 0 else "B"
    if rng.random() < eye.sloppy:
        return f"Reply A: {a.reason} Reply B: {b.reason} Hard to say."
    return f"Reply A: {a.reason}\nReply B: {b.reason}\n\n[[{verdict}]]"


def challenge(call: Call) -> str:
    """The first turn whose reply is plainly wrong, then `Turn: [[n]]`."""
    eye, rng = _eye(call), _chance(call)
    dialogue = dialogue_of(asked(call))
    for number, reply in enumerate(dialogue.replies, 1):
        seen = view(dialogue.requests[:number], reply, eye)
        if seen.failed and rng.random() < 0.85:
            return f"Up to turn {number} the replies can pass. {seen.reason}\n\nTurn: [[{number}]]"
    return "Every reply keeps to the rules as far as can be told.\n\nTurn: [[0]]"


def _eye(call: Call) -> Eye:
    return EYES.get(call.model, Eye())


def _chance(call: Call) -> random.Random:
    return call.rng("verdict")


def _bare(text: str) -> str:
    """The reply itself, without phrases around it and without the fence of a code block."""
    for phrase in (*talk.BEFORE, *talk.AFTER):
        text = text.replace(phrase, "")
    return re.sub(r"^```\w*\n|\n?```$", "", text.strip()).strip()


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rsplit(" ", 1)[0] + " …"
