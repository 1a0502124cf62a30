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
    """People of a crowd platform: one link a study; each who comes gets a share of the items."""


@command.command("open")
@click.argument("study")
@click.option("--platform", type=click.Choice(get_args(Platform)), required=True, help="Whose people come.")
@options.number("--people", 20, "The most people, not counting those whose time ran out.", least=1)
@options.number("--items", 20, "Items for each person.", least=1)
@options.number("--minutes", 120, "Minutes after which items not begun go to others.", least=1)
@click.option("--code", default="", help="The completion code; else everybody has one of their own.")
@click.option("--failed-code", default="", help="The code for who misses attention checks.")
@options.number("--misses", 2, "Missed attention checks from which that code is shown.", least=1)
@click.option("--screen-out-code", default="", help="The code for who fails the training; none unless given.")
@click.option("--base-url", help="Where people reach the app; else where it last listened.")
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
    """Print the address to give to the platform, once. A new one replaces it; who came keeps their desk."""
    require_output()
    with Workspace.open(workspace, create=False).write() as db:
        link = Crowd(study, platform, people, items, minutes, code, failed_code, screen_out_code, misses)
        echo(crowd.open_link(db, link, base_url))
    echo("Whoever has this address can come: give it to the platform only.", err=True)


@command.command("payments")
@click.argument("study")
@options.form()
@click.pass_obj
def _payments(workspace: str, study: str, form: str) -> None:
    """Who came, what they have done, minutes at work, and completion code: what payments rest on."""
    with Workspace.open(workspace, create=False).read() as db:
        table = crowd.payments(db, study)
    printing.show([table], form)
