"""`concord score BENCHMARK`: scores that follow from what was done, by rule and without a model."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from core.benchmarks.stss import scoring
from core.benchmarks.stss.tasks import TITLES, read_tasks
from core.benchmarks.stss.trajectory import Trajectory
from core.benchmarks.stss.trajectory_files import read_trajectory
from core.commands import printing
from core.errors import ConfigError, not_found


@click.group("score")
def command() -> None:
    """Score what was done, by rule: no model and no workspace needed."""


@command.command("stss")
@click.option(
    "--tasks",
    required=True,
    type=click.Path(path_type=Path),
    help="Task file, in the form of the published ones.",
)
@click.option(
    "--trajectory",
    required=True,
    type=click.Path(path_type=Path),
    help="Trajectory (JSON Lines), or movement files of the published simulator (a file or a folder).",
)
@click.option("--task", "names", metavar="A,B", default="", help="Only these tasks of the file.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def _stss(tasks: Path, trajectory: Path, names: str, form: str) -> None:
    """Score every task of a file on one trajectory of the town.

    Exits with 1, after printing what can be scored, where a task is not about this trajectory.
    """
    wanted = {task.id: task for task in read_tasks(tasks)}
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in wanted:
            raise not_found("task", name, wanted)
    happened = read_trajectory(trajectory)
    scores, refused = [], []
    for name in chosen or wanted:
        try:
            scores.append(scoring.score(wanted[name], happened))
        except ConfigError as error:
            refused.append(error)
    if not scores:
        raise refused[0]
    _print(scores, happened, form)
    for why in refused:
        click.echo(f"Error: {why}", err=True)
    if refused:
        raise SystemExit(1)


def _print(scores: list[scoring.Score], happened: Trajectory, form: str) -> None:
    notes = list(dict.fromkeys([*happened.notes, *(note for s in scores for note in s.notes)]))
    for note in notes:
        click.echo(note, err=True)
    found = {**scoring.report(scores), "notes": notes}
    if form == "json":
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    console = printing.console()
    for s in scores:
        console.print(_evidence(s))
    for kind, mean in found["by_type"].items():
        n = sum(s.kind == kind for s in scores)
        console.print(f"{TITLES[kind]}: {mean:.3f} (n = {n})", highlight=False)
    console.print(f"Overall: {found['overall']:.3f} (n = {len(scores)})", highlight=False)


def _evidence(s: scoring.Score) -> Table:
    ratio = "" if s.conversation_ratio is None else f", conversation ratio {s.conversation_ratio:.2f}"
    title = f"{s.task} ({TITLES[s.kind].lower()}): {s.value:.3f}{ratio}"
    table = printing.table(escape(title))
    for heading in ("", "who", "told", "when", "where", "what", "words", "why not"):
        table.add_column(heading)
    for e in s.evidence:
        when = (
            ""
            if e.time is None
            else e.time
            if e.until in (None, e.time)
            else f"{e.time} – {(e.until or '')[11:]}"
        )
        cells = [e.agent, (e.told or "")[:16], when, e.place, e.action, ", ".join(e.words), e.why]
        table.add_row("✓" if e.counted else "", *map(escape, cells))
    return table
