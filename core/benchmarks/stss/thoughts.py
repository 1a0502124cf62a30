"""The reply schemas of a resident's thoughts, and how prompts describe a resident."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.benchmarks.stss.mind import Self
from core.benchmarks.stss.town import Town
from core.llm.replies import Reply, Text


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
    """Whether to speak to somebody, reasons first."""

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


def portrait(me: Self, town: Town) -> str:
    """A persona as prompts show it. The performer's task is part of “At present”, as in the paper."""
    r = me.resident
    currently = r.currently if me.task is None else f"{r.currently} {me.task.currently}".strip()
    lines = [
        f"Name: {r.name}",
        f"Age: {r.age}",
        f"Character: {r.innate}",
        f"Background: {r.learned}",
        f"At present: {currently}",
        f"Habits: {r.lifestyle}",
        f"Usually up from {r.wakes} to {r.sleeps}",
        f"Home: {r.home}",
    ]
    if r.work:
        lines.append(f"Work: {r.work}, {r.hours[0]} to {r.hours[1]}")
    if r.knows:
        # With their work, so that residents know where to look for them.
        works = {name: town.residents[name].work for name in r.knows}
        told = {name: f", works at {work}" if work else "" for name, work in works.items()}
        lines.append("Knows: " + "; ".join(f"{name} ({who}{told[name]})" for name, who in r.knows.items()))
    return "\n".join(lines)


def places(town: Town, me: Self) -> list[str]:
    """The places to go to: each arena with its objects; of other people's homes only the name."""
    home = me.resident.home.split(":")[0]
    shown = []
    for sector in town.sectors.values():
        if sector.kind == "home" and sector.name != home:
            shown.append(sector.name)
            continue
        shown += [f"{sector.name}:{arena}: {', '.join(things)}" for arena, things in sector.arenas.items()]
    return shown
