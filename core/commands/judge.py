"""`concord judge BENCHMARK --judges …`: further judges over the conversations that are stored."""

from __future__ import annotations

import click

from core.benchmarks.benchmark import Plan
from core.commands.options import names
from core.commands.run import finish
from core.runs import planning
from core.workspace import Workspace


@click.command(name="judge")
@click.argument("benchmark")
@click.option("--judges", metavar="A,B", required=True, help="Models that rate.")
@click.option("--language", default="", help="Only conversations in this language.")
@click.option(
    "--version", default="", help="Version of the judge's prompt; the benchmark's own unless given."
)
@click.option(
    "--judge-repeats", type=int, default=1, show_default=True, help="Times each judge rates a conversation."
)
@click.option("--estimate", is_flag=True, help="Say what would be done and what it would cost; do nothing.")
@click.option("--max-cost", type=float, help="Stop cleanly once this much was spent.")
@click.option("--retry-failed", is_flag=True, help="Ask again for judgements that failed.")
@click.pass_obj
def command(
    folder: str, benchmark: str, judges: str, language: str, version: str, judge_repeats: int,
    estimate: bool, max_cost: float | None, retry_failed: bool,
) -> None:  # fmt: skip
    """Have further judges rate the stored conversations of BENCHMARK; what they have rated already is left alone."""
    workspace = Workspace.open(folder)
    options = {"stored_only": True, "language": language, "version": version, "judge_repeats": judge_repeats}
    job = planning.job(workspace, Plan(benchmark, {"judges": names(judges)}, options))
    finish(workspace, job, estimate=estimate, max_cost=max_cost, retry_failed=retry_failed)
