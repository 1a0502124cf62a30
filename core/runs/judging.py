"""A judge turns a conversation into a judgement, or two of them into a comparison: a verdict, or a failure with the raw reply."""

from __future__ import annotations

from core.benchmarks.benchmark import Ask, Comparing, Judging
from core.conversation import Conversation
from core.errors import CallFailed
from core.llm import verdicts
from core.llm.models import Model
from core.rating import Comparison, Judgement, Rater

UNANSWERED = ("unparsable", "truncated")
"""Failures that are the judge's own: stored as failed judgements. Others are the endpoint's, and the work is simply still to do."""


async def judge(ask: Ask, conversation: Conversation, owed: Judging, model: Model) -> Judgement:
    """Ask one judge about one conversation. Raises CallFailed where the endpoint, not the judge, failed."""
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
            owed.key, conversation.key, rater, failure=str(failure), raw=failure.raw, prompt=owed.prompt.hash, repeat=owed.repeat,
            spent=failure.spent,
        )  # fmt: skip
    reply = answer.text if owed.rubric.reply is None else answer.value
    return Judgement(
        owed.key, conversation.key, rater, owed.rubric.read(conversation, reply), raw=answer.text, prompt=owed.prompt.hash,
        repeat=owed.repeat, spent=answer.spent,
    )  # fmt: skip


async def compare(
    ask: Ask, first: Conversation, second: Conversation, owed: Comparing, model: Model
) -> Comparison:
    """Ask one judge which of two conversations is better. Raises CallFailed where the endpoint, not the judge, failed."""
    rater = Rater(owed.judge, "judge", owed.prompt.version, model.simulated)
    asked = owed.prompt.render(**owed.pairwise.values(first, second))
    try:
        answer = await ask("compare", owed.judge, asked, lambda text: verdicts.preference(text) and None)
    except CallFailed as failure:
        if failure.kind not in UNANSWERED:
            raise
        return Comparison(
            owed.key, first.key, second.key, rater, failure=str(failure), raw=failure.raw, prompt=owed.prompt.hash,
            repeat=owed.repeat, spent=failure.spent,
        )  # fmt: skip
    verdict, explanation = verdicts.preference(answer.text)
    return Comparison(
        owed.key, first.key, second.key, rater, verdict, explanation, raw=answer.text, prompt=owed.prompt.hash,
        repeat=owed.repeat, spent=answer.spent,
    )  # fmt: skip
