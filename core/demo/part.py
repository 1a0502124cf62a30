"""What the slices' parts of the demo share: running a plan to its end, and who tries the annotator's desk."""

from __future__ import annotations

from collections.abc import Callable

from core.benchmarks.plans import Plan
from core.errors import ConcordError
from core.runs import engine, planning
from core.workspace import Workspace

Told = Callable[[str, float], None]
"""Told what is being done, and how much of it is done (0 to 1)."""

VISITOR = "You"
"""The annotator that whoever opens the demo is."""


def run(workspace: Workspace, doing: str, told: Told, plan: Plan) -> None:
    """Run a plan to its end. Failed judgements are kept: the demo shows what becomes of them. Raises
    ConcordError.
    """
    ended = engine.execute(
        workspace,
        planning.job(workspace, plan),
        watch=lambda p: told(doing, (p.stored + p.done + p.failed) / max(1, p.planned)),
    )
    if ended.state != "finished":
        raise ConcordError(f"The demo's run {ended.id} ended {ended.state}: {ended.message} Start it again.")
