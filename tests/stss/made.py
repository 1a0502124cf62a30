"""Small trajectories written by hand: one line per resident and stretch of time."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from concord.benchmarks.stss.tasks import SocialTask, Subgoal
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory, assemble, talk_values

CAFE, PARK, HALL = "Lantern Café:front room:window table", "Fern Park:lawn:bench", "Town Hall:hall:stage"


def at(text: str) -> datetime:
    """“2 19:00” is the second day at seven."""
    day, time = text.split()
    return datetime.strptime(f"2023-02-{12 + int(day)} {time}", "%Y-%m-%d %H:%M")


def lived(*lines: str, talks: tuple[Talk, ...] = (), step: int = 30) -> Trajectory:
    """Lines like “Ada | 2 19:00 – 2 20:00 | having a party | Lantern Café:front room:bar”: a record at every
    step, both ends included.
    """
    seen = []
    for line in lines:
        name, span, action, place = (part.strip() for part in line.split("|"))
        first, last = (at(end.strip()) for end in (span.split("–") if "–" in span else (span, span)))
        while first <= last:
            seen.append((first, name, State(action, place)))
            first += timedelta(minutes=step)
    return assemble(seen, talks)


def talk(when: str, a: str, b: str, *said: str) -> Talk:
    """A conversation in which the two speak in turn, the first one first."""
    messages = tuple(((a, b)[i % 2], text) for i, text in enumerate(said))
    return Talk(at(when), (a, b), messages)


def write(trajectory: Trajectory, file: Path) -> None:
    """A trajectory as JSON Lines: what each resident did at each moment, and the conversations."""
    records = [talk_values(talk) for talk in trajectory.talks]
    for moment, time in enumerate(trajectory.times):
        for name in trajectory.residents:
            if (state := trajectory.at(name, moment)) is not None:
                records.append({"time": time.strftime(STAMP), "agent": name, **state._asdict()})
    records.sort(key=lambda record: record["time"])
    file.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")


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
