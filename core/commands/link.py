"""`concord link`: another link that opens the app on this machine without signing in."""

import click

from core.commands.app import one_time_link
from core.commands.printing import echo
from core.studies import studies
from core.workspace import Workspace


@click.command()
@click.option("--url", default=studies.BASE_URL, show_default=True, help="Where `concord app` runs.")
@click.pass_obj
def command(workspace: str, url: str) -> None:
    """Print a link that opens the app on this machine, once, without signing in. It works for a day."""
    echo(one_time_link(Workspace.open(workspace, create=False), url.rstrip("/")))
