"""`concord judge NAME --judges …`: judges over stored conversations, by a rubric or as a benchmark."""

from typing import Any

import click

from concord.commands import options
from concord.commands.progress import carry_out, running
from concord.errors import ConcordError
from concord.rubrics import rubric_store
from concord.runs.plans import JudgePlan
from concord.store import studies


@click.command(name="judge")
@click.argument("name")
@options.several("--judges", "Models that rate.", required=True)
@options.whose
@options.where("conversations")
@click.option("--study", default="", metavar="NAME", help="Only the conversations of this study.")
@options.judging
@running
@click.pass_obj
def command(
    folder: str,
    /,
    name: str,
    judges: tuple[str, ...],
    benchmark: str,
    facets: options.Facets,
    study: str,
    **how: Any,
) -> None:
    """Have judges rate the stored conversations that they have not rated yet.

    NAME is a rubric of the workspace (rubrics/NAME.toml), or a benchmark whose own questions are asked.
    """
    workspace = options.workspace(folder)
    version, repeats = how.pop("version"), how.pop("judge_repeats")
    rubric = name if name in rubric_store.names(workspace) else ""
    if rubric:
        with workspace.read() as db:
            benchmark = options.benchmark_of(db, benchmark)
    elif benchmark not in ("", name):
        raise ConcordError(
            f"“{name}” is a benchmark and asks about its own conversations. Leave --benchmark out."
        )
    among: tuple[str, ...] = ()
    if study:
        with workspace.read() as db:
            among = tuple(sorted({str(unit["key"]) for unit in studies.units(db, study)}))
        if not among:
            raise ConcordError(f"The study “{study}” has no items. Draw some, or leave --study out.")
    plan = JudgePlan(benchmark or name, judges, facets, version, repeats, rubric, among)
    carry_out(workspace, plan, **how)
