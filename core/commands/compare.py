"""`concord compare BENCHMARK`: judges compare conversations two by two in both orders; the tables."""

from typing import Any

import click

from concord.benchmarks.plans import ComparePlan
from concord.commands import options, printing
from concord.commands.progress import carry_out, running
from concord.studies import comparisons
from concord.workspace import Workspace


@click.command("compare")
@click.argument("benchmark")
@options.several("--models", "Players to compare; all that were compared unless given.")
@options.several("--judges", "Models that compare; unless given, only what was compared is shown.")
@options.where("conversations")
@options.judging
@options.figures("scenarios")
@running
@click.pass_obj
def command(
    folder: str,
    /,
    benchmark: str,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    facets: options.Facets,
    form: str,
    resamples: int,
    seed: int,
    **how: Any,
) -> None:
    """Win, tie, lose of every two models, position bias, strengths, agreement with people."""
    workspace = Workspace.open(folder, create=not judges)
    plan = ComparePlan(benchmark, judges, models, facets, how.pop("version"), how.pop("judge_repeats"))
    if judges:
        carry_out(workspace, plan, **how)
        if how["estimate"]:
            return
    with workspace.read() as db:
        found = comparisons.compared(
            db, benchmark, players=models, facets=facets, resamples=resamples, seed=seed
        )
    printing.show(comparisons.result_tables(found), form)
