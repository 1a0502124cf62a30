"""Residents' bodies: where they are, what they do, how they walk, and who notices whom."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from concord.benchmarks.stss.mind import Self, Thinker
from concord.benchmarks.stss.schedule import SLEEPING, Day, action_at
from concord.benchmarks.stss.town import Clock, Place, Town
from concord.benchmarks.stss.trajectory import WALKING


@dataclass(eq=False, kw_only=True)
class Body(Self):
    """One resident with mind and body, up to date after `advance`."""

    mind: Thinker
    town: Town
    walking: bool = False
    talking_until: int = 0
    considered: dict[str, int] = field(default_factory=dict)
    """The step from which each other resident is considered again."""
    attentive: int = 0
    """The step from which the resident looks around again."""
    _way: list[tuple[int, Place]] = field(default_factory=list)
    _action: int = -1
    _next: int = 0

    @property
    def free(self) -> bool:
        """Awake, not on the way, not talking."""
        return not self.walking and self.doing != SLEEPING and not self.talking_until

    @property
    def room(self) -> tuple[str, str]:
        """Sector and arena."""
        return self.place.sector, self.place.arena

    def follow(self, day: Day, step: int) -> None:
        """Take up a plan; the next `advance` begins its action of that minute."""
        self.day = day
        self._action = -1
        self._next = step

    def talk(self, partner: str, end: int) -> None:
        """Stand still in conversation up to a step (exclusive)."""
        self.doing = f"conversing with {partner}"
        self.talking_until = end
        self._next = end

    def advance(self, step: int, clock: Clock) -> None:
        """Update place and action to this step."""
        if step < max(self._next, self.talking_until):
            return
        if self.talking_until:
            self.talking_until = 0
            self._action = -1
        minute = clock.minute(step)
        index = action_at(self.day, minute)
        action = self.day[index]
        if index != self._action:
            self._action = index
            self._way = self._stops(action.place, step, clock)
        while self._way and self._way[0][0] <= step:
            self.place = self._way.pop(0)[1]
        self.walking = bool(self._way)
        self.doing = WALKING if self.walking else action.text
        ends = step + clock.span(action.end - minute)
        self._next = min(ends, self._way[0][0]) if self._way else ends

    def _stops(self, goal: Place, step: int, clock: Clock) -> list[tuple[int, Place]]:
        """The steps at which each sector on the way is reached; within a sector at once."""
        if goal.sector == self.place.sector:
            return [(step, goal)]
        start = self.place.sector
        town = self.town
        waypoints = [
            (step + int(town.minutes(start, sector) // clock.step_minutes), town.sectors[sector].entrance)
            for sector in town.way(start, goal.sector)[1:-1]
        ]
        return [*waypoints, (step + clock.span(town.minutes(start, goal.sector)), goal)]


PAUSE = 15
"""Minutes after which a resident thinks again of speaking to anybody."""
RETRY_SECONDS = 3 * 60
AFTER_TALK = 5 * 60
TALK_SECONDS = 30
"""Minutes after which a resident thinks again of speaking to the same person: after deciding not to, after a
talk, after finding them in conversation."""


class Encounter(NamedTuple):
    """A resident who noticed another and may speak to them."""

    agent: Body
    partner: Body


def encounters(agents: Iterable[Body], step: int) -> list[Encounter]:
    """At most one encounter for each resident: with the one in the room who was considered longest ago.

    Of several it is the next in the town's order, shifted by the step.
    """
    rooms: dict[tuple[str, str], list[Body]] = {}
    for agent in agents:
        if agent.free:
            rooms.setdefault(agent.room, []).append(agent)
    noticed = []
    for room in rooms.values():
        n = len(room)
        for i, agent in enumerate(room):
            roommates = (room[(i + 1 + (step + j) % (n - 1)) % n] for j in range(n - 1))
            candidates = [o for o in roommates if agent.considered.get(o.name, 0) <= step]
            if candidates and step >= agent.attentive:
                partner = min(candidates, key=lambda o: agent.considered.get(o.name, -1))
                noticed.append(Encounter(agent, partner))
    return noticed


def pair_up(wanting: Iterable[Encounter], step: int, clock: Clock) -> list[Encounter]:
    """The encounters that become talks, one for each resident; who finds the other busy retries later."""
    busy: set[str] = set()
    talks = []
    for e in wanting:
        a = e.agent
        b = e.partner
        if a.name in busy:
            continue
        if b.name in busy:
            a.considered[b.name] = step + clock.span(TALK_SECONDS)
            continue
        busy |= {a.name, b.name}
        a.considered[b.name] = b.considered[a.name] = step + clock.span(AFTER_TALK)
        talks.append(e)
    return talks
