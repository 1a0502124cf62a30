"""Two days in the town, step by step: residents plan, walk, notice each other, talk and change plans.

Within a step residents' calls run at the same time. Each changes only its own resident, and decisions take
effect in the order of the town: the outcome does not depend on the order in which replies arrive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from concord.benchmarks.stss import bodies
from concord.benchmarks.stss.bodies import AGAIN, PAUSE, Body, Encounter
from concord.benchmarks.stss.memory import Stream, Vectors, together
from concord.benchmarks.stss.mind import Mind, Now, Said, Self, Summary, converse, minutes
from concord.benchmarks.stss.schedule import Day, arrange
from concord.benchmarks.stss.tasks import SocialTask
from concord.benchmarks.stss.town import Clock, Town, hour_of
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory

SEEN, PLANNED = 1, 4
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
        await together(a.mind.prepare(a.me, first) for a in self.agents)
        for step in range(self.clock.steps):
            now = Now(self.town, self.clock, step)
            if not self.clock.minute(step):
                await self._wake_up(now)
            for agent in self.agents:
                agent.advance(step, self.clock)
            await self._meet(now)
            for agent in self.agents:
                state = State(agent.doing, agent.me.place)
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
                        [m.time.strftime(STAMP), m.importance, m.kind, m.text] for m in a.me.memory.memories
                    ]
                    for a in self.agents
                },
                "notes": {a.name: a.me.notes for a in self.agents if a.me.notes},
                "repairs": [
                    [time.strftime(STAMP), a.name, text] for a in self.agents for time, text in a.me.repairs
                ],
            },
        )

    async def _wake_up(self, now: Now) -> None:
        """Midnight: everybody plans the day that begins."""
        plans = await together(a.mind.plan(a.me, now) for a in self.agents)
        for agent, plan in zip(self.agents, plans, strict=True):
            day, repairs = arrange(plan.wishes, agent.me.resident, self.town, plan.wake)
            agent.me.repairs += [(now.time, repair) for repair in repairs]
            agent.follow(day, now.step)
            if plan.outline:
                agent.me.remember(now.time, plan.outline, PLANNED, "planned")
            self._note(agent, day, now)

    async def _meet(self, now: Now) -> None:
        """Let residents in one room talk."""
        met = bodies.encounters(self.agents, now.step)
        wants = await together(e.agent.mind.approaches(e.agent.me, e.other.me, now) for e in met)
        wanting = []
        for e, wish in zip(met, wants, strict=True):
            if e.other.name not in e.agent.considered:
                place = f"{e.agent.place.sector}, {e.agent.place.arena}"
                text = f"Saw {e.other.name} at {place}: {e.other.doing}."
                e.agent.me.remember(now.time, text, SEEN, "seen")
            e.agent.considered[e.other.name] = now.step + self.clock.span(AGAIN)
            e.agent.attentive = now.step + self.clock.span(PAUSE)
            if wish:
                wanting.append(e)
        await self._talk(bodies.pair_up(wanting, now.step, self.clock), now)

    async def _talk(self, talking: Sequence[Encounter], now: Now) -> None:
        held = await together(self._converse(e, now) for e in talking)
        changed: list[Body] = []
        for e, (said, kept) in zip(talking, held, strict=True):
            if not said:
                continue
            pair, names = (e.agent, e.other), (e.agent.name, e.other.name)
            doing = {agent.name: agent.doing for agent in pair}
            self.scenes.append({"time": now.time.strftime(STAMP), "begins": names[0], "doing": doing})
            summary = {name: k.summary for name, k in zip(names, kept, strict=True)}
            self.talks.append(Talk(now.time, names, tuple(said), summary, str(e.agent.place)))
            until = now.step + self.clock.span(minutes(said))
            for agent, partner, k in zip(pair, names[::-1], kept, strict=True):
                agent.talk(partner, until)
                agent.me.remember(now.time, k.summary, k.importance, "talked")
                if k.changes_today:
                    changed.append(agent)
        await self._revise(changed, now)

    async def _converse(self, e: Encounter, now: Now) -> tuple[Said, list[Summary]]:
        """What the two say, and what each keeps of it."""
        (me, mind), (other, theirs) = (e.agent.me, e.agent.mind), (e.other.me, e.other.mind)
        said = await converse((me, mind), (other, theirs), now)
        if not said:
            return said, []
        keeping = (mind.keeps(me, other, said, now), theirs.keeps(other, me, said, now))
        return said, await together(keeping)

    async def _revise(self, agents: Sequence[Body], now: Now) -> None:
        wishes = await together(a.mind.revises(a.me, now) for a in agents)
        minute = self.clock.minute(now.step)
        for agent, wished in zip(agents, wishes, strict=True):
            if wished is None:
                continue
            day, repairs = arrange(wished, agent.me.resident, self.town, earlier=agent.me.day, now=minute)
            agent.me.repairs += [(now.time, repair) for repair in repairs]
            agent.follow(day, now.step)
            self._note(agent, day, now)

    def _note(self, agent: Body, day: Day, now: Now) -> None:
        actions = [[hour_of(a.start), a.minutes, a.text, str(a.place)] for a in day]
        self.plans.append({"time": now.time.strftime(STAMP), "agent": agent.name, "actions": actions})


def people(
    town: Town,
    minds: Mapping[str, Mind],
    task: SocialTask | None = None,
    vectors: Vectors | None = None,
) -> list[Body]:
    """Residents, by name with their minds, asleep in their beds, in the order given.

    Only the performer knows the task. With `vectors` memories are retrieved by meaning, else by words.
    """

    def me(name: str) -> Self:
        known = task if task and task.performer == name else None
        return Self(town.residents[name], known, Stream(vectors=vectors))

    return [Body(me(name), mind, town, town.home(name)) for name, mind in minds.items()]
