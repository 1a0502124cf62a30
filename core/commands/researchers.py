"""`concord researchers …`: let researchers and adjudicators in by a link of their own."""

from typing import Any
from urllib.parse import urlencode

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.store import access, members, settings
from concord.workspace import Workspace


@click.group("researchers")
def command() -> None:
    """Researchers and adjudicators: each has a link, a name that stands with what they decide, and a role."""


@command.command("invite")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["researcher", "adjudicator"]),
    default="researcher",
    show_default=True,
    help="An adjudicator has the page Adjudication only; a researcher all but Sessions.",
)
@click.option("--base-url", help="Where they reach the app; else where it last listened.")
@options.number("--days", access.LINK_DAYS, "Days until the link expires; 0: never.")
@options.by("owner")
@click.pass_obj
def _invite(workspace: str, name: str, role: Any, base_url: str | None, days: int, by: str) -> None:
    """Make a link for somebody and print it, once. A new link replaces the older one."""
    with Workspace.open(workspace, create=False).write() as db:
        token = members.invite(db, name, role, by, days=days)
        address = base_url or settings.address(db)
    echo(f"{address.rstrip('/')}/?{urlencode({'token': token})}")
    echo("A link is shown only now, and is the key of this person.", err=True)


@command.command("revoke")
@click.argument("name")
@options.by("owner")
@click.pass_obj
def _revoke(workspace: str, name: str, by: str) -> None:
    """Withdraw somebody's link and sign them out. What they decided stays under their name."""
    with Workspace.open(workspace, create=False).write() as db:
        members.revoke(db, name, by)
    echo(f"The link of {name} no longer works.")


@command.command("list")
@click.pass_obj
def _list(workspace: str) -> None:
    """Who has a link, and their role."""
    with Workspace.open(workspace, create=False).read() as db:
        found = members.every(db)
    for one in found:
        echo(f"{one.name}\t{one.role}\tlink {one.link}")
    if not found:
        echo("Nobody but the owner. `concord researchers invite` lets somebody in.", err=True)
