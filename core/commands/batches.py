"""`concord batches`: what waits at endpoints; forget a batch that an endpoint has lost."""

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import check_known
from concord.store import batches
from concord.table import Cell, Column, Table
from concord.workspace import Workspace


@click.group("batches")
def command() -> None:
    """Batches of calls that wait at an endpoint. The run that sent a batch collects it."""


@command.command("list")
@options.form()
@click.pass_obj
def list_(folder: str, /, form: str) -> None:
    """The batches that are not collected, as they stood when a run looked last."""
    with Workspace.open(folder, create=False).read() as db:
        rows: list[dict[str, Cell]] = [
            {
                "number": one.id,
                "run": one.run_id or "",
                "model": one.model,
                "calls": one.lines,
                "state": one.state.replace("_", " "),
                "name at the endpoint": one.name,
                "sent (UTC)": one.created[:16].replace("T", " "),
            }
            for one in batches.waiting(db)
        ]
    names = ("number", "run", "model", "calls", "state", "name at the endpoint", "sent (UTC)")
    notes = () if rows else ("No batch waits.",)
    table = Table("batches", "Batches that wait", tuple(map(Column, names)), tuple(rows), notes=notes)
    printing.show([table], form)


@command.command("forget")
@click.argument("number", type=int)
@click.pass_obj
def forget(folder: str, /, number: int) -> None:
    """Give up batch NUMBER, which the endpoint has lost: its calls are asked, and paid for, again."""
    with Workspace.open(folder, create=False).write() as db:
        waiting = {str(one.id): one for one in batches.waiting(db)}
        check_known("batch that waits with number", str(number), waiting)
        batches.end(db, number, "given up", "Forgotten on request.")
    echo(f"Forgotten. Its {waiting[str(number)].lines:,} calls are asked again by the next run.")
