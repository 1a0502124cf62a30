"""The demo's STSS: a simulation of each type of task, with and without TDP, and its scenes judged."""

from concord.benchmarks.stss import scenes
from concord.runs.plans import PlayPlan
from concord.workspace import Workspace
from tests.demo.playing import run

TASKS = ("harvest-supper", "board-games", "thesis-talk", "film-night", "cough-medicine")
"""One of each type: public activity, companions, appointment, online activity, asking for help."""
PLAYER, RESIDENTS = "mock-outgoing", "mock-resident"
JUDGES = ("mock-judge-strict", "mock-judge-lenient")


def play(workspace: Workspace) -> None:
    """Ten simulations, and what was said in them, judged."""
    models = {"players": (PLAYER,), "residents": (RESIDENTS,)}
    run(workspace, PlayPlan("stss", models, {"tasks": list(TASKS)}))
    scenes.freeze(workspace)
    judged = PlayPlan("stss-language", {**models, "judges": JUDGES})
    run(workspace, judged)
