"""`concord judge BENCHMARK --judges …`: further judges over the conversations that are stored."""

from __future__ import annotations

from typing import Any

import click

from core.benchmarks.plans import JudgePlan
from core.commands import options
from core.commands.options import names
from core.commands.progress import carry_out, running
from core.workspace import Workspace


@click.command(name="judge")
@click.argument("benchmark")
@click.option("--judges", metavar="A,B", required=True, help="Models that rate.")
@options.where("conversations")
@options.replaced("--language", "--where language=VALUE")
@click.option(
    "--version", default="", help="Version of the judge's prompt; the benchmark's own unless given."
)
@click.option(
    "--judge-repeats", type=int, default=1, show_default=True, help="Times each judge rates a conversation."
)
@running
@click.pass_obj
def command(
    folder: str,
    /,
    benchmark: str,
    judges: str,
    facets: dict[str, tuple[str, ...]],
    version: str,
    judge_repeats: int,
    **how: Any,
) -> None:
    """Have further judges rate the stored conversations of BENCHMARK; what they have rated already is left
    alone.
    """
    plan = JudgePlan(benchmark, names(judges), facets, version, judge_repeats)
    carry_out(Workspace.open(folder), plan, **how)
