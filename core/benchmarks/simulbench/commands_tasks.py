"""`concord tasks …`: SimulBench's tasks: the list, proposals by a model, and what a person decides about them."""

from __future__ import annotations

import click

from core.benchmarks.simulbench import proposing, review
from core.benchmarks.simulbench.proposing import Round
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES, Type
from core.benchmarks.simulbench.tasks import tasks as usable
from core.commands import progress
from core.runs.planning import materials
from core.scenario import State
from core.store import runs, scenarios
from core.workspace import Workspace

STATES = ("proposed", "accepted", "rejected")


@click.group("tasks")
def command() -> None:
    """SimulBench's tasks: what is there, have some proposed, accept, edit or reject them."""


@command.command("list")
@click.option("--state", type=click.Choice(STATES), default="accepted", show_default=True)
@click.pass_obj
def list_(workspace: str, state: State) -> None:
    """List tasks: those in use (the catalogue's and accepted ones), or those proposed or rejected."""
    folder = Workspace.open(workspace)
    if state == "accepted":
        for task in usable(materials(folder)).values():
            click.echo(f"{task.id}\t{task.type}\t{task.source}\t{task.act}")
        return
    with folder.read() as db:
        for found in review.reviews(db, materials(folder), state=state, limit=-1):
            _line(found)


@command.command("show")
@click.argument("key")
@click.pass_obj
def show(workspace: str, key: str) -> None:
    """Show one task of the store in full."""
    folder = Workspace.open(workspace, create=False)
    with folder.read() as db:
        found = review.review(db, materials(folder), key)
    _line(found)
    click.echo(f"\n{found.task.task_description}\n\nEvery request: {found.task.request_type}")
    if found.scenario.decided:
        click.echo(f"{found.scenario.state} by {found.scenario.decided_by}, {found.scenario.decided}")


@command.command("propose")
@click.option("--model", required=True, help="A model of models.toml.")
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, help="Both types unless given.")
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="Proposals of each type.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other examples."
)
@click.option("--estimate", is_flag=True, help="Say what would be asked and what it would cost; do nothing.")
@click.option("--max-cost", type=float, help="Stop cleanly once this much was spent.")
@click.option("--retry-failed", is_flag=True, help="Ask again where no reply was usable.")
@click.pass_obj
def propose(
    workspace: str, model: str, types: tuple[Type, ...], count: int, seed: int, estimate: bool, max_cost: float | None,
    retry_failed: bool,
) -> None:  # fmt: skip
    """Have a model propose tasks, five random ones as examples each time; they wait until a person accepts them.

    What was answered before is not asked again: a larger count goes on, another seed begins anew.
    """
    wanted = Round(model, types or TYPES, count, seed)
    carry_out(
        Workspace.open(workspace), wanted, estimate=estimate, max_cost=max_cost, retry_failed=retry_failed
    )


def carry_out(
    folder: Workspace, wanted: Round, *, estimate: bool, max_cost: float | None, retry_failed: bool
) -> None:
    """Estimate a round of proposing or do it, and list what waits; exit code 1 where it broke, 2 where calls failed."""
    if estimate:
        found = proposing.estimate(folder, wanted, retry_failed=retry_failed)
        click.echo(
            f"{found.planned} proposals, {found.stored} answered before, {found.left} left to ask for."
        )
        if found.failed:
            click.echo(f"{found.failed} had no usable reply; --retry-failed asks for them again.")
        click.echo(progress.calls_and_cost(found))
        return
    with progress.watching() as watcher:
        ended = proposing.propose(folder, wanted, max_cost=max_cost, retry_failed=retry_failed, watch=watcher)
    known = f", {ended.stored} calls were answered before" if ended.stored else ""
    click.echo(f"{ended.done} new proposals{known}.")
    with folder.read() as db:
        for waiting in review.reviews(db, materials(folder), limit=-1):
            _line(waiting)
        failures = runs.failures(db, run=ended.id)
    for failure in failures:
        click.echo(f"  failed: {failure['message']}", err=True)
    if ended.message:
        click.echo(ended.message, err=ended.state == "broken")
    if ended.state == "broken":
        raise SystemExit(1)
    if ended.failed:
        raise SystemExit(2)


@command.command("accept")
@click.argument("keys", nargs=-1, required=True)
@click.option("--by", required=True, help="Who decides; kept with the task.")
@click.option("--act", default="", help="Another name for the task.")
@click.option("--description", default="", help="Another description.")
@click.option("--request-type", default="", help="Another kind of request.")
@click.pass_obj
def accept(
    workspace: str, keys: tuple[str, ...], by: str, act: str, description: str, request_type: str
) -> None:
    """Accept proposals, perhaps in other words (one at a time then)."""
    edited = {"act": act, "task_description": description, "request_type": request_type}
    edited = {name: text for name, text in edited.items() if text}
    if edited and len(keys) > 1:
        raise click.UsageError("Name one task to edit it.")
    with Workspace.open(workspace, create=False).write() as db:
        for key in keys:
            review.accept(db, key, by, edited)
    click.echo(f"{len(keys)} accepted.")


@command.command("reject")
@click.argument("keys", nargs=-1, required=True)
@click.option("--by", required=True, help="Who decides; kept with the task.")
@click.pass_obj
def reject(workspace: str, keys: tuple[str, ...], by: str) -> None:
    """Reject proposals, or tasks that were accepted before."""
    with Workspace.open(workspace, create=False).write() as db:
        for key in keys:
            review.reject(db, key, by)
    click.echo(f"{len(keys)} rejected.")


@command.command("count")
@click.pass_obj
def count(workspace: str) -> None:
    """How many tasks there are, by where they come from and where they stand."""
    folder = Workspace.open(workspace)
    known = usable(materials(folder)).values()
    for type_ in TYPES:
        click.echo(f"{type_}: {sum(task.type == type_ for task in known)} in use")
    with folder.read() as db:
        for source, states in scenarios.counts(db, STORED, TASK).items():
            click.echo(f"From {source}: " + ", ".join(f"{n} {state}" for state, n in states.items()))


def _line(found: review.Review) -> None:
    like = ", ".join(f"{one.task} ({one.value:.2f})" for one in found.resembles[:3])
    click.echo(
        f"{found.task.id}\t{found.task.type}\t{found.scenario.state}\t{found.task.act}"
        + (f"\tresembles {like}" if like else "")
    )
