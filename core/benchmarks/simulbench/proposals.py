"""Proposed tasks: the calls with which a model proposes them.

Each call shows five random tasks as examples (Jia et al.).
"""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from concord.benchmarks.simulbench.tasks import BENCHMARK, TASK, TYPES, SimulationTask, Type, tasks
from concord.errors import ConfigError, not_found
from concord.llm.prompts import RenderedPrompt, load_prompt
from concord.llm.replies import Reply, Text, Unusable
from concord.runs.benchmark import Ask, Expected, Materials, Play
from concord.runs.plans import ProposePlan
from concord.scenario import Scenario

GENERATED = "generated"
"""The source of proposed tasks."""
OUTPUT_TOKENS = 220
"""A proposal's length, as a first guess."""
VERSION = "v1"
SEEDS = 5
"""Tasks shown as examples in one call."""
_FIRST_REQUEST = re.compile(r"\b(?:my|the|our) (?:very )?first\b", re.I)


class Proposed(Reply):
    """A model's proposal. The names are those of the published tasks' generator."""

    task_name: Text
    task_description: Text
    request_type: Text


def seeds(pool_of_tasks: Iterable[SimulationTask], type: Type, rng: random.Random) -> list[SimulationTask]:
    """The examples of one call: five tasks of the type at random, all of them where there are fewer."""
    pool = [task for task in pool_of_tasks if task.type == type]
    return rng.sample(pool, min(SEEDS, len(pool)))


def example(task: SimulationTask) -> str:
    """A task as the generator is shown it: the very object it is to reply."""
    return json.dumps(
        {"task_name": task.act, "task_description": task.task_description, "request_type": task.request_type},
        ensure_ascii=False,
    )


def check(reply: Proposed) -> None:
    """Raises Unusable for a proposal without a first request, or with placeholders left in it."""
    if not _FIRST_REQUEST.search(reply.task_description):
        raise Unusable(
            'The description ("task_description") must end with the first request, in a sentence that begins '
            'with "My first …".'
        )
    for name, text in reply:
        if re.search(r"\[[A-Z_]{4,}\]|<[a-z]+(?: [a-z]+)*>$", str(text).strip()):
            raise Unusable(f'"{name}" still holds a placeholder.')


def calls(plan: ProposePlan, materials: Materials) -> Iterator[Play]:
    """Every proposal of a plan. Raises ConfigError where there is no task of a type to show as an example."""
    known_tasks = tasks(materials)
    for type in plan.types or TYPES:
        if type not in TYPES:
            raise not_found("type of task", type, TYPES)
        prompt = load_prompt(
            materials.prompts, BENCHMARK, plan.version or VERSION, f"task_{type}", Proposed, VERSION
        )
        for number in range(plan.count):
            name = f"{plan.model}/{type}/{prompt.version}/{plan.seed}/{number}"
            examples = seeds(known_tasks.values(), type, random.Random(name))
            if not examples:
                raise ConfigError(
                    f"There is no {type} task to show as an example. Import some, or write one below data/."
                )
            rendered = prompt.render(examples=[example(task) for task in examples])
            size = sum(len(m.content) for m in rendered.messages) // 4
            yield Play(
                f"{BENCHMARK}/{TASK}/{name}",
                partial(
                    _propose, name=name, model=plan.model, type=type, examples=examples, rendered=rendered
                ),
                (Expected(plan.model, 1, size, OUTPUT_TOKENS),),
            )


async def _propose(
    ask: Ask,
    *,
    name: str,
    model: str,
    type: str,
    examples: Sequence[SimulationTask],
    rendered: RenderedPrompt,
) -> Scenario:
    reply: Proposed = (await ask("propose", model, rendered, check)).value
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
    return Scenario(BENCHMARK, TASK, key, body, "proposed", GENERATED)
