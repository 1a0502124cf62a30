"""`concord leaderboard BENCHMARK`: how players compare on what a panel of judges gave them."""

import inspect
from pathlib import Path
from typing import Any

import click
from sqlite_utils import Database

from concord.codes import IntervalMethod
from concord.commands import options, printing
from concord.commands.options import names
from concord.errors import ConcordError
from concord.exchange import ranking_csv
from concord.reports import corrected, leaderboards, rank_stability
from concord.reports.leaderboard_table import leaderboard_table
from concord.reports.rated import gather, own_tables
from concord.runs.benchmark import Benchmark
from concord.runs.registry import get
from concord.studies import studies
from concord.table import Table
from concord.workspace import Workspace


@click.command("leaderboard")
@click.argument("benchmark")
@options.table
@click.option(
    "--study",
    metavar="NAME",
    default="",
    help="Correct the means by the annotators' ratings of this study (prediction-powered inference).",
)
@click.option(
    "--rubric",
    metavar="NAME",
    default="",
    help="By the judges of this rubric, or of a version (“support v1”). Imported conversations need none: "
    "the last rubric is taken.",
)
@click.option(
    "--against",
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Another ranking of the same models to compare with: columns model and score, or model and "
    "rank; or a CSV file of a leaderboard of Concord's own.",
)
@click.option(
    "--stability",
    is_flag=True,
    help="How stable the order is: by judge, by interrogator, by panel, with Kendall's tau between the "
    "orders. --study then names the annotators who choose the top two judges.",
)
@click.option(
    "--beside",
    metavar="PLAYER",
    default="",
    help=(
        "Show each model's difference from this model, on their common scenarios. For agents, write "
        "“MODEL ARCHITECTURE”."
    ),
)
@click.option(
    "--intervals",
    type=click.Choice([method.value for method in IntervalMethod]),
    default=IntervalMethod.PADDED.value,
    show_default=True,
    help="The method of intervals: “percentile” as in papers, with a column ±; “padded” holds more often.",
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
    stability: bool,
    beside: str,
    intervals: str,
    form: str,
    **board_options: Any,
) -> None:
    """Compare models: means over conversations and a panel of judges, with 95% intervals."""
    ranking = ranking_csv.read(against) if against else None
    own_board = None if rubric or against or stability else own_tables(benchmark)
    corrects = study and not stability
    if corrects and beside:
        raise ConcordError(
            "Scores corrected by annotators cannot be compared with one model. Use either --study "
            "or --beside."
        )
    method = IntervalMethod(intervals)
    percentile = method is IntervalMethod.PERCENTILE
    if corrects and percentile:
        raise ConcordError("Scores corrected by annotators have no percentile intervals. Remove --intervals.")
    paired = own_board is not None and "beside" in inspect.signature(own_board).parameters
    if own_board and (study or weights or (beside and not paired) or percentile):
        option = "--beside"
        if study:
            option = "--study"
        elif weights:
            option = "--weights"
        elif percentile:
            option = "--intervals"
        raise ConcordError(
            f"{get(benchmark).title} has its own tables, which do not support {option}. Remove it."
        )
    with Workspace.open(workspace, create=False).read() as db:
        if own_board:
            board_options |= {"beside": beside} if beside else {}
            return printing.show(own_board(db, filters=facets, **board_options), form)
        board_options |= {"resamples": 0} if corrects else {}
        rated = gather(db, benchmark, facets, rubric)
        weights_of_criteria = _weights(rated.system, weights)
        board = leaderboards.leaderboard(
            rated, weights=weights_of_criteria, intervals=method, **board_options
        )
        if stability:
            if not board_options["judges"]:
                board_options["judges"] = rank_stability.judges_compared(board)
                board = leaderboards.leaderboard(
                    rated, weights=weights_of_criteria, intervals=method, **board_options
                )
            tables = [*rank_stability.rank_stability(db, board, study=study)]
        else:
            tables = [_by_people(db, board, study) if study else leaderboard_table(board, beside)]
        if ranking is not None:
            tables += ranking_csv.rank_comparison(board, ranking, str(against))
    printing.show(tables, form)


def _by_people(db: Database, board: leaderboards.Leaderboard, study: str) -> Table:
    """The leaderboard corrected by the people of a study."""
    people = studies.ratings_for_agreement(db, study)
    corrected.check(db, board, study)
    return corrected.corrected(board, people)


def _weights(system: Benchmark, text: str) -> dict[str, float] | None:
    """`--weights` by criterion; None if it is not given."""
    if not text:
        return None
    counted_names = [c.name for c in system.criteria if c.counted]
    try:
        numbers = [float(part) for part in names(text)]
    except ValueError:
        numbers = []
    if len(numbers) != len(counted_names):
        raise ConcordError(
            f"--weights needs {len(counted_names)} numbers, for {', '.join(counted_names)}, not “{text}”."
        )
    return dict(zip(counted_names, numbers, strict=True))
