"""Views of a simulation: who is where at a moment, days as planned and as lived, who counted, who talked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from math import cos, pi, sin, sqrt
from typing import Any, Literal, NamedTuple, get_args

from concord.benchmarks.stss.evidence import Deed, about, told, words_in
from concord.benchmarks.stss.scoring import Score, score
from concord.benchmarks.stss.system import town_named
from concord.benchmarks.stss.tasks import TITLES, SocialTask
from concord.benchmarks.stss.tasks import Kind as TaskKind
from concord.benchmarks.stss.town import DAY, Town, minute_of
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory, changes
from concord.conversation import Conversation
from concord.errors import ConfigError, NotFound
from concord.runs.benchmark import Materials
from concord.table import Cell, Column, Table

Kind = Literal["the task", "conversation", "on the way", "asleep", "anything else"]
Part = Literal["performer", "counted", "came close", "others"]
"""A resident's part in the task's score."""
PARTS = get_args(Part)
MORNING, LAST, LIVED = "morning’s plan", "last plan", "happened"
APART = 0.016
"""Distance of two people in one place, as a share of the town's width."""
TURN = pi * (3 - sqrt(5))
"""Each further one of a crowd is turned by this angle, so that no two meet."""

RULES: Mapping[TaskKind, str] = {
    "public": "Others who took part, averaged over the events, ÷ people wanted; at most 1.",
    "online": "Others who took part, averaged over the events, ÷ people wanted; at most 1.",
    "companions": "Others who did it beside the performer at the best moment ÷ people wanted; at most 1.",
    "appointment": "Both did it at one moment: in the same room 1, elsewhere 0.5, else 0.",
    "help": "Of the best helper: the share of parts done; all of them out of order 0.5, in order 1.",
}
"""How a score comes about, by type of task."""


class Stretch(NamedTuple):
    """Part of a day, in minutes since midnight; `end` is the minute at which it is over."""

    start: int
    end: int
    action: str
    place: str
    kind: Kind


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


@dataclass(frozen=True, eq=False)
class Simulation:
    """A task and its trajectory, scored. `town` is None if its files are missing."""

    task: SocialTask
    lived: Trajectory
    score: Score
    town: Town | None

    @cached_property
    def told(self) -> Mapping[str, Talk]:
        """Whom the performer told before the day of the event, with the first such conversation."""
        return told(self.task, self.lived)

    @cached_property
    def minutes(self) -> int:
        """Minutes between two moments; one where there is only one."""
        times = self.lived.times
        return _minutes(times[1] - times[0]) if len(times) > 1 else 1

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """Each resident's part in the score, the performer first."""
        parts: dict[str, Part] = dict.fromkeys(self.lived.residents, "others")
        for e in sorted(self.score.evidence, key=lambda e: e.counted):
            parts[e.agent] = "counted" if e.counted else "came close"
        parts |= {self.task.performer: "performer"}
        return dict(sorted(parts.items(), key=lambda pair: PARTS.index(pair[1])))

    @cached_property
    def sectors(self) -> tuple[str, ...]:
        """The sectors of the map where the task is to be done."""
        places = [s.location for s in self.task.subgoals if s.location]
        return tuple(s for s in (self.town.sectors if self.town else ()) if any(s in p for p in places))


def simulation(task: SocialTask, lived: Trajectory, town: Town | None) -> Simulation:
    """A simulation with its score. Raises ConfigError where the trajectory cannot be about the task."""
    return Simulation(task, lived, score(task, lived), town)


def town_of(conversation: Conversation, materials: Materials) -> Town | None:
    """The town of a simulation. None if its files are missing or invalid."""
    try:
        return town_named(materials, conversation.facets.get("town", ""))
    except (ConfigError, NotFound):
        return None


def clock(moment: datetime) -> str:
    """A moment for readers: Tue 14 Feb, 19:00."""
    return f"{moment:%a} {moment.day} {moment:%b, %H:%M}"


def kind_of(task: SocialTask, action: str) -> Kind:
    """The kind of an action. Talking about the task is a conversation; sleeping is never the task."""
    state = State(action, "")
    if state.asleep:
        return "asleep"
    if state.on_the_way:
        return "on the way"
    if action.lower().startswith("conversing"):
        return "conversation"
    return "the task" if words_in(action, task.keywords) else "anything else"


# -- one moment


def opens(of: Simulation) -> datetime:
    """The moment to begin with: the first that counted; else the event's beginning, or the last noon."""
    counted = [datetime.strptime(e.time, STAMP) for e in of.score.evidence if e.counted and e.time]
    events = [s.start for s in of.task.subgoals if s.start]
    noon = datetime.combine(of.lived.times[-1], time(12))
    return of.lived.times[of.lived.moment(min(counted or events or [noon]))]


def people_at(of: Simulation, now: datetime) -> list[Here]:
    """Everybody of whom something is recorded at a moment, by part in the score; a crowd stands apart."""
    moment = of.lived.moment(now)
    places = {name: sector.at for name, sector in (of.town.sectors if of.town else {}).items()}
    across = max((abs(a[0] - b[0]) for a in places.values() for b in places.values()), default=0)
    talks = {(t.time, name): n for n, t in enumerate(of.lived.talks, start=1) for name in t.pair}
    crowds: dict[tuple[float, float], int] = {}
    there = []
    for name, part in of.parts.items():
        state = of.lived.at(name, moment)
        if state is None:
            continue
        since = of.lived.times[changes(of.lived.lives[name][: moment + 1])[0][-1]]
        kind = kind_of(of.task, state.action)
        talk = talks.get((of.lived.times[moment], name))
        if talk is None and kind == "conversation":
            talk = talks.get((since, name))
        at = places.get(state.room[0])
        if at is not None:
            crowds[at] = number = crowds.get(at, -1) + 1
            away = APART * across * sqrt(number)
            at = (at[0] + away * cos(TURN * number), at[1] + away * sin(TURN * number))
        there.append(Here(name, part, *state, state.room, kind, since, at, talk))
    return there


# -- a day


def day(of: Simulation, name: str, date: date) -> Mapping[str, tuple[Stretch, ...]]:
    """The morning's plan, the last plan if it was changed, and what happened; none of them empty."""
    plans = list(_plans(of, name, date))
    rows = {MORNING: plans[0] if plans else (), LAST: plans[-1] if plans[1:] else ()}
    rows[LIVED] = tuple(_happened(of, name, date))
    return {
        row: tuple(s._replace(end=min(s.end, DAY)) for s in stretches)
        for row, stretches in rows.items()
        if stretches
    }


def _happened(of: Simulation, name: str, day: date) -> Iterator[Stretch]:
    """What a resident did on a day, as far as it is recorded."""
    midnight = datetime(day.year, day.month, day.day)
    for first, last, state in of.lived.runs(name):
        start = max(0, _minutes(first - midnight))
        end = min(DAY, _minutes(last - midnight) + of.minutes)
        if start < end:
            yield Stretch(start, end, *state, kind_of(of.task, state.action))


def _plans(of: Simulation, name: str, day: date) -> Iterator[tuple[Stretch, ...]]:
    """The plans a resident made for a day, the morning's first; none if the trajectory holds none."""
    for noted in of.lived.extra.get("plans", ()):
        if noted["agent"] == name and datetime.strptime(noted["time"], STAMP).date() == day:
            yield tuple(
                Stretch(minute_of(start), minute_of(start) + minutes, text, place, kind_of(of.task, text))
                for start, minutes, text, place in noted["actions"]
            )


PLANNED = {
    "general_plan": "General plan",
    "plan_reminder": "Reminder in planning the day",
    "talk_reminder": "Reminder in conversations",
}
"""The performer's notes by target-driven planning (TDP), with their headings for readers."""


def planned(notes: object) -> dict[str, str]:
    """Heading → text of what a performer planned for its task; empty if its architecture does not plan."""
    texts = {}
    for name, heading in PLANNED.items():
        kept = notes.get(name) if isinstance(notes, Mapping) else None
        lines = kept if isinstance(kept, list) else [kept]
        words = [line for line in lines if isinstance(line, str) and line.strip()]
        if words:
            numbered = (f"{n}. {line}" for n, line in enumerate(words, start=1))
            texts[heading] = "\n".join(numbered) if len(words) > 1 else words[0]
    return texts


def planned_in(task: SocialTask, lived: Trajectory) -> dict[str, str]:
    """What the performer of a simulation planned."""
    everybody = lived.extra.get("notes")
    return planned(everybody.get(task.performer)) if isinstance(everybody, Mapping) else {}


# -- tables


def evidence(of: Score) -> tuple[Table, Table]:
    """Who counted in a score; and who came close and how they missed it, those who had been told first.

    `time` is the moment of a row as trajectories write it; “” where there is none.
    """
    counted = [e for e in of.evidence if e.counted]
    close = sorted((e for e in of.evidence if not e.counted), key=lambda e: e.told is None)
    ratio = "" if of.conversation_ratio is None else f", conversation ratio {of.conversation_ratio:.2f}"
    return (
        _of_deeds(of, f"{of.task} ({TITLES[of.kind].lower()}): {of.value:.3f}{ratio}", "counted", counted),
        _of_deeds(of, "Who came close, and why it did not count", "close", close),
    )


def _of_deeds(of: Score, title: str, name: str, deeds: Sequence[Deed]) -> Table:
    rows: list[dict[str, Cell]] = [
        {
            "who": e.agent,
            "event": e.subgoal,
            "missed": e.how or "",
            "why": e.why,
            "when": _clock(e.time),
            "until": e.until[11:16] if e.until and e.until != e.time else "",
            "told": _clock(e.told),
            "where": e.place,
            "did": e.action,
            "words": ", ".join(e.words),
            "time": e.time or "",
        }
        for e in deeds
    ]
    used = [column for column in (rows[0] if rows else ()) if any(row[column] for row in rows)]
    several = len({e.subgoal for e in of.evidence}) > 1
    columns = [Column(n, file_only=n == "time" or (n == "event" and not several)) for n in used or ["who"]]
    return Table(name, title, tuple(columns), tuple(rows), notes=() if rows else ("Nobody.",))


def talks(of: Simulation) -> Table:
    """The conversations, numbered from 1 in the order of time."""
    first = {id(talk) for talk in of.told.values()}
    rows: list[dict[str, Cell]] = [
        {
            "number": number,
            "when": clock(talk.time),
            "who": " and ".join(talk.pair),
            "where": talk.place,
            "about the task": "yes" if about(of.task, talk) else "",
            "told first": "yes" if id(talk) in first else "",
            "messages": len(talk.messages),
        }
        for number, talk in enumerate(of.lived.talks, start=1)
    ]
    helps = {
        "about the task": "Somebody says one of the task's words.",
        "told first": "Counts for the conversation ratio: the first time the performer tells somebody before "
        "that day.",
    }
    columns = [Column(name, help=helps.get(name, "")) for name in (rows[0] if rows else ("number",))]
    return Table("talks", "Conversations", tuple(columns), tuple(rows))


def repairs(of: Simulation) -> Table:
    """What residents' models replied that could not be used as it was, and what was done instead."""
    noted: Sequence[Any] = of.lived.extra.get("repairs") or ()
    own = sum(name == of.task.performer for _, name, _ in noted)
    rows = tuple({"time": time, "resident": name, "what": text} for time, name, text in noted)
    columns = tuple(map(Column, ("time", "resident", "what")))
    return Table("repairs", f"Repairs: {len(noted):,}, of the performer {own:,}", columns, rows)


def _clock(stamp: str | None) -> str:
    return clock(datetime.strptime(stamp, STAMP)) if stamp else ""


def _minutes(span: timedelta) -> int:
    return round(span.total_seconds() / 60)
