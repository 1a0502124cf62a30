"""A social task: who should bring about what, when and where, in the form of the STSS paper's task files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from concord.errors import ConfigError
from concord.files import read_json, valid

Kind = Literal["public", "appointment", "companions", "online", "help"]

TITLES: dict[Kind, str] = {
    "public": "Public activity",
    "appointment": "Appointment",
    "companions": "Inviting companions",
    "online": "Online activity",
    "help": "Asking for help",
}
"""The five types, in the order of the paper's tables."""

TYPES: dict[str, Kind] = {
    "party": "public",
    "public activity": "public",
    "party and public activity": "public",
    "personal appointment": "appointment",
    "find partner": "companions",
    "online meeting": "online",
    "ask for others": "help",
    **{kind: kind for kind in TITLES},
}
"""What the task files call them."""

COLLECTIVE: tuple[Kind, ...] = ("public", "companions", "online")
"""Types scored by how many people take part."""

NOT_SAID = "N/A"
MOMENT = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class Subgoal:
    """An action named by any of the keywords, within a window of time and at a location where given."""

    keywords: tuple[str, ...]
    start: datetime | None = None
    minutes: int = 0
    location: str | None = None

    @property
    def end(self) -> datetime | None:
        """The last moment that counts."""
        return None if self.start is None else self.start + timedelta(minutes=self.minutes)


@dataclass(frozen=True)
class SocialTask:
    """One task of one performer.

    `currently` is added to the performer's persona; `criteria` describe success. `wanted` counts the people
    hoped for and `cast` names all in the simulation (none if unknown), both with the performer; `target`
    names people who must take part.
    """

    id: str
    kind: Kind
    performer: str
    goal: str
    currently: str
    criteria: str
    subgoals: tuple[Subgoal, ...]
    target: tuple[str, ...] = ()
    wanted: int = 2
    cast: tuple[str, ...] = ()

    @property
    def event_day(self) -> date | None:
        """The day of the earliest subgoal that has a time."""
        return min((s.start.date() for s in self.subgoals if s.start), default=None)

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of all subgoals."""
        return tuple(dict.fromkeys(word for s in self.subgoals for word in s.keywords))


def read_tasks(path: Path) -> list[SocialTask]:
    """The tasks of a file: a list, one task, or a mapping with the list under “tasks”. Raises ConfigError.

    Placeholders of templates (`#performer`, `#location_0`, …) are replaced by the template's own values.
    """
    content = read_json(path)
    if isinstance(content, dict):
        content = content.get("tasks", [content])
    if not isinstance(content, list) or not content:
        raise ConfigError(f"{path} must hold a list of tasks.")
    tasks = [_read(entry, n, path) for n, entry in enumerate(content, start=1)]
    for name, n in Counter(task.id for task in tasks).items():
        if n > 1:
            raise ConfigError(f"{path} holds two tasks called “{name}”. Give each an `id` of its own.")
    return tasks


def task_from(values: Mapping[str, Any]) -> SocialTask:
    """A task as `values_of` wrote it."""
    return _read(values, 1, Path("(stored)"))


def values_of(task: SocialTask) -> dict[str, Any]:
    """The task in the published form, ready for JSON."""
    return {
        "id": task.id,
        "goal": task.goal,
        "FPG": task.currently,
        "Description": task.criteria,
        "task_type": task.kind,
        "task": {
            "target": list(task.target),
            "target_num": task.wanted,
            "goal": [
                {
                    "keyword": s.keywords[0],
                    "alter_kwd": list(s.keywords[1:]),
                    "start_time": s.start.strftime(MOMENT) if s.start else NOT_SAID,
                    "duration_in_minutes": s.minutes,
                    "location": s.location or NOT_SAID,
                    "required_character": [],
                }
                for s in task.subgoals
            ],
        },
        "performer": task.performer,
        "n_characters": len(task.cast),
        "all_chars": list(task.cast),
    }


def _time(value: Any) -> datetime | None:
    if value is None or value == NOT_SAID:
        return None
    for form in (MOMENT, f"{MOMENT}:%S"):
        with suppress(ValueError):
            return datetime.strptime(str(value), form)
    raise ValueError(f"“{value}” is neither a time like 2023-02-14 19:00 nor {NOT_SAID}")


def _place(value: Any) -> Any:
    return None if value == NOT_SAID else value


Name = Annotated[str, Field(min_length=1)]


class _Subgoal(BaseModel):
    keyword: Annotated[str, Field(pattern=r"\S")]
    alter_kwd: list[Annotated[str, Field(pattern=r"\S")]] = []
    start_time: Annotated[datetime | None, BeforeValidator(_time)] = None
    duration_in_minutes: Annotated[int, Field(ge=0)] = 0
    location: Annotated[Name | None, BeforeValidator(_place)] = None


class _Attendance(BaseModel):
    target: list[Name] = []
    target_num: int
    goal: Annotated[list[_Subgoal], Field(min_length=1)]


class _Entry(BaseModel):
    id: str | int | None = None
    env_name: str | None = None
    goal: str
    FPG: str = ""
    Description: str = ""
    task_type: str
    task: _Attendance
    performer: Name
    all_chars: list[Name] = []


def _read(raw: Any, number: int, path: Path) -> SocialTask:
    place = f"{path}, task {number}"
    entry = valid(_Entry, raw, place)
    kind = TYPES.get(entry.task_type.strip().lower())
    if kind is None:
        raise ConfigError(
            f"{place}: there is no task type “{entry.task_type}”. Known: {', '.join(sorted(TYPES))}."
        )
    if kind in COLLECTIVE and entry.task.target_num < 2:
        raise ConfigError(f"{place}: target_num counts the performer too and must be at least 2.")
    if kind == "appointment" and not entry.task.target:
        raise ConfigError(f"{place}: an appointment needs the person to be met in `target`.")
    if entry.performer in entry.task.target:
        raise ConfigError(f"{place}: the performer {entry.performer} cannot be their own target.")
    for person in entry.task.target:
        if entry.all_chars and person not in entry.all_chars:
            raise ConfigError(f"{place}: the target {person} is not among all_chars.")
    placeholders = dict(_placeholders(entry))
    cast = tuple(dict.fromkeys([entry.performer, *entry.all_chars])) if entry.all_chars else ()
    return SocialTask(
        id=str(entry.id if entry.id is not None else entry.env_name or f"task-{number}"),
        kind=kind,
        performer=entry.performer,
        goal=_fill(entry.goal, placeholders),
        currently=_fill(
            entry.FPG or f"{entry.performer} wants to do the following. {entry.goal}", placeholders
        ),
        criteria=_fill(entry.Description, placeholders),
        subgoals=tuple(
            Subgoal(
                tuple(dict.fromkeys([s.keyword, *s.alter_kwd])),
                s.start_time,
                s.duration_in_minutes,
                s.location,
            )
            for s in entry.task.goal
        ),
        target=tuple(entry.task.target),
        wanted=entry.task.target_num,
        cast=cast,
    )


def _placeholders(entry: _Entry) -> Iterator[tuple[str, str]]:
    """Each placeholder with its value; #target_num before #target_0."""
    yield "#performer", entry.performer
    yield "#target_num", str(entry.task.target_num - 1)
    for i, person in enumerate(entry.task.target):
        yield f"#target_{i}", person
    for i, subgoal in enumerate(entry.task.goal):
        yield f"#location_{i}", subgoal.location or NOT_SAID
        yield f"#time_{i}", subgoal.start_time.strftime(MOMENT) if subgoal.start_time else NOT_SAID


def _fill(text: str, placeholders: Mapping[str, str]) -> str:
    for name, value in placeholders.items():
        text = text.replace(name, value)
    return text
