"""Have judges answer a part of a study by a version of its rubric, within a budget that holds to the call."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from concord.errors import StudyError
from concord.lab import measuring
from concord.lab.measuring import Candidate
from concord.lab.parts import SELECT, Parts
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan, as_dict
from concord.store import budgets, rubrics
from concord.store.runs import Progress
from concord.workspace import Workspace


@dataclass
class Purse:
    """A spending limit over several runs and calls, and what they have spent; None: no limit."""

    limit: float | None = None
    spent: float = 0.0

    @property
    def left(self) -> float | None:
        """What may still be spent."""
        return None if self.limit is None else max(0.0, self.limit - self.spent)


def plan_of(
    parts: Parts, part: str, judges: Sequence[str], version: int, repeats: int = 1, only: Sequence[str] = ()
) -> JudgePlan:
    """The plan by which judges answer a part (or the conversations `only`) by a version; 0: its file."""
    among = tuple(only) or parts.keys(part)
    if not among:
        raise StudyError(f"The part “{part}” of {parts.study} holds no conversation.")
    return JudgePlan(
        parts.benchmark,
        tuple(judges),
        version=str(version or ""),
        judge_repeats=repeats,
        rubric=parts.rubric,
        among=tuple(sorted(among)),
    )


def carry_out(workspace: Workspace, plan: JudgePlan, purse: Purse) -> Progress | None:
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
            limit = purse.left + budgets.spent(db, plan.benchmark, as_dict(plan))
    ended = engine.execute(workspace, job, max_cost=limit)
    purse.spent += ended.spent.cost
    return ended


def race(
    workspace: Workspace,
    parts: Parts,
    judges: Sequence[str],
    versions: Sequence[int],
    purse: Purse,
    say: Callable[[str], None],
) -> list[Candidate]:
    """Have judges by versions answer *select*, and stop the poor ones early (successive halving).

    In each round those left answer twice as many scenarios, in an order that the seed of the parts draws; the
    better half by mean agreement goes on, two at least. The last ones answer all, and are compared on all:
    what stopped early has no part in that. Returns who is left; () where the budget ended.
    """
    left = [(judge, version) for judge in judges for version in versions]
    scenarios = sorted({unit.scenario for unit in parts.of(SELECT)})
    random.Random(f"{parts.seed} race").shuffle(scenarios)
    rounds = max(0, math.ceil(math.log2(max(len(left), 1))) - 1)
    for number in range(rounds, -1, -1):
        among = set(scenarios[: max(2, math.ceil(len(scenarios) / 2**number))])
        only = [unit.key for unit in parts.of(SELECT) if unit.scenario in among]
        for judge, version in left:
            ended = carry_out(workspace, plan_of(parts, SELECT, [judge], version, only=only), purse)
            if ended is not None and ended.state != "finished":
                say(ended.message)
                return []
        if number and len(left) > 2:
            with workspace.read() as db:
                bench = measuring.read(db, parts.study, resamples=0)
            among_these = bench.of_keys(only)
            reached = {one: bench.mean(_candidate(parts, *one), among_these) or 0.0 for one in left}
            best = sorted(left, key=lambda one: -reached[one])[: max(2, (len(left) + 1) // 2)]
            stopped = [str(_candidate(parts, *one)) for one in left if one not in best]
            say(f"After {len(only)} conversations stopped: {', '.join(stopped)}.")
            left = [one for one in left if one in best]
    return [_candidate(parts, *one) for one in left]


def _candidate(parts: Parts, judge: str, version: int) -> Candidate:
    return Candidate(judge, rubrics.variant(parts.rubric, version))
