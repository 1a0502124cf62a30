"""Ask a judge for a verdict: a judgement of one conversation, or which of two is better."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from concord.conversation import IMAGES, Conversation, Message
from concord.errors import CallFailed, ConcordError
from concord.llm.models import Model
from concord.llm.replies import Unusable
from concord.rating import Comparison, Judgement, Order, Preference, Rater
from concord.runs import programs
from concord.runs.benchmark import Ask, DueJudgement
from concord.runs.call_runner import Asker


async def judged(
    ask: Asker, conversations: Sequence[Conversation], due: DueJudgement, model: Model
) -> tuple[Judgement | Comparison, ...]:
    """As `verdict`; an error that was not foreseen is the failure of this verdict alone.

    Raises what `verdict` raises, and RunStopped.
    """
    try:
        return await verdict(ask, conversations, due, model)
    except ConcordError:
        raise
    except Exception as error:  # noqa: BLE001 - no reply may end a run
        return (failed(due, conversations, model, ask.unexpected(error)),)


async def verdict(
    ask: Ask, conversations: Sequence[Conversation], due: DueJudgement, model: Model
) -> tuple[Judgement | Comparison, ...]:
    """The verdict of one judge on one conversation or two, or a failure with the raw reply.

    An order of several is a verdict on every two, of which the first has the key that is owed, and the reply.

    Raises CallFailed if the endpoint failed. What cannot be asked about (no reply to rate) is a failure
    without a call.
    """
    asking = due.asking
    read = partial(due.asking.read, *conversations)
    try:
        prompt = due.prompt.render(**asking.values(*conversations))
        judged = tuple(text for conversation in conversations for text in conversation.texts())
        prompt = replace(prompt, turns=asking.turns(*conversations), judged=judged)
        if model.vision:
            prompt = replace(prompt, messages=_seeing(prompt.messages, conversations))
        if model.kind == "program":
            prompt = replace(prompt, program_input=programs.program_input(conversations, prompt))
        answer = await ask("compare" if due.against else "judge", due.judge, prompt, read)
        value = read(answer.value if prompt.reply else answer.text)
    except CallFailed as failure:
        return (failed(due, conversations, model, failure),)
    except Unusable as unusable:
        return (_verdict(due, conversations, model, failure=str(unusable)),)
    if isinstance(value, Order):
        return tuple(_of_order(due, conversations, model, value, answer.text))
    verdict_values = (
        value._asdict() if isinstance(value, Preference) else {"ratings": value, "meta": answer.meta}
    )
    return (_verdict(due, conversations, model, **verdict_values, raw=answer.text),)


def _of_order(
    due: DueJudgement, conversations: Sequence[Conversation], model: Model, order: Order, raw: str
) -> Iterator[Judgement | Comparison]:
    """What an order says of every two."""
    for a, b in combinations(range(len(conversations)), 2):
        first = (a, b) == (0, 1)
        one = due if first else due._replace(key=f"{due.key}|{a + 1}-{b + 1}")
        ranks = order.ranks[a], order.ranks[b]
        better = Preference.of((ranks[0] < ranks[1]) - (ranks[0] > ranks[1]), order.explanation)
        two = conversations[a], conversations[b]
        yield _verdict(one, two, model, **better._asdict(), raw=raw if first else "")


def _seeing(messages: Sequence[Message], conversations: Sequence[Conversation]) -> tuple[Message, ...]:
    """The messages of a prompt, the last with the images of the conversations it is about."""
    images = {text: url for c in conversations for m in c.messages for text, url in m.images.items()}
    *before, last = messages
    return (*before, replace(last, meta={IMAGES: images}) if images else last)


def failed(
    due: DueJudgement, conversations: Sequence[Conversation], model: Model, failure: CallFailed
) -> Judgement | Comparison:
    """A verdict that failed for an unusable reply. Raises any other failure again."""
    if not failure.code.on_demand:
        raise failure
    return verdict_failed(due, conversations, model, failure)


def verdict_failed(
    due: DueJudgement, conversations: Sequence[Conversation], model: Model, failure: CallFailed
) -> Judgement | Comparison:
    """A verdict that failed, for whatever reason."""
    return _verdict(due, conversations, model, failure=str(failure), raw=failure.raw)


def _verdict(
    due: DueJudgement, conversations: Sequence[Conversation], model: Model, **values: Any
) -> Judgement | Comparison:
    rater = Rater(due.judge, "judge", due.prompt.version, model.simulated)
    values |= {"key": due.key, "prompt": due.prompt.hash, "repeat": due.repeat}
    if not due.against:
        return Judgement(conversation=conversations[0].key, judge=rater, **values)
    values |= {"rubric": due.asking.rubric, "criterion": "".join(c.name for c in due.asking.criteria)}
    keys = (*(conversation.key for conversation in conversations), *due.against)
    return Comparison(first=keys[0], second=keys[1], rater=rater, **values)
