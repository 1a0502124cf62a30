"""Carry out a plan of the demo."""

from __future__ import annotations

from concord.runs import engine, planning
from concord.runs.plans import Plan
from concord.store.runs import Progress
from concord.workspace import Workspace


def run(workspace: Workspace, plan: Plan) -> Progress:
    """Run a plan to its end; failed judgements are kept."""
    ended = engine.execute(workspace, planning.job(workspace, plan))
    assert ended.state == "finished", ended.message
    return ended
