"""`concord leaderboard stss`: agents by what they bring about and by what they say, and the gap between the two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import click
from rich.table import Table

from core.benchmarks.stss import standings as written
from core.benchmarks.stss import tables
from core.benchmarks.stss.tasks import TITLES
from core.commands import printing
from core.reports.leaderboards import Figure
from core.workspace import Workspace


def show(workspace: Workspace, *, judges: Sequence[str], form: str, resamples: int, seed: int) -> None:
    """Print the tables in the form asked for."""
    with workspace.read() as db:
        found = tables.leaderboard(db, judges=judges, resamples=resamples, seed=seed)
    if form == "json":
        click.echo(json.dumps(written.as_values(found), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(written.as_csv(found), nl=False)
    elif form == "latex":
        click.echo(written.as_latex(found), nl=False)
    else:
        console = printing.console()
        for table in _tables(found):
            console.print(table)
    for note in written.notes(found):
        click.echo(note, err=True)


def _tables(found: tables.Tables) -> Iterator[Table]:
    if found.action:
        yield _table(
            "STSS, action level", [*TITLES.values(), "Overall", "Conv. ratio", "n"], written.action(found)
        )
    if found.language:
        headings = [f"{of[:4]}. {metric} {mean}" for of, metric, mean in tables.COLUMNS]
        yield _table(
            "STSS, language level",
            [*headings, "Natural", "Rational", "Quality", "n"],
            written.language(found),
        )
    if found.gaps:
        yield _table(
            "Words and deeds", ["SR, conversation", "Action score", "Gap", "tasks"], written.gaps(found)
        )


def _table(title: str, headings: Sequence[str], rows: written.Rows) -> Table:
    table = printing.table(title)
    for heading in ("model", "agent"):
        table.add_column(heading)
    for heading in headings:
        table.add_column(heading, justify="right")
    for agent, cells in rows:
        table.add_row(agent.player, agent.called, *map(_cell, cells))
    return table


def _cell(cell: Figure | int) -> str:
    if isinstance(cell, int):
        return str(cell)
    if cell.value is None:
        return "–"
    half = cell.half_width
    return f"{cell.value:.3f}" + (f"\n± {half:.3f}" if half is not None else "")
