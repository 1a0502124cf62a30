"""`concord import …`: read ratings, conversations and published files; each format is a subcommand."""

from __future__ import annotations

from pathlib import Path

import click

from core.exchange import FORMATS, fed, incoming
from core.workspace import Workspace


@click.group("import")
def command() -> None:
    """Read a file into the workspace: all of it, or, where something is wrong, nothing."""


@command.command("fed", help=FORMATS["fed"])
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", default=fed.BENCHMARK, show_default=True, help="The study's name.")
@click.pass_obj
def _fed(workspace: str, folder: Path, study: str) -> None:
    _store(workspace, fed.read(folder, study))


def _store(workspace: str, brought: incoming.Incoming, *, append: bool = False) -> None:
    with Workspace.open(workspace).write() as db:
        done = incoming.store(db, brought, append=append)
    known = f" {done.known} ratings were here already." if done.known else ""
    click.echo(
        f"Study “{done.study}”: {done.units} units, {done.people} ratings by people, {done.judges} by judges; "
        f"{done.conversations} new conversations.{known}"
    )
