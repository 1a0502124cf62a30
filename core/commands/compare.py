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
@options.several("--models", "Models to compare; default: all.")
@options.several("--judges", "Judges that compare; without them, the command only shows stored results.")
@click.option("--rubric", default="", help="Show answers by this rubric; default: the benchmark's question.")
@click.option("--criterion", default="", help="The rubric's pairwise question; default: the first.")
@options.filters("conversations")
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
    **arguments: Any,
) -> None:
    """Show wins, ties and losses of every two models, position bias, strengths, and agreement with
    annotators.

    NAME is a study of pairs (`concord study pairs`), which judges compare by its rubric, or a benchmark with
    its own question.
    """
    workspace = Workspace.open(folder, create=not judges)
    with workspace.read() as db:
        study = pairings.find(db, name)
    version = arguments.pop("version")
    repeats = arguments.pop("judge_repeats")
    if study:
        if judges and (models or facets or version):
            raise ConcordError(
                "The study has its pairs and its rubric already. Remove --models, --where and --version."
            )
        plan = ComparePlan(study.benchmark, judges, judge_repeats=repeats, study=name)
    else:
        plan = ComparePlan(name, judges, models, facets, version, repeats)
    if judges:
        carry_out(workspace, plan, **arguments)
        if arguments["estimate"]:
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
