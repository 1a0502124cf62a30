"""What several tests take from `test_runs`: calls_made, calls_of, concord_run, count, plan, run, until."""

from __future__ import annotations

import json
import sys
import time
from typing import Any
from urllib.request import urlopen

from concord.llm.models import load_models
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan
from concord.workspace import Workspace


def plan(judges=("a", "b"), repeats=1, characters=("tully", "mizuki"), situations=("reality",), **options):
    return PlayPlan(
        "pingpong",
        {"players": ("player",), "interrogator": ("user",), "judges": tuple(judges)},
        {"characters": list(characters), "situations": list(situations), "repeats": repeats, **options},
    )


def run(workspace, the_plan, **how):
    return engine.execute(workspace, planning.job(workspace, the_plan), **how)


def concord_run(workspace: Workspace, *words: str) -> list[str]:
    """The command of a run in a process of its own."""
    head = [sys.executable, "-m", "concord.cli", "--workspace", str(workspace.path), "run", "pingpong"]
    return [*head, "--players", "player", "--interrogator", "user", *words]


def calls_of(workspace: Workspace) -> dict[str, Any]:
    """What the mock server of a workspace has done."""
    address = next(iter(load_models(workspace.models_path).values())).base_url
    with urlopen(f"{address}/_calls") as reply:
        counts: dict[str, Any] = json.load(reply)
    return counts


def calls_made(workspace: Workspace) -> int:
    return sum(calls_of(workspace)["answered"].values())


def count(workspace, table):
    with workspace.read() as db:
        return db[table].count


def until(happened, process):
    """Wait for something that a process brings about."""
    while not happened():
        assert process.poll() is None, "the process has ended, and it did not happen"
        time.sleep(0.02)
