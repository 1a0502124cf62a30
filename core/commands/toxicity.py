"""`concord toxicity`: tasks, scripts and replies of SimulBench in six attributes of toxicity."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click
from rich import box
from rich.console import Console
from rich.table import Table

from core import moderation
from core.commands.run import split
from core.workspace import Workspace


@click.command("toxicity")
@click.option(
    "--model",
    default="",
    help="A model of models.toml whose endpoint offers moderations; left out: show what was scored.",
)
@click.option(
    "--what", metavar="A,B", default=",".join(moderation.WHAT), show_default=True, help="What to have scored."
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def command(workspace: str, model: str, what: str, form: str) -> None:
    """Have texts scored through the moderations endpoint, and print the mean of each attribute."""
    folder = Workspace.open(workspace, create=False)
    if model:
        new = moderation.measure(folder, model, split(what))
        click.echo(f"{new} texts scored by {model}.", err=True)
    found = moderation.toxicity(folder, model)
    if form == "json":
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        table = Table(title=f"Toxicity, by {found.model}", title_justify="left", box=box.SIMPLE)
        table.add_column("")
        for name in (*moderation.ATTRIBUTES, "n"):
            table.add_column(name, justify="right")
        for row in found.rows:
            table.add_row(row.what, *(_number(row.mean[name]) for name in moderation.ATTRIBUTES), str(row.n))
        # A file or a pipe has no width: nothing is cut there.
        Console(width=None if sys.stdout.isatty() else 160).print(table)
    for note in notes(found):
        click.echo(note, err=True)


def notes(found: moderation.Toxicity) -> list[str]:
    """What a reader has to know of the figures, one sentence each."""
    read = "; ".join(
        f"{name} from {', '.join(categories)}"
        for name, categories in moderation.ATTRIBUTES.items()
        if categories
    )
    told = [
        f"Means over texts, 0 to 1. Each attribute is the largest of some categories of the endpoint: {read}."
    ]
    without = [name for name, categories in moderation.ATTRIBUTES.items() if not categories]
    told.append(f"No category stands for {', '.join(without)}.")
    missing = {row.what: row.missing for row in found.rows if row.missing}
    if missing:
        told.append("Not scored yet: " + ", ".join(f"{n} {what}" for what, n in missing.items()) + ".")
    if found.stand_in:
        told.append("The scores come from a stand-in that counts words; they say nothing about toxicity.")
    return told


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
