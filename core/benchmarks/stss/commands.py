"""`concord stss …`: check towns, import tasks, freeze scenes, score trajectories."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from concord.benchmarks.stss import files, scenes, scoring, system, views
from concord.benchmarks.stss.files import read_trajectory
from concord.benchmarks.stss.tasks import TITLES, Kind, read_tasks, task_from
from concord.benchmarks.stss.templates import load_templates
from concord.benchmarks.stss.town import Town, load_town, problems, read_town
from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import ConfigError, check_known
from concord.runs.planning import materials
from concord.table import SCHEMA
from concord.workspace import Workspace

PATH = click.Path(path_type=Path)


@click.group("stss")
def command() -> None:
    """STSS: towns, tasks, frozen scenes, and scores by rule."""


# -- towns


@command.group("town")
def town() -> None:
    """The towns of the simulations."""


@town.command("check")
@click.argument("file", type=PATH)
def town_check(file: Path) -> None:
    """Check the town in FILE: doors, ways, homes, work, names. Exits with 1 if something is wrong."""
    checked = read_town(file)
    wrong = problems(checked)
    for sentence in wrong:
        echo(f"- {sentence}")
    arenas = sum(len(s.arenas) for s in checked.sectors.values())
    people = len(checked.residents)
    holds = f"{checked.name}: {len(checked.sectors)} sectors with {arenas} arenas, {people} residents"
    if wrong:
        echo(f"{holds}, {len(wrong)} problem{'s' if len(wrong) > 1 else ''}.", err=True)
        raise SystemExit(1)
    templates = file.with_name("templates.toml")
    if templates.is_file():
        holds += f", {len(load_templates(templates, checked))} task templates"
    longest = max(checked.minutes(a, b) for a in checked.sectors for b in checked.sectors)
    echo(f"{holds}. Everything can be reached; the longest way takes {longest:.0f} minutes.")


# -- tasks and scenes


@command.group("import")
def import_() -> None:
    """Read the published files."""


@import_.command("tasks")
@click.argument("file", metavar="FILE.json", type=PATH)
@click.option("--name", default="", help="The name of the task set; default: the file's.")
@click.option("--town", default=system.TOWN, show_default=True, help="The town in which they will be played.")
@click.option(
    "--map",
    "mapping",
    metavar="FILE.toml",
    type=PATH,
    help="What the file's [people] and [places] are called in the town; default: its published.toml.",
)
@click.pass_obj
def import_tasks(folder: str, file: Path, name: str, town: str, mapping: Path | None) -> None:
    """The published tasks (JSON); says what the town lacks for playing them."""
    tasks = files.read(file)
    workspace = Workspace.open(folder)
    lived_in, beside = _town(workspace, town)
    if mapping or beside.is_file():
        names = dict(files.read_names(mapping or beside))
        # Who lives in the town plays the part.
        names["people"] = {a: b for a, b in names["people"].items() if a not in lived_in.residents}
        tasks = [files.renamed(task, names) for task in tasks]
    lacking = files.lacking(tasks, lived_in)
    kept = files.write(tasks, workspace.path / "data", name or file.stem)
    echo(f"{len(tasks)} tasks ({_by_kind([task.kind for task in tasks])}), kept in {kept}.")
    where = f" --town {town}" if town != system.TOWN else ""
    how = f": concord run stss{where} --task-set {kept.stem} …" if lacking.playable else "."
    echo(f"{len(lacking.playable)} of them can be played in {lived_in.name}{how}")
    for what, absent in (("people", lacking.people), ("places", lacking.places)):
        if absent:
            each = ", ".join(f"{n} ({count})" for n, count in absent.items())
            echo(f"{lived_in.name} lacks {len(absent)} {what} (with the tasks that name them): {each}.")
    if len(lacking.playable) < len(tasks):
        echo(
            "Map them onto people and places of the town with --map, or bring a town that has them. "
            f"Scoring a trajectory needs no town: concord stss score --tasks {kept} --trajectory …"
        )


@import_.command("people")
@click.argument("file", metavar="FILE.json", type=PATH)
@click.option("--name", default="", help="The name of the town with them; default: the file's.")
@click.option("--town", default=system.TOWN, show_default=True, help="The town whose places they live in.")
@click.pass_obj
def import_people(folder: str, file: Path, name: str, town: str) -> None:
    """The published personas (JSON), as the residents of a town of their own with the places of another."""
    workspace = Workspace.open(folder)
    lived_in, names = _town(workspace, town)
    residents = files.people(file, lived_in, files.read_names(names))
    data, of = workspace.path / "data", name or file.stem
    load_town(files.write_town(residents, names.with_name("town.toml"), data, of))
    echo(f"{len(residents)} people live in {of}. Then: concord stss import tasks … --town {of}")


def _town(workspace: Workspace, name: str) -> tuple[Town, Path]:
    """A town by name, and the file of what published people and places are called there."""
    brought = materials(workspace)
    return system.town_named(brought, name), system.towns(brought)[name].with_name(files.PUBLISHED_NAMES)


@command.command("freeze")
@click.option(
    "--per-pair",
    type=click.IntRange(1),
    default=scenes.PER_PAIR,
    show_default=True,
    help="Scenes of a task for the same two people.",
)
@click.pass_obj
def freeze(folder: str, per_pair: int) -> None:
    """Freeze the performers' conversations of day 1 as scenes. Stored scenes are kept."""
    frozen, new = scenes.freeze(Workspace.open(folder, create=False), per_pair)
    counts = f"{len(frozen)} scenes ({_by_kind([task_from(s.body['task']).kind for s in frozen])})"
    echo(f"{counts}, {new} of them new. Play them with `concord run stss-language`.")


def _by_kind(kinds: Sequence[Kind]) -> str:
    counts = Counter(kinds)
    return ", ".join(f"{title.lower()} {counts[kind]}" for kind, title in TITLES.items() if counts[kind])


# -- scores by rule


@command.command("score")
@click.option("--tasks", required=True, type=PATH, help="Task file, in the form of the published ones.")
@click.option(
    "--trajectory",
    required=True,
    type=PATH,
    help="Trajectory (JSON Lines), or movement files of the published simulator (a file or a folder).",
)
@click.option("--task", "names", metavar="A,B", default="", help="Only these tasks of the file.")
@options.form("json")
def score(tasks: Path, trajectory: Path, names: str, form: str) -> None:
    """Score every task of a file on one trajectory, by rule: no model and no workspace needed.

    Exits with 1, after printing what can be scored, where a task is not about this trajectory.
    """
    wanted = {task.id: task for task in read_tasks(tasks)}
    chosen = options.names(names)
    check_known("task", chosen, wanted)
    happened = read_trajectory(trajectory)
    scores, refused = [], []
    for name in chosen or wanted:
        try:
            scores.append(scoring.score(wanted[name], happened))
        except ConfigError as error:
            refused.append(error)
    if not scores:
        raise refused[0]
    _print(scores, happened.notes, form)
    for why in refused:
        echo(f"Error: {why}", err=True)
    if refused:
        raise SystemExit(1)


def _print(scores: list[scoring.Score], noted: Sequence[str], form: str) -> None:
    notes = list(dict.fromkeys([*noted, *(note for s in scores for note in s.notes)]))
    for note in notes:
        echo(note, err=True)
    report = scoring.report(scores)
    if form == "json":
        echo(json.dumps({"schema": SCHEMA, **report, "notes": notes}, ensure_ascii=False, indent=2))
        return
    printing.show(
        [table for s in scores for table in views.evidence(s) if table.rows or table.name == "counted"], form
    )
    echo()
    for kind, mean in report["by_type"].items():
        echo(f"{TITLES[kind]}: {mean:.3f} (n = {sum(s.kind == kind for s in scores)})")
    echo(f"Overall: {report['overall']:.3f} (n = {len(scores)})")
