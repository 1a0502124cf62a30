"""`concord tasks …`: SimulBench's tasks: the list, proposals by a model, and what a person decides about them."""

from __future__ import annotations

import click

from core import tasks
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES, Type
from core.benchmarks.simulbench.tasks import tasks as usable
from core.scenario import State
from core.store import scenarios
from core.work import materials
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
        for found in tasks.reviews(db, materials(folder), state=state, limit=-1):
            _line(found)


@command.command("show")
@click.argument("key")
@click.pass_obj
def show(workspace: str, key: str) -> None:
    """Show one task of the store in full."""
    folder = Workspace.open(workspace, create=False)
    with folder.read() as db:
        found = tasks.review(db, materials(folder), key)
    _line(found)
    click.echo(f"\n{found.task.task_description}\n\nEvery request: {found.task.request_type}")
    if found.scenario.decided:
        click.echo(f"{found.scenario.state} by {found.scenario.decided_by}, {found.scenario.decided}")


@command.command("propose")
@click.option("--model", required=True, help="A model of models.toml.")
@click.option("--type", "type_", type=click.Choice(TYPES), required=True)
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="Proposals to ask for.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other examples."
)
@click.pass_obj
def propose(workspace: str, model: str, type_: Type, count: int, seed: int) -> None:
    """Have a model propose tasks, five random ones as examples each time; they wait until a person accepts them."""
    folder = Workspace.open(workspace)
    done = tasks.propose(folder, model, type_, count=count, seed=seed)
    known = f", {done.known} calls were answered before" if done.known else ""
    click.echo(f"{done.new} new proposals{known}.")
    with folder.read() as db:
        for found in tasks.reviews(db, materials(folder), limit=-1):
            _line(found)
    for failure in done.failed:
        click.echo(f"  failed: {failure}", err=True)
    if done.failed:
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
            tasks.accept(db, key, by, edited)
    click.echo(f"{len(keys)} accepted.")


@command.command("reject")
@click.argument("keys", nargs=-1, required=True)
@click.option("--by", required=True, help="Who decides; kept with the task.")
@click.pass_obj
def reject(workspace: str, keys: tuple[str, ...], by: str) -> None:
    """Reject proposals, or tasks that were accepted before."""
    with Workspace.open(workspace, create=False).write() as db:
        for key in keys:
            tasks.reject(db, key, by)
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


def _line(found: tasks.Review) -> None:
    like = ", ".join(f"{one.task} ({one.value:.2f})" for one in found.resembles[:3])
    click.echo(
        f"{found.task.id}\t{found.task.type}\t{found.scenario.state}\t{found.task.act}"
        + (f"\tresembles {like}" if like else "")
    )
