"""How mock judges and simulated people read SimulBench's replies: by the right answer, else by form."""

import random
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from concord.conversation import Conversation, Message
from concord.rating import Finding, Verdict
from tests.mock.call import Call
from tests.mock.simulbench import simulators as read

NEAR, EVEN = 2, 1.2
"""How near a judge's score must be to be reasonable, and how near two replies must be to be even."""
FAILED = 5.5
"""A reply with fewer points is plainly wrong."""


Eye = Mapping[str, float]
"""How a judge sees: `shift` and `noise` of its scores, how much more the reply shown `first` is liked, how
much an explanation that nobody asked for costs (`chat`), and how often a verdict is `sloppy`."""
EYES: Mapping[str, Eye] = read.lines()["eyes"]
PLAIN: Eye = read.lines()["eye"]


def eye_of(call: Call) -> Eye:
    """The eye of the judge that is asked."""
    return {**PLAIN, **EYES.get(call.model, {})}


def view(dialogue: Sequence[Message], eye: Eye) -> tuple[float, str]:
    """Points 1 to 10 for the last reply, before the judge's taste, and a reason; below FAILED it is wrong."""
    requests, text = read.requests_in(dialogue), dialogue[-1].content.strip()
    if not text:
        return 2.0, "The reply is empty, although the request asks for something to be shown."
    if text in read.lines()["refusals"]:
        return 1.0, f"“{_quote(text)}”: the job is refused."
    points, reason = _rightness(requests, _bare(text))
    if text.startswith(tuple(read.lines()["before"])):
        points -= eye["chat"]
        reason += f" It adds “{_quote(text)}”, which nobody asked for."
    if dialogue[-1].meta.get("cut"):
        points -= 3.5
        reason += " It breaks off at the length limit, after repeating itself."
    return max(1.0, points), reason


def _rightness(requests: Sequence[str], core: str) -> tuple[float, str]:
    """Points and a reason: by the right reply where it is known, else by how far the request is taken up."""
    truth = read.right_reply(requests)
    if truth is None:
        told = set(read.words_of(requests[-1])) & set(read.topics(requests[0]))
        shared = min(1.0, len(told & set(read.words_of(core))) / max(1, min(3, len(told))))
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
    eye, text, rng = eye_of(call), read.asked(call), call.rng("verdict")
    points, reason = view([*read.dialogue_of(text), read.section(text, "The last reply")], eye)
    score = max(1, min(10, round(points + eye["shift"] + rng.gauss(0, eye["noise"]))))
    if rng.random() < eye["sloppy"]:
        return f"{reason} I would call that {score} out of ten."
    return f"{reason}\n\nRating: [[{score}]]"


def compare(call: Call) -> str:
    """A short comparison, then `[[A]]`, `[[B]]` or `[[C]]`; the reply shown first has a small advantage."""
    eye, text, rng = eye_of(call), read.asked(call), call.rng("verdict")
    replies = (read.section(text, f"Reply {name}") for name in "AB")
    (a, of_a), (b, of_b) = (view([*read.dialogue_of(text), reply], eye) for reply in replies)
    lead = a - b + eye["first"] + rng.gauss(0, eye["noise"])
    verdict = "C" if abs(lead) < 0.8 else "A" if lead > 0 else "B"
    if rng.random() < eye["sloppy"]:
        return f"Reply A: {of_a} Reply B: {of_b} Hard to say."
    return f"Reply A: {of_a}\nReply B: {of_b}\n\n[[{verdict}]]"


def challenge(call: Call) -> str:
    """The first turn whose reply is plainly wrong, then `Turn: [[n]]`."""
    eye, rng = eye_of(call), call.rng("verdict")
    dialogue = read.dialogue_of(read.asked(call))
    ends = (end for end, m in enumerate(dialogue, 1) if m.role == "assistant")
    for number, end in enumerate(ends, 1):
        points, reason = view(dialogue[:end], eye)
        if points < FAILED and rng.random() < 0.85:
            return f"Up to turn {number} the replies can pass. {reason}\n\nTurn: [[{number}]]"
    return "Every reply keeps to the rules as far as can be told.\n\nTurn: [[0]]"


def _bare(text: str) -> str:
    """The reply itself, without phrases around it and without the fence of a code block."""
    for phrase in (*read.lines()["before"], *read.lines()["after"]):
        text = text.replace(phrase, "")
    return re.sub(r"^```\w*\n|\n?```$", "", text.strip()).strip()


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rsplit(" ", 1)[0] + " …"


def person_score(conversation: Conversation, person: str, seed: int = 0) -> int:
    """What a person would give the last reply, 1 to 10; the same arguments give the same answer."""
    return max(1, min(10, round(_points(conversation, person, seed))))


def person_finding(judged: float, conversation: Conversation, person: str, seed: int = 0) -> Finding:
    """What a person thinks of a judge's score."""
    mine = person_score(conversation, person, seed)
    if abs(judged - mine) <= NEAR:
        return "reasonable"
    return "too_high" if judged > mine else "too_low"


def person_preference(first: Conversation, second: Conversation, person: str, seed: int = 0) -> Verdict:
    """Which of two a person prefers; the order in which they are shown makes no difference."""
    lead = _points(first, person, seed) - _points(second, person, seed)
    return "C" if abs(lead) < EVEN else "A" if lead > 0 else "B"


def _points(conversation: Conversation, person: str, seed: int) -> float:
    chance = random.Random(f"{seed}|{person}|{conversation.key}")
    return view(conversation.messages, PLAIN)[0] - 0.4 + chance.gauss(0, 0.9)
