"""`concord run BENCHMARK …`: plan, estimate, play, judge, store; the same command continues what was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from core.benchmarks import BENCHMARKS
from core.benchmarks.benchmark import Benchmark, Option, Plan
from core.benchmarks.simulbench import commands as proposals
from core.benchmarks.simulbench.proposing import Round
from core.commands import progress
from core.commands.options import names
from core.runs import engine, launching, planning, stages
from core.runs.status import sentence
from core.store import runs as stored_runs
from core.workspace import Workspace


@click.group(name="run")
def command() -> None:
    """Generate conversations and have them judged. The same command continues what was stopped, killed or interrupted."""


def finish(
    workspace: Workspace, job: planning.Job, *, estimate: bool, max_cost: float | None, retry_failed: bool
) -> None:
    """Estimate or execute a job, and say how it ended; exit code 1 where it broke, 2 where pieces failed."""
    if estimate:
        click.echo(progress.estimate(planning.survey(workspace, job, retry_failed=retry_failed)))
        return

    def stage() -> str:
        with workspace.read() as db:
            return stages.sentence(db, job.benchmark)

    with progress.watching(stage) as watcher:
        ended = engine.execute(workspace, job, max_cost=max_cost, retry_failed=retry_failed, watch=watcher)
    click.echo(f"Run {ended.id} {ended.state}: {sentence(ended)}")
    if ended.message:
        click.echo(ended.message, err=ended.state == "broken")
    if ended.failed:
        with workspace.read() as db:
            for failure in stored_runs.failures(db, limit=3, run=ended.id):
                click.echo(f"  {failure['work']}: {failure['message']}", err=True)
        click.echo(
            "Run the same command again to retry; failed judgements are retried with --retry-failed.",
            err=True,
        )
    if ended.state == "broken":
        raise SystemExit(1)
    if ended.failed:
        raise SystemExit(2)


def _command(benchmark: Benchmark) -> click.Command:
    def invoke(estimate: bool, max_cost: float | None, retry_failed: bool, **given: Any) -> None:
        workspace = Workspace.open(click.get_current_context().obj)
        models = {role.name: names(given[role.name]) for role in benchmark.roles}
        options = {
            o.name: names(given[o.name]) if o.kind == "choices" else given[o.name] for o in benchmark.options
        }
        job = planning.job(workspace, Plan(benchmark.name, models, options))
        finish(workspace, job, estimate=estimate, max_cost=max_cost, retry_failed=retry_failed)

    params: list[click.Parameter] = [
        click.Option(
            [f"--{role.name}"],
            help=role.help,
            metavar="A,B" if role.many else "MODEL",
            required=role.required,
        )
        for role in benchmark.roles
    ]
    params += [_option(option) for option in benchmark.options]
    params += SHARED
    return click.Command(
        benchmark.name, params=params, callback=invoke, help=benchmark.about, short_help=benchmark.title
    )


def _option(option: Option) -> click.Option:
    flag = f"--{option.name.replace('_', '-')}"
    if option.kind == "switch":
        return click.Option([flag], is_flag=True, default=option.default, help=option.help)
    if option.kind == "count":
        return click.Option([flag], type=int, default=option.default, show_default=True, help=option.help)
    if option.kind == "choices":
        return click.Option([flag], metavar="A,B", default="", help=option.help)
    return click.Option([flag], default=option.default, show_default=True, help=option.help)


SHARED: list[click.Parameter] = [
    click.Option(
        ["--estimate"], is_flag=True, help="Say what would be done and what it would cost; do nothing."
    ),
    click.Option(["--max-cost"], type=float, help="Stop cleanly once this much was spent."),
    click.Option(["--retry-failed"], is_flag=True, help="Ask again for judgements that failed."),
]

for _benchmark in BENCHMARKS.values():
    command.add_command(_command(_benchmark))


@command.command("resume")
@click.argument("number", type=int)
@click.option("--max-cost", type=float, help="Stop cleanly once this much was spent.")
@click.option("--retry-failed", is_flag=True, help="Ask again for judgements that failed.")
@click.pass_obj
def resume(folder: str, number: int, max_cost: float | None, retry_failed: bool) -> None:
    """Continue run NUMBER of this workspace with the plan it had."""
    workspace = Workspace.open(folder)
    with workspace.read() as db:
        plan = Plan.from_dict(stored_runs.get(db, number).plan)
    _carry_out(workspace, plan, estimate=False, max_cost=max_cost, retry_failed=retry_failed)


@command.command("plan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--estimate", is_flag=True, help="Say what would be done and what it would cost; do nothing.")
@click.option("--max-cost", type=float, help="Stop cleanly once this much was spent.")
@click.option("--retry-failed", is_flag=True, help="Ask again for judgements that failed.")
@click.pass_obj
def plan(folder: str, file: Path, estimate: bool, max_cost: float | None, retry_failed: bool) -> None:
    """Do the plan that FILE holds as JSON, as the runs page writes it."""
    _carry_out(
        Workspace.open(folder), launching.read_plan(file), estimate=estimate, max_cost=max_cost, retry_failed=retry_failed
    )  # fmt: skip


def _carry_out(
    workspace: Workspace, plan: Plan, *, estimate: bool, max_cost: float | None, retry_failed: bool
) -> None:
    """Any plan that a page has written or the store holds."""
    asked = Round.of(plan)
    if asked is not None:
        proposals.carry_out(workspace, asked, estimate=estimate, max_cost=max_cost, retry_failed=retry_failed)
        return
    finish(
        workspace,
        planning.job(workspace, plan),
        estimate=estimate,
        max_cost=max_cost,
        retry_failed=retry_failed,
    )
