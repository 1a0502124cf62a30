"""`concord backup`: copy the database while it is in use; `concord verify`: look for damage in it."""

import sqlite3
from pathlib import Path

import click

from concord.commands.printing import echo
from concord.errors import WorkspaceError
from concord.store import copies, schema, summaries
from concord.workspace import Workspace


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.pass_obj
def backup(workspace: str, file: Path) -> None:
    """Copy the database into a new FILE, also while the app and runs write.

    The copy is one consistent state and holds everything that was shown as saved when the command began. Only
    its owner may read it. models.toml, prompts/ and data/ of the workspace are files of their own: copy them
    too.
    """
    copies.backup(Workspace.open(workspace, create=False).db_path, file)
    echo(f"{file} holds a copy of the database ({file.stat().st_size / 2**20:.1f} MiB).")


@click.command()
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--compute-anew", is_flag=True, help="First compute sums, finals and summaries anew from the ratings."
)
@click.pass_obj
def verify(workspace: str, file: Path | None, compute_anew: bool) -> None:
    """Look for damage in the database of the workspace, or in FILE, a backup.

    A copy is looked at, so that nobody who writes has to wait. The exit code is 1 if anything is wrong.
    """
    if compute_anew:
        if file is not None:
            raise click.UsageError("--compute-anew changes a workspace; a backup is left as it is.")
        with Workspace.open(workspace, create=False).write() as db:
            summaries.refresh(db)
    path = file or Path(workspace).expanduser().resolve() / "concord.db"
    if not path.exists():
        raise WorkspaceError(f"There is no database {path}. Name a workspace with --workspace.")
    try:
        with copies.snapshot(path) as copy:
            schema.apply(copy, schema.version(copy, path))  # one of an earlier form is whole, too
            findings = copies.findings(copy)
    except sqlite3.Error as error:
        findings = [copies.Finding(f"{path} cannot be read: {error}.", copies.RESTORE)]
    for finding in findings:
        echo(f"{finding.message} {finding.remedy}")
    if findings:
        raise click.exceptions.Exit(1)
    echo(f"{path} is whole: no damage, no missing rows, and all sums fit the ratings.")
