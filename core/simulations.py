"""Stored simulations of the town as pages show them: the map at a moment, a resident's day, talks where they took place, who came."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd
from sqlite_utils import Database

from core.benchmarks.benchmark import Materials
from core.benchmarks.stss import STSS, scoring, system
from core.benchmarks.stss.matching import about, told
from core.benchmarks.stss.scoring import Evidence, Score
from core.benchmarks.stss.tasks import Task, task_from
from core.benchmarks.stss.town import Town
from core.benchmarks.stss.trajectory import STAMP, Talk, Trajectory, from_stored
from core.conversation import Conversation
from core.errors import ConfigError, NotFound
from core.store import conversations, runs, trajectories
from core.store.conversations import Filter, Found

SPREAD = 14.0
"""Metres from the middle of a place at which those who are there are drawn, so that they do not hide each other."""


@dataclass(frozen=True)
class Simulation:
    """One stored simulation. `town` is None where the workspace no longer has it: then there is no map, everything else is there."""

    id: int
    conversation: Conversation
    task: Task
    lived: Trajectory
    score: Score
    town: Town | None

    @property
    def days(self) -> list[date]:
        """The days it covers."""
        return sorted({time.date() for time in self.lived.times})

    @property
    def step(self) -> timedelta:
        """Between two moments."""
        return self.lived.times[1] - self.lived.times[0]


@dataclass(frozen=True)
class Event:
    """What the task asks for at one place and time; `start` is None where the task leaves the time open."""

    number: int
    keywords: tuple[str, ...]
    start: datetime | None
    end: datetime | None
    location: str | None
    x: float | None
    y: float | None
    counted: tuple[Evidence, ...]
    close: tuple[Evidence, ...]


def listed(db: Database, *, limit: int = 200, offset: int = 0) -> list[Found]:
    """Stored simulations, newest first; what varied is in `facets`: task, type, architecture, performer, town."""
    return conversations.search(db, Filter(benchmark=STSS.name), limit=limit, offset=offset)


def load(db: Database, materials: Materials, number: int) -> Simulation:
    """One simulation with its score. Raises NotFound where the id is not a simulation's."""
    conversation = conversations.load(db, number)
    if conversation.benchmark != STSS.name:
        raise NotFound(f"Conversation {number} is not a simulation. Choose one of the list.")
    task = task_from(conversation.context["_task"])
    lived = from_stored(trajectories.load(db, number))
    try:
        town: Town | None = system.town_named(materials, conversation.facets.get("town", ""))
    except (NotFound, ConfigError):
        town = None
    return Simulation(number, conversation, task, lived, scoring.score(task, lived), town)


def lives(s: Simulation) -> pd.DataFrame:
    """Everybody's life in stretches of the same state: agent, performer, first, last, action, asleep, talking, walking, place, sector, arena, x, y.

    A moment lies in a stretch if first ≤ moment ≤ last; x and y (metres) are nan without a map. Times are the town's own.
    """
    rows = []
    for number, name in enumerate(s.lived.residents):
        for run in s.lived.runs(name):
            sector, _, rest = run.state.place.partition(":")
            x, y = _drawn(s.town, sector, number, len(s.lived.residents))
            rows.append(
                {
                    "agent": name, "performer": name == s.task.performer, "first": run.first, "last": run.last,
                    "action": run.state.action, "asleep": run.state.asleep,
                    "talking": run.state.action.startswith("conversing with"), "walking": run.state.action == "walking",
                    "place": run.state.place, "sector": sector, "arena": rest.partition(":")[0], "x": x, "y": y,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def at(s: Simulation, moment: datetime) -> pd.DataFrame:
    """Where everybody is at a moment: the rows of `lives` that hold it, one a resident."""
    table = lives(s)
    return table[(table["first"] <= moment) & (table["last"] >= moment)].reset_index(drop=True)


def places(s: Simulation) -> pd.DataFrame:
    """The map's places: sector, kind, x, y, and whether an event of the task is there; empty without a map."""
    wanted = {g.location.split(":")[0] for g in s.task.subgoals if g.location}
    rows = [{**place, "event": place["sector"] in wanted} for place in (s.town.map() if s.town else [])]
    return pd.DataFrame(rows, columns=["sector", "kind", "x", "y", "arenas", "doors", "event"])


def ways(s: Simulation) -> pd.DataFrame:
    """The map's lines from door to door: x, y, x2, y2; empty without a map."""
    found = {place["sector"]: place for place in (s.town.map() if s.town else [])}
    rows = [
        {"x": a["x"], "y": a["y"], "x2": found[b]["x"], "y2": found[b]["y"]}
        for a in found.values()
        for b in a["doors"]
        if a["sector"] < b
    ]
    return pd.DataFrame(rows, columns=["x", "y", "x2", "y2"])


def day(s: Simulation, name: str, which: date) -> pd.DataFrame:
    """A resident's day, plan against what happened: lane (“planned” or “happened”), start, end, action, place, talking.

    The plan is the one in force at each moment: the morning's, and from each change of mind on the new one. Raises NotFound.
    """
    if name not in s.lived.lives:
        raise NotFound(f"{name} is not in this simulation. There are: {', '.join(s.lived.residents)}.")
    begin = datetime.combine(which, datetime.min.time())
    end = begin + timedelta(days=1)
    rows = [_bar("planned", *action) for action in _planned(s, name, begin, end)]
    for run in s.lived.runs(name):
        if run.first < end and run.last >= begin:
            first, last = max(run.first, begin), min(run.last + s.step, end)
            rows.append(_bar("happened", first, last, run.state.action, run.state.place))
    return pd.DataFrame(rows, columns=["lane", "start", "end", "action", "place", "talking"])


def changes(s: Simulation, name: str) -> list[datetime]:
    """The moments at which a resident changed their plan for the day."""
    return [
        datetime.strptime(p["time"], STAMP) for p in _plans(s, name) if not p["time"].endswith("00:00:00")
    ]


def talks(s: Simulation) -> pd.DataFrame:
    """Every conversation: number (its index in `lived.talks`), time, first, second, place, x, y, messages (how many), performer, about (the task)."""
    rows = []
    for number, talk in enumerate(s.lived.talks):
        x, y = _drawn(s.town, talk.place.split(":")[0], 0, 0)
        rows.append(
            {
                "number": number, "time": talk.time, "first": talk.pair[0], "second": talk.pair[1], "place": talk.place, "x": x, "y": y,
                "messages": len(talk.messages), "performer": s.task.performer in talk.pair, "about": about(s.task, talk),
            }
        )  # fmt: skip
    columns = ["number", "time", "first", "second", "place", "x", "y", "messages", "performer", "about"]
    return pd.DataFrame(rows, columns=columns)


def invited(s: Simulation) -> Mapping[str, Talk]:
    """Whom the performer told about the task before the day of the event, with the conversation in which they did."""
    return told(s.task, s.lived)


def events(s: Simulation) -> list[Event]:
    """The task's events, each with those who counted and those who came close and why it did not count."""
    found = []
    for number, subgoal in enumerate(s.task.subgoals, start=1):
        evidence = [e for e in s.score.evidence if e.subgoal == number]
        x, y = (
            _drawn(s.town, subgoal.location.split(":")[0], 0, 0) if subgoal.location else (math.nan, math.nan)
        )
        found.append(
            Event(
                number, subgoal.keywords, subgoal.start, subgoal.end, subgoal.location,
                None if math.isnan(x) else x, None if math.isnan(y) else y,
                tuple(e for e in evidence if e.counted), tuple(e for e in evidence if not e.counted),
            )
        )  # fmt: skip
    return found


def memories(s: Simulation, name: str, until: datetime | None = None) -> pd.DataFrame:
    """What a resident remembers (up to a moment): time, kind (seen, planned, talked), importance, text."""
    rows = [
        {"time": datetime.strptime(time, STAMP), "kind": kind, "importance": importance, "text": text}
        for time, importance, kind, text in s.lived.extra.get("memories", {}).get(name, [])
    ]
    table = pd.DataFrame(rows, columns=["time", "kind", "importance", "text"])
    return table if until is None else table[table.time <= until].reset_index(drop=True)


def repairs(s: Simulation) -> pd.DataFrame:
    """What the minds said that could not be used as it stood, and what was done about it: time, agent, repair."""
    rows = s.lived.extra.get("repairs", [])
    return pd.DataFrame(rows, columns=["time", "agent", "repair"])


def under_way(db: Database) -> dict[str, str]:
    """Simulations begun and not yet finished: key → the town's time that its latest thought was of, such as “day 2 14:35”."""
    return {
        work: step[:11]
        for work, step in runs.latest_steps(db, f"{STSS.name}/").items()
        if step.startswith("day ")
    }


def _plans(s: Simulation, name: str) -> Sequence[Mapping[str, Any]]:
    return [plan for plan in s.lived.extra.get("plans", []) if plan["agent"] == name]


def _planned(
    s: Simulation, name: str, begin: datetime, end: datetime
) -> list[tuple[datetime, datetime, str, str]]:
    """The actions of each plan of the day, up to the moment at which the next plan replaced it."""
    plans = [p for p in _plans(s, name) if begin <= datetime.strptime(p["time"], STAMP) < end]
    made = [datetime.strptime(p["time"], STAMP) for p in plans]
    found = []
    for plan, since, until in zip(plans, made, [*made[1:], end], strict=True):
        for start, minutes, action, place in plan["actions"]:
            first = begin + timedelta(minutes=int(start[:2]) * 60 + int(start[3:]))
            last = min(first + timedelta(minutes=minutes), until)
            if max(first, since) < last:
                found.append((max(first, since), last, action, place))
    return found


def _bar(lane: str, start: datetime, end: datetime, action: str, place: str) -> dict[str, Any]:
    talking = action.startswith("conversing with")
    return {"lane": lane, "start": start, "end": end, "action": action, "place": place, "talking": talking}


def _drawn(town: Town | None, sector: str, number: int, of: int) -> tuple[float, float]:
    """Where somebody is drawn: on a circle about the place, each at an angle of their own."""
    if town is None or sector not in town.sectors:
        return math.nan, math.nan
    x, y = town.sectors[sector].at
    if not of:
        return x, y
    angle = 2 * math.pi * number / of
    return x + SPREAD * math.cos(angle), y + SPREAD * math.sin(angle)
