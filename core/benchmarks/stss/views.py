"""What the town page shows of a simulation: who is where at a moment, who counted, who talked, the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from concord.benchmarks.stss.scoring import Score, mentions_task, score
from concord.benchmarks.stss.tasks import TITLES, Kind, SocialTask
from concord.benchmarks.stss.town import Town
from concord.benchmarks.stss.trajectory import STAMP, Trajectory, changes
from concord.table import Cell, Column, Table

Part = Literal["performer", "counted", "missed it", "others"]
"""A resident's part in the task's score."""
PARTS = get_args(Part)
RULES: Mapping[Kind, str] = {
    "public": "Others who took part, averaged over the events, ÷ people wanted; at most 1.",
    "online": "Others who took part, averaged over the events, ÷ people wanted; at most 1.",
    "companions": "Others who did it beside the performer at the best moment ÷ people wanted; at most 1.",
    "appointment": "Both did it at one moment: in the same room 1, elsewhere 0.5, else 0.",
    "help": "Of the best helper: the share of parts done; all of them out of order 0.5, in order 1.",
}
"""How a score comes about, by type of task."""


class Presence(NamedTuple):
    """What a resident does at a moment, and since when.

    `room` is sector and arena; `talk` is the number of the conversation in which they are, if any.
    """

    name: str
    part: Part
    action: str
    room: tuple[str, ...]
    arrival: datetime
    talk: int | None


@dataclass(frozen=True, eq=False)
class Simulation:
    """A task, its trajectory, and the town as its files are now."""

    task: SocialTask
    lived: Trajectory
    town: Town

    @cached_property
    def score(self) -> Score:
        """Its score. Raises ConfigError where the trajectory cannot be about the task."""
        return score(self.task, self.lived)

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """Each resident's part in the score, the performer first."""
        parts: dict[str, Part] = dict.fromkeys(self.lived.residents, "others")
        for e in sorted(self.score.evidence, key=lambda e: e.counted):
            parts[e.agent] = "counted" if e.counted else "missed it"
        parts |= {self.task.performer: "performer"}
        return dict(sorted(parts.items(), key=lambda pair: PARTS.index(pair[1])))

    @property
    def sectors(self) -> list[str]:
        """The sectors of the map where the task is to be done."""
        places = [s.location for s in self.task.subgoals if s.location]
        return [s for s in self.town.sectors if any(s in p for p in places)]


def clock(moment: datetime) -> str:
    """A moment for readers: Tue 14 Feb, 19:00."""
    return f"{moment:%a} {moment.day} {moment:%b, %H:%M}"


def opens(simulation: Simulation) -> datetime:
    """The moment to begin with: the first that counted; else the event's beginning, or the last noon."""
    times = [datetime.strptime(e.time, STAMP) for e in simulation.score.evidence if e.counted]
    events = [s.start for s in simulation.task.subgoals if s.start]
    noon = datetime.combine(simulation.lived.times[-1], time(12))
    return simulation.lived.times[simulation.lived.moment(min(times or events or [noon]))]


def people_at(simulation: Simulation, now: datetime) -> list[Presence]:
    """Everybody at a moment, by part in the score."""
    moment = simulation.lived.moment(now)
    presences = []
    for name, part in simulation.parts.items():
        state = simulation.lived.state_at(name, moment)
        arrival = simulation.lived.times[changes(simulation.lived.lives[name][: moment + 1])[0][-1]]
        spoken = (
            n
            for n, talk in enumerate(simulation.lived.talks, start=1)
            if name in talk.pair and arrival <= talk.time <= simulation.lived.times[moment]
        )
        presences.append(Presence(name, part, state.action, state.room, arrival, max(spoken, default=None)))
    return presences


def planned(task: SocialTask, lived: Trajectory) -> dict[str, str]:
    """Heading → text of what a performer planned for its task; empty if its architecture does not plan."""
    notes = lived.extra.get("notes", {}).get(task.performer, {})
    texts = {name: note if isinstance(note, str) else "\n".join(note) for name, note in notes.items()}
    return {name.replace("_", " ").capitalize(): text for name, text in texts.items() if text}


def evidence(task_score: Score) -> Table:
    """Who counted in a score, then who missed it: of these the moment at which most fitted.

    `time` is the moment of a row as trajectories write it; “” where there is none.
    """
    deeds = sorted(task_score.evidence, key=lambda e: not e.counted)
    rows: list[dict[str, Cell]] = [
        {
            "who": e.agent,
            "event": e.subgoal,
            "counted": e.counted,
            "why": e.why,
            "when": _clock(e.time),
            "told": _clock(e.told),
            "where": e.place,
            "did": e.action,
            "time": e.time,
        }
        for e in deeds
    ]
    several = len({e.subgoal for e in deeds}) > 1
    filled_columns = [column for column in (rows[0] if rows else ()) if any(row[column] for row in rows)]
    columns = [
        Column(n, file_only=n == "time" or (n == "event" and not several)) for n in filled_columns or ["who"]
    ]
    ratio = (
        ""
        if task_score.conversation_ratio is None
        else f", conversation ratio {task_score.conversation_ratio:.2f}"
    )
    title = f"{task_score.task} ({TITLES[task_score.kind].lower()}): {task_score.value:.3f}{ratio}"
    return Table("evidence", title, tuple(columns), tuple(rows), notes=() if rows else ("Nobody.",))


def scores(scored: Sequence[Score], notes: Sequence[str] = ()) -> tuple[Table, ...]:
    """Scores of tasks: one row a task, means by type and of all, and the evidence of each task."""
    rows = [
        {"task": result.task, "type": result.kind, "score": result.value, "ratio": result.conversation_ratio}
        for result in scored
    ]
    means: list[dict[str, Cell]] = [
        {"type": kind, "tasks": len(values), "score": sum(values) / len(values)}
        for kind in TITLES
        if (values := [result.value for result in scored if result.kind == kind])
    ]
    means.append(
        {"type": "all", "tasks": len(scored), "score": sum(result.value for result in scored) / len(scored)}
    )
    type_ = Column("type", words={"all": "All", **dict(TITLES.items())})
    score = Column("score", digits=3, help="0 to 1")
    ratio = Column(
        "ratio", "conversation ratio", help="People told before the day ÷ people wanted; not of errands"
    )
    evidences = [(result, evidence(result)) for result in scored]
    deeds = [{"task": result.task, **row} for result, table in evidences for row in table.rows]
    columns = {column.name: column for _, table in evidences for column in table.columns}
    return (
        Table(
            "scores", "Scores by task", (Column("task"), type_, score, ratio), tuple(rows), notes=tuple(notes)
        ),
        Table("by_type", "Means by type of task", (type_, Column("tasks"), score), tuple(means)),
        Table(
            "evidence",
            "Who counted, and who missed it",
            (Column("task"), *columns.values()),
            tuple(deeds),
        ),
    )


def talks(simulation: Simulation) -> Table:
    """The conversations in the order of time; `time` as trajectories write it."""
    rows: list[dict[str, Cell]] = [
        {
            "who": " and ".join(talk.pair),
            "when": clock(talk.time),
            "where": talk.place,
            "about the task": mentions_task(simulation.task, talk),
            "messages": len(talk.messages),
            "time": talk.time.strftime(STAMP),
        }
        for talk in simulation.lived.talks
    ]
    columns = (
        *map(Column, ("who", "when", "where")),
        Column("about the task", help="A resident says one of the task's words."),
        Column("messages"),
        Column("time", file_only=True),
    )
    notes = () if rows else ("No conversations.",)
    return Table("talks", "Conversations", columns, tuple(rows), notes=notes)


def _clock(stamp: str) -> str:
    return clock(datetime.strptime(stamp, STAMP)) if stamp else ""
