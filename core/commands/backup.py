"""`concord backup`: copy the workspace's database while it is in use."""

from pathlib import Path

import click

from concord.commands.printing import echo
from concord.store import copies
from concord.workspace import Workspace


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.pass_obj
def command(workspace: str, file: Path) -> None:
    """Copy the database into a new FILE, also while the app and runs write.

    The copy is one consistent state and holds everything that was shown as saved when the command began. Only
    its owner may read it. models.toml, prompts/ and data/ of the workspace are files of their own: copy them
    too.
    """
    copies.backup(Workspace.open(workspace, create=False).db_path, file)
    echo(f"{file} holds a copy of the database ({file.stat().st_size / 2**20:.1f} MiB).")
