"""Who notices whom: each resident looks at a few others in the room, so that cost stays linear."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from core.benchmarks.stss.agent import Body
from core.benchmarks.stss.clock import Clock

ATTENTION = 8
"""How many others in a room a resident looks at in one step."""
PAUSE = 15
"""Minutes after which a resident thinks again of speaking to anybody."""
AGAIN, AFTER_TALK, TAKEN = 3 * 60, 5 * 60, 30
"""Minutes after which a resident thinks again of speaking to the same person: after deciding not to, after a
talk, after finding them in conversation."""


@dataclass
class Rooms:
    """The free residents of each room, in the order of the town; `note` updates one resident."""

    _of: dict[int, tuple[str, str]] = field(default_factory=dict)
    _in: dict[tuple[str, str], list[Body]] = field(default_factory=dict)
    _shared: dict[tuple[str, str], list[Body]] = field(default_factory=dict)

    def note(self, agent: Body) -> None:
        """Update a resident's room, and whether they are free."""
        now = agent.room if agent.free else None
        before = self._of.get(agent.number)
        if now == before:
            return
        if before is not None:
            del self._of[agent.number]
            left = self._in[before]
            left.remove(agent)
            if len(left) < 2:
                self._shared.pop(before, None)
        if now is not None:
            self._of[agent.number] = now
            entered = self._in.setdefault(now, [])
            insort(entered, agent, key=attrgetter("number"))
            if len(entered) > 1:
                self._shared[now] = entered

    def shared(self) -> list[list[Body]]:
        """The rooms that several are in, in the order of the first of each."""
        return sorted(self._shared.values(), key=lambda room: room[0].number)


@dataclass(frozen=True)
class Encounter:
    """A resident who noticed another and may speak to them."""

    agent: Body
    other: Body


def encounters(rooms: Rooms, step: int) -> list[Encounter]:
    """At most one encounter for each resident: with the one considered longest ago of those they look at.

    Each looks at the next few in the room, in the town's order, shifted by the step.
    """
    found = []
    for room in rooms.shared():
        n = len(room)
        for i, agent in enumerate(room):
            if step < agent.attentive:
                continue
            looks = (room[(i + 1 + (step + j) % (n - 1)) % n] for j in range(min(ATTENTION, n - 1)))
            candidates = [o for o in looks if agent.considered.get(o.name, 0) <= step]
            if candidates:
                other = min(candidates, key=lambda o: agent.considered.get(o.name, -1))
                found.append(Encounter(agent, other))
    return found


def pair_up(wanting: Iterable[Encounter], step: int, clock: Clock) -> list[Encounter]:
    """The encounters that become talks, one for each resident; who finds the other busy retries later."""
    busy: set[str] = set()
    talks = []
    for e in wanting:
        a, b = e.agent, e.other
        if a.name in busy:
            continue
        if b.name in busy:
            a.considered[b.name] = step + clock.span(TAKEN)
            continue
        busy |= {a.name, b.name}
        a.considered[b.name] = b.considered[a.name] = step + clock.span(AFTER_TALK)
        talks.append(e)
    return talks
