"""The demo's STSS: a simulation of each type of task, with and without TDP, and its scenes judged."""

from concord.benchmarks.stss import scenes
from concord.demo.workspace import Told, run
from concord.runs.plans import PlayPlan
from concord.store import conversations
from concord.store.conversations import Filter
from concord.workspace import Workspace

TASKS = ("harvest-supper", "board-games", "thesis-talk", "film-night", "cough-medicine")
"""One of each type: public activity, companions, appointment, online activity, asking for help."""
PLAYER, RESIDENTS = "mock-outgoing", "mock-resident"
JUDGES = ("mock-judge-strict", "mock-judge-lenient")
MODELS = (PLAYER, RESIDENTS, "mock-reserved", *JUDGES)
"""What models.toml needs."""


def build(workspace: Workspace, told: Told) -> None:
    """Bring STSS to its full state while the mock server is up; what is stored is not made again."""
    models = {"players": (PLAYER,), "residents": (RESIDENTS,)}
    run(workspace, "STSS: two days in the town", told, PlayPlan("stss", models, {"tasks": list(TASKS)}))
    scenes.freeze(workspace)
    judged = PlayPlan("stss-language", {**models, "judges": JUDGES})
    run(workspace, "STSS: what was said, judged", told, judged)


def is_complete(workspace: Workspace) -> bool:
    """Whether everything was built: what was said comes last."""
    with workspace.read() as db:
        return conversations.count(db, Filter("stss-language")) > 0
