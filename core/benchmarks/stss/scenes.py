"""Frozen scenes: the moment before a performer talked with somebody, with what both remembered then."""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

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


class Frozen(NamedTuple):
    """The scenes that are stored now, the keys of the new ones, and how many could be frozen."""

    scenes: list[Scenario]
    new: Sequence[str]
    possible: int


def selected(workspace: Workspace, number: int = 0, per_pair: int = PER_PAIR, seed: int = 0) -> Frozen:
    """The scenes that `freeze` would store; nothing is stored. Raises as `freeze`."""
    with workspace.read() as db:
        simulations = (
            (conversation, from_stored(conversations.required_trajectory(db, number)))
            for number, conversation in conversations.of_benchmark(db, STSS.name)
        )
        possible = list(scenes(simulations, per_pair))
        keys = set(scenarios.keys(db, language.NAME, language.SCENARIO))
    if not possible:
        raise ConcordError(
            "There is nothing to freeze: in the stored simulations, no performer has talked with "
            "another resident. Run some with `concord run stss`."
        )
    selection = spread(possible, number, keys, seed) if number else possible
    return Frozen(selection, [scene.key for scene in selection if scene.key not in keys], len(possible))


def freeze(workspace: Workspace, number: int = 0, per_pair: int = PER_PAIR, seed: int = 0) -> Frozen:
    """Freeze the scenes of all simulations, or so many of them, spread over the tasks.

    Stored scenes stay and count; `seed` chooses the others. There may be fewer than `number`. Raises
    ConcordError where nothing can be frozen.
    """
    selection = selected(workspace, number, per_pair, seed)
    with workspace.write() as db:
        return selection._replace(new=scenarios.bring(db, selection.scenes))


def spread(possible: Sequence[Scenario], number: int, keys: Collection[str], seed: int = 0) -> list[Scenario]:
    """So many scenes, those with these `keys` first, then one by one of the task with the fewest."""
    selection = [scene for scene in possible if scene.key in keys]
    counts = Counter(scene.body["task"]["id"] for scene in selection)
    open_scenes: dict[str, list[Scenario]] = {}
    for scene in possible:
        if scene.key not in keys:
            open_scenes.setdefault(scene.body["task"]["id"], []).append(scene)
    for task, of_task in open_scenes.items():
        random.Random(f"{seed} {task}").shuffle(of_task)
    while len(selection) < number and open_scenes:
        task = min(open_scenes, key=lambda name: (counts[name], name))
        selection.append(open_scenes[task].pop())
        counts[task] += 1
        if not open_scenes[task]:
            del open_scenes[task]
    places = {scene.key: place for place, scene in enumerate(possible)}
    return sorted(selection, key=lambda scene: places[scene.key])


def scenes(
    simulations: Iterable[tuple[Conversation, Trajectory]], per_pair: int = PER_PAIR
) -> Iterator[Scenario]:
    """The scenes of simulations, in the order given; the same simulations give the same keys.

    A scene is a conversation of the performer before the day of the event (day 1): the first with each
    partner in a simulation; for an appointment only those with the person to be met.
    """
    frozen: Counter[tuple[str, str]] = Counter()
    for conversation, lived in simulations:
        task = task_from(conversation.context["_task"])
        noted = {(scene["time"], scene["begins"]): scene for scene in lived.extra["scenes"]}
        partners: set[str] = set()
        for talk in lived.talks:
            partner = talk.partner(task.performer)
            if task.performer not in talk.pair or (task.target and partner not in task.target):
                continue
            pair = (task.id, partner)
            if not before_event(task, talk, lived) or partner in partners or frozen[pair] >= per_pair:
                continue
            partners.add(partner)
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
