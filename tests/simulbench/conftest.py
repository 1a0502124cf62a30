"""A workspace with stand-in simulators, targets and judges; one small SimulBench run that many tests look at; tables made by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from core import runs, scripts, work
from core.benchmarks.benchmark import Plan
from core.cli import main
from core.workspace import Workspace
from tests.conftest import toml

PUBLISHED = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "simulbench"
TASKS = ("rpn-calculator", "hanoi-attendant", "rail-fence-clerk", "git-workbench")
TARGETS = ("standin-sim-steady", "standin-sim-hasty", "standin-sim-chatty")
JUDGES = ("standin-judge-strict", "standin-judge-lenient")
MODELS = (
    *TARGETS, "standin-sim-forgetful", "standin-user", *JUDGES, "standin-judge-noisy", "standin-judge-erratic", "standin-moderation",
)  # fmt: skip


def models(url: str) -> str:
    return toml(url, **{name.replace("standin-", "", 1): f'model = "{name}"' for name in MODELS}).replace(
        "[models.", "[models.standin-"
    )


@pytest.fixture
def workspace(tmp_path, standin) -> Workspace:
    made = Workspace.open(tmp_path / "workspace")
    made.models_path.write_text(models(standin))
    return made


def dialogues(**options) -> Plan:
    roles = {
        "simulators": ("standin-sim-forgetful",),
        "user": ("standin-user",),
        "judges": ("standin-judge-strict",),
    }
    return Plan("simulbench-dialogues", roles, {"tasks": list(TASKS), "repeats": 2, **options})


def answers(judges=JUDGES, **options) -> Plan:
    return Plan("simulbench", {"targets": TARGETS, "judges": tuple(judges)}, options)


def execute(workspace: Workspace, plan: Plan, **how):
    return runs.execute(workspace, work.job(workspace, plan), **how)


@pytest.fixture(scope="session")
def played_once(tmp_path_factory, standin) -> Workspace:
    """Dialogues, scripts, answers and scores of a small run, made once."""
    made = Workspace.open(tmp_path_factory.mktemp("simulbench") / "workspace")
    made.models_path.write_text(models(standin))
    execute(made, dialogues())
    with made.write() as db:
        scripts.extract_scripts(db)
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
