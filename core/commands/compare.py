"""`concord compare NAME`: judges compare conversations two by two in both orders; the tables."""

from typing import Any

import click

from concord.commands import options, printing
from concord.commands.progress import carry_out, running
from concord.errors import ConcordError
from concord.runs.plans import ComparePlan
from concord.store.comparisons import PairQuestion
from concord.studies import comparisons, pairings
from concord.workspace import Workspace


@click.command("compare")
@click.argument("name")
@options.several("--models", "Players to compare; all that were compared unless given.")
@options.several("--judges", "Models that compare; unless given, only what was compared is shown.")
@click.option(
    "--rubric", default="", help="Show answers by this rubric; a benchmark's own question unless given."
)
@click.option("--criterion", default="", help="The rubric's pairwise question; the first unless given.")
@options.where("conversations")
@options.judging
@options.figures("scenarios")
@running
@click.pass_obj
def command(
    folder: str,
    /,
    name: str,
    models: tuple[str, ...],
    judges: tuple[str, ...],
    rubric: str,
    criterion: str,
    facets: options.Facets,
    form: str,
    resamples: int,
    seed: int,
    **how: Any,
) -> None:
    """Win, tie, lose of every two models, position bias, strengths, agreement with people.

    NAME is a study of pairs (`concord study pairs`), whose pairs judges compare by its rubric, or a benchmark
    whose own question is asked.
    """
    workspace = Workspace.open(folder, create=not judges)
    with workspace.read() as db:
        study = pairings.find(db, name)
    version, repeats = how.pop("version"), how.pop("judge_repeats")
    if study:
        if judges and (models or facets or version):
            raise ConcordError(
                "The pairs and the rubric of this study were chosen when it was made: leave --models, "
                "--where and --version out."
            )
        plan = ComparePlan(study.benchmark, judges, judge_repeats=repeats, study=name)
    else:
        plan = ComparePlan(name, judges, models, facets, version, repeats)
    if judges:
        carry_out(workspace, plan, **how)
        if how["estimate"]:
            return
    with workspace.read() as db:
        results = comparisons.compared(
            db,
            name,
            question=PairQuestion(rubric, criterion),
            players=models,
            facets=facets,
            resamples=resamples,
            seed=seed,
        )
    printing.show(comparisons.result_tables(results), form)
