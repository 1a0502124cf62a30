"""`concord diff ONE OTHER`: whether two runs, players, prompt versions or values of a condition differ."""

import click

from concord.commands import options, printing
from concord.reports import differences, leaderboards
from concord.reports.rated import gather
from concord.workspace import Workspace


@click.command("diff")
@click.argument("one")
@click.argument("other")
@click.option(
    "--of",
    default=differences.RUN,
    show_default=True,
    metavar="WHAT",
    help="What ONE and OTHER are: run, player, prompt (versions), language, or a facet of the conversations.",
)
@options.whose
@options.figures("scenarios")
@click.pass_obj
def command(
    folder: str,
    /,
    one: str,
    other: str,
    of: str,
    benchmark: str,
    form: str,
    resamples: int,
    seed: int,
) -> None:
    """How scores differ from ONE to OTHER, such as from yesterday's run to today's, on common scenarios."""
    workspace = Workspace.open(folder, create=False)
    if of == differences.RUN:
        two = differences.of_runs(workspace, one, other)
    else:
        with workspace.read() as db:
            rated = gather(db, options.benchmark_of(db, benchmark))
            weights = next(iter(leaderboards.weightings(rated.system.criteria).values()))
            board = leaderboards.leaderboard(rated, weights=weights, resamples=0)
            two = differences.of_board(board, of, one, other)
    table = differences.difference(*two, resamples=resamples, seed=seed)
    if form == "table":
        printing.echo(f"{table.caption}\n")
    printing.show([table], form)
