"""`concord pairs …`: deal pairs of replies to people, take them back, see who has done how much."""

from typing import Any

import click

from concord.commands import options
from concord.commands.printing import echo
from concord.store import pairings as stored
from concord.store.pairings import Standing
from concord.studies import pairings
from concord.workspace import Workspace


@click.group("pairs")
def command() -> None:
    """Pairs of replies that people compare, blind, at their desk; `concord compare` shows what came of it."""


@command.command("deal")
@click.argument("benchmark")
@options.several("--annotators", "Invited annotators to deal to.", required=True)
@click.option("--n", type=click.IntRange(1), required=True, help="Different pairs to compare between them.")
@options.several("--models", "Players to compare; all unless given.")
@options.where("scenarios")
@options.number("--overlap", 1, "People for each pair; 0: all.")
@options.seeded("draws the same pairs, orders and sides")
@click.pass_obj
def _deal(
    workspace: str,
    /,
    benchmark: str,
    annotators: tuple[str, ...],
    n: int,
    models: tuple[str, ...],
    **how: Any,
) -> None:
    """Deal pairs to people, evenly over every two models. Pairs they have already count towards N."""
    with Workspace.open(workspace, create=False).write() as db:
        found = pairings.deal(db, benchmark, annotators, n, players=models, **how)
    for standing in found:
        echo(_told(standing))


@command.command("show")
@click.argument("benchmark", default="")
@click.pass_obj
def _show(workspace: str, benchmark: str) -> None:
    """Who has pairs to compare, and how far they are."""
    with Workspace.open(workspace, create=False).read() as db:
        found = stored.standings(db, benchmark=benchmark)
    for standing in found:
        echo(_told(standing) + ("" if benchmark else f"\t{standing.benchmark}"))
    if not found:
        echo("No pairs are dealt. Deal some with `concord pairs deal`.", err=True)


@command.command("take-back")
@click.argument("benchmark")
@click.argument("name")
@click.pass_obj
def _take_back(workspace: str, benchmark: str, name: str) -> None:
    """Take back the pairs that NAME has not compared, so that they can be dealt to others."""
    with Workspace.open(workspace, create=False).write() as db:
        taken = pairings.take_back(db, benchmark, name)
    echo(f"{taken} pairs that {name} had not compared are taken back.")


def _told(standing: Standing) -> str:
    return f"{standing.person}\t{standing.done} of {standing.dealt} pairs compared"
