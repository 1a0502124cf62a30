"""Goal conditions of the language level: yes/no questions on a conversation and on the partner's summary."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from concord.benchmarks.stss.tasks import Kind, SocialTask
from concord.conversation import Conversation, Unit
from concord.llm.replies import Reply, Unusable
from concord.rating import YES_NO, Criterion, Rating, points

SUMMARY = "summary_"
"""The prefix of a condition that is asked of the partner's own summary."""


class Condition(NamedTuple):
    """A criterion and its question for one task."""

    name: str
    question: str


_STATEMENTS: Mapping[str, tuple[str, str]] = {
    "invited": (
        "Asked",
        "The performer invites the partner, or asks for what the task is about (of two errands: the first).",
    ),
    "time": ("Time", "The day and the time of it are named, or settled between the two, to the hour."),
    "place": (
        "Place",
        "The place of it is named, or settled between the two (of two errands: of the first).",
    ),
    "second_invited": ("Second errand asked", "The performer asks for the second errand as well."),
    "second_place": ("Second errand’s place", "The place of the second errand is named."),
}

CONDITIONS: Mapping[Kind, tuple[str, ...]] = {
    "public": ("invited", "time", "place"),
    "companions": ("invited", "time", "place"),
    "appointment": ("invited", "time", "place"),
    "online": ("invited", "time"),
    "help": ("invited", "place", "second_invited", "second_place"),
}
"""The conditions of each type of task, as many as in the paper."""

TEN = points(0, 10)
QUALITIES = tuple(
    Criterion(name, statement, TEN, name.capitalize(), counted=False)
    for name, statement in (
        ("naturalness", "The performer speaks as a person would in this situation (0 to 10)."),
        ("rationality", "What the performer says makes sense and serves the task (0 to 10)."),
        ("quality", "On the whole, how good is the performer’s side of the conversation (0 to 10)?"),
    )
)

ON_CONVERSATION = (
    *(
        Criterion(name, statement, YES_NO, title, conditional=True)
        for name, (title, statement) in _STATEMENTS.items()
    ),
    *QUALITIES,
)
"""What is asked of the conversation. The conditions are counted: their mean is the share met, the GCSR."""

ON_SUMMARY = tuple(
    Criterion(
        SUMMARY + name,
        f"In the partner’s summary: {statement[0].lower()}{statement[1:]}",
        YES_NO,
        f"Summary: {title.lower()}",
        counted=False,
    )
    for name, (title, statement) in _STATEMENTS.items()
)
"""What is asked of the partner's summary."""


class Met(Reply):
    """One condition: why, and whether it is met."""

    condition: str
    explanation: str
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


class Both(Reply):
    """Version 1's answers, in one call: conditions on the conversation and on the summary, three marks."""

    conversation: list[Met]
    own_summary: list[Met]
    naturalness: Ten
    rationality: Ten
    quality: Ten


def conditions(task: SocialTask) -> tuple[Condition, ...]:
    """The questions of a task, which name its people, times and places."""
    first = task.subgoals[0]
    second = task.subgoals[1] if len(task.subgoals) > 1 else first
    when = "" if first.start is None else f" ({first.start:%Y-%m-%d at %H:%M})"
    where = f" ({first.location})" if first.location else ""
    thing = f"“{first.keywords[0]}”"
    invites = f"Does {task.performer} invite the partner to {thing}?"
    asked = {
        "public": invites,
        "online": invites,
        "companions": f"Does {task.performer} ask the partner to come along for {thing}?",
        "appointment": f"Does {task.performer} bring up meeting for {thing}?",
        "help": f"Does {task.performer} ask the partner to do the first errand ({thing})?",
    }
    # Where the task leaves the time or the place open, the two have to settle it.
    settled = "Do the two settle" if first.start is None else "Is the partner told"
    placed = "Do the two settle where" if task.kind == "appointment" else "Is the partner told the place"
    questions = {
        "invited": asked[task.kind],
        "time": f"{settled} the day and the time{when}, to the hour?",
        "place": f"{placed}{where}?",
        "second_invited": f"Does {task.performer} ask the partner to do the second errand "
        f"(“{second.keywords[0]}”, after the first)?",
        "second_place": f"Is the partner told the place of the second errand ({second.location})?",
    }
    return tuple(Condition(name, questions[name]) for name in CONDITIONS[task.kind])


def read_conversation(conversation: Conversation, kind: Kind, reply: OnConversation) -> tuple[Rating, ...]:
    """A rating for each condition and mark. Raises Unusable unless exactly those asked are answered."""
    return (*_answers(conversation, kind, "answers", reply.answers), *_marks(conversation, reply))


def read_summary(conversation: Conversation, kind: Kind, reply: OnSummary) -> tuple[Rating, ...]:
    """A rating for each condition on the summary. Raises Unusable as `read_conversation`."""
    return _answers(conversation, kind, "own_summary", reply.own_summary, SUMMARY)


def read_both(conversation: Conversation, kind: Kind, reply: Both) -> tuple[Rating, ...]:
    """A rating for each condition, twice, and for each mark. Raises Unusable as `read_conversation`."""
    return (
        *_answers(conversation, kind, "conversation", reply.conversation),
        *_answers(conversation, kind, "own_summary", reply.own_summary, SUMMARY),
        *_marks(conversation, reply),
    )


def _answers(
    conversation: Conversation, kind: Kind, field: str, answers: Sequence[Met], prefix: str = ""
) -> tuple[Rating, ...]:
    names, given = list(CONDITIONS[kind]), [answer.condition for answer in answers]
    if given != names:
        raise Unusable(f'"{field}" must answer the conditions {names}, in order; it answers {given}.')
    unit = Unit(conversation.key)
    return tuple(Rating(unit, prefix + a.condition, int(a.met), a.explanation) for a in answers)


def _marks(conversation: Conversation, reply: OnConversation | Both) -> tuple[Rating, ...]:
    unit = Unit(conversation.key)
    return tuple(Rating(unit, c.name, getattr(reply, c.name)) for c in QUALITIES)


def met(scores: Mapping[str, float], kind: Kind, *, summary: bool = False) -> Sequence[float] | None:
    """The answers to a type's conditions in their order, from criterion → score; None if one is missing."""
    names = [(SUMMARY if summary else "") + name for name in CONDITIONS[kind]]
    return [scores[name] for name in names] if all(name in scores for name in names) else None
