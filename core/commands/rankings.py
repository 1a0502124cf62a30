"""`concord rankings BENCHMARK`: how stable a leaderboard's order is."""

from pathlib import Path
from typing import Any

import click

from concord.commands import leaderboard, options, printing
from concord.commands.leaderboard import parsed_weights
from concord.errors import ImportRefused
from concord.exchange import ranking_csv
from concord.reports import leaderboards, rank_stability
from concord.workspace import Workspace


@click.command("rankings")
@click.argument("benchmark")
@options.table
@click.option(
    "--study",
    metavar="NAME",
    default="",
    help="Whose people say which judges are the best two; the newest study unless given.",
)
@leaderboard.rubric
@leaderboard.refusing
@click.option(
    "--against",
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Another ranking of the same models: columns model and score, or model and rank.",
)
@options.figures("conversations")
@click.pass_obj
def command(
    workspace: str,
    /,
    benchmark: str,
    facets: options.Facets,
    weights: str,
    study: str,
    rubric: str,
    against: Path | None,
    form: str,
    **asked: Any,
) -> None:
    """Rank stability: the order by judge, by interrogator, by pool of judges, against another ranking."""
    other = ranking_csv.read(_bytes(against), str(against)) if against else None
    with Workspace.open(workspace, create=False).read() as db:
        rated = leaderboards.gather(db, benchmark, facets, rubric)
        board = leaderboards.leaderboard(rated, weights=parsed_weights(rated.system, weights), **asked)
        found = rank_stability.rankings(db, board, study=study)
    printing.show((*found, *(rank_stability.beside(board, other) if other else ())), form)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(ranking_csv.LARGEST + 1)
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror}.") from error
