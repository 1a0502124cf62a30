"""Files brought from elsewhere: published tasks, mapped onto a town, and published personas."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from concord.benchmarks.stss.hours import own_hours
from concord.benchmarks.stss.tasks import SocialTask, values_of
from concord.benchmarks.stss.town import Resident, Town
from concord.errors import ImportRefused
from concord.files import as_toml, file_name, read_json, read_text, read_toml, toml_key, valid

PUBLISHED_NAMES = "published.toml"
"""Beside a town's file: what the published people and places are called there."""


class TownNames(BaseModel):
    """What published people and places are called in the town."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    people: dict[str, Annotated[str, Field(min_length=1)]] = {}
    places: dict[str, Annotated[str, Field(min_length=1)]] = {}


def read_names(path: Path) -> TownNames:
    """The tables [people] and [places] of a TOML file. Raises ImportRefused."""
    names = valid(TownNames, read_toml(path, ImportRefused), path, ImportRefused)
    if len(set(names.people.values())) < len(names.people):
        raise ImportRefused(f"{path} maps two people onto one.")
    return names


PERSONA = ("age", "innate", "learned", "currently", "lifestyle")
LIVING = {"home", "work", "hours", "wakes", "sleeps"}
"""Of a resident: who they are, and where and when they live."""


def people(path: Path, town: Town, names: TownNames) -> dict[str, dict[str, Any]]:
    """The published personas by name, as entries of a town's residents.toml.

    Each lives and works where the resident of the town does whom the names give for them. When they get up,
    go to bed and work their own words say, else it is as that resident does. Raises ImportRefused naming the
    person.
    """
    document = read_json(path, ImportRefused)
    personas = (
        {name: one for name, one in document.items() if name != "shared"}
        if isinstance(document, dict)
        else {}
    )
    if not personas:
        raise ImportRefused(f"{path} must hold an object with a persona by name.")
    residents = {}
    for name, persona in personas.items():
        alike = town.residents.get(names.people.get(name, ""))
        if alike is None:
            raise ImportRefused(f"{path}: {name} has no counterpart in {town.name}. Name one under [people].")
        values = persona if isinstance(persona, Mapping) else {}
        entry = {field: values.get(field) for field in PERSONA} | alike.model_dump(
            mode="json", include=LIVING
        )
        entry |= own_hours(str(values.get("lifestyle")), str(values.get("daily_plan_req")))
        valid(Resident, {"name": name, **entry}, f"{path}: {name}", ImportRefused)
        residents[name] = entry
    return residents


def write_town(residents: Mapping[str, Mapping[str, Any]], town: Path, data: Path, name: str) -> Path:
    """Write a town to a workspace's data folder: the places of a town's file, and other residents."""
    if file_name(name) != name or name == "tasks":
        raise ImportRefused(f"“{name}” cannot be the name of a town. Give it another one with --name.")
    folder = data / "stss" / "en" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in (town, town.with_name(PUBLISHED_NAMES)):
        (folder / file.name).write_text(read_text(file), encoding="utf-8")
    entries = (f"[residents.{toml_key(one)}]\n{as_toml(resident)}" for one, resident in residents.items())
    (folder / "residents.toml").write_text("\n".join(entries), encoding="utf-8")
    return folder / town.name


def renamed(task: SocialTask, names: TownNames) -> SocialTask:
    """A task with the town's names, in its texts too."""
    new_names = {**names.places, **names.people}

    # Longer names first: “Oak Hill College:library” before “Oak Hill College”.
    pattern = "|".join(re.escape(name) for name in sorted(new_names, key=len, reverse=True))

    def text(original: str) -> str:
        return (
            re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda m: new_names[m[0]], original)
            if new_names
            else original
        )

    def person(name: str) -> str:
        return names.people.get(name, name)

    return replace(
        task,
        performer=person(task.performer),
        target=tuple(map(person, task.target)),
        cast=tuple(map(person, task.cast)),
        goal=text(task.goal),
        currently=text(task.currently),
        criteria=text(task.criteria),
        subgoals=tuple(
            replace(s, location=s.location and names.places.get(s.location, s.location))
            for s in task.subgoals
        ),
    )


def write(tasks: Sequence[SocialTask], data: Path, name: str) -> Path:
    """Write a task set to a workspace's data folder, where runs look for it; returns the file."""
    if file_name(name) != name or name == "templates":
        raise ImportRefused(f"“{name}” cannot be the name of a task set. Give it another one with --name.")
    file = data / "stss" / "en" / "tasks" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([values_of(task) for task in tasks], ensure_ascii=False, indent=1)
    file.write_text(text, encoding="utf-8")
    return file
