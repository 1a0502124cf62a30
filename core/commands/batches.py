"""`concord batches`: what waits at endpoints; forget a batch that an endpoint has lost."""

import click

from concord.commands import options, printing
from concord.commands.printing import echo
from concord.errors import not_found
from concord.store import batches
from concord.store.batches import Batch
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
    notes = () if rows else ("No batch waits.",)
    names = ("number", "run", "model", "calls", "state", "name at the endpoint", "sent (UTC)")
    columns = tuple(Column(name) for name in names)
    printing.show([Table("batches", "Batches that wait", columns, tuple(rows), notes=notes)], form)


@command.command("forget")
@click.argument("number", type=int)
@click.pass_obj
def forget(folder: str, /, number: int) -> None:
    """Give up batch NUMBER, which the endpoint has lost: its calls are asked, and paid for, again."""
    workspace = Workspace.open(folder, create=False)
    one = _found(workspace, number)
    with workspace.write() as db:
        batches.end(db, one.id, "given up", "Forgotten on request.")
    echo(f"Forgotten. Its {one.lines:,} calls are asked again by the next run.")


def _found(workspace: Workspace, number: int) -> Batch:
    with workspace.read() as db:
        waiting = {one.id: one for one in batches.waiting(db)}
    if number not in waiting:
        raise not_found("batch that waits with number", str(number), map(str, waiting))
    return waiting[number]
