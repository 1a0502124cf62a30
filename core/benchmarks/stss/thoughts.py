"""What a resident's mind asks models for: the replies' schemas, by the prompt of each thought."""

from typing import Annotated

from pydantic import Field

from concord.llm.replies import Reply, Text


class Outline(Reply):
    """The day in broad strokes, and when to get up."""

    wake: Text
    plan: Annotated[list[Text], Field(min_length=1)]


class Step(Reply):
    """One thing to do: from when, for how long, what, where (sector:arena:object)."""

    start: Text
    minutes: Annotated[int, Field(ge=1, le=1440)]
    action: Text
    place: Text


class Steps(Reply):
    """The day, or the rest of it, as actions in places."""

    actions: Annotated[list[Step], Field(min_length=1)]


class Approach(Reply):
    """Whether to speak to another resident, reasons first."""

    reason: str
    talk: bool


class Speech(Reply):
    """The next utterance; `done` when the speaker has said what there was to say."""

    utterance: str
    done: bool


class Summary(Reply):
    """What to keep of a conversation."""

    summary: Text
    importance: Annotated[int, Field(ge=1, le=10)]
    changes_today: bool


class GeneralPlan(Reply):
    """Target-driven planning, first call: the task in three to five steps."""

    steps: Annotated[list[Text], Field(min_length=3, max_length=5)]


class PlanReminder(Reply):
    """Second call: what to keep in mind when planning a day, in one or two sentences."""

    reminder: Text


class TalkReminder(Reply):
    """Third call: what to keep in mind when talking to others, fewer than five items."""

    items: Annotated[list[Text], Field(min_length=1, max_length=4)]


THOUGHTS: dict[str, type[Reply]] = {
    "outline": Outline,
    "schedule": Steps,
    "approach": Approach,
    "utterance": Speech,
    "summary": Summary,
    "revision": Steps,
    "tdp_plan": GeneralPlan,
    "tdp_day": PlanReminder,
    "tdp_talk": TalkReminder,
}
"""The prompts of a resident's mind, with the schemas of their replies."""


NOTES = {
    "general_plan": ("tdp_plan", "steps"),
    "plan_reminder": ("tdp_day", "reminder"),
    "talk_reminder": ("tdp_talk", "items"),
}
"""What target-driven planning notes: each with the thought that makes it and the field of its reply."""
