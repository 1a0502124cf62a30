"""Task templates of a town: a seed draws performer, place, time and residents, which makes a task."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from concord.benchmarks.stss.tasks import Kind, SocialTask, Subgoal
from concord.benchmarks.stss.town import Hour, PlaceName, Town, minute_of
from concord.errors import ConfigError, NotFound, check_known
from concord.files import listed_tables, read_toml, valid

FIRST_DAY = date(2023, 2, 13)
"""Performers prepare on this day; events are on the next."""

BACKGROUND = (10, 12)
"""How many others are in a simulation."""

HOPED_FOR: Mapping[Kind, int] = {"public": 2, "online": 2, "companions": 3}
"""One in so many of the background is hoped for, rounded up."""


class Template(BaseModel):
    """The choices left open in a task: who may perform it, where, when. Errands have a second place.

    `goal`, `currently` and `criteria` are the sentences of its type.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Annotated[str, Field(min_length=1)]
    type: Kind
    activity: str
    performers: Annotated[tuple[str, ...], Field(min_length=1)]
    targets: tuple[str, ...] = ()
    places: tuple[PlaceName, ...] = ()
    seconds: tuple[PlaceName, ...] = ()
    times: tuple[Hour, ...] = ()
    minutes: Annotated[int, Field(ge=1)]
    keywords: Annotated[tuple[str, ...], Field(min_length=1)]
    second_keywords: tuple[str, ...] = ()
    goal: str
    currently: str
    criteria: str

    @model_validator(mode="after")
    def _complete(self) -> Self:
        required_fields: Mapping[Kind, tuple[str, ...]] = {
            "public": ("places", "times"),
            "appointment": ("targets",),
            "companions": ("places",),
            "online": ("times",),
            "help": ("places", "seconds", "second_keywords"),
        }
        if absent := next((field for field in required_fields[self.type] if not getattr(self, field)), None):
            raise ValueError(f"a template of type {self.type} needs `{absent}`")
        return self


def load_templates(path: Path, town: Town) -> dict[str, Template]:
    """The templates of a file by id, checked against the town. Raises ConfigError."""
    texts = read_toml(path).get("texts", {})
    templates = dict[str, Template]()
    for number, entry in enumerate(listed_tables(path, "templates"), start=1):
        template_place = f"{path}, template {number}, “{entry.get('id', '')}”"
        template = valid(Template, {**texts.get(entry.get("type"), {}), **entry}, template_place)
        try:
            check_known(f"resident of {town.name}", (*template.performers, *template.targets), town.residents)
            sectors = [place.split(":")[0] for place in (*template.places, *template.seconds)]
            check_known(f"sector of {town.name}", sectors, town.sectors)
        except NotFound as error:
            raise ConfigError(f"{template_place}: {error}") from error
        if template.id in templates:
            raise ConfigError(f"{template_place}: another template has this id.")
        templates[template.id] = template
    return templates


def instantiate(template: Template, town: Town, seed: int = 1) -> SocialTask:
    """The task that a seed makes of a template; the same seed always gives the same task."""
    name = template.id
    rng = random.Random(f"{seed} {town.name} {name}")
    performer = rng.choice(template.performers)
    target = rng.choice([t for t in template.targets if t != performer]) if template.targets else None
    place = rng.choice(template.places) if template.places else None
    second = rng.choice(template.seconds) if template.seconds else None
    day = FIRST_DAY + timedelta(days=1)
    start = None
    if template.times:
        start = datetime.combine(day, time()) + timedelta(minutes=minute_of(rng.choice(template.times)))
    targets = (target,) if target else ()
    cast = _cast(rng, town, performer, targets)
    hoped = math.ceil((len(cast) - 1) / HOPED_FOR[template.type]) if template.type in HOPED_FOR else 1
    values = {
        "performer": performer,
        "place": place,
        "second": second,
        "target": target,
        "others": hoped,
        "date": day.isoformat(),
        "time": f"{start:%Y-%m-%d} at {start:%H:%M}" if start else None,
    }
    values["activity"] = _fill(template.activity, values, name)
    subgoals = [Subgoal(template.keywords, start, template.minutes, place)]
    if template.type == "help":
        subgoals.append(Subgoal(template.second_keywords, None, template.minutes, second))
    return SocialTask(
        id=name if seed == 1 else f"{name}-{seed}",
        kind=template.type,
        performer=performer,
        goal=_fill(template.goal, values, name),
        currently=_fill(template.currently, values, name),
        criteria=_fill(template.criteria, values, name),
        subgoals=tuple(subgoals),
        target=targets,
        wanted=1 if template.type == "help" else hoped + 1,
        cast=cast,
    )


def with_company(task: SocialTask, town: Town, seed: int = 1) -> SocialTask:
    """The task with a cast; if it names none, 10 to 12 residents are drawn."""
    if task.cast:
        return task
    rng = random.Random(f"{seed} {town.name} {task.id}")
    return replace(task, cast=_cast(rng, town, task.performer, task.target))


def _cast(rng: random.Random, town: Town, performer: str, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The performer, the targets and residents drawn beside them.

    In the order of the town, so that the order does not reveal the targets.
    """
    residents = [n for n in town.residents if n not in (performer, *targets)]
    background = rng.sample(residents, min(max(0, rng.randint(*BACKGROUND) - len(targets)), len(residents)))
    return performer, *(n for n in town.residents if n in background or n in targets)


def first_day(task: SocialTask) -> date:
    """The day on which the performer prepares: the one before the task's event."""
    return task.event_day - timedelta(days=1) if task.event_day else FIRST_DAY


def missing(task: SocialTask, town: Town) -> list[str]:
    """People and places of a task that the town does not have."""
    people = [n for n in dict.fromkeys((task.performer, *task.target, *task.cast)) if n not in town.residents]
    places = [s.location for s in task.subgoals if s.location and not _is_place(s.location, town)]
    return people + list(dict.fromkeys(places))


def _is_place(location: str, town: Town) -> bool:
    """Whether some place of the town has the location in its name, as scoring looks for it."""
    arenas = (
        (f"{s.name}:{arena}", things) for s in town.sectors.values() for arena, things in s.arenas.items()
    )
    return any(location in f"{room}:{thing}" for room, things in arenas for thing in things)


def _fill(text: str, values: Mapping[str, Any], name: str) -> str:
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        names = ", ".join(sorted(values))
        raise ConfigError(
            f"The texts of template “{name}” use {error}, which is not one of {names}."
        ) from error
