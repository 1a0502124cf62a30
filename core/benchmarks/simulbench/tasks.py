"""Tasks: what a model is asked to simulate. They come from files (the catalogue) and from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.benchmarks.benchmark import Materials
from core.errors import ConfigError
from core.files import first_problem, read_toml
from core.scenario import Scenario

STORED = "simulbench"
"""The benchmark under which tasks and scripts are stored."""
TASK = "task"
CATALOGUE = "catalogue"
"""The source of tasks that are read from files rather than from the store."""

Type = Literal["stateless", "stateful"]
TYPES: tuple[Type, ...] = ("stateless", "stateful")
REQUEST = "your executable command or instruction"
"""The request type of a task that names none."""


class Strategy(BaseModel):
    """A way for the user agent to go on."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    title: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]


STRATEGIES = (
    Strategy(
        title="Improvement",
        text="Point out what is wrong, unclear or otherwise unsatisfying in the assistant's last reply, and "
        "have it put right.",
    ),
    Strategy(
        title="Next step",
        text="Ask for something that has not come up yet but is tied to what has: it builds on an earlier "
        "result, or changes one.",
    ),
    Strategy(
        title="New request",
        text="Stay in the field, but ask for something that has not come up yet and is much rarer, harder or "
        "more intricate.",
    ),
    Strategy(title="Others", text="Any other way; add a few words after the number on what it is."),
)


class SimulationTask(BaseModel):
    """One thing to simulate.

    `task_description` ends with the first request and is the first message of every dialogue.

    `strategies` replace the general ways to go on (the last, “Others”, always stays), for a task in which
    those make little sense.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    id: Annotated[str, Field(min_length=1)]
    act: Annotated[str, Field(min_length=1)]
    task_description: Annotated[str, Field(min_length=1)]
    type: Type
    request_type: Annotated[str, Field(min_length=1)] = REQUEST
    strategies: tuple[Strategy, ...] = ()
    source: str = CATALOGUE

    @property
    def ways(self) -> tuple[Strategy, ...]:
        """The strategies of the user agent, in the order of their numbers (from 1)."""
        return (*self.strategies, STRATEGIES[-1]) if self.strategies else STRATEGIES

    def body(self) -> dict[str, Any]:
        """As the store keeps it."""
        return self.model_dump(mode="json", exclude={"id", "source"})


def catalogue(folders: Sequence[Path], language: str = "en") -> dict[str, SimulationTask]:
    """The tasks in files by id, the workspace's before those that ship.

    Raises ConfigError naming the file and the task.
    """
    found: dict[str, SimulationTask] = {}
    for folder in folders:
        for file in sorted((folder / STORED / language).glob("*.toml")):
            for number, entry in enumerate(_entries(file, file.stat().st_mtime), 1):
                try:
                    task = SimulationTask(**{"type": file.stem, **entry, "source": CATALOGUE})
                except (ValidationError, TypeError) as error:
                    raise ConfigError(f"{file}, task {number}: {_first(error)}") from error
                found.setdefault(task.id, task)
    return found


def stored(scenarios: Sequence[Scenario]) -> dict[str, SimulationTask]:
    """Tasks of the store by id. Raises ConfigError for an invalid body."""
    return {s.key: task_of(s) for s in scenarios}


def task_of(scenario: Scenario) -> SimulationTask:
    """A stored task. Raises ConfigError for an invalid body."""
    try:
        return SimulationTask(**{**scenario.body, "id": scenario.key, "source": scenario.source})
    except (ValidationError, TypeError) as error:
        raise ConfigError(f"The stored task “{scenario.key}” cannot be used: {_first(error)}") from error


def tasks(materials: Materials, language: str = "en") -> dict[str, SimulationTask]:
    """Every task that may be used, by id: the catalogue's, then the accepted ones of the store."""
    return catalogue(materials.data, language) | stored(materials.scenarios(STORED, TASK))


def _first(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "it must be a table of texts."
    return f"{first_problem(error)}."


@lru_cache(maxsize=32)
def _entries(file: Path, changed: float) -> Sequence[Mapping[str, Any]]:
    entries = read_toml(file).get("tasks", [])
    if not isinstance(entries, list):
        raise ConfigError(f"{file} must list its tasks as [[tasks]] tables.")
    return entries
