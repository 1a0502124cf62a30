"""`concord judge BENCHMARK --judges …`: further judges over the conversations that are stored."""

from typing import Any

import click

from concord.benchmarks.plans import JudgePlan
from concord.commands import options
from concord.commands.progress import carry_out, running
from concord.workspace import Workspace


@click.command(name="judge")
@click.argument("benchmark")
@options.several("--judges", "Models that rate.", required=True)
@options.where("conversations")
@options.replaced("--language", "--where language=VALUE")
@options.judging
@running
@click.pass_obj
def command(
    folder: str, /, benchmark: str, judges: tuple[str, ...], facets: options.Facets, **how: Any
) -> None:
    """Have further judges rate stored conversations of BENCHMARK that they have not rated yet."""
    plan = JudgePlan(benchmark, judges, facets, how.pop("version"), how.pop("judge_repeats"))
    carry_out(Workspace.open(folder), plan, **how)
