"""Carries out a plan on a terminal: options, estimate, a line of progress, and the result."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TypeVar, Unpack

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from concord.commands.printing import echo
from concord.files.plain import plain
from concord.llm.models import currency
from concord.runs import engine, planning, status
from concord.runs.planning import Survey
from concord.runs.plans import Plan, RunOptions
from concord.runs.status import sentence
from concord.store import runs
from concord.store.runs import Progress, Reason
from concord.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])
PLAIN_SECONDS = 5.0
EXCERPT = 300
"""Characters of a raw example on the terminal."""


@contextmanager
def _watching() -> Iterator[Callable[[Progress], None]]:
    """Shows each beat of a run: in place on a terminal, elsewhere as a line every few seconds.

    Where nothing can be written any more, such as into a pipe that was closed, the run goes on without it.
    """
    last = time.monotonic()

    def show(progress: Progress) -> None:
        with suppress(OSError):
            show_line(progress)

    def show_line(progress: Progress) -> None:
        nonlocal last
        if live is None and time.monotonic() - last < PLAIN_SECONDS:
            return
        last = time.monotonic()
        if live is None:
            echo(sentence(progress))
        else:
            live.update(Text(plain(sentence(progress))))

    terminal = Live(console=Console(), refresh_per_second=4, transient=True)
    with terminal if sys.stdout.isatty() else nullcontext() as live:
        if live is not None:
            live.console.show_cursor(True)  # a second signal ends the process, which could not show it again
        yield show


def running(command: F) -> F:
    """The options of every command that carries out a plan: those of `carry_out`."""
    estimate = "Show the work and its cost without doing it."
    limit = "Spend at most this on the plan, earlier runs included; every model needs a price."
    batch = "Ask through the endpoint's Batch API; the same command collects the answers later."
    for option in (
        click.option("--retry-failed", is_flag=True, help="Repeat calls without a usable reply."),
        click.option("--max-cost", type=click.FloatRange(min=0), help=limit),
        click.option("--wait", is_flag=True, help="With --batch: stay until everything is answered."),
        click.option("--batch", is_flag=True, help=batch),
        click.option("--estimate", is_flag=True, help=estimate),
    ):
        command = option(command)
    return command


def carry_out(
    workspace: Workspace,
    plan: Plan,
    *,
    estimate: bool = False,
    **options: Unpack[RunOptions],
) -> None:
    """Estimate or execute a plan and say how it ended.

    Exits with 1 if it broke, 130 or 143 if a signal stopped it, 3 if it stopped otherwise or calls wait in
    batches, 2 if pieces failed.
    """
    job = planning.job(workspace, plan)
    if estimate:
        survey = planning.survey(workspace, job, retry_failed=options.get("retry_failed", False))
        echo(estimated(survey, currency(workspace.models_path)))
        return
    with _watching() as watch:
        progress = engine.execute(workspace, job, watch=watch, **options)
    echo(f"Run {progress.id} {progress.stands if progress.waiting else progress.state}: {sentence(progress)}")
    if progress.message:
        echo(progress.message, err=progress.state == "broken")
    if progress.failed:
        with workspace.read() as db:
            for reason in runs.reasons(db, progress.id):
                echo(failed_for(reason), err=True)
        echo(
            "Run the same command again to retry. Add --retry-failed to retry calls without a usable reply.",
            err=True,
        )
    if progress.state == "broken":
        raise SystemExit(1)
    if progress.signal:
        raise SystemExit(128 + progress.signal)
    if progress.waiting or progress.state == "stopped":
        raise SystemExit(3)
    if progress.failed:
        raise SystemExit(2)


def failed_for(reason: Reason) -> str:
    """How often work failed for one reason, with an example: its work, the message, and what was answered."""
    models_words = f" ({', '.join(reason.models)})" if reason.models else ""
    lines = [
        f"  {reason.failed:,} × {reason.reason}{models_words}",
        f"    {reason.works[0]}: {reason.message}",
    ]
    if reason.raw:
        lines.append(f"    it answered: {' '.join(reason.raw.split())[:EXCERPT]}")
    return "\n".join(lines)


def estimated(survey: Survey, paid_in: str = "") -> str:
    """What a run would do, and its calls, tokens and cost."""
    unit = f" {paid_in}" if paid_in else ""
    lines = [
        f"{survey.planned:,} results planned, {survey.stored_count:,} stored, {survey.left:,} to generate."
    ]
    if survey.failed:
        lines.append(f"{survey.failed:,} had no usable reply; --retry-failed retries them.")
    lines += [f"  {line}" for line in status.calls(survey)]
    cost = (
        f"Estimated cost: {survey.price(paid_in)}{' at most' if survey.noted and not survey.unpriced else ''}"
    )
    if survey.unpriced:
        cost += f"; models.toml has no price of {', '.join(sorted(survey.unpriced))}"
    lines.append(cost)
    if survey.by_batch is not None:
        lines.append(f"By batch (--batch): {survey.by_batch:.2f}{unit}")
    return "\n".join(lines)
