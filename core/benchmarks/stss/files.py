"""Imports published task files: maps their people and places onto a town, and lists what the town lacks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.benchmarks.stss.tasks import SocialTask, read_tasks, values_of
from core.benchmarks.stss.templates import missing
from core.benchmarks.stss.town import Town
from core.errors import ConfigError, ImportRefused
from core.files import file_name, read_toml

Names = Mapping[str, Mapping[str, str]]
"""What `people` and `places` of a file are called in the town."""


class Lacking(NamedTuple):
    """People and places that a town lacks, with the number of tasks naming them; and the playable tasks."""

    people: Mapping[str, int]
    places: Mapping[str, int]
    playable: Sequence[str]


def read(path: Path) -> list[SocialTask]:
    """The tasks of a file. Raises ImportRefused naming the task and the field."""
    try:
        return read_tasks(path)
    except ConfigError as error:
        raise ImportRefused(f"{error} Nothing was imported.") from error


def read_names(path: Path) -> Names:
    """The tables [people] and [places] of a TOML file. Raises ImportRefused."""
    values = read_toml(path, ImportRefused)
    for table, names in values.items():
        good = isinstance(names, dict) and all(isinstance(v, str) and v for v in names.values())
        if table not in ("people", "places") or not good:
            raise ImportRefused(
                f"{path} may hold the tables [people] and [places], "
                'with lines like "Hobbs Cafe" = "Saltbread Café".'
            )
    people = values.get("people", {})
    if len(set(people.values())) < len(people):
        raise ImportRefused(f"{path} maps two people onto one.")
    return {"people": people, "places": values.get("places", {})}


def renamed(task: SocialTask, names: Names) -> SocialTask:
    """A task with the town's names, in its texts too."""
    whole = {**names["places"], **names["people"]}

    # Longer names first: “Oak Hill College:library” before “Oak Hill College”.
    pattern = "|".join(re.escape(name) for name in sorted(whole, key=len, reverse=True))

    def text(given: str) -> str:
        return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda m: whole[m[0]], given) if whole else given

    def person(name: str) -> str:
        return names["people"].get(name, name)

    return replace(
        task,
        performer=person(task.performer),
        target=tuple(map(person, task.target)),
        cast=tuple(map(person, task.cast)),
        goal=text(task.goal),
        currently=text(task.currently),
        criteria=text(task.criteria),
        subgoals=tuple(
            replace(s, location=s.location and names["places"].get(s.location, s.location))
            for s in task.subgoals
        ),
    )


def lacking(tasks: Sequence[SocialTask], town: Town) -> Lacking:
    """What a town lacks for tasks."""
    people: Counter[str] = Counter()
    places: Counter[str] = Counter()
    playable = []
    for task in tasks:
        absent = missing(task, town)
        if not absent:
            playable.append(task.id)
        everybody = {task.performer, *task.target, *task.cast}
        for name in absent:
            (people if name in everybody else places)[name] += 1
    return Lacking(people, places, playable)


def write(tasks: Sequence[SocialTask], data: Path, name: str) -> Path:
    """Write a task set to a workspace's data folder, where runs look for it; returns the file."""
    if file_name(name) != name or name == "templates":
        raise ImportRefused(f"“{name}” cannot be the name of a task set. Give it another one with --name.")
    file = data / "stss" / "en" / "tasks" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([values_of(task) for task in tasks], ensure_ascii=False, indent=1)
    file.write_text(text, encoding="utf-8")
    return file
