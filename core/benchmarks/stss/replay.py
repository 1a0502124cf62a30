"""A simulation at one moment: who is where, and the moments worth going to."""

from collections.abc import Mapping
from datetime import date, datetime, time
from math import cos, pi, sin, sqrt
from typing import NamedTuple, get_args

from concord.benchmarks.stss import views
from concord.benchmarks.stss.town import DAY
from concord.benchmarks.stss.trajectory import STAMP, changes
from concord.benchmarks.stss.views import Kind, Part, Simulation, Stretch

NOON = time(12)
MORNING, LAST, LIVED = "morning’s plan", "last plan", "happened"
TALK, WINDOW, COUNTED, CLOSE = "talk about the task", "the event begins", "counted", "came close"
"""Kinds of mark on the time line."""
PARTS = get_args(Part)
"""Parts in the score, the performer first."""
APART = 0.016
"""Distance of two people in one place, as a share of the town's width."""
TURN = pi * (3 - sqrt(5))
"""Each further one of a crowd is turned by this angle, so that no two meet."""


class Here(NamedTuple):
    """What a resident does at a moment, and since when; `at` is None where the map lacks the place.

    `room` is sector and arena; `talk` is the number of the conversation in which they are, if any.
    """

    name: str
    part: Part
    action: str
    place: str
    room: tuple[str, ...]
    kind: Kind
    since: datetime
    at: tuple[float, float] | None
    talk: int | None


class Mark(NamedTuple):
    """A moment to go to: its kind, who is concerned (or ""), and what happens."""

    time: datetime
    kind: str
    who: str
    what: str


class MapPlace(NamedTuple):
    """A place on the map, in metres; `task` says whether the task is to be done there."""

    name: str
    kind: str
    arenas: tuple[str, ...]
    at: tuple[float, float]
    task: bool


def sectors(of: Simulation) -> list[MapPlace]:
    """The places of the map; none where the town's files are missing."""
    places = of.town.sectors if of.town else {}
    return [MapPlace(name, s.kind, tuple(s.arenas), s.at, name in of.sectors) for name, s in places.items()]


def doors(of: Simulation) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The ways between places of the map."""
    if of.town is None:
        return []
    return [(of.town.sectors[a].at, of.town.sectors[b].at) for a, b in of.town.doors]


def people(of: Simulation) -> list[str]:
    """The residents by their part in the score, the performer first."""
    return sorted(of.lived.residents, key=lambda name: PARTS.index(of.parts[name]))


def people_at(of: Simulation, now: datetime) -> list[Here]:
    """Everybody of whom something is recorded at a moment, by part in the score; a crowd stands apart."""
    moment = of.lived.moment(now)
    places = {s.name: s.at for s in sectors(of)}
    across = max((abs(a[0] - b[0]) for a in places.values() for b in places.values()), default=0)
    talks = {(s.talk.time, name): s.number for s in of.talks for name in s.talk.pair}
    crowds: dict[tuple[float, float], int] = {}
    there = []
    for name in people(of):
        state = of.lived.at(name, moment)
        if state is None:
            continue
        since = of.lived.times[changes(of.lived.lives[name][: moment + 1])[0][-1]]
        kind = views.kind_of(of.task, state.action)
        talk = talks.get((of.lived.times[moment], name))
        if talk is None and kind == "conversation":
            talk = talks.get((since, name))
        at = places.get(state.room[0])
        if at is not None:
            crowds[at] = number = crowds.get(at, -1) + 1
            away = APART * across * sqrt(number)
            at = (at[0] + away * cos(TURN * number), at[1] + away * sin(TURN * number))
        there.append(Here(name, of.parts[name], *state, state.room, kind, since, at, talk))
    return there


def marks(of: Simulation) -> list[Mark]:
    """When the event begins, who counted and who came close, and talk about the task, in order of time."""
    found = [Mark(s.start, WINDOW, "", WINDOW) for s in of.task.subgoals if s.start]
    for e in of.score.evidence:
        if e.time:
            kind = COUNTED if e.counted else CLOSE
            what = COUNTED if e.counted else f"{CLOSE}: {e.why}"
            found.append(Mark(datetime.strptime(e.time, STAMP), kind, e.agent, what))
    found += [Mark(s.talk.time, TALK, " and ".join(s.talk.pair), TALK) for s in of.talks if s.about]
    return sorted(found, key=lambda mark: (mark.time, mark.kind))


def opens(of: Simulation) -> datetime:
    """The moment to begin with: the first that counted; else the event's beginning, a near miss, or noon."""
    by_kind = {kind: [m.time for m in marks(of) if m.kind == kind] for kind in (COUNTED, WINDOW, CLOSE)}
    times = next(filter(None, by_kind.values()), [datetime.combine(of.days[-1], NOON)])
    return of.lived.times[of.lived.moment(min(times))]


def day(of: Simulation, name: str, date: date) -> Mapping[str, tuple[Stretch, ...]]:
    """The morning's plan, the last plan if it was changed, and what happened; none of them empty."""
    made = views.plans(of, name, date)
    rows = {MORNING: made[0].stretches if made else (), LAST: made[-1].stretches if made[1:] else ()}
    rows[LIVED] = tuple(views.happened(of, name, date))
    return {
        row: tuple(s._replace(end=min(s.end, DAY)) for s in stretches)
        for row, stretches in rows.items()
        if stretches
    }
