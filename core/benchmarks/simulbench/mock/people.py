"""Simulated people of SimulBench: they score last replies and say what they think of a judge's score."""

from __future__ import annotations

import random

from core.benchmarks.simulbench.mock.judges import Eye, view
from core.benchmarks.simulbench.mock.reading import QuotedReply
from core.conversation import Conversation
from core.rating import Finding, Verdict

NEAR, EVEN = 2, 1.2
"""How near a judge's score must be to be reasonable, and how near two replies must be to be even."""


def score(conversation: Conversation, person: str, seed: int = 0) -> int:
    """What a person would give the last reply, 1 to 10; the same arguments give the same answer."""
    return max(1, min(10, round(_points(conversation, person, seed))))


def finding(
    judged: float, conversation: Conversation, person: str, seed: int = 0
) -> tuple[Finding, int | None]:
    """What a person thinks of a judge's score, and their own score where it is not reasonable."""
    mine = score(conversation, person, seed)
    if abs(judged - mine) <= NEAR:
        return "reasonable", None
    return ("too_high", mine) if judged > mine else ("too_low", mine)


def preference(first: Conversation, second: Conversation, person: str, seed: int = 0) -> Verdict:
    """Which of two a person prefers; the order in which they are shown makes no difference."""
    lead = _points(first, person, seed) - _points(second, person, seed)
    return "C" if abs(lead) < EVEN else "A" if lead > 0 else "B"


def _points(conversation: Conversation, person: str, seed: int) -> float:
    requests = [m.content for m in conversation.messages if m.role == "user"]
    last = conversation.messages[-1]
    seen = view(requests, QuotedReply(last.content, bool(last.meta.get("cut"))), Eye())
    return seen.points - 0.4 + random.Random(f"{seed}|{person}|{conversation.key}").gauss(0, 0.9)
