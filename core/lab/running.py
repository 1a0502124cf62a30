"""Have judges answer a part of a study by a version of its rubric, within a budget that holds to the call."""

from collections.abc import Sequence
from dataclasses import dataclass

from concord.errors import StudyError
from concord.lab.parts import Parts
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan, as_dict
from concord.store import runs
from concord.store.runs import Progress
from concord.workspace import Workspace


@dataclass
class SharedBudget:
    """A spending limit over several runs and calls, and what they have spent; None: no limit."""

    limit: float | None = None
    amount: float = 0.0

    @property
    def left(self) -> float | None:
        """What may still be spent."""
        return None if self.limit is None else max(0.0, self.limit - self.amount)


def plan_of(parts: Parts, part: str, judges: Sequence[str], version: int) -> JudgePlan:
    """The plan by which judges answer a part by a version; 0: its file."""
    keys = parts.keys(part)
    if not keys:
        raise StudyError(f"The part “{part}” of {parts.study} holds no conversation.")
    return JudgePlan(
        parts.benchmark,
        tuple(judges),
        version=str(version or ""),
        rubric=parts.rubric,
        among=tuple(sorted(keys)),
    )


def carry_out(workspace: Workspace, plan: JudgePlan, purse: SharedBudget) -> Progress | None:
    """Carry out a plan with what the purse holds, and take what it cost from it.

    None where nothing was left to ask, so that no run is begun. What is stored is not paid again, also where
    an earlier run of the plan was cut short. Raises ConfigError for a limit and a judge without a price.
    """
    job = planning.job(workspace, plan)
    if not planning.survey(workspace, job).left:
        return None
    limit = None
    if purse.left is not None:
        with workspace.read() as db:
            limit = purse.left + runs.cost_of_plan(db, plan.benchmark, as_dict(plan))
    progress = engine.execute(workspace, job, max_cost=limit)
    purse.amount += progress.spent.cost
    return progress
