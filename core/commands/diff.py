"""`concord diff ONE OTHER`: what changed between two runs, players, or versions of the judges' prompt."""

from dataclasses import replace

import click

from concord.commands import options, printing
from concord.reports import differences
from concord.workspace import Workspace

SHOWN = 10
"""Scenarios that a reader is shown, those that changed most."""


@click.command("diff")
@click.argument("one")
@click.argument("other")
@click.option(
    "--of",
    type=click.Choice(differences.OFS),
    default="runs",
    show_default=True,
    help="What ONE and OTHER are: numbers of runs, names of players, or versions of the judges' prompt.",
)
@options.whose
@options.figures("scenarios")
@click.pass_obj
def command(
    folder: str,
    /,
    one: str,
    other: str,
    of: differences.Of,
    benchmark: str,
    form: str,
    resamples: int,
    seed: int,
) -> None:
    """What changed from ONE to OTHER, such as from yesterday's run to today's.

    Scores on common scenarios, the scenarios that changed most (in JSON and CSV all), the configuration.
    """
    workspace = Workspace.open(folder, create=False)
    if of != "runs" and not benchmark:
        with workspace.read() as db:
            benchmark = options.only_benchmark(db)
    compared = differences.differences(
        workspace, of, one, other, benchmark=benchmark, resamples=resamples, seed=seed
    )
    most = None if form in ("json", "csv") else SHOWN
    tables = [
        replace(each, rows=each.rows[:most]) if each.name == "changed-scenarios" else each
        for each in compared.tables
    ]
    printing.show(tables, form)
