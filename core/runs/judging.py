"""A judge turns a conversation into a judgement, or two of them into a comparison."""

from __future__ import annotations

from typing import Any

from core.benchmarks.benchmark import Ask, Comparing, Judging
from core.conversation import Conversation
from core.errors import CallFailed
from core.llm import verdicts
from core.llm.models import Model
from core.rating import Comparison, Judgement, Rater

UNANSWERED = ("unparsable", "truncated")
"""Kinds of failure that are the model's: no attempt gave a usable reply. The piece is stored as failed.

Other failures are the endpoint's: the piece is still to be done.
"""


async def judge(ask: Ask, conversation: Conversation, owed: Judging, model: Model) -> Judgement:
    """Ask one judge about one conversation: ratings, or a failure with the raw reply.

    Raises CallFailed where the endpoint failed.
    """
    rater = Rater(owed.judge, "judge", owed.prompt.version, model.simulated)
    asked = owed.prompt.render(**owed.rubric.values(conversation))
    try:
        answer = await ask(
            "judge", owed.judge, asked, lambda reply: owed.rubric.read(conversation, reply) and None
        )
    except CallFailed as failure:
        if failure.kind not in UNANSWERED:
            raise
        return Judgement(
            owed.key, conversation.key, rater, failure=str(failure), raw=failure.raw, **_asked(owed)
        )
    reply = answer.text if owed.rubric.reply is None else answer.value
    ratings = owed.rubric.read(conversation, reply)
    return Judgement(owed.key, conversation.key, rater, ratings, raw=answer.text, **_asked(owed))


async def compare(
    ask: Ask, first: Conversation, second: Conversation, owed: Comparing, model: Model
) -> Comparison:
    """Ask one judge which of two conversations is better: a verdict, or a failure with the raw reply.

    Raises CallFailed where the endpoint failed.
    """
    rater = Rater(owed.judge, "judge", owed.prompt.version, model.simulated)
    asked = owed.prompt.render(**owed.pairwise.values(first, second))
    try:
        answer = await ask("compare", owed.judge, asked, lambda text: verdicts.preference(text) and None)
    except CallFailed as failure:
        if failure.kind not in UNANSWERED:
            raise
        return Comparison(
            owed.key, first.key, second.key, rater, failure=str(failure), raw=failure.raw, **_asked(owed)
        )
    verdict, explanation = verdicts.preference(answer.text)
    return Comparison(
        owed.key, first.key, second.key, rater, verdict, explanation, raw=answer.text, **_asked(owed)
    )


def _asked(owed: Judging | Comparing) -> dict[str, Any]:
    return {"prompt": owed.prompt.hash, "repeat": owed.repeat}
