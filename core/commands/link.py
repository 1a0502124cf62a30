"""`concord link`: another link that opens the app on this machine without signing in."""

import click

from core.commands.app import one_time_link
from core.commands.printing import echo
from core.workspace import ADDRESS, Workspace


@click.command()
@click.option("--url", help=f"Where the app is; else where it runs now, or {ADDRESS}.")
@click.pass_obj
def command(workspace: str, url: str | None) -> None:
    """Print a link that opens the app on this machine, once, without signing in. It works for a day."""
    opened = Workspace.open(workspace, create=False)
    echo(one_time_link(opened, (url or opened.address()).rstrip("/")))
