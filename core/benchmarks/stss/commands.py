"""`concord stss …`: import tasks and people, freeze scenes, score trajectories."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from concord.benchmarks.stss import imports, scoring, system, views
from concord.benchmarks.stss.scenes import PER_PAIR
from concord.benchmarks.stss.scenes import freeze as freeze_scenes
from concord.benchmarks.stss.scoring import Score, covered
from concord.benchmarks.stss.tasks import TITLES, Kind, read_tasks, task_from
from concord.benchmarks.stss.trajectory_files import read_trajectory
from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import ConfigError, check_known
from concord.workspace import Workspace

PATH = click.Path(path_type=Path)


@click.group("stss")
def command() -> None:
    """STSS: published tasks and people, frozen scenes, scores of trajectories."""


# -- tasks and scenes


@command.group("import")
def import_() -> None:
    """Read the published files."""


@import_.command("tasks")
@click.argument("file", metavar="FILE.json", type=PATH)
@click.option("--name", default="", help="The name of the task set; default: the file's.")
@click.option("--town", default=system.TOWN, show_default=True, help="The town in which they will be played.")
@click.pass_obj
def import_tasks(folder: str, file: Path, name: str, town: str) -> None:
    """The published tasks (JSON); says what the town lacks for playing them.

    What their people and places are called there stands in published.toml beside the town's file.
    """
    workspace = options.workspace(folder)
    imported = imports.tasks_for(workspace, file, town)
    tasks = imported.tasks
    town_words = imported.town.name
    path = imports.store_tasks(workspace, tasks, name or file.stem)
    echo(f"{len(tasks)} tasks ({_by_kind([task.kind for task in tasks])}), kept in {path}.")
    town_option = f" --town {town}" if town != system.TOWN else ""
    town_words = town if town_option else town_words
    run_words = f": concord run stss{town_option} --task-set {path.stem} …" if imported.playable else "."
    echo(f"{len(imported.playable)} of them can be played in {town_words}{run_words}")
    if absent := Counter(name for names in imported.lacking.values() for name in names):
        counts = ", ".join(f"{name} ({count})" for name, count in absent.items())
        echo(f"{town_words} lacks these people and places (with the tasks that name them): {counts}.")
        echo(f"Say in {imported.names} what they are called there, or bring a town that has them.")


@import_.command("people")
@click.argument("file", metavar="FILE.json", type=PATH)
@click.option("--name", default="", help="The name of the town with them; default: the file's.")
@click.option("--town", default=system.TOWN, show_default=True, help="The town whose places they live in.")
@click.pass_obj
def import_people(folder: str, file: Path, name: str, town: str) -> None:
    """The published personas (JSON), as the residents of a town of their own with the places of another."""
    workspace = options.workspace(folder)
    residents = imports.people_for(workspace, file, town)
    folder_name = imports.store_people(workspace, residents, name or file.stem, town).name
    echo(
        f"{len(residents)} people live in {folder_name}. Then: concord stss import tasks … "
        f"--town {folder_name}"
    )


@command.command("freeze")
@options.number("--scenes", 0, "How many, spread over the tasks; 0: every one. The paper has 325.", minimum=0)
@options.number("--per-pair", PER_PAIR, "Scenes of one task for the same two people at most.", minimum=1)
@options.seeded("chooses the same scenes")
@click.pass_obj
def freeze(folder: str, /, scenes: int, per_pair: int, seed: int) -> None:
    """Freeze the performers' conversations of day 1 as scenes. Stored scenes are kept."""
    frozen = freeze_scenes(Workspace.open(folder, create=False), scenes, per_pair, seed)
    counts = _by_kind([task_from(scene.body["task"]).kind for scene in frozen.scenes])
    echo(
        f"{len(frozen.scenes)} scenes ({counts}), {len(frozen.new)} of them new. Play them with `concord run "
        "stss-language`."
    )
    if len(frozen.scenes) < scenes:
        echo(
            f"The simulations hold {frozen.possible} scenes. For {scenes}, simulate more tasks, models or "
            "repeats (`concord run stss`), or raise --per-pair."
        )
    echo("Have annotators check a sample: `concord study draw NAME --benchmark stss-language --n 60`.")


# -- trajectories of other simulators


@command.command("score")
@click.option("--tasks", required=True, type=PATH, help="Task file, in the form of the published ones.")
@click.option(
    "--trajectory",
    required=True,
    type=PATH,
    help="Records of who did what where (JSON Lines, JSON, CSV, Parquet), an exported simulation, or the "
    "published simulator's movement files (a file or a folder).",
)
@options.several("--task", "Only these tasks of the file.")
@options.form()
def score(tasks: Path, trajectory: Path, task: tuple[str, ...], form: str) -> None:
    """Score the tasks of a file on one trajectory, by rule: no model and no workspace is needed.

    Exits with 1, after printing what can be scored, where a task is not about this trajectory.
    """
    by_id = {entry.id: entry for entry in read_tasks(tasks)}
    check_known("task", task, by_id)
    lived, notes = read_trajectory(trajectory)
    scores: list[Score] = []
    errors: list[ConfigError] = []
    for name in task or by_id:
        try:
            scores.append(scoring.score(covered(by_id[name], lived), lived))
        except ConfigError as error:
            errors.append(error)
    if scores:
        printing.show(views.scores(scores, notes), form)
    for reason in errors:
        echo(f"Error: {reason}", err=True)
    if errors:
        raise SystemExit(1)


def _by_kind(kinds: Sequence[Kind]) -> str:
    counts = Counter(kinds)
    return ", ".join(f"{title.lower()} {counts[kind]}" for kind, title in TITLES.items() if counts[kind])
