"""`concord compare BENCHMARK`: judges compare conversations two by two in both orders; the tables."""

from __future__ import annotations

from typing import Any

import click

from core.benchmarks.plans import ComparePlan
from core.commands import options, printing
from core.commands.options import names
from core.commands.progress import carry_out, running
from core.studies import comparisons
from core.workspace import Workspace


@click.command("compare")
@click.argument("benchmark")
@click.option(
    "--models", metavar="A,B[,C]", default="", help="Players to compare; all that were compared unless given."
)
@click.option(
    "--judges", metavar="A,B", default="", help="Models that compare; left out: only show what was compared."
)
@options.where("conversations")
@click.option("--version", default="", help="Version of the prompt; the benchmark's own unless given.")
@click.option(
    "--judge-repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Times each judge compares a pair in an order.",
)
@options.form()
@options.resamples("scenarios")
@options.seed
@running
@click.pass_obj
def command(
    folder: str,
    /,
    benchmark: str,
    models: str,
    judges: str,
    facets: dict[str, tuple[str, ...]],
    version: str,
    judge_repeats: int,
    form: str,
    resamples: int,
    seed: int,
    **how: Any,
) -> None:
    """Win, tie, lose of every two models, position bias, strengths, agreement with people."""
    workspace = Workspace.open(folder, create=not judges)
    if judges:
        plan = ComparePlan(benchmark, names(judges), names(models), facets, version, judge_repeats)
        carry_out(workspace, plan, **how)
        if how["estimate"]:
            return
    with workspace.read() as db:
        found = comparisons.compared(
            db, benchmark, players=names(models), facets=facets, resamples=resamples, seed=seed
        )
    printing.show(comparisons.result_tables(found), form)
