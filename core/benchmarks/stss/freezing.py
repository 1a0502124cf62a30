"""Frozen scenes: the moment before a performer talked with somebody, with what both remembered then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from core.benchmarks.stss import language
from core.benchmarks.stss.tasks import SocialTask, task_from, values_of
from core.benchmarks.stss.trajectory import STAMP, Talk, Trajectory
from core.conversation import Conversation
from core.scenario import Scenario

PER_PAIR = 2
"""At most so many scenes of one task for the same two people, each from another simulation."""


def freeze(
    simulations: Iterable[tuple[Conversation, Trajectory]], per_pair: int = PER_PAIR
) -> Iterator[Scenario]:
    """The scenes of simulations, in the order given; the same simulations give the same keys.

    A scene is a conversation of the performer before the day of the event (day 1): the first with each
    partner in a simulation; for an appointment only those with the person to be met.
    """
    frozen: Counter[tuple[str, str]] = Counter()
    for conversation, lived in simulations:
        task = task_from(conversation.context["_task"])
        scenes = {scene["time"] + "|" + scene["begins"]: scene for scene in lived.extra["scenes"]}
        seen: set[str] = set()
        for talk in lived.talks:
            if not _usable(task, talk, lived):
                continue
            partner = talk.partner(task.performer)
            pair = (task.id, partner)
            if partner in seen or frozen[pair] >= per_pair:
                continue
            seen.add(partner)
            frozen[pair] += 1
            scene = scenes[f"{talk.time.strftime(STAMP)}|{talk.pair[0]}"]
            yield Scenario(
                language.NAME,
                language.SCENARIO,
                f"{task.id}/{_slug(partner)}/{frozen[pair]}",
                _body(conversation, task, talk, scene, lived),
                "accepted",
                conversation.key,
            )


def _usable(task: SocialTask, talk: Talk, lived: Trajectory) -> bool:
    day = task.event_day
    early = talk.time.date() < day if day else talk.time.date() == lived.times[0].date()
    return (
        early
        and task.performer in talk.pair
        and (not task.target or talk.partner(task.performer) in task.target)
    )


def _body(
    conversation: Conversation, task: SocialTask, talk: Talk, scene: dict[str, Any], lived: Trajectory
) -> dict[str, Any]:
    now = talk.time.strftime(STAMP)
    states = {}
    for name in talk.pair:
        # What is noted of this very moment and kind came out of the conversation that is to be had once more.
        memories = [
            m for m in lived.extra["memories"][name] if m[0] < now or (m[0] == now and m[2] != "talked")
        ]
        states[name] = {"doing": scene["doing"][name], "memories": memories}
    return {
        "task": values_of(task),
        "town": conversation.facets["town"],
        "partner": talk.partner(task.performer),
        "begins": talk.pair[0],
        "time": now,
        "place": talk.place,
        "states": states,
    }


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")
