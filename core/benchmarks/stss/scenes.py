"""Frozen scenes: the moment before a performer talked with somebody, with what both remembered then."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from concord.benchmarks.stss import STSS, language
from concord.benchmarks.stss.scoring import before_event
from concord.benchmarks.stss.tasks import SocialTask, task_from, values_of
from concord.benchmarks.stss.trajectory import STAMP, Talk, Trajectory, from_stored
from concord.conversation import Conversation
from concord.errors import ConcordError
from concord.scenario import Scenario
from concord.store import conversations, scenarios
from concord.workspace import Workspace

PER_PAIR = 2
"""At most so many scenes of one task for the same two people, each from another simulation."""


def freeze(workspace: Workspace) -> tuple[list[Scenario], int]:
    """Freeze the scenes of all simulations; returns them and how many are new. Raises ConcordError."""
    with workspace.read() as db:
        simulations = (
            (conversation, from_stored(conversations.known_trajectory(db, number)))
            for number, conversation in conversations.each(db, STSS.name)
        )
        frozen = list(scenes(simulations))
    if not frozen:
        raise ConcordError(
            "There is nothing to freeze: no performer has talked with anybody in a stored simulation. Run "
            "some with `concord run stss`."
        )
    with workspace.write() as db:
        return frozen, scenarios.save(db, frozen)


def scenes(simulations: Iterable[tuple[Conversation, Trajectory]]) -> Iterator[Scenario]:
    """The scenes of simulations, in the order given; the same simulations give the same keys.

    A scene is a conversation of the performer before the day of the event (day 1): the first with each
    partner in a simulation; for an appointment only those with the person to be met.
    """
    frozen: Counter[tuple[str, str]] = Counter()
    for conversation, lived in simulations:
        task = task_from(conversation.context["_task"])
        noted = {(scene["time"], scene["begins"]): scene for scene in lived.extra["scenes"]}
        seen: set[str] = set()
        for talk in lived.talks:
            partner = talk.partner(task.performer)
            if task.performer not in talk.pair or (task.target and partner not in task.target):
                continue
            pair = (task.id, partner)
            if not before_event(task, talk, lived) or partner in seen or frozen[pair] >= PER_PAIR:
                continue
            seen.add(partner)
            frozen[pair] += 1
            doing = noted[talk.time.strftime(STAMP), talk.pair[0]]["doing"]
            yield Scenario(
                language.NAME,
                language.SCENARIO,
                f"{task.id}/{partner.lower().replace(' ', '-')}/{frozen[pair]}",
                _body(conversation, task, talk, doing, lived),
                "accepted",
                conversation.key,
            )


def _body(
    conversation: Conversation, task: SocialTask, talk: Talk, doing: dict[str, str], lived: Trajectory
) -> dict[str, Any]:
    now = talk.time.strftime(STAMP)

    def before(memory: list[Any]) -> bool:
        # A memory “talked” of this moment is of the very conversation that is to be played again.
        return bool(memory[0] < now or (memory[0] == now and memory[2] != "talked"))

    memories = lived.extra["memories"]
    return {
        "task": values_of(task),
        "town": conversation.facets["town"],
        "partner": talk.partner(task.performer),
        "begins": talk.pair[0],
        "time": now,
        "place": talk.place,
        "states": {
            name: {"doing": doing[name], "memories": list(filter(before, memories[name]))}
            for name in talk.pair
        },
    }
