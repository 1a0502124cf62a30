"""`concord leaderboard simulbench`: models by kind of script and type of task, simplest and hardest tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.table import Table

from core.benchmarks.simulbench import standings as written
from core.benchmarks.simulbench import tables
from core.commands import printing
from core.workspace import Workspace

SHOWN = 10
"""Scripts on which models part, in JSON."""


def show(workspace: Workspace, *, judges: Sequence[str], form: str, resamples: int, seed: int) -> None:
    """Print the tables in the form asked for."""
    with workspace.read() as db:
        found = tables.subsets(db, judges=judges, resamples=resamples, seed=seed)
        tasks = tables.task_scores(db, judges=judges)
        partings = tables.partings(db, judges=judges, limit=SHOWN) if form == "json" else []
    if form == "json":
        values: dict[str, Any] = {
            "subsets": asdict(found),
            "tasks": {k: [asdict(t) for t in v] for k, v in tasks.items()},
        }
        values["partings"] = [{**asdict(p), "spread": p.spread} for p in partings]
        click.echo(json.dumps(values, ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(written.as_csv(found), nl=False)
    elif form == "latex":
        click.echo(written.as_latex(found), nl=False)
    else:
        console = printing.console()
        console.print(_table(found))
        for type, of in tasks.items():
            if of:
                for which, these in zip(("simplest", "hardest"), tables.ends(of), strict=True):
                    if these:
                        console.print(f"{type}, {which}: {_names(these)}", markup=False, highlight=False)
    for note in written.notes(found):
        click.echo(note, err=True)


def _table(found: tables.Subsets) -> Table:
    table = printing.table("SimulBench")
    table.add_column("model")
    for name in tables.SUBSETS:
        table.add_column(name, justify="right")
    for row in found.rows:
        cells = [_cell(row.cells[name]) for name in tables.SUBSETS]
        table.add_row(row.player + (" (simulated)" if row.simulated else ""), *cells)
    return table


def _cell(cell: tables.Cell) -> str:
    if cell.mean.value is None:
        return "–"
    half = cell.mean.half_width
    return f"{cell.mean.value:.2f}" + (f" ± {half:.2f}" if half is not None else "") + f"\n(n {cell.n})"


def _names(tasks: Sequence[tables.TaskScore]) -> str:
    return ", ".join(f"{t.act} {t.mean:.2f}" for t in tasks)
