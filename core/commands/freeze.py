"""`concord freeze BENCHMARK`: scenes cut out of what was simulated, to be played once more without the world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from core.benchmarks.stss import STSS, freezing
from core.benchmarks.stss.tasks import TITLES, Kind, task_from
from core.benchmarks.stss.trajectory import Trajectory, from_stored
from core.conversation import Conversation
from core.errors import ConcordError
from core.store import conversations, scenarios, trajectories
from core.workspace import Workspace


@click.group("freeze")
def command() -> None:
    """Cut scenes out of simulations, to be played once more without the world."""


@command.command("stss")
@click.option(
    "--per-pair",
    type=click.IntRange(1),
    default=freezing.PER_PAIR,
    show_default=True,
    help="Scenes of a task for the same two people.",
)
@click.pass_obj
def _stss(folder: str, per_pair: int) -> None:
    """Freeze the performers' conversations of day 1; what was frozen before stays as it is."""
    workspace = Workspace.open(folder, create=False)

    def simulations() -> Iterator[tuple[Conversation, Trajectory]]:
        with workspace.read() as db:
            for number, conversation in conversations.each(db, STSS.name):
                yield conversation, from_stored(trajectories.load(db, number))

    found = list(freezing.freeze(simulations(), per_pair))
    if not found:
        raise ConcordError(
            "There is nothing to freeze: no performer has talked with anybody in a stored simulation. Run some with `concord run stss`."
        )
    with workspace.write() as db:
        new = scenarios.save(db, found)
    kinds: Counter[Kind] = Counter(task_from(s.body["task"]).kind for s in found)
    counts = ", ".join(f"{TITLES[kind].lower()} {kinds[kind]}" for kind in TITLES if kinds[kind])
    click.echo(
        f"{len(found)} scenes ({counts}), {new} of them new. Have them played with `concord run stss-language`."
    )
