"""Ask a judge for a judgement of one conversation or a comparison of two."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from concord.conversation import Conversation, Message
from concord.errors import CallFailed, ConcordError
from concord.llm import replies
from concord.llm.models import Model
from concord.llm.prompts import RenderedPrompt
from concord.llm.replies import UNANSWERED, Unusable
from concord.rating import Comparison, Judgement, Rater
from concord.runs import programs
from concord.runs.benchmark import Ask, Benchmark, Comparing, Judging, Materials


def failed(
    owed: Judging | Comparing, conversation: Conversation, model: Model, failure: CallFailed
) -> Judgement | Comparison:
    """A verdict that failed. Raises a failure that is the endpoint's."""
    about: dict[str, Any] = {**_asked(owed), **_unanswered(failure)}
    rater = _rater(owed, model)
    if isinstance(owed, Judging):
        return Judgement(conversation=conversation.key, judge=rater, **about)
    about |= {"rubric": owed.pairwise.rubric, "criterion": owed.pairwise.criterion}
    return Comparison(first=conversation.key, second=owed.against, rater=rater, **about)


async def judge(ask: Ask, conversation: Conversation, owed: Judging, model: Model) -> Judgement:
    """Ratings from one judge, or a failure with the raw reply. Raises CallFailed if the endpoint failed.

    A conversation that cannot be asked about (no reply to rate) is a failure without a call.
    """
    about = {"conversation": conversation.key, "judge": _rater(owed, model), **_asked(owed)}
    try:
        asked = owed.prompt.render(**owed.asking.values(conversation))
        asked = replace(asked, turns=owed.asking.turns(conversation))
    except Unusable as unusable:
        return Judgement(**about, failure=str(unusable))
    if model.kind == "program":
        return await _by_program(ask, conversation, owed, asked, about)
    try:
        answer = await ask("judge", owed.judge, asked, lambda reply: owed.asking.read(conversation, reply))
    except CallFailed as failure:
        return Judgement(**about, **_unanswered(failure))
    reply = answer.text if owed.asking.reply is None else answer.value
    ratings = owed.asking.read(conversation, reply)
    return Judgement(**about, ratings=ratings, raw=answer.text, meta=answer.meta)


async def _by_program(
    ask: Ask, conversation: Conversation, owed: Judging, asked: RenderedPrompt, about: Mapping[str, Any]
) -> Judgement:
    """Ratings by a program, or a failure with what it printed."""
    told = programs.given(conversation, asked.turns, asked.schema or {})
    try:
        said = await ask.program(owed.judge, told)
    except CallFailed as failure:
        return Judgement(**about, **_unanswered(failure))
    try:
        read = replies.usable(said, asked.reply, partial(owed.asking.read, conversation))
        return Judgement(**about, ratings=owed.asking.read(conversation, read), raw=said)
    except Unusable as error:
        return Judgement(**about, failure=f"What the program printed cannot be used: {error}", raw=said)


def asked_again(
    benchmark: Benchmark, version: str, hash: str, materials: Materials, conversation: Conversation
) -> tuple[Message, ...] | None:
    """The messages that a judge is sent by the prompt of this hash, rendered anew.

    None where the prompt of that version is another today, where judges are not asked, or the conversation
    cannot be asked about.
    """
    try:
        for asking, prompt in benchmark.asked(materials, version):
            if prompt.hash == hash:
                return prompt.render(**asking.values(conversation)).messages
        return None
    except (ConcordError, Unusable):
        return None


async def compare(
    ask: Ask, first: Conversation, second: Conversation, owed: Comparing, model: Model
) -> Comparison:
    """A verdict from one judge, or a failure with the raw reply. Raises CallFailed if the endpoint failed."""
    pairwise = owed.pairwise
    about = {"first": first.key, "second": second.key, "rater": _rater(owed, model), **_asked(owed)}
    about |= {"rubric": pairwise.rubric, "criterion": pairwise.criterion}
    raw = ""
    try:
        asked = owed.prompt.render(**pairwise.values(first, second))
        if model.kind == "program":
            raw = await ask.program(owed.judge, programs.given_two(first, second, asked.schema or {}))
            found = pairwise.read(replies.usable(raw, asked.reply, pairwise.read))
        else:
            answer = await ask("compare", owed.judge, asked, pairwise.read)
            raw, found = answer.text, pairwise.read(answer.value if asked.reply else answer.text)
    except CallFailed as failure:
        return Comparison(**about, **_unanswered(failure))
    except Unusable as error:
        return Comparison(**about, failure=str(error), raw=raw)
    return Comparison(**about, **found._asdict(), raw=raw)


def _rater(owed: Judging | Comparing, model: Model) -> Rater:
    return Rater(owed.judge, "judge", owed.prompt.version, model.simulated)


def _asked(owed: Judging | Comparing) -> dict[str, Any]:
    return {"key": owed.key, "prompt": owed.prompt.hash, "repeat": owed.repeat}


def _unanswered(failure: CallFailed) -> dict[str, Any]:
    """What a failed verdict keeps of an unusable reply. Raises any other failure again."""
    if failure.kind not in UNANSWERED:
        raise failure
    return {"failure": str(failure), "raw": failure.raw}
