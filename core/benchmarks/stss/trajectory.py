"""A trajectory: what every resident did where at every moment, and their conversations."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

STAMP = "%Y-%m-%d %H:%M:%S"
WALKING = "walking"
Indices = npt.NDArray[np.int32]
UNSEEN = -1


class State(NamedTuple):
    """What a resident does, and where: “sector:arena:object”."""

    action: str
    place: str

    @property
    def room(self) -> tuple[str, ...]:
        """Sector and arena. The world's name, with which published trajectories begin, is left out."""
        parts = self.place.split(":")
        return tuple(parts[1:3] if len(parts) > 3 else parts[:2])


@dataclass(frozen=True)
class Talk:
    """A conversation of two residents: who said what, and what each kept of it. `place` may be unknown."""

    time: datetime
    pair: tuple[str, str]
    messages: tuple[tuple[str, str], ...]
    summary: Mapping[str, str] = field(default_factory=dict)
    place: str = ""

    def partner(self, name: str) -> str:
        """The other one."""
        return self.pair[1] if self.pair[0] == name else self.pair[0]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Moments, and for each resident the index of their state at each; UNSEEN if none is recorded.

    `extra` holds a simulation's plans, scenes and memories.
    """

    times: tuple[datetime, ...]
    states: tuple[State, ...]
    lives: Mapping[str, Indices]
    talks: tuple[Talk, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        # Written out it is megabytes, and asyncio writes out the result of the task it ran.
        return f"Trajectory({len(self.lives)} residents, {len(self.times)} moments, {len(self.talks)} talks)"

    @property
    def residents(self) -> tuple[str, ...]:
        """Everybody, in the order recorded."""
        return tuple(self.lives)

    def at(self, name: str, moment: int) -> State | None:
        """A resident's state at a moment (its index), or None where it was not recorded."""
        index = int(self.lives[name][moment])
        return None if index == UNSEEN else self.states[index]

    def moment(self, time: datetime) -> int:
        """The index of the last moment not after `time`; 0 before the first."""
        return max(0, bisect_right(self.times, time) - 1)

    def stored(self) -> dict[str, Any]:
        """As plain values for the store: per resident the moments at which the state changed."""
        return {
            "times": _even(self.times),
            "states": [list(state) for state in self.states],
            "lives": {name: list(changes(life)) for name, life in self.lives.items()},
            "talks": [
                {
                    "time": talk.time.strftime(STAMP),
                    "with": list(talk.pair),
                    "messages": [list(message) for message in talk.messages],
                    "summary": dict(talk.summary),
                    "place": talk.place,
                }
                for talk in self.talks
            ],
            "extra": dict(self.extra),
        }


def changes(life: Indices) -> tuple[list[int], list[int]]:
    """The moments at which a state begins, and those states."""
    starts = np.flatnonzero(np.diff(life, prepend=UNSEEN - 1))
    return starts.tolist(), life[starts].tolist()


def from_stored(values: Mapping[str, Any]) -> Trajectory:
    """The trajectory that `stored` wrote."""
    times = _uneven(values["times"])
    lives = {}
    for name, (starts, states) in values["lives"].items():
        lengths = np.diff([*starts, len(times)])
        lives[name] = np.repeat(np.array(states, dtype=np.int32), lengths)
    return Trajectory(
        times,
        tuple(State(*state) for state in values["states"]),
        lives,
        tuple(
            Talk(
                datetime.strptime(talk["time"], STAMP),
                (talk["with"][0], talk["with"][1]),
                tuple((speaker, text) for speaker, text in talk["messages"]),
                talk["summary"],
                talk["place"],
            )
            for talk in values["talks"]
        ),
        values["extra"],
    )


def check_stored(values: Mapping[str, Any]) -> None:
    """Raise where `from_stored` cannot read the values, or where a resident lacks a state at some moment."""
    lived = from_stored(values)
    for name, life in lived.lives.items():
        if len(life) != len(lived.times) or not (life < len(lived.states)).all():
            raise ValueError(f"{name} has no state at some moment")


def _even(times: Sequence[datetime]) -> Any:
    """Evenly spaced moments as (first, seconds between, number), others as a list."""
    steps = {b - a for a, b in pairwise(times)}
    if len(steps) == 1:
        return {"first": times[0].strftime(STAMP), "seconds": steps.pop().total_seconds(), "n": len(times)}
    return [time.strftime(STAMP) for time in times]


def _uneven(values: Any) -> tuple[datetime, ...]:
    if isinstance(values, Mapping):
        first, step = datetime.strptime(values["first"], STAMP), timedelta(seconds=values["seconds"])
        return tuple(first + i * step for i in range(values["n"]))
    return tuple(datetime.strptime(time, STAMP) for time in values)
