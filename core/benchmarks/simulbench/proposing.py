"""The calls with which a model proposes tasks, each with five random tasks as examples (Jia et al.)."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from functools import partial

from core.benchmarks.benchmark import Ask, Expected, Materials, Play
from core.benchmarks.plans import ProposePlan
from core.benchmarks.simulbench import proposals
from core.benchmarks.simulbench.proposals import Proposed
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES, SimulationTask, tasks
from core.errors import ConfigError, not_found
from core.llm.prompts import RenderedPrompt, load_prompt
from core.scenario import Scenario

GENERATED = "generated"
"""The source of proposed tasks."""
OUTPUT_TOKENS = 220
"""A proposal's length, as a first guess."""
VERSION = "v1"


def calls(plan: ProposePlan, materials: Materials) -> Iterator[Play]:
    """Every proposal of a plan. Raises ConfigError where there is no task of a type to show as an example."""
    known = tasks(materials)
    for type in plan.types or TYPES:
        if type not in TYPES:
            raise not_found("type of task", type, TYPES)
        pool = [task for task in known.values() if task.type == type]
        if not pool:
            raise ConfigError(
                f"There is no {type} task to show as an example. Import some, or write one below data/."
            )
        prompt = load_prompt(
            materials.prompts, STORED, plan.version or VERSION, f"task_{type}", Proposed, VERSION
        )
        for number in range(plan.count):
            name = f"{plan.model}/{type}/{prompt.version}/{plan.seed}/{number}"
            chosen = proposals.seeds(pool, type, random.Random(name))
            asked = prompt.render(examples=[proposals.example(task) for task in chosen])
            size = sum(len(m.content) for m in asked.messages) // 4
            yield Play(
                f"{STORED}/{TASK}/{name}",
                partial(_propose, name=name, model=plan.model, type=type, examples=chosen, asked=asked),
                (Expected(plan.model, 1, size, OUTPUT_TOKENS),),
            )


async def _propose(
    ask: Ask, *, name: str, model: str, type: str, examples: Sequence[SimulationTask], asked: RenderedPrompt
) -> Scenario:
    reply: Proposed = (await ask("propose", model, asked, proposals.check)).value
    slug = re.sub(r"[^a-z0-9]+", "-", reply.task_name.lower()).strip("-") or TASK
    body = {
        "act": reply.task_name.strip(),
        "task_description": reply.task_description.strip(),
        "request_type": reply.request_type.strip(),
        "type": type,
        "call": name,
        "examples": [task.id for task in examples],
        "model": model,
    }
    key = f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return Scenario(STORED, TASK, key, body, "proposed", GENERATED)
