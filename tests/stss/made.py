"""Small trajectories written by hand: one line per resident and stretch of time."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from concord.benchmarks.stss.tasks import SocialTask, Subgoal
from concord.benchmarks.stss.trajectory import State, Talk, Trajectory

CAFE, PARK, HALL = "Lantern Café:front room:window table", "Fern Park:lawn:bench", "Town Hall:hall:stage"


def at(text: str) -> datetime:
    """“2 19:00” is the second day at seven."""
    day, time = text.split()
    return datetime.strptime(f"2023-02-{12 + int(day)} {time}", "%Y-%m-%d %H:%M")


def lived(*lines: str, talks: tuple[Talk, ...] = (), step: int = 30) -> Trajectory:
    """Lines like “Ada | 2 19:00 – 2 20:00 | having a party | Lantern Café:front room:bar”: a record at every
    step, both ends included. Who has no line at a moment does nothing, nowhere.
    """
    seen = []
    for line in lines:
        name, span, action, place = (part.strip() for part in line.split("|"))
        first, last = (at(end.strip()) for end in (span.split("–") if "–" in span else (span, span)))
        while first <= last:
            seen.append((first, name, State(action, place)))
            first += timedelta(minutes=step)
    first, last = min(time for time, _, _ in seen), max(time for time, _, _ in seen)
    times = tuple(
        first + n * timedelta(minutes=step) for n in range(1 + (last - first) // timedelta(minutes=step))
    )
    states = {State("", ""): 0}
    lives = {name: np.zeros(len(times), dtype=np.int32) for _, name, _ in seen}
    for time, name, state in seen:
        lives[name][times.index(time)] = states.setdefault(state, len(states))
    return Trajectory(times, tuple(states), lives, tuple(sorted(talks, key=lambda each: each.time)))


def talk(when: str, a: str, b: str, *said: str) -> Talk:
    """A conversation in which the two speak in turn, the first one first."""
    messages = tuple(((a, b)[i % 2], text) for i, text in enumerate(said))
    return Talk(at(when), (a, b), messages)


def party(**changes: object) -> SocialTask:
    """A party at the café on day 2 from 19:00 to 22:00; three others are wanted."""
    values: dict[str, object] = {
        "id": "party",
        "kind": "public",
        "performer": "Ada",
        "goal": "Hold a party",
        "currently": "Ada wants to hold a party",
        "criteria": "Three people come",
        "wanted": 4,
        "subgoals": (Subgoal(("party",), at("2 19:00"), 180, "Lantern Café"),),
    }
    return SocialTask(**{**values, **changes})  # type: ignore[arg-type]
