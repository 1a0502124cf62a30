"""A simulated proposer, and a simulated judge that answers parts of a study."""

from __future__ import annotations

from collections.abc import Sequence

from concord.conversation import Message
from concord.lab.improving import AnswerPart, Proposal, Propose
from concord.lab.parts import Parts
from concord.rubrics.rubric_store import Numbered
from concord.workspace import Workspace
from tests.mock import lab as mock

JUDGE = "mock-judge"
IDLE = "Rate the reply with care, and give each level its due."


def proposer() -> Propose:
    """Reads the judge's reasons: where they speak of length it says that length is no merit."""

    def propose(asked: Sequence[Message]) -> Proposal:
        told = asked[-1].content
        cured = f"Rate what the reply does. {mock.CURE}." if "It is long" in told else IDLE
        return Proposal(diagnosis="It takes length for merit.", instructions=cured)

    return propose


def answering(workspace: Workspace, *, stop_after: int = 10**9, **how: float) -> AnswerPart:
    """Has the simulated judge answer; after so many parts the budget has ended."""
    left = [stop_after]

    def answer(parts: Parts, used: Numbered, part: str) -> bool:
        if not left[0]:
            return False
        left[0] -= 1
        with workspace.write() as db:
            mock.answer(db, used, parts.keys(part), JUDGE, **how)  # type: ignore[arg-type]
        return True

    return answer
