"""`concord backup`: copy the database while it is in use; `concord verify`: look for damage in it."""

import sqlite3
from pathlib import Path

import click

from concord.commands.printing import echo
from concord.errors import WorkspaceError
from concord.store import copies, integrity, schema, summaries
from concord.workspace import Workspace


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.pass_obj
def backup(workspace: str, file: Path) -> None:
    """Copy the database into a new FILE, even while the app and runs write.

    The copy is one consistent state and holds everything that was shown as saved when the command began. Only
    its owner may read it. models.toml, prompts/ and data/ of the workspace are separate files: copy them too.
    """
    copies.backup(Workspace.open(workspace, create=False).db_path, file)
    echo(f"{file} holds a copy of the database ({file.stat().st_size / 2**20:.1f} MiB).")


@click.command()
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(path_type=Path, exists=True))
@click.pass_obj
def verify(workspace: str, file: Path | None) -> None:
    """Look for damage in the database of the workspace, or in FILE, a backup.

    It checks SQLite's own structures, texts, references and JSON, scores against their scales, submitted
    items against their ratings, and sums and counts against their parts. It checks a copy, so that writers do
    not wait. The exit code is 1 if anything is wrong.
    """
    path = file or Path(workspace).expanduser().resolve() / "concord.db"
    if not path.exists():
        raise WorkspaceError(f"There is no database {path}. Name a workspace with --workspace.")
    try:
        with copies.snapshot(path) as copy:
            number = schema.version(copy, path)
            schema.apply(copy, number)  # one of an earlier form is whole, too
            if number < schema.latest():
                summaries.refresh(copy)
            findings = integrity.findings(copy)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        findings = [f"{path} cannot be read: {error}. {integrity.RESTORE}"]
    for finding in findings:
        echo(finding)
    if findings:
        raise click.exceptions.Exit(1)
    echo(
        f"{path} has no errors: no damage, no missing rows, all scores on their scales, all submitted "
        "answers stored as ratings, all sums correct."
    )
