"""Two days in the town, step by step: residents plan, walk, notice each other, talk and change plans.

Within a step residents' calls run at the same time. Each changes only its own resident, and decisions take
effect in the order of the town: the outcome does not depend on the order in which replies arrive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from concord.benchmarks.stss import bodies
from concord.benchmarks.stss.bodies import PAUSE, RETRY_SECONDS, Body, Encounter
from concord.benchmarks.stss.memory import Stream, Vectors, gather_all
from concord.benchmarks.stss.mind import Now, Thinker, Transcript, converse, minutes
from concord.benchmarks.stss.schedule import Day, Wish, arrange
from concord.benchmarks.stss.tasks import SocialTask
from concord.benchmarks.stss.thoughts import Summary
from concord.benchmarks.stss.town import Clock, Town, hour_of
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory

SIGHT = 1
PLANNED = 4
"""The importance (1 to 10) of having seen somebody, and of a day's plan."""


@dataclass
class World:
    """The town at work. `scenes` say who was doing what when a conversation began."""

    town: Town
    clock: Clock
    agents: Sequence[Body]
    talks: list[Talk] = field(default_factory=list)
    plans: list[dict[str, Any]] = field(default_factory=list)
    scenes: list[dict[str, Any]] = field(default_factory=list)

    async def run(self) -> Trajectory:
        """Live through all days. Raises CallFailed where an endpoint fails."""
        lives: dict[str, list[int]] = {agent.name: [] for agent in self.agents}
        states: dict[State, int] = {}
        first = Now(self.town, self.clock, 0)
        await gather_all(a.mind.prepare(a, first) for a in self.agents)
        for step in range(self.clock.steps):
            now = Now(self.town, self.clock, step)
            if not self.clock.minute(step):
                await self._wake_up(now)
            for agent in self.agents:
                agent.advance(step, self.clock)
            await self._meet(now)
            for agent in self.agents:
                state = State(agent.doing, str(agent.place))
                lives[agent.name].append(states.setdefault(state, len(states)))
        return Trajectory(
            tuple(map(self.clock.time, range(self.clock.steps))),
            tuple(states),
            {name: np.array(life, dtype=np.int32) for name, life in lives.items()},
            tuple(self.talks),
            {
                "plans": self.plans,
                "scenes": self.scenes,
                "memories": {
                    a.name: [
                        [m.time.strftime(STAMP), m.importance, m.kind, m.text] for m in a.memory.memories
                    ]
                    for a in self.agents
                },
                "notes": {a.name: a.notes for a in self.agents if a.notes},
            },
        )

    async def _wake_up(self, now: Now) -> None:
        """Midnight: everybody plans the day that begins."""
        plans = await gather_all(a.mind.plan(a, now) for a in self.agents)
        for agent, plan in zip(self.agents, plans, strict=True):
            self._take_up(agent, now, plan.wishes, plan.wake)
            if plan.outline:
                agent.remember(now.time, plan.outline, PLANNED, "planned")

    async def _meet(self, now: Now) -> None:
        """Let residents in one room talk."""
        meetings = bodies.encounters(self.agents, now.step)
        wants = await gather_all(e.agent.mind.approaches(e.agent, e.partner, now) for e in meetings)
        wanting = []
        for e, wish in zip(meetings, wants, strict=True):
            if e.partner.name not in e.agent.considered:
                place = f"{e.agent.place.sector}, {e.agent.place.arena}"
                text = f"Saw {e.partner.name} at {place}: {e.partner.doing}."
                e.agent.remember(now.time, text, SIGHT, "seen")
            e.agent.considered[e.partner.name] = now.step + self.clock.span(RETRY_SECONDS)
            e.agent.attentive = now.step + self.clock.span(PAUSE)
            if wish:
                wanting.append(e)
        await self._talk(bodies.pair_up(wanting, now.step, self.clock), now)

    async def _talk(self, talking: Sequence[Encounter], now: Now) -> None:
        talks = await gather_all(self._converse(e, now) for e in talking)
        changed: list[Body] = []
        for e, (transcript, summaries) in zip(talking, talks, strict=True):
            if not transcript:
                continue
            pair = (e.agent, e.partner)
            names = (e.agent.name, e.partner.name)
            doing = {agent.name: agent.doing for agent in pair}
            self.scenes.append({"time": now.time.strftime(STAMP), "begins": names[0], "doing": doing})
            summary = {name: k.summary for name, k in zip(names, summaries, strict=True)}
            self.talks.append(Talk(now.time, names, tuple(transcript), summary, str(e.agent.place)))
            end = now.step + self.clock.span(minutes(transcript))
            for agent, partner, k in zip(pair, names[::-1], summaries, strict=True):
                agent.talk(partner, end)
                agent.remember(now.time, k.summary, k.importance, "talked")
                if k.changes_today:
                    changed.append(agent)
        await self._revise(changed, now)

    async def _converse(self, e: Encounter, now: Now) -> tuple[Transcript, list[Summary]]:
        """What the two say, and what each keeps of it."""
        me, partner_body = e
        transcript = await converse((me, me.mind), (partner_body, partner_body.mind), now)
        if not transcript:
            return transcript, []
        keeping = (
            me.mind.keeps(me, partner_body, transcript, now),
            partner_body.mind.keeps(partner_body, me, transcript, now),
        )
        return transcript, await gather_all(keeping)

    async def _revise(self, agents: Sequence[Body], now: Now) -> None:
        wishes = await gather_all(a.mind.revises(a, now) for a in agents)
        for agent, wished in zip(agents, wishes, strict=True):
            if wished is not None:
                self._take_up(agent, now, wished, earlier=agent.day)

    def _take_up(
        self, agent: Body, now: Now, wishes: Sequence[Wish], wake: str | None = None, earlier: Day = ()
    ) -> None:
        """Have a resident follow a day made of wishes, or the rest of one whose `earlier` part stays."""
        minute = self.clock.minute(now.step)
        day = arrange(wishes, agent.resident, self.town, wake, earlier, minute)
        agent.follow(day, now.step)
        actions = [[hour_of(a.start), a.minutes, a.text, str(a.place)] for a in day]
        self.plans.append({"time": now.time.strftime(STAMP), "agent": agent.name, "actions": actions})


def people(
    town: Town,
    minds: Mapping[str, Thinker],
    task: SocialTask | None = None,
    vectors: Vectors | None = None,
) -> list[Body]:
    """Residents, by name with their minds, asleep in their beds, in the order given.

    Only the performer knows the task. With `vectors` memories are retrieved by meaning, else by words.
    """
    return [
        Body(
            town.residents[name],
            town.home(name),
            task if task and task.performer == name else None,
            Stream(vectors=vectors),
            mind=mind,
            town=town,
        )
        for name, mind in minds.items()
    ]
