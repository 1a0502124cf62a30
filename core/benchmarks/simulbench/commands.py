"""`concord simulbench …`: tasks, scripts, toxicity, and the import of the published files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from concord.benchmarks.simulbench import extraction, files, toxicity
from concord.benchmarks.simulbench.near_copies import near_copies
from concord.benchmarks.simulbench.scripts import HARD, SCRIPT, Script
from concord.benchmarks.simulbench.targets import SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK, TASK, TYPES, SimulationTask, task_of
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.commands import options, printing
from concord.commands.printing import echo
from concord.commands.progress import carry_out, running
from concord.errors import ConcordError, check_known
from concord.runs.planning import materials
from concord.runs.plans import ProposePlan
from concord.scenario import State
from concord.store import scenarios, spotchecks
from concord.store.actor import actor
from concord.studies import audits
from concord.workspace import Workspace

STATES = ("proposed", "accepted", "rejected")


@click.group("simulbench")
def command() -> None:
    """SimulBench: tasks, scripts, toxicity and audits."""


# -- tasks


@command.group("tasks")
def tasks() -> None:
    """Tasks: list them, have a model propose some, accept or reject them."""


@tasks.command("list")
@click.option("--state", type=click.Choice(STATES), default="accepted", show_default=True)
@click.pass_obj
def tasks_list(workspace: str, state: State) -> None:
    """List the tasks in use (the catalogue's and accepted ones), or those proposed or rejected, in full."""
    folder = options.workspace(workspace)
    if state != "accepted":
        return _list(folder, state)
    for task in usable(materials(folder)).values():
        echo(f"{task.id}\t{task.type}\t{task.source}\t{task.act}")
    return None


@tasks.command("propose")
@click.option("--model", required=True, help="A model of models.toml.")
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, help="Both types unless given.")
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="Proposals of each type.")
@options.seeded("draws the same examples")
@running
@click.pass_obj
def tasks_propose(
    workspace: str, /, model: str, types: tuple[str, ...], count: int, seed: int, **arguments: Any
) -> None:
    """Have a model propose tasks, with five random ones as examples in each call; a person then decides.

    Calls that were answered are not repeated: a larger count continues, another seed starts a new round.
    """
    folder = options.workspace(workspace)
    try:
        carry_out(folder, ProposePlan(BENCHMARK, model, types, count, seed), **arguments)
    finally:
        if not arguments["estimate"]:
            _list(folder, "proposed")


@tasks.command("accept")
@click.argument("keys", nargs=-1, required=True)
@click.pass_obj
def tasks_accept(workspace: str, keys: tuple[str, ...]) -> None:
    """Accept proposals, or tasks that were rejected before."""
    _decide(workspace, keys, "accepted")


@tasks.command("reject")
@click.argument("keys", nargs=-1, required=True)
@click.pass_obj
def tasks_reject(workspace: str, keys: tuple[str, ...]) -> None:
    """Reject proposals, or tasks that were accepted before."""
    _decide(workspace, keys, "rejected")


def _decide(workspace: str, keys: Sequence[str], state: State) -> None:
    with Workspace.open(workspace, create=False).write() as db:
        for key in keys:
            scenarios.decide(db, BENCHMARK, TASK, key, state, actor())
    echo(f"{len(keys)} {state}.")


def _list(folder: Workspace, state: State) -> None:
    with folder.read() as db:
        listed = scenarios.page(db, BENCHMARK, TASK, state=state)
    tasks = [*map(task_of, listed)]
    copies = near_copies(tasks, usable(materials(folder)).values()) if state == "proposed" else {}
    for task in tasks:
        echo(f"{task.id}\t{task.type}\t{state}\t{task.act}")
        if copy := copies.get(task.id):
            echo(f"  Near-copy of {copy.task} ({copy.alike:.2f}): reject one of the two.")
        echo(f"  {task.task_description}\n  Every request: {task.request_type}\n")


# -- scripts


@command.group("scripts")
def scripts() -> None:
    """Scripts: cut them from dialogues, set aside those that distinguish no models."""


@scripts.command("extract")
@click.option("--judge", required=True, help="Whose challenging turns to go by.")
@click.pass_obj
def scripts_extract(workspace: str, judge: str) -> None:
    """Cut scripts from all dialogues: LastOnly if no turn was challenging, else FirstChan and SubseqChan."""
    with Workspace.open(workspace, create=False).write() as db:
        cut, new = extraction.extract_scripts(db, judge)
    known_count = len(cut.scripts) - len(new)
    echo(f"{cut.dialogues} dialogues, {len(cut.scripts)} scripts ({known_count} known), by {judge}:")
    _counts(cut.scripts)
    if cut.unjudged:
        echo(
            f"{cut.unjudged} dialogues are excluded, because {judge} has no usable judgement of them. Run "
            "it again with --retry-failed.",
            err=True,
        )


@scripts.command("discard")
@click.pass_obj
def scripts_discard(workspace: str) -> None:
    """Set aside the scripts that every target answers with full marks from every judge, and list them.

    They are asked no more, and their answers leave the tables; nothing is deleted.
    """
    with Workspace.open(workspace, create=False).write() as db:
        easy, scored_by = extraction.set_aside(db, actor())
    for script in easy:
        echo(f"  {script.key} ({script.kind}, {script.type})")
    reason = f", full marks for {', '.join(scored_by)}" if easy else ""
    echo(f"{len(easy)} scripts set aside{reason}.")


@scripts.command("restore")
@click.argument("keys", nargs=-1)
@click.pass_obj
def scripts_restore(workspace: str, keys: tuple[str, ...]) -> None:
    """Use discarded scripts again: those named, or every one."""
    with Workspace.open(workspace, create=False).write() as db:
        discarded = scenarios.keys(db, BENCHMARK, SCRIPT, "discarded")
        for key in keys:
            check_known("discarded script", key, discarded)
        for key in keys or discarded:
            scenarios.decide(db, BENCHMARK, SCRIPT, key, "accepted", actor())
    echo(f"{len(keys or discarded)} scripts are in use again.")


def _counts(scripts: Sequence[Script]) -> None:
    for row in extraction.script_counts(scripts).rows:
        if row["kind"] == "Hard":
            echo(f"  Hard ({' and '.join(HARD)}): {row['all']}")
        else:
            echo(f"  {row['kind']}: {row['all']} ({', '.join(f'{row[type]} {type}' for type in TYPES)})")


# -- toxicity


@command.command("toxicity")
@click.option("--model", required=True, help="A model of models.toml whose endpoint offers moderations.")
@options.form()
@click.pass_obj
def toxicity_(workspace: str, model: str, form: str) -> None:
    """Score tasks, scripts and replies through a moderations endpoint; print the mean of six attributes.

    A text that was scored before is not sent again.
    """
    folder = Workspace.open(workspace, create=False)
    new = toxicity.measure(folder, model)
    echo(f"{new} texts scored by {model}.", err=True)
    printing.show((toxicity.toxicity(folder, model),), form)


# -- published files


@command.group("import")
def import_() -> None:
    """Read the published files."""


FILE = click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path))
SOURCE = click.option("--source", default="", help="The name of their source; default: the file's.")


@import_.command("tasks")
@FILE
@SOURCE
@click.pass_obj
def import_tasks(workspace: str, file: Path, source: str) -> None:
    """The published tasks (JSON Lines)."""
    tasks = files.read_tasks(file)
    _store(workspace, "tasks", tasks, source or file.stem)
    for type in TYPES:
        echo(f"  {type}: {sum(task.type == type for task in tasks)}")


@import_.command("scripts")
@FILE
@SOURCE
@click.pass_obj
def import_scripts(workspace: str, file: Path, source: str) -> None:
    """The published scripts (JSON Lines); prints how many there are of each kind."""
    scripts = files.read_scripts(file)
    _store(workspace, "scripts", scripts, source or file.stem)
    _counts(scripts)
    if len(scripts) == files.PUBLISHED:
        echo(files.WHY_ONE_LESS)


def _store(workspace: str, noun: str, items: Sequence[SimulationTask | Script], source: str) -> None:
    """Store what a file holds and say how much of it is new."""
    with options.workspace(workspace).write() as db:
        new = len(files.bring(db, items, source))
    echo(f"{len(items)} {noun}, {new} of them new." if new < len(items) else f"{new} {noun}.")


# -- the human check


@command.command("audit")
@click.argument("name", default="")
@options.form()
@click.pass_obj
def audit(folder: str, /, name: str, form: str) -> None:
    """What people found of an audit's judgements: shares by judge, kind and type. The newest unless named."""
    with Workspace.open(folder, create=False).read() as db:
        names = [sample.name for sample in spotchecks.audits(db, SIMULBENCH.name)]
        if not names:
            raise ConcordError("There is no audit yet. Draw one on the page Spot-check.")
        check_known("audit", [name] if name else [], names)
        printing.show([audits.findings(db, SIMULBENCH.name, name or names[0])], form)
