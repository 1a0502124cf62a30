"""A workspace with mock simulators, targets and judges; one small SimulBench run that many tests look at;
tables made by hand.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.benchmarks.simulbench import extraction
from concord.cli import main
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan
from concord.workspace import Workspace
from tests.conftest import toml

PUBLISHED = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "simulbench"
TASKS = ("rpn-calculator", "hanoi-attendant", "rail-fence-clerk", "git-workbench")
TARGETS = ("mock-sim-steady", "mock-sim-hasty", "mock-sim-chatty")
JUDGES = ("mock-judge-strict", "mock-judge-lenient")
MODELS = (
    *TARGETS,
    "mock-user",
    *JUDGES,
    "mock-judge-noisy",
    "mock-judge-erratic",
    "mock-moderation",
)


def models(url: str) -> str:
    return toml(url, **{name.replace("mock-", "", 1): f'model = "{name}"' for name in MODELS}).replace(
        "[models.", "[models.mock-"
    )


@pytest.fixture
def workspace(tmp_path, mock) -> Workspace:
    made = Workspace.open(tmp_path / "workspace")
    made.models_path.write_text(models(mock))
    return made


def dialogues(**options) -> PlayPlan:
    roles = {
        "simulators": ("mock-sim-hasty",),
        "user": ("mock-user",),
        "judges": ("mock-judge-strict",),
    }
    return PlayPlan("simulbench-dialogues", roles, {"tasks": list(TASKS), "repeats": 2, **options})


def answers(judges=JUDGES, **options) -> PlayPlan:
    return PlayPlan("simulbench", {"targets": TARGETS, "judges": tuple(judges)}, options)


def execute(workspace: Workspace, plan: PlayPlan, **how):
    return engine.execute(workspace, planning.job(workspace, plan), **how)


@pytest.fixture(scope="session")
def played_once(tmp_path_factory, mock) -> Workspace:
    """Dialogues, scripts, answers and scores of a small run, made once."""
    made = Workspace.open(tmp_path_factory.mktemp("simulbench") / "workspace")
    made.models_path.write_text(models(mock))
    execute(made, dialogues())
    with made.write() as db:
        extraction.extract_scripts(db, "mock-judge-strict")
    execute(made, answers())
    return made


@pytest.fixture
def played(tmp_path, played_once) -> Workspace:
    """A copy of the small run, to be changed at will."""
    shutil.copytree(played_once.path, tmp_path / "played")
    return Workspace.open(tmp_path / "played")


@pytest.fixture
def run():
    def invoke(workspace, *args):
        return CliRunner().invoke(main, ["--workspace", str(workspace.path), *map(str, args)])

    return invoke


@pytest.fixture
def published() -> Path:
    if not PUBLISHED.is_dir():
        pytest.skip(f"the published files are not in {PUBLISHED}")
    return PUBLISHED
