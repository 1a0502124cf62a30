"""`concord leaderboard simulbench`: models by kind of script and type of task, simplest and hardest tasks."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from core import leaderboards_simulbench as tables
from core.agreement.show import escape
from core.workspace import Workspace

SHOWN = 10
"""Tasks at either end, as in the paper."""


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
        click.echo(as_csv(found), nl=False)
    elif form == "latex":
        click.echo(as_latex(found), nl=False)
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(_table(found))
        for type, of in tasks.items():
            if of:
                console.print(f"{type}, simplest: " + _names(of[:SHOWN]), markup=False, highlight=False)
                console.print(f"{type}, hardest: " + _names(of[::-1][:SHOWN]), markup=False, highlight=False)
    for note in notes(found):
        click.echo(note, err=True)


def notes(found: tables.Subsets) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    told = [
        f"Means over scripts and the panel {', '.join(found.judges)}; stateless and stateful are within FirstChan; Hard is FirstChan and "
        f"SubseqChan. 95% intervals: percentile bootstrap over scripts, {found.resamples} resamples, seed {found.seed}."
    ]
    sizes = {row.cells["All"].n for row in found.rows}
    if len(sizes) > 1:
        told.append(
            f"The models were not scored on equally many scripts ({min(sizes)} to {max(sizes)}): their means are of different scripts."
        )
    left_out = sum(row.cells["All"].left_out for row in found.rows)
    if left_out:
        told.append(
            f"{left_out} replies are left out because a judge of the panel has not usably scored them."
        )
    if found.discarded:
        told.append(f"{found.discarded} scripts were set aside and do not count.")
    if found.stand_ins or any(row.stand_in for row in found.rows):
        told.append("Stand-ins take part: these figures say nothing about language models.")
    return told


def _table(found: tables.Subsets) -> Table:
    table = Table(title="SimulBench", title_justify="left", box=box.SIMPLE)
    table.add_column("model")
    for name in tables.SUBSETS:
        table.add_column(name, justify="right")
    for row in found.rows:
        cells = [_cell(row.cells[name]) for name in tables.SUBSETS]
        table.add_row(row.player + (" (stand-in)" if row.stand_in else ""), *cells)
    return table


def _cell(cell: tables.Cell) -> str:
    if cell.mean.value is None:
        return "–"
    half = cell.mean.half_width
    return f"{cell.mean.value:.2f}" + (f" ± {half:.2f}" if half is not None else "") + f"\n(n {cell.n})"


def _names(tasks: Sequence[tables.TaskScore]) -> str:
    return ", ".join(f"{t.act} {t.mean:.2f}" for t in tasks)


def as_csv(found: tables.Subsets) -> str:
    """Models × columns, each with the half width of its interval and its number of scripts."""
    rows: list[dict[str, Any]] = []
    for row in found.rows:
        flat: dict[str, Any] = {"model": row.player, "stand_in": row.stand_in}
        for name, cell in row.cells.items():
            flat |= {name: cell.mean.value, f"{name}_ci": cell.mean.half_width, f"{name}_n": cell.n}
        rows.append(flat)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["model"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_latex(found: tables.Subsets) -> str:
    """Models × the columns of the paper's table 4. Wants booktabs."""
    lines = [
        r"\begin{tabular}{l" + "r" * len(tables.SUBSETS) + "}",
        r"\toprule",
        " & ".join(["Model", *tables.SUBSETS]) + r" \\",
        r"\midrule",
        *(
            " & ".join(
                [
                    escape(row.player),
                    *("--" if c.mean.value is None else f"{c.mean.value:.2f}" for c in row.cells.values()),
                ]
            )
            + r" \\"
            for row in found.rows
        ),
        r"\bottomrule",
        r"\end{tabular}",
        *(f"% {note}" for note in notes(found)),
    ]
    return "\n".join(lines) + "\n"
