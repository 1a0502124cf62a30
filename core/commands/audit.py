"""`concord audit`: who decided or exported what, and when."""

import click

from concord.commands import options, printing
from concord.store import audit
from concord.workspace import Workspace


@click.command()
@click.option("--study", default="", help="Only what is about this study.")
@options.form()
@click.pass_obj
def command(workspace: str, study: str, form: str) -> None:
    """The audit log, newest first: decisions on studies and annotators, exports, removals."""
    with Workspace.open(workspace, create=False).read() as db:
        printing.show([audit.table(db, study)], form)
