"""`concord link`: another link that opens the app on this machine without signing in."""

import click

from concord.commands.app import one_time_link
from concord.commands.printing import echo
from concord.store import settings
from concord.workspace import Workspace


@click.command()
@click.option("--url", help="Where the app is; else where it last listened.")
@click.pass_obj
def command(workspace: str, url: str | None) -> None:
    """Print a link that opens the app on this machine, once, without signing in. It works for a day."""
    opened = Workspace.open(workspace, create=False)
    if not url:
        with opened.read() as db:
            url = settings.address(db)
    echo(one_time_link(opened, url.rstrip("/")))
