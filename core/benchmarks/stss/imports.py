"""Published tasks and people, as a workspace gets them: read for a town, stored, removed again."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from concord.benchmarks.stss import files, system
from concord.benchmarks.stss.tasks import SocialTask, read_tasks
from concord.benchmarks.stss.templates import missing
from concord.benchmarks.stss.town import Town, load_town
from concord.codes import AuditAct
from concord.errors import ConfigError
from concord.runs.planning import materials
from concord.store import audit
from concord.workspace import Workspace


class TaskImport(NamedTuple):
    """The tasks of a file with the names of a town, and by task what the town lacks for playing it."""

    town: Town
    names: Path
    """The file that says what published people and places are called in the town."""
    tasks: Sequence[SocialTask]
    lacking: Mapping[str, Sequence[str]]

    @property
    def playable(self) -> list[str]:
        """The tasks for which the town lacks nothing."""
        return [name for name, absent in self.lacking.items() if not absent]


def town_and_names(workspace: Workspace, name: str) -> tuple[Town, Path]:
    """A town by name, and the file of what published people and places are called there."""
    texts = materials(workspace)
    file = system.towns(texts)
    return system.town_named(texts, name), file[name].with_name(files.PUBLISHED_NAMES)


def tasks_for(workspace: Workspace, file: Path, town_name: str) -> TaskImport:
    """The tasks of a published file for a town; nothing is stored. Raises ConfigError or ImportRefused."""
    tasks = read_tasks(file)
    town, names_file = town_and_names(workspace, town_name)
    if names_file.is_file():
        names = files.read_names(names_file)
        # Who lives in the town plays the part.
        roles = {person: player for person, player in names.people.items() if person not in town.residents}
        names = names.model_copy(update={"people": roles})
        tasks = [files.renamed(task, names) for task in tasks]
    return TaskImport(town, names_file, tasks, {task.id: missing(task, town) for task in tasks})


def store_tasks(workspace: Workspace, tasks: Sequence[SocialTask], name: str) -> Path:
    """Keep tasks as a task set, which replaces one of this name; the file. Raises ImportRefused."""
    path = files.write(tasks, workspace.path / "data", name)
    _record(workspace, AuditAct.FILES_IMPORTED, "tasks", f"{len(tasks)} as the task set {name}")
    return path


def people_for(workspace: Workspace, file: Path, town_name: str) -> Mapping[str, Mapping[str, Any]]:
    """The people of a published file as residents of a town's places; nothing is stored.

    Raises ImportRefused.
    """
    town, names_file = town_and_names(workspace, town_name)
    return files.people(file, town, files.read_names(names_file))


def store_people(
    workspace: Workspace, residents: Mapping[str, Mapping[str, Any]], name: str, town_name: str
) -> Path:
    """Keep people as the residents of a town of their own with the places of another; its folder.

    Raises ImportRefused or ConfigError.
    """
    _, names_file = town_and_names(workspace, town_name)
    fresh = name not in system.towns(materials(workspace))
    file = files.write_town(residents, names_file.with_name("town.toml"), workspace.path / "data", name)
    try:
        load_town(file)
    except ConfigError:
        if fresh:  # a town that cannot be loaded would be offered on every page
            shutil.rmtree(file.parent)
        raise
    _record(workspace, AuditAct.FILES_IMPORTED, "people", f"{len(residents)} as the town {name}")
    return file.parent


def remove(workspace: Workspace, path: Path) -> None:
    """Remove a task set or a town of the workspace that was imported."""
    path.resolve().relative_to((workspace.path / "data").resolve())  # nothing else is ever removed
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    _record(workspace, AuditAct.IMPORT_REMOVED, "tasks" if path.suffix else "people", path.stem)


def _record(workspace: Workspace, act: AuditAct, target: str, detail: str) -> None:
    with workspace.write() as db:
        audit.record(db, act, detail=detail, target=target)
