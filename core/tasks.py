"""SimulBench's tasks in a workspace: proposed by a model, shown with what they resemble, accepted, edited or rejected by a person."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlite_utils import Database

from core import replies
from core.benchmarks.benchmark import Materials
from core.benchmarks.simulbench import proposals
from core.benchmarks.simulbench.proposals import Likeness, Proposed
from core.benchmarks.simulbench.targets import SIMULBENCH
from core.benchmarks.simulbench.tasks import STORED, TASK, Task, Type, task_of, tasks
from core.conversation import Message
from core.errors import CallFailed, ConcordError
from core.models import Client, Completion, load_models, pick
from core.replies import Unusable
from core.scenario import Scenario, State
from core.store import scenarios
from core.work import materials
from core.workspace import Workspace

GENERATED = "generated"


@dataclass(frozen=True)
class Proposals:
    """What a round of proposing came to: how many are new, how many of the calls had been answered before, and the calls that failed."""

    new: int
    known: int
    failed: tuple[CallFailed, ...]


def propose(
    workspace: Workspace, model: str, type: Type, *, count: int = 1, seed: int = 0, version: str = ""
) -> Proposals:
    """Have a model propose tasks of a type, each call with five accepted tasks drawn at random as examples.

    Proposals wait for a person. The same model, type and seed continue where an earlier round stopped. Raises ConcordError where
    there is no task of the type to show.
    """
    entry = pick(load_models(workspace.models_path), model)
    known = tasks(materials(workspace))
    prompt = SIMULBENCH.prompt(materials(workspace), f"task_{type}", version)
    if not proposals.seeds(known.values(), type, random.Random(seed)):
        raise ConcordError(
            f"There is no {type} task to show as an example. Import some, or write one below data/."
        )
    with workspace.read() as db:
        done = {s.body.get("call") for s in scenarios.page(db, STORED, TASK, limit=-1)}
    calls = [f"{model}/{type}/{prompt.version}/{seed}/{number}" for number in range(count)]
    left = [call for call in calls if call not in done]

    async def one(client: Client, call: str) -> None:
        examples = proposals.seeds(known.values(), type, random.Random(call))
        asked = prompt.render(examples=[proposals.example(task) for task in examples])

        async def complete(step: str, messages: Sequence[Message], /) -> Completion:
            number = int(hashlib.sha256(f"{call}/{step}".encode()).hexdigest()[:8], 16)
            return await client.complete(
                model, messages, params=asked.params, schema=replies.json_schema(Proposed), seed=number
            )

        reply = await replies.answer(complete, "propose", asked.messages, Proposed, proposals.check)
        found = _scenario(reply.value, type, call, [task.id for task in examples], entry.stand_in)
        with workspace.write() as db:
            scenarios.save(db, [found])

    async def go() -> list[BaseException | None]:
        async with Client({model: entry}) as client:
            return await asyncio.gather(*(one(client, call) for call in left), return_exceptions=True)

    failed = []
    for error in asyncio.run(go()):
        if isinstance(error, CallFailed):
            failed.append(error)
        elif error is not None:
            raise error
    return Proposals(len(left) - len(failed), len(calls) - len(left), tuple(failed))


def _scenario(reply: Proposed, type: Type, call: str, examples: Sequence[str], stand_in: bool) -> Scenario:
    slug = re.sub(r"[^a-z0-9]+", "-", reply.task_name.lower()).strip("-") or TASK
    key = f"{slug}-{hashlib.sha256(call.encode()).hexdigest()[:6]}"
    body = {
        "act": reply.task_name.strip(),
        "task_description": reply.task_description.strip(),
        "request_type": reply.request_type.strip(),
        "type": type,
        "call": call,
        "examples": list(examples),
        "model": call.split("/", 1)[0],
        "stand_in": stand_in,
    }
    return Scenario(STORED, TASK, key, body, "proposed", GENERATED)


@dataclass(frozen=True)
class Review:
    """A task as the review page shows it: what it is, where it stands, and which other tasks it resembles, the likest first."""

    task: Task
    scenario: Scenario
    resembles: tuple[Likeness, ...]


def reviews(
    db: Database, brought: Materials, *, state: State | None = "proposed", limit: int = 50, offset: int = 0
) -> list[Review]:
    """Tasks of the store in the order they came, those that wait for a person unless another state (or None for all) is asked for."""
    page = scenarios.page(db, STORED, TASK, state=state, limit=limit, offset=offset)
    others = list(known(db, brought).values())
    return [_review(scenario, others) for scenario in page]


def review(db: Database, brought: Materials, key: str) -> Review:
    """One task of the store. Raises NotFound."""
    return _review(scenarios.get(db, STORED, TASK, key), list(known(db, brought).values()))


def known(db: Database, brought: Materials) -> dict[str, Task]:
    """The tasks a proposal may resemble, by id: those in use, and those that wait for a person."""
    waiting = scenarios.page(db, STORED, TASK, state="proposed", limit=-1)
    return tasks(brought) | {s.key: task_of(s) for s in waiting}


def _review(scenario: Scenario, beside: Sequence[Task]) -> Review:
    task = task_of(scenario)
    others = [other for other in beside if other.id != task.id]
    return Review(task, scenario, tuple(proposals.likenesses(task.act, task.task_description, others)))


def accept(db: Database, key: str, by: str, edited: Mapping[str, Any] | None = None) -> Scenario:
    """Accept a task, perhaps with other words: `edited` may hold act, task_description, request_type, type and strategies.

    Who and when is kept, and so is what the model had proposed. Raises NotFound, or ConcordError for an edit that is no task.
    """
    known = scenarios.get(db, STORED, TASK, key)
    if not edited:
        return scenarios.decide(db, STORED, TASK, key, "accepted", by)
    allowed = set(Task.model_fields) - {"id", "source"}
    changed = {name: value for name, value in edited.items() if name in allowed}
    body = {**known.body, **changed}
    try:
        task = Task.model_validate({**body, "id": key})
        proposals.check(
            Proposed(
                task_name=task.act, task_description=task.task_description, request_type=task.request_type
            )
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise ConcordError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    except Unusable as error:
        raise ConcordError(str(error)) from error
    if body != known.body and "proposed" not in body:
        body["proposed"] = {
            name: known.body.get(name) for name in changed if known.body.get(name) != changed[name]
        }
    return scenarios.decide(db, STORED, TASK, key, "accepted", by, body)


def reject(db: Database, key: str, by: str) -> Scenario:
    """Reject a task; it stays in the store and is not used. Raises NotFound."""
    return scenarios.decide(db, STORED, TASK, key, "rejected", by)


def reopen(db: Database, key: str) -> Scenario:
    """Take a decision back: the task waits again, in the words in which it was proposed. Raises NotFound."""
    body = dict(scenarios.get(db, STORED, TASK, key).body)
    body |= body.pop("proposed", None) or {}
    return scenarios.decide(db, STORED, TASK, key, "proposed", "", body)
