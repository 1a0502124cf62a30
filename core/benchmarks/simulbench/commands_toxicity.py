"""`concord toxicity`: tasks, scripts and replies of SimulBench in six attributes of toxicity."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from core.benchmarks.simulbench import toxicity
from core.commands import printing
from core.commands.options import names
from core.workspace import Workspace


@click.command("toxicity")
@click.option(
    "--model",
    default="",
    help="A model of models.toml whose endpoint offers moderations; left out: show what was scored.",
)
@click.option(
    "--what", metavar="A,B", default=",".join(toxicity.WHAT), show_default=True, help="What to have scored."
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def command(workspace: str, model: str, what: str, form: str) -> None:
    """Have texts scored through the moderations endpoint, and print the mean of each attribute."""
    folder = Workspace.open(workspace, create=False)
    if model:
        new = toxicity.measure(folder, model, names(what))
        click.echo(f"{new} texts scored by {model}.", err=True)
    found = toxicity.toxicity(folder, model)
    if form == "json":
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        table = printing.table(f"Toxicity, by {found.model}")
        table.add_column("")
        for name in (*toxicity.ATTRIBUTES, "n"):
            table.add_column(name, justify="right")
        for row in found.rows:
            table.add_row(row.what, *(_number(row.mean[name]) for name in toxicity.ATTRIBUTES), str(row.n))
        printing.console().print(table)
    for note in toxicity.notes(found):
        click.echo(note, err=True)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
