"""A resident's body: where it is, what it does, how it walks. The simulation asks the mind."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.benchmarks.stss.clock import Clock
from core.benchmarks.stss.mind import Mind, Self
from core.benchmarks.stss.schedule import SLEEPING, Day, at
from core.benchmarks.stss.town import Place, Town
from core.benchmarks.stss.trajectory import WALKING


@dataclass(eq=False)
class Body:
    """One resident's body, up to date after `advance`. `number` is its position in the town's order."""

    me: Self
    mind: Mind
    town: Town
    place: Place
    number: int = 0
    name: str = field(init=False)
    doing: str = SLEEPING
    walking: bool = False
    talking_until: int = 0
    considered: dict[str, int] = field(default_factory=dict)
    """The step from which each other resident is considered again."""
    attentive: int = 0
    """The step from which the resident looks around again."""
    _way: list[tuple[int, Place]] = field(default_factory=list)
    _action: int = -1
    _next: int = 0

    def __post_init__(self) -> None:
        self.name = self.me.name

    @property
    def free(self) -> bool:
        """Awake, not on the way, not talking."""
        return not self.walking and self.doing != SLEEPING and not self.talking_until

    @property
    def room(self) -> tuple[str, str]:
        """Sector and arena."""
        return self.place.sector, self.place.arena

    @property
    def due(self) -> int:
        """The next step at which something changes; before it, `advance` does nothing."""
        return max(self._next, self.talking_until)

    def follow(self, day: Day, step: int) -> None:
        """Take up a plan; the next `advance` begins its action of that minute."""
        self.me.day = day
        self._action, self._next = -1, step

    def talk(self, partner: str, until: int) -> None:
        """Stand still in conversation up to a step (exclusive)."""
        self.doing, self.talking_until, self._next = f"conversing with {partner}", until, until
        self.me.doing = self.doing

    def advance(self, step: int, clock: Clock) -> None:
        """Update place and action to this step."""
        if step < self.due:
            return
        if self.talking_until:
            self.talking_until, self._action = 0, -1
        minute = clock.minute(step)
        index = at(self.me.day, minute)
        action = self.me.day[index]
        if index != self._action:
            self._action = index
            self._way = self._stops(action.place, step, clock)
        while self._way and self._way[0][0] <= step:
            self.place = self._way.pop(0)[1]
        self.walking = bool(self._way)
        self.doing = WALKING if self.walking else action.text
        self.me.doing, self.me.place = self.doing, str(self.place)
        ends = step + clock.span(action.end - minute)
        self._next = min(ends, self._way[0][0]) if self._way else ends

    def _stops(self, goal: Place, step: int, clock: Clock) -> list[tuple[int, Place]]:
        """The steps at which each sector on the way is reached; within a sector at once."""
        if goal.sector == self.place.sector:
            return [(step, goal)]
        way = self.town.way(self.place.sector, goal.sector)
        passed = [
            (step + int(stop.minutes // clock.step_minutes), self.town.sectors[stop.sector].entrance)
            for stop in way[1:-1]
        ]
        return [*passed, (step + clock.span(way[-1].minutes), goal)]
