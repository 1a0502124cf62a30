"""Goal conditions of the language level: yes/no questions on a conversation and on the partner's summary."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from concord.benchmarks.stss.tasks import TITLES, Kind, SocialTask, task_from
from concord.conversation import Conversation, Unit
from concord.llm.replies import Reason, Reply, Unusable
from concord.rating import Rating
from concord.rubrics.shipped import rubric

SUMMARY = "summary_"
"""The prefix of a condition that is asked of the partner's own summary."""


class Condition(NamedTuple):
    """A criterion and its question for one task."""

    name: str
    question: str


CONVERSATION = rubric("stss-language", "conversation")
"""What is asked of the conversation. The conditions are counted: their mean is the share met, the GCSR."""

PARTNER = rubric("stss-language", "summary")
"""What is asked of the partner's summary."""

CONDITIONS: Mapping[Kind, tuple[str, ...]] = {
    kind: tuple(c.name for c in CONVERSATION.criteria if c.counted and c.asked_of({"type": kind}))
    for kind in TITLES
}
"""The conditions of each type of task, as many as in the paper."""

QUALITIES = tuple(c for c in CONVERSATION.criteria if not c.counted)
"""The marks."""


class Met(Reply):
    """One condition: why, and whether it is met."""

    condition: str
    explanation: Reason
    met: bool


Ten = Annotated[int, Field(ge=0, le=10)]


class OnConversation(Reply):
    """A judge's answers on the conversation: the conditions and three marks."""

    answers: list[Met]
    naturalness: Ten
    rationality: Ten
    quality: Ten


class OnSummary(Reply):
    """A judge's answers on the partner's summary, which it is shown alone."""

    own_summary: list[Met]


def conditions(task: SocialTask) -> tuple[Condition, ...]:
    """The questions of a task, which name its people, times and places."""
    first = task.subgoals[0]
    second = task.subgoals[1] if len(task.subgoals) > 1 else first
    time_words = "" if first.start is None else f" ({first.start:%Y-%m-%d at %H:%M})"
    place_words = f" ({first.location})" if first.location else ""
    thing = f"“{first.keywords[0]}”"
    invites = f"Does {task.performer} invite the partner to {thing}?"
    first_questions = {
        "public": invites,
        "online": invites,
        "companions": f"Does {task.performer} ask the partner to come along for {thing}?",
        "appointment": f"Does {task.performer} bring up meeting for {thing}?",
        "help": f"Does {task.performer} ask the partner to do the first errand ({thing})?",
    }
    # Where the task leaves the time or the place open, the two have to settle it.
    day_question = "Do the two settle" if first.start is None else "Is the partner told"
    place_question = (
        "Do the two settle where" if task.kind == "appointment" else "Is the partner told the place"
    )
    questions = {
        "invited": first_questions[task.kind],
        "time": f"{day_question} the day and the time{time_words}, to the hour?",
        "place": f"{place_question}{place_words}?",
        "second_invited": f"Does {task.performer} ask the partner to do the second errand "
        f"(“{second.keywords[0]}”, after the first)?",
        "second_place": f"Is the partner told the place of the second errand ({second.location})?",
    }
    return tuple(Condition(name, questions[name]) for name in CONDITIONS[task.kind])


def reader(field: str, prefix: str = "") -> Callable[[Conversation, Any], tuple[Rating, ...]]:
    """Reads a reply: a rating for each condition that it answers in a field, and for each mark in it.

    Raises Unusable unless exactly the conditions asked are answered.
    """

    def read(conversation: Conversation, reply: Any) -> tuple[Rating, ...]:
        kind = task_from(conversation.context["_task"]).kind
        answers = getattr(reply, field)
        names = list(CONDITIONS[kind])
        condition_names = [answer.condition for answer in answers]
        if condition_names != names:
            raise Unusable(
                f'"{field}" must answer the conditions {names}, in order; it answers {condition_names}.'
            )
        unit = Unit(conversation.key)
        marks = (c.name for c in QUALITIES if hasattr(reply, c.name))
        return (
            *(Rating(unit, prefix + a.condition, int(a.met), a.explanation) for a in answers),
            *(Rating(unit, name, getattr(reply, name)) for name in marks),
        )

    return read
