"""The generative agent of Park et al. (2023) as the STSS paper uses it, with optional target-driven planning.

`high` is the model for the day's outline, conversations and TDP, `low` for the schedule. They differ for the
performer only: the evaluated model is `high`, the residents' model is `low`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.benchmarks.benchmark import Ask
from core.benchmarks.stss.memory import Memory
from core.benchmarks.stss.mind import DayPlan, Kept, Neighbour, Now, Said, Self, Utterance
from core.benchmarks.stss.schedule import Wish, habits
from core.benchmarks.stss.thoughts import places, portrait
from core.benchmarks.stss.town import hour_of
from core.errors import CallFailed
from core.llm.prompts import Prompt
from core.llm.replies import Unusable

UNUSABLE = ("unparsable", "truncated")
"""Failures of the model, not of the endpoint: the resident goes on by habit, which is noted as a repair."""

REMEMBERED = {"outline": 14, "approach": 5, "utterance": 8, "revision": 8}
"""How many memories each thought is given."""


@dataclass(frozen=True)
class GenerativeMind:
    """Asks models for each thought. With `tdp` the performer plans for its task first."""

    ask: Ask
    prompts: Mapping[str, Prompt]
    high: str
    low: str
    tdp: bool = False

    async def prepare(self, me: Self, now: Now) -> None:
        """With TDP the performer's three calls, each shown the replies before it; else nothing."""
        if not self.tdp or me.task is None:
            return
        general = await self._think("tdp_plan", me, now)
        me.notes["general_plan"] = list(general.steps) if general else []
        day = await self._think("tdp_day", me, now)
        me.notes["plan_reminder"] = day.reminder.strip() if day else ""
        talk = await self._think("tdp_talk", me, now)
        me.notes["talk_reminder"] = list(talk.items) if talk else []

    async def plan(self, me: Self, now: Now) -> DayPlan:
        """The outline of the day, then its actions in places; by habit where there is no usable reply."""
        today = f"{now.time:%A} {now.time:%Y-%m-%d}"
        query = f"{today} plan, promise, invitation, appointment, agreed to meet at {_currently(me)}"
        outline = await self._think("outline", me, now, query)
        if outline is None:
            return DayPlan(habits(me.resident))
        lines = [line.strip() for line in outline.plan if line.strip()]
        steps = await self._think(
            "schedule", me, now, outline=lines, wake=outline.wake, places=places(now.town, me)
        )
        wishes = habits(me.resident) if steps is None else _wishes(steps)
        return DayPlan(wishes, outline.wake, f"My plan for {today}: {'; '.join(lines)}.")

    async def approaches(self, me: Self, other: Neighbour, now: Now) -> bool:
        """Asked of the model; False without a usable reply."""
        about = f"{other.name} {other.doing} {_currently(me)}"
        reply = await self._think("approach", me, now, about, other=other, relation=_relation(me, other))
        return bool(reply and reply.talk)

    async def says(self, me: Self, other: Neighbour, said: Said, now: Now) -> Utterance:
        """Asked of the model; without a usable reply nothing, which ends the conversation."""
        last = said[-1][1] if said else ""
        about = f"{other.name} {last} {_currently(me)}"
        reply = await self._think(
            "utterance", me, now, about, str(len(said)), other=other, relation=_relation(me, other), said=said
        )
        return Utterance(reply.utterance, reply.done) if reply else Utterance("", True)

    async def keeps(self, me: Self, other: Neighbour, said: Said, now: Now) -> Kept:
        """Asked of the model; without a usable reply only that there was a conversation."""
        reply = await self._think("summary", me, now, other=other, said=said)
        if reply is None:
            return Kept(f"I talked with {other.name}.", 3)
        return Kept(reply.summary.strip(), reply.importance, reply.changes_today)

    async def revises(self, me: Self, now: Now) -> Sequence[Wish] | None:
        """Asked of the model; without a usable reply the plan stays."""
        latest = me.memory.memories[-1].text if me.memory.memories else ""
        minute = now.clock.minute(now.step)
        rest = [f"{hour_of(a.start)} {a.text} ({a.place})" for a in me.day if a.end > minute]
        reply = await self._think(
            "revision", me, now, latest, rest=rest, latest=latest, places=places(now.town, me)
        )
        return None if reply is None else _wishes(reply)

    async def _think(
        self, name: str, me: Self, now: Now, query: str = "", part: str = "", **values: Any
    ) -> Any:
        """A reply as its schema; None, noted as a repair, if it is unusable. Raises endpoints' failures."""
        model = self.low if name == "schedule" else self.high
        recalled = await me.memory.retrieve(query, now.time, REMEMBERED[name]) if query else []
        asked = self.prompts[name].render(
            me=portrait(me, now.town),
            name=me.name,
            first_name=me.resident.first_name,
            doing=me.doing,
            place=me.place,
            day=f"{now.time:%A} {now.time:%Y-%m-%d}",
            time=f"{now.time:%H:%M}",
            memories=list(map(_told, recalled)),
            task=me.task,
            general_plan=me.notes.get("general_plan", []),
            plan_reminder=me.notes.get("plan_reminder", ""),
            talk_reminder=me.notes.get("talk_reminder", []),
            **values,
        )
        step = " ".join(filter(None, [now.label, me.name, name, part]))
        try:
            answer = await self.ask(step, model, asked, CHECKS.get(name))
        except CallFailed as failure:
            if failure.kind not in UNUSABLE:
                raise
            me.repairs.append((now.time, f"no usable reply to “{name}”; went on by habit"))
            return None
        return answer.value


def _says_something(reply: Any) -> None:
    if not reply.utterance.strip() and not reply.done:
        raise Unusable('"utterance" is empty although "done" is false.')


CHECKS: Mapping[str, Callable[[Any], object]] = {"utterance": _says_something}


def _wishes(steps: Any) -> list[Wish]:
    return [Wish(s.start, s.minutes, s.action, s.place) for s in steps.actions]


def _told(memory: Memory) -> str:
    return f"[{memory.time:%A %H:%M}] {memory.text}"


def _relation(me: Self, other: Neighbour) -> str:
    return me.resident.knows.get(other.name, "")


def _currently(me: Self) -> str:
    return me.task.currently if me.task else ""
