"""`concord passphrase`: renew what researchers sign in with."""

import click

from concord.commands.printing import echo
from concord.store import access
from concord.workspace import Workspace


@click.command()
@click.option("--renew", is_flag=True, help="Forget the present passphrase first.")
@click.password_option("--passphrase", help="Read from the terminal unless given.")
@click.pass_obj
def command(workspace: str, renew: bool, passphrase: str) -> None:
    """Set the passphrase researchers sign in with when the app is served beyond this machine."""
    with Workspace.open(workspace).write() as db:
        if renew:
            access.forget_passphrase(db)
        access.set_passphrase(db, passphrase)
    echo("The passphrase is set.")
