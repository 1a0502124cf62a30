"""`concord import …`: read ratings, conversations and published files; each format is a subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from core.benchmarks import BENCHMARKS
from core.benchmarks.pingpong import files as pingpong_settings
from core.benchmarks.simulbench import files as simulbench
from core.benchmarks.simulbench.commands_scripts import echo_counts
from core.benchmarks.simulbench.scripts import scenario_of
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES
from core.benchmarks.stss import files as stss
from core.benchmarks.stss import system as stss_system
from core.benchmarks.stss.tasks import TITLES
from core.errors import ImportRefused
from core.exchange import FORMATS, conversations_jsonl, fed, incoming, ratings_csv, ratings_study, scales
from core.runs.planning import materials
from core.scenario import Scenario
from core.store import scenarios
from core.workspace import Workspace


@click.group("import")
def command() -> None:
    """Read a file into the workspace: all of it, or, where something is wrong, nothing."""


@command.command("fed", help=FORMATS["fed"])
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", default=fed.BENCHMARK, show_default=True, help="The study's name.")
@click.pass_obj
def _fed(workspace: str, folder: Path, study: str) -> None:
    brought = fed.read(folder, study)
    with Workspace.open(workspace).write() as db:
        done = incoming.store(db, brought)
    _report(done)


@command.command("ratings", help=FORMATS["ratings"])
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="The study's name.")
@click.option("--title", default="", help="What annotators see as the study's name.")
@click.option("--append", is_flag=True, help="Add new ratings to a study that holds some.")
@click.option(
    "--delimiter", default=",", show_default=True, help="What separates the columns; “tab” for tabs."
)
@click.option(
    "--scale",
    "told",
    multiple=True,
    metavar="CRITERION=1-5",
    help="The answers of a criterion, where people's scores do not show them all; with words: CRITERION=1:bad,2:good.",
)
@click.option(
    "--uncounted",
    multiple=True,
    metavar="CRITERION",
    help="A criterion that does not enter final, such as a refusal.",
)
@click.pass_obj
def _ratings(
    workspace: str, file: Path, study: str, title: str, append: bool, delimiter: str, told: tuple[str, ...], uncounted: tuple[str, ...],
) -> None:  # fmt: skip
    if study in BENCHMARKS:
        raise ImportRefused(f"“{study}” is the name of a benchmark. Give the study another name.")
    table = ratings_csv.read(file, delimiter="\t" if delimiter == "tab" else delimiter)
    answers = dict(scales.told(option) for option in told)
    with Workspace.open(workspace).write() as db:
        brought = ratings_study.incoming(db, table, study, title=title, scales=answers, uncounted=uncounted)
        done = incoming.store(db, brought, append=append)
    _report(done)
    for criterion in brought.study.criteria:
        scale = criterion.scale
        kind = "a range, not to be asked at the desk" if scale.continuous else f"{len(scale.values)} answers"
        click.echo(f"  {criterion.name}: {scale.low:g} to {scale.high:g}, {kind}")


@command.command("conversations", help=FORMATS["conversations"])
@click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--benchmark",
    default="",
    help="The name under which conversations that name none are kept; default: the file's.",
)
@click.pass_obj
def _conversations(workspace: str, file: Path, benchmark: str) -> None:
    with Workspace.open(workspace).write() as db:
        done = conversations_jsonl.read(db, file, benchmark=benchmark)
    known = f", {done.known} were here already" if done.known else ""
    click.echo(
        f"{done.conversations} new conversations{known}." + "".join(f" Study “{s}”." for s in done.studies)
    )


@command.command("pingpong-settings", help=FORMATS["pingpong-settings"])
@click.argument("file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.pass_obj
def _pingpong_settings(workspace: str, file: Path) -> None:
    settings = pingpong_settings.read(file)
    data = Workspace.open(workspace).path / "data"
    pingpong_settings.write(settings, data)
    for language, cards in settings.characters.items():
        click.echo(
            f"{language}: {len(cards)} characters ({', '.join(cards)}), {len(settings.situations[language])} situations"
        )
    click.echo(
        f"Written below {data / 'pingpong'}, beside those that ship; `concord run pingpong --characters …` chooses among all."
    )


@command.command("simulbench-tasks", help=FORMATS["simulbench-tasks"])
@click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path))
@click.option("--source", default="", help="The name under which they are kept; default: the file's.")
@click.option("--skip-wrong", is_flag=True, help="Import the rest where some lines cannot be used.")
@click.pass_obj
def _simulbench_tasks(workspace: str, file: Path, source: str, skip_wrong: bool) -> None:
    brought = simulbench.read_tasks(file)
    tasks = brought.items if skip_wrong else brought.whole()
    given = [Scenario(STORED, TASK, t.id, t.body(), "accepted", source or file.stem, "import") for t in tasks]
    with Workspace.open(workspace).write() as db:
        new = scenarios.save(db, given)
    _counted(brought, "tasks", new)
    for type in TYPES:
        click.echo(f"  {type}: {sum(task.type == type for task in tasks)}")


@command.command("simulbench-scripts", help=FORMATS["simulbench-scripts"])
@click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path))
@click.option("--source", default="", help="The name under which they are kept; default: the file's.")
@click.option("--skip-wrong", is_flag=True, help="Import the rest where some lines cannot be used.")
@click.pass_obj
def _simulbench_scripts(workspace: str, file: Path, source: str, skip_wrong: bool) -> None:
    brought = simulbench.read_scripts(file)
    scripts = brought.items if skip_wrong else brought.whole()
    with Workspace.open(workspace).write() as db:
        new = scenarios.save(db, [scenario_of(s, source or file.stem, "import") for s in scripts])
    _counted(brought, "scripts", new)
    echo_counts(scripts)
    if len(scripts) == simulbench.PUBLISHED:
        click.echo(simulbench.WHY_ONE_LESS)


@command.command("stss-tasks", help=FORMATS["stss-tasks"])
@click.argument("file", metavar="FILE.json", type=click.Path(path_type=Path))
@click.option("--name", default="", help="The name of the task set; default: the file's.")
@click.option(
    "--town", default=stss_system.TOWN, show_default=True, help="The town they are to be played in."
)
@click.option(
    "--map",
    "mapping",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="What the file's [people] and [places] are called in the town.",
)
@click.pass_obj
def _stss_tasks(folder: str, file: Path, name: str, town: str, mapping: Path | None) -> None:
    tasks = stss.read(file)
    if mapping:
        names = stss.read_names(mapping)
        tasks = [stss.renamed(task, names) for task in tasks]
    workspace = Workspace.open(folder)
    lived_in = stss_system.town_named(materials(workspace), town)
    lacking = stss.lacking(tasks, lived_in)
    kept = stss.write(tasks, workspace.path / "data", name or file.stem)
    counts = {TITLES[kind].lower(): sum(t.kind == kind for t in tasks) for kind in TITLES}
    click.echo(
        f"{len(tasks)} tasks ({', '.join(f'{kind} {n}' for kind, n in counts.items() if n)}), kept in {kept}."
    )
    how = f": concord run stss --task-set {kept.stem} …" if lacking.playable else "."
    click.echo(f"{len(lacking.playable)} of them can be played in {lived_in.name}{how}")
    for what, names_lacking in (("people", lacking.people), ("places", lacking.places)):
        if names_lacking:
            each = ", ".join(f"{n} ({count})" for n, count in names_lacking.items())
            click.echo(
                f"{lived_in.name} lacks {len(names_lacking)} {what} (with the tasks that name them): {each}."
            )
    if len(lacking.playable) < len(tasks):
        click.echo(
            "Map them onto people and places of the town with --map, or bring a town that has them. "
            f"Trajectories are scored without a town: concord score stss --tasks {kept} --trajectory …"
        )


def _counted(brought: simulbench.Brought[Any], what: str, new: int) -> None:
    known = len(brought.items) - new
    click.echo(f"{len(brought.items)} {what}, {new} of them new." if known else f"{new} {what}.")
    if brought.wrong:
        click.echo(f"{len(brought.wrong)} lines were left out:\n{brought.complaints()}", err=True)


def _report(done: incoming.Imported) -> None:
    new = [f"{done.people:,} ratings by people", f"{done.judges:,} by judges"]
    new += [f"{done.units:,} units"] if done.units else []
    new += [f"{done.conversations:,} conversations"] if done.conversations else []
    known = f" {done.known:,} ratings were here already." if done.known else ""
    there = "" if done.conversations else ", all on conversations that were here"
    click.echo(f"Study “{done.study}”, new: {', '.join(new)}{there}.{known}")
