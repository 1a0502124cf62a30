"""`concord crowd …`: a study's link for people of Prolific or MTurk, and what is owed to whom."""

from typing import get_args

import click

from concord.commands import options, printing
from concord.commands.printing import echo, require_output
from concord.store.crowds import Crowd, Platform
from concord.studies import crowd
from concord.workspace import Workspace


@click.group("crowd")
def command() -> None:
    """Open a study to a crowd platform: one link; each annotator who comes gets a share of the items."""


@command.command("open")
@click.argument("study")
@click.option("--platform", type=click.Choice(get_args(Platform)), required=True, help="The crowd platform.")
@options.number(
    "--people", 20, "The largest number of annotators; those whose time ran out do not count.", minimum=1
)
@options.number("--items", 20, "Items for each annotator.", minimum=1)
@options.number(
    "--minutes", 120, "Minutes after which other annotators get the items that are not begun.", minimum=1
)
@click.option("--code", default="", help="The completion code; without it, each annotator has their own.")
@click.option("--failed-code", default="", help="The code for annotators who miss attention checks.")
@options.number("--misses", 2, "Missed attention checks from which that code is shown.", minimum=1)
@click.option(
    "--screen-out-code", default="", help="The code for annotators who fail the training; default: none."
)
@click.option("--base-url", help="The address of the app for annotators; default: where it last listened.")
@click.pass_obj
def _open(
    workspace: str,
    study: str,
    platform: Platform,
    people: int,
    items: int,
    minutes: int,
    code: str,
    failed_code: str,
    misses: int,
    screen_out_code: str,
    base_url: str | None,
) -> None:
    """Print the address for the platform, once. A new one replaces it; annotators who came keep their
    desk.
    """
    require_output()
    with Workspace.open(workspace, create=False).write() as db:
        link = Crowd(study, platform, people, items, minutes, code, failed_code, screen_out_code, misses)
        echo(crowd.open_link(db, link, base_url))
    echo("Anyone with this address can rate. Give it only to the platform.", err=True)


@command.command("payments")
@click.argument("study")
@options.form()
@click.pass_obj
def _payments(workspace: str, study: str, form: str) -> None:
    """Show each annotator's items, minutes at work and completion code, as a basis for payments."""
    with Workspace.open(workspace, create=False).read() as db:
        table = crowd.payments(db, study)
    printing.show([table], form)
