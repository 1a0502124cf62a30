"""What several tests take from `test_run`: LANGUAGE, MODELS, TASKS, plan, workspace_at."""

from __future__ import annotations

from concord.runs.plans import PlayPlan
from concord.workspace import Workspace
from tests.conftest import toml

MODELS = {
    "host": 'model = "mock-outgoing"',
    "shy": 'model = "mock-reserved"',
    "resident": 'model = "mock-resident"',
    "strict": 'model = "mock-judge-strict"',
    "lenient": 'model = "mock-judge-lenient"',
}


TASKS = ("harvest-supper", "thesis-talk", "cough-medicine")


LANGUAGE = PlayPlan(
    "stss-language",
    {"players": ("host", "shy"), "residents": ("resident",), "judges": ("strict", "lenient")},
    {},
)


def plan(players=("host",), tasks=TASKS, **options):
    return PlayPlan(
        "stss",
        {"players": tuple(players), "residents": ("resident",)},
        {"tasks": list(tasks), "step_minutes": 15, **options},
    )


def workspace_at(path, url):
    made = Workspace.open(path)
    made.models_path.write_text(toml(url, **MODELS))
    return made
