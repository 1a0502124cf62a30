"""Tasks: what a model is asked to simulate. They come from files (the catalogue) and from the store."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from concord.files import listed_tables, valid
from concord.runs.benchmark import Materials
from concord.scenario import Scenario

BENCHMARK = "simulbench"
"""The benchmark under which tasks and scripts are stored."""
TASK = "task"
CATALOGUE = "catalogue"
"""The source of tasks that are read from files rather than from the store."""

Type = Literal["stateless", "stateful"]
TYPES: tuple[Type, ...] = ("stateless", "stateful")
T = TypeVar("T", bound=BaseModel)
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
    """One thing to simulate. `task_description` ends with the first request and begins every dialogue.

    `strategies`, if any, replace the general ways to go on; the last of these, “Others”, always stays.
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

    def scenario(self, source: str, origin: str) -> Scenario:
        """As the store keeps it, accepted."""
        body = self.model_dump(mode="json", exclude={"id", "source"})
        return Scenario(BENCHMARK, TASK, self.id, body, "accepted", source, origin)


def catalogue(folders: Sequence[Path], language: str = "en") -> dict[str, SimulationTask]:
    """The tasks in files by id, the workspace's before those that ship. Raises ConfigError."""
    tasks_by_id: dict[str, SimulationTask] = {}
    for folder in folders:
        for file in sorted((folder / BENCHMARK / language).glob("*.toml")):
            for number, entry in enumerate(listed_tables(file, "tasks"), 1):
                fields = {"type": file.stem, **entry, "source": CATALOGUE}
                task = valid(SimulationTask, fields, f"{file}, task {number}")
                tasks_by_id.setdefault(task.id, task)
    return tasks_by_id


def read_stored(kind: type[T], scenario: Scenario) -> T:
    """A stored task (SimulationTask) or script (Script). Raises ConfigError for an invalid body."""
    identity = {"id": scenario.key, "key": scenario.key, "source": scenario.source}
    place = f"The stored {scenario.kind} “{scenario.key}” cannot be used"
    return valid(kind, {**scenario.body, **identity}, place)


def task_of(scenario: Scenario) -> SimulationTask:
    """A stored task. Raises ConfigError for an invalid body."""
    return read_stored(SimulationTask, scenario)


def tasks(materials: Materials, language: str = "en") -> dict[str, SimulationTask]:
    """Every task that may be used, by id: the catalogue's, then the accepted ones of the store."""
    stored_tasks = {s.key: task_of(s) for s in materials.scenarios(BENCHMARK, TASK)}
    return catalogue(materials.data, language) | stored_tasks


def is_selected(options: Mapping[str, Any], task: str, type: str, source: str) -> bool:
    """Whether a plan's options tasks, types and sources choose this one; an empty option chooses all."""
    values = {"tasks": task, "types": type, "sources": source}
    return all(not options[name] or value in options[name] for name, value in values.items())
