"""Views of a simulation: residents' parts, days as planned and as lived, the arithmetic of the score."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Literal, NamedTuple

from concord.benchmarks.stss.evidence import about, told, words_in
from concord.benchmarks.stss.scoring import Score, score
from concord.benchmarks.stss.system import town_named
from concord.benchmarks.stss.tasks import COLLECTIVE, SocialTask
from concord.benchmarks.stss.town import DAY, Town, minute_of
from concord.benchmarks.stss.trajectory import STAMP, State, Talk, Trajectory
from concord.conversation import Conversation
from concord.errors import ConfigError, NotFound
from concord.runs.benchmark import Materials

Kind = Literal["the task", "conversation", "on the way", "asleep", "anything else"]
Part = Literal["performer", "counted", "came close", "others"]
"""A resident's part in the task's score."""


class Stretch(NamedTuple):
    """Part of a day, in minutes since midnight; `end` is the minute at which it is over."""

    start: int
    end: int
    action: str
    place: str
    kind: Kind


class PlannedDay(NamedTuple):
    """A plan for a whole day, made at `time`."""

    time: datetime
    stretches: tuple[Stretch, ...]


class Spoken(NamedTuple):
    """A conversation by its number (from 1, in the order of time), and whether it was about the task."""

    number: int
    talk: Talk
    about: bool


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
    def days(self) -> tuple[date, ...]:
        """The days of the trajectory."""
        return tuple(sorted({time.date() for time in self.lived.times}))

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """Each resident's part in the score."""
        parts: dict[str, Part] = dict.fromkeys(self.lived.residents, "others")
        for e in sorted(self.score.evidence, key=lambda e: e.counted):
            parts[e.agent] = "counted" if e.counted else "came close"
        return parts | {self.task.performer: "performer"}

    @cached_property
    def talks(self) -> tuple[Spoken, ...]:
        """Every conversation."""
        return tuple(Spoken(n, t, about(self.task, t)) for n, t in enumerate(self.lived.talks, start=1))

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


def happened(of: Simulation, name: str, day: date) -> list[Stretch]:
    """What a resident did on a day, as far as it is recorded."""
    midnight = datetime(day.year, day.month, day.day)
    found = []
    for first, last, state in of.lived.runs(name):
        start = max(0, _minutes(first - midnight))
        end = min(DAY, _minutes(last - midnight) + of.minutes)
        if start < end:
            found.append(Stretch(start, end, *state, kind_of(of.task, state.action)))
    return found


def plans(of: Simulation, name: str, day: date) -> list[PlannedDay]:
    """The plans a resident made for a day, the morning's first; none if the trajectory holds none."""
    found = []
    for noted in of.lived.extra.get("plans", ()):
        time = datetime.strptime(noted["time"], STAMP)
        if noted["agent"] == name and time.date() == day:
            stretches = tuple(
                Stretch(minute_of(start), minute_of(start) + minutes, text, place, kind_of(of.task, text))
                for start, minutes, text, place in noted["actions"]
            )
            found.append(PlannedDay(time, stretches))
    return found


def plan_told(of: Simulation, name: str, day: date) -> str:
    """When a resident's plan for a day was changed, in a sentence; or why that is not known."""
    made = plans(of, name, day)
    if not happened(of, name, day):
        return f"Nothing is recorded of {name} on this day."
    if not made:
        return "The trajectory holds no plans, only what happened."
    times = ", ".join(f"{plan.time:%H:%M}" for plan in made[1:])
    return f"The plan was changed at {times}." if times else "The plan was not changed."


PLANNED = {
    "general_plan": "General plan",
    "plan_reminder": "Reminder in planning the day",
    "talk_reminder": "Reminder in conversations",
}
"""The performer's notes by target-driven planning (TDP), with their headings for readers."""


def planned(notes: object) -> dict[str, str]:
    """Heading → text of what a performer planned for its task; empty if its architecture does not plan."""
    found = {}
    for name, heading in PLANNED.items():
        kept = notes.get(name) if isinstance(notes, Mapping) else None
        lines = kept if isinstance(kept, list) else [kept]
        told = [line for line in lines if isinstance(line, str) and line.strip()]
        if told:
            numbered = (f"{n}. {line}" for n, line in enumerate(told, start=1))
            found[heading] = "\n".join(numbered) if len(told) > 1 else told[0]
    return found


def planned_in(task: SocialTask, lived: Trajectory) -> dict[str, str]:
    """What the performer of a simulation planned."""
    everybody = lived.extra.get("notes")
    return planned(everybody.get(task.performer)) if isinstance(everybody, Mapping) else {}


def reckoned(of: Simulation) -> str:
    """The arithmetic of the score, in a sentence."""
    task, value = of.task, of.score.value
    counted = [e for e in of.score.evidence if e.counted]
    others = [e for e in counted if e.agent != task.performer]
    if task.kind in COLLECTIVE:
        if task.kind == "companions":
            if not any(e.agent == task.performer for e in counted):
                return f"{task.performer} never did it, so that nobody could join in: 0."
            what = f"{_people(len(others))} did it beside {task.performer} at the best moment"
        else:
            what = f"{_people(len(others))} took part"
        several = len(task.subgoals) if task.kind != "companions" else 1
        over = f" ÷ {several} events" if several > 1 else ""
        return f"{what}, of {task.wanted - 1} wanted: {_divided(len(others), over, task.wanted - 1, value)}"
    if task.kind == "appointment":
        if value == 0:
            return "They never did it at the same moment: 0."
        where = "in the same room: 1" if value == 1 else "in different rooms: 0.5"
        return f"Both did it at the same moment, {where}."
    if not counted:
        return "Nobody did any part of it: 0."
    best = counted[0].agent
    done = sum(e.agent == best for e in counted)
    if done < len(task.subgoals):
        return f"Most was done by {best}, {done} of {len(task.subgoals)} parts: {value:.2f}."
    order = "in their order: 1" if value == 1 else "out of order: 0.5"
    parts = "both parts" if done == 2 else f"all {done} parts"
    return f"{best} did {parts}, {order}."


def ratio_reckoned(of: Simulation) -> str:
    """The arithmetic of the conversation ratio, in a sentence."""
    value = of.score.conversation_ratio
    if value is None:
        return "None: this task asks for no number of people."
    n, wanted = len(of.told), of.task.wanted - 1
    return (
        f"{_people(n, '')} {'was' if n == 1 else 'were'} talked to about it before the day of the event, "
        f"of {wanted} wanted: {n} ÷ {wanted} = {value:.2f}."
    )


def _people(number: int, other: str = "other ") -> str:
    if number == 0:
        return "Nobody else" if other else "Nobody"
    return f"{number} {other}{'person' if number == 1 else 'people'}"


def _divided(number: int, over: str, wanted: int, value: float) -> str:
    most = ", at most 1:" if value == 1 and number > wanted else " ="
    return f"{number}{over} ÷ {wanted}{most} {value:.2f}."


def _minutes(span: timedelta) -> int:
    return round(span.total_seconds() / 60)
