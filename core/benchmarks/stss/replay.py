"""The replay of a simulation as plain values for the browser: map, states over time, moments to jump to.

Times are minutes since the midnight before the first day.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from concord.benchmarks.stss import views
from concord.benchmarks.stss.town import DAY, Town
from concord.benchmarks.stss.trajectory import STAMP, UNSEEN, changes
from concord.benchmarks.stss.views import Simulation, Stretch

NOON = time(12)
MORNING, LAST, LIVED = "morning’s plan", "last plan", "happened"
TALK, WINDOW = "talk", "event"
"""Kinds of mark on the time line, beside “counted” and “came close”."""


def replay(of: Simulation) -> dict[str, Any]:
    """The replay as plain values. `ground` is None where the town's files are missing."""
    rooms = _rooms(of.town)
    return {
        "days": [{"date": day.isoformat(), "name": f"{day:%a} {day.day} {day:%b}"} for day in of.days],
        "minutes": [_minute(of, moment) for moment in of.lived.times],
        "step": of.minutes,
        "ground": _ground(of, of.town) if of.town else None,
        "states": [
            [state.action, state.place, rooms.get(state.room), views.kind_of(of.task, state.action)]
            for state in of.lived.states
        ],
        "people": [
            {
                "name": name,
                "part": of.parts[name],
                "life": _life(of, name),
                "days": [_day(of, name, day) for day in of.days],
            }
            for name in of.lived.residents
        ],
        "talks": [
            {"minute": _minute(of, s.talk.time), "pair": list(s.talk.pair), "number": s.number}
            for s in of.talks
        ],
        "windows": [
            [_minute(of, s.start), _minute(of, s.end)] for s in of.task.subgoals if s.start and s.end
        ],
        "marks": sorted(_marks(of), key=lambda mark: (mark["minute"], mark["kind"])),
        "opens": _minute(of, opens(of)),
    }


def opens(of: Simulation) -> datetime:
    """The moment to begin with: the first that counted; else the event's beginning, a near miss, or noon."""
    timed = [(e.counted, datetime.strptime(e.time, STAMP)) for e in of.score.evidence if e.time]
    counted, close = ([time for was, time in timed if was is wanted] for wanted in (True, False))
    times = counted or [s.start for s in of.task.subgoals if s.start] or close
    return of.lived.times[of.lived.moment(min(times, default=datetime.combine(of.days[-1], NOON)))]


def _minute(of: Simulation, moment: datetime) -> int:
    return int((moment - datetime.combine(of.days[0], time())) / timedelta(minutes=1))


def _rooms(town: Town | None) -> dict[tuple[str, ...], tuple[int, int]]:
    """Sector and arena by their numbers on the ground."""
    sectors = town.sectors.values() if town else ()
    return {(s.name, arena): (i, j) for i, s in enumerate(sectors) for j, arena in enumerate(s.arenas)}


def _ground(of: Simulation, town: Town) -> dict[str, Any]:
    """Sectors, doors between them, and how many moments residents spent in each, awake and not walking."""
    spent: Counter[str] = Counter()
    for life in of.lived.lives.values():
        for index, moments in zip(*np.unique(life[life != UNSEEN], return_counts=True), strict=True):
            state = of.lived.states[index]
            if not state.asleep and not state.on_the_way:
                spent[state.room[0]] += int(moments)
    numbers = {name: i for i, name in enumerate(town.sectors)}
    return {
        "sectors": [
            {
                "name": name,
                "kind": s.kind,
                "x": s.at[0],
                "y": s.at[1],
                "arenas": list(s.arenas),
                "here": name in of.sectors,
                "spent": spent[name],
            }
            for name, s in town.sectors.items()
        ],
        "doors": [[numbers[end] for end in door] for door in town.doors],
    }


def _life(of: Simulation, name: str) -> list[list[int]]:
    """[moment, state] wherever the state changes; the state is −1 where nothing is recorded."""
    starts, states = changes(of.lived.lives[name])
    return [list(pair) for pair in zip(starts, states, strict=True)]


def _day(of: Simulation, name: str, day: date) -> dict[str, Any]:
    """The morning's plan, the last plan if it was changed, and what happened."""
    made = views.plans(of, name, day)
    rows = [(MORNING, plan.stretches) for plan in made[:1]]
    rows += [(LAST, plan.stretches) for plan in made[1:][-1:]]
    rows.append((LIVED, tuple(views.happened(of, name, day))))
    return {
        "rows": [[row, [_stretch(s) for s in stretches]] for row, stretches in rows if stretches],
        "said": views.kept_told(of, name, day),
        "parts": [
            [_stretch(part.planned), part.done, [[what, minutes] for what, minutes in part.instead.items()]]
            for part in views.compared(of, name, day)
        ],
    }


def _stretch(s: Stretch) -> list[Any]:
    return [s.start, min(s.end, DAY), s.action, s.place, s.kind]


def _marks(of: Simulation) -> Iterator[dict[str, Any]]:
    def mark(time: datetime | str, kind: str, who: str, what: str) -> dict[str, Any]:
        moment = datetime.strptime(time, STAMP) if isinstance(time, str) else time
        return {"minute": _minute(of, moment), "kind": kind, "who": who, "what": what}

    for subgoal in of.task.subgoals:
        if subgoal.start:
            yield mark(subgoal.start, WINDOW, "", "the event begins")
    for e in of.score.evidence:
        if e.time:
            what = "counted" if e.counted else f"came close: {e.why}"
            yield mark(e.time, "counted" if e.counted else "came close", e.agent, what)
    for s in of.talks:
        if s.about:
            yield mark(s.talk.time, TALK, " and ".join(s.talk.pair), "talk about the task")
