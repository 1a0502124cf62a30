"""Scenes cut out of stored simulations, to be played once more without the world (STSS's language level)."""

from __future__ import annotations

from collections.abc import Iterator

from core.benchmarks.stss import STSS, freezing
from core.benchmarks.stss.trajectory import Trajectory, from_stored
from core.conversation import Conversation
from core.errors import ConcordError
from core.scenario import Scenario
from core.store import conversations, scenarios, trajectories
from core.workspace import Workspace


def freeze(workspace: Workspace, per_pair: int = freezing.PER_PAIR) -> tuple[list[Scenario], int]:
    """Freeze the scenes of all stored simulations; returns them, and how many are new.

    Raises ConcordError where there is none.
    """

    def simulations() -> Iterator[tuple[Conversation, Trajectory]]:
        with workspace.read() as db:
            for number, conversation in conversations.each(db, STSS.name):
                yield conversation, from_stored(trajectories.load(db, number))

    found = list(freezing.freeze(simulations(), per_pair))
    if not found:
        raise ConcordError(
            "There is nothing to freeze: no performer has talked with anybody in a stored simulation. Run "
            "some with `concord run stss`."
        )
    with workspace.write() as db:
        return found, scenarios.save(db, found)
