"""A model proposes tasks: how many of which type, what that will take, and the run that asks, which can be stopped and continued.

After the generation of tasks of Jia et al.: five accepted tasks at random are the examples of each call.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from core.benchmarks.benchmark import Materials, Plan
from core.benchmarks.simulbench import proposals
from core.benchmarks.simulbench.proposals import Proposed
from core.benchmarks.simulbench.targets import SIMULBENCH
from core.benchmarks.simulbench.tasks import STORED, TASK, TYPES, Task, Type, tasks
from core.conversation import Message
from core.errors import CallFailed, ConcordError
from core.llm import replies
from core.llm.models import Client, Completion, Model, limits, load_models, pick
from core.llm.prompts import RenderedPrompt
from core.rating import NOTHING_SPENT, Spent
from core.runs.engine import BEAT_SECONDS, PATIENCE, heartbeat, on_signal
from core.runs.judging import UNANSWERED
from core.runs.planning import Survey, materials
from core.scenario import Scenario
from core.store import runs, scenarios
from core.store.runs import Progress
from core.workspace import Workspace

GENERATED = "generated"
"""The source of proposed tasks."""
OUTPUT_TOKENS = 220
"""A proposal's length, as a first guess."""
_MARK = "propose"


@dataclass(frozen=True)
class Round:
    """What is asked of a model: `count` proposals of each type. The same model, type, seed and number is the same call, asked once.

    Another seed draws other examples; a larger count goes on where a smaller one ended.
    """

    model: str
    types: tuple[Type, ...] = TYPES
    count: int = 5
    seed: int = 0
    version: str = ""

    def plan(self) -> Plan:
        """The round as a run's plan."""
        options = {
            _MARK: True, "types": list(self.types), "count": self.count, "seed": self.seed, "version": self.version,
        }  # fmt: skip
        return Plan(STORED, {"proposer": (self.model,)}, options)

    @classmethod
    def of(cls, plan: Plan) -> Round | None:
        """The round that a plan holds; None for a plan of another kind."""
        o = plan.options
        if not o.get(_MARK):
            return None
        return cls(plan.one("proposer"), tuple(o["types"]), o["count"], o["seed"], o["version"])


@dataclass(frozen=True)
class _Call:
    """One call of a round: its name, which no other round shares unless it asks the same, and what it asks."""

    name: str
    type: Type
    examples: tuple[str, ...]
    asked: RenderedPrompt

    @property
    def work(self) -> str:
        """Its name among everything that may fail."""
        return f"{STORED}/{TASK}/{self.name}"


def estimate(workspace: Workspace, wanted: Round, *, retry_failed: bool = False) -> Survey:
    """What a round would ask and cost; `failed` calls had no usable reply before. Raises as `propose` does, before anything is paid."""
    entry, calls, left, failed = _survey(workspace, wanted, retry_failed)
    found = Survey(planned=len(calls), stored=len(calls) - len(left) - failed, failed=failed)
    if left:
        tokens = (
            sum(len(m.content) for call in left for m in call.asked.messages) / 4,
            OUTPUT_TOKENS * len(left),
        )
        found.calls, found.tokens = {entry.name: len(left)}, {entry.name: tokens}
        found.cost = entry.cost(round(tokens[0]), tokens[1])
        found.unpriced = {entry.name} if entry.price is None else set()
    return found


def propose(
    workspace: Workspace, wanted: Round, *, max_cost: float | None = None, retry_failed: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Progress:  # fmt: skip
    """Ask for what is left of a round and return where it stands; what is proposed waits for a person.

    Every proposal is stored as it comes; what was answered before is not asked again, and what had no usable reply only with
    `retry_failed`. Stops cleanly at `max_cost`, on request, and on
    SIGINT or SIGTERM. Raises ConcordError where there is no task of a type to show, and where another process is at the same round.
    """
    entry, calls, left, failed = _survey(workspace, wanted, retry_failed)
    entry.key()
    plan = wanted.plan().as_dict()
    with workspace.write() as db:
        if (other := runs.at_work(db, plan)) is not None:
            raise ConcordError(f"Run {other} is asking for these very proposals. Watch it, or stop it first.")
        number = runs.start(db, STORED, plan, os.getpid())
    state = _State(
        len(calls), len(calls) - len(left) - failed, max_cost, number if retry_failed else 0, failed=failed
    )
    try:
        asyncio.run(_Round(workspace, number, entry, state, watch).go(left))
    except BaseException:
        with workspace.write() as db:
            runs.end(db, number, "broken", "It ended unexpectedly. The same round continues where it was.")
        raise
    with workspace.write() as db:
        runs.end(
            db, number, "broken" if state.broken else "stopped" if state.stop else "finished", state.stop or ""
        )  # fmt: skip
        return runs.get(db, number)


def _survey(
    workspace: Workspace, wanted: Round, retry_failed: bool
) -> tuple[Model, list[_Call], list[_Call], int]:
    """The model, the calls of a round, those left to make, and how many of the others had no usable reply."""
    entry = pick(load_models(workspace.models_path), wanted.model)
    calls = list(_calls(materials(workspace), wanted))
    with workspace.read() as db:
        done = {s.body.get("call") for s in scenarios.page(db, STORED, TASK, limit=-1)}
        failures = [] if retry_failed else runs.failures(db, limit=-1)
    unusable = {f["work"] for f in failures if f["kind"] in UNANSWERED}
    failed = [call for call in calls if call.name not in done and call.work in unusable]
    left = [call for call in calls if call.name not in done and call.work not in unusable]
    return entry, calls, left, len(failed)


def _calls(brought: Materials, wanted: Round) -> Iterator[_Call]:
    known = tasks(brought)
    for type in wanted.types:
        prompt = SIMULBENCH.prompt(brought, f"task_{type}", wanted.version)
        if not any(task.type == type for task in known.values()):
            raise ConcordError(
                f"There is no {type} task to show as an example. Import some, or write one below data/."
            )
        for number in range(wanted.count):
            name = f"{wanted.model}/{type}/{prompt.version}/{wanted.seed}/{number}"
            chosen: Sequence[Task] = proposals.seeds(known.values(), type, random.Random(name))
            asked = prompt.render(examples=[proposals.example(task) for task in chosen])
            yield _Call(name, type, tuple(task.id for task in chosen), asked)


@dataclass
class _State:
    """Where the round stands, in the one loop that changes it."""

    planned: int
    stored: int
    max_cost: float | None
    retried: int = 0
    """The run's number where failed calls are asked again: they must not get the very answer that failed."""
    done: int = 0
    failed: int = 0
    failing: int = 0
    spent: Spent = field(default=NOTHING_SPENT)
    stop: str | None = None
    broken: bool = False

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """No new calls from here on; the first reason is the one that is told."""
        if self.stop is None:
            self.stop, self.broken = reason, broken


class _Round:
    """The loop's side of a round."""

    client: Client

    def __init__(
        self, workspace: Workspace, number: int, entry: Model, state: _State, watch: Callable[[Progress], None] | None
    ) -> None:  # fmt: skip
        self.workspace, self.number, self.entry, self.state, self.watch = (
            workspace,
            number,
            entry,
            state,
            watch,
        )

    async def go(self, left: Sequence[_Call]) -> None:
        places = asyncio.Semaphore(sum(limits([self.entry]).values()))
        on_signal(self.state.halt)

        async def one(call: _Call) -> None:
            async with places:
                self._watch_spending()
                if self.state.stop is None:
                    await self._one(call)

        async with (
            Client({self.entry.name: self.entry}) as self.client,
            heartbeat(self._beat, self._write_beat),
            asyncio.TaskGroup() as group,
        ):
            for call in left:
                group.create_task(one(call))

    async def _one(self, call: _Call) -> None:
        state, work = self.state, call.work
        ask = partial(self._complete, call)
        try:
            reply = await replies.answer(ask, "propose", call.asked.messages, Proposed, proposals.check)
        except CallFailed as failure:
            state.failed += 1
            state.failing += failure.kind not in UNANSWERED
            kind, message, raw = failure.kind, str(failure), failure.raw
            with self.workspace.write() as db:
                runs.save_failure(db, work, kind, message, raw, self.number)
            if failure.kind == "auth" or state.failing >= PATIENCE:
                state.halt(message, broken=True)
            return
        state.done += 1
        state.failing = 0
        found = _scenario(reply.value, call, self.entry)
        with self.workspace.write() as db:
            scenarios.save(db, [found])
            runs.forget_failure(db, work)

    async def _complete(self, call: _Call, step: str, messages: Sequence[Message], /) -> Completion:
        seed = int(
            hashlib.sha256(f"{call.name}/{step}/{self.state.retried or ''}".encode()).hexdigest()[:8], 16
        )
        done = await self.client.complete(
            self.entry.name,
            messages,
            params=call.asked.params,
            schema=replies.json_schema(Proposed),
            seed=seed,
        )
        self.state.spent += done.spent
        return done

    def _watch_spending(self) -> None:
        limit = self.state.max_cost
        if limit is not None and self.state.spent.cost >= limit:
            self.state.halt(f"Stopped at the spending limit of {limit:g}. Raise --max-cost to go on.")

    async def _beat(self) -> None:
        while True:
            self._write_beat()
            with self.workspace.read() as db:
                if runs.stop_asked(db, self.number):
                    self.state.halt("Stopped on request; calls in flight were finished.")
            await asyncio.sleep(BEAT_SECONDS)

    def _write_beat(self) -> None:
        s = self.state
        with self.workspace.write() as db:
            runs.beat(
                db,
                self.number,
                planned=s.planned,
                stored=s.stored,
                done=s.done,
                failed=s.failed,
                spent=s.spent,
            )
            stands = runs.get(db, self.number)
        if self.watch:
            self.watch(stands)


def _scenario(reply: Proposed, call: _Call, entry: Model) -> Scenario:
    slug = re.sub(r"[^a-z0-9]+", "-", reply.task_name.lower()).strip("-") or TASK
    key = f"{slug}-{hashlib.sha256(call.name.encode()).hexdigest()[:6]}"
    body = {
        "act": reply.task_name.strip(),
        "task_description": reply.task_description.strip(),
        "request_type": reply.request_type.strip(),
        "type": call.type,
        "call": call.name,
        "examples": list(call.examples),
        "model": entry.name,
        "simulated": entry.simulated,
    }
    return Scenario(STORED, TASK, key, body, "proposed", GENERATED)
