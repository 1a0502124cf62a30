"""A trajectory: what every resident did where at every moment, and their conversations."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

STAMP = "%Y-%m-%d %H:%M:%S"
WALKING = "walking"
Indices = npt.NDArray[np.int32]


class State(NamedTuple):
    """What a resident does, and where: “sector:arena:object”."""

    action: str
    place: str

    @property
    def room(self) -> tuple[str, ...]:
        """Sector and arena."""
        return tuple(self.place.split(":")[:2])


@dataclass(frozen=True)
class Talk:
    """A conversation of two residents: who said what, and what each kept of it."""

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
    """Moments, evenly spaced, and for each resident the index of their state at each.

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

    def state_at(self, name: str, moment: int) -> State:
        """A resident's state at a moment (its index)."""
        return self.states[int(self.lives[name][moment])]

    def moment(self, time: datetime) -> int:
        """The index of the last moment not after `time`; 0 before the first."""
        return max(0, bisect_right(self.times, time) - 1)

    def as_stored(self) -> dict[str, Any]:
        """As plain values for the store: per resident the moments at which the state changed."""
        step = self.times[1] - self.times[0]
        return {
            "times": {
                "first": self.times[0].strftime(STAMP),
                "seconds": step.total_seconds(),
                "n": len(self.times),
            },
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
    starts = np.flatnonzero(np.diff(life, prepend=-1))
    return starts.tolist(), life[starts].tolist()


def from_stored(values: Mapping[str, Any]) -> Trajectory:
    """The trajectory that `stored` wrote."""
    even = values["times"]
    first = datetime.strptime(even["first"], STAMP)
    step = timedelta(seconds=even["seconds"])
    times = tuple(first + n * step for n in range(even["n"]))
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
