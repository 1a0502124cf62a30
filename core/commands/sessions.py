"""`concord sessions …`: who is signed in, from where; end sessions."""

import click

from concord.commands.printing import echo, show
from concord.errors import ConcordError
from concord.store import sessions
from concord.workspace import Workspace


@click.group("sessions")
def command() -> None:
    """Sessions: browsers that are signed in, researchers' and annotators'."""


@command.command("list")
@click.pass_obj
def _list(workspace: str) -> None:
    """Every session with its number, whose it is, its last use, and the address it was used from."""
    with Workspace.open(workspace, create=False).read() as db:
        show([sessions.table(db)], "table")


@command.command("end")
@click.argument("numbers", metavar="NUMBER…", nargs=-1, type=int)
@click.option("--all", "everybody", is_flag=True, help="End every session.")
@click.pass_obj
def _end(workspace: str, numbers: tuple[int, ...], everybody: bool) -> None:
    """Sign browsers out, by the numbers that `concord sessions list` shows."""
    opened = Workspace.open(workspace, create=False)
    if bool(numbers) == everybody:
        raise ConcordError("Name the sessions to end by their numbers, or give --all.")
    with opened.write() as db:
        for number in numbers or [session.id for session in sessions.each(db)]:
            sessions.end(db, number)
    echo("Whoever used them has to sign in again, or to open their link again.")
