"""`concord freeze BENCHMARK`: scenes cut out of what was simulated, to be played once more without the world."""

from __future__ import annotations

from collections import Counter

import click

from core.benchmarks.stss import freezing, scenes
from core.benchmarks.stss.tasks import TITLES, Kind, task_from
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
    found, new = scenes.freeze(Workspace.open(folder, create=False), per_pair)
    kinds: Counter[Kind] = Counter(task_from(s.body["task"]).kind for s in found)
    counts = ", ".join(f"{TITLES[kind].lower()} {kinds[kind]}" for kind in TITLES if kinds[kind])
    click.echo(
        f"{len(found)} scenes ({counts}), {new} of them new. Have them played with `concord run stss-language`."
    )
