"""The engine of a run: makes what a plan asks for and the store lacks; it can be stopped, killed and resumed.

One process, one event loop, one writing thread. An answered call is in the journal within a fraction of a
second, and a result is one transaction: after `kill -9` only the calls in flight are paid again. While the
store takes nothing, no call is made.
"""

import asyncio
import gc
import hashlib
import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from sqlite_utils import Database

from concord.benchmarks import get
from concord.benchmarks.benchmark import Comparing, Judging
from concord.benchmarks.plans import as_dict
from concord.configuration import Configuration, Reported, Use
from concord.conversation import Conversation, Message
from concord.errors import CallFailed, ConcordError, ConfigError, RunStopped, WorkspaceError
from concord.llm import embeddings, replies
from concord.llm.client import Client, Embedded, limits, request
from concord.llm.cluster import ClusterClient
from concord.llm.completions import Beside, Completion
from concord.llm.embeddings import Vector
from concord.llm.prompts import Prompt, RenderedPrompt
from concord.llm.replies import UNANSWERED
from concord.rating import NOTHING_SPENT, Comparison, Judgement, Spent
from concord.runs import claiming, judging, programs
from concord.runs.batches import Batches
from concord.runs.budget import Budget, check_priced, most_tokens
from concord.runs.planning import Job, Pending, Survey, left, survey
from concord.scenario import Scenario
from concord.store import (
    budgets,
    comparisons,
    configurations,
    conversations,
    leases,
    presence,
    ratings,
    runs,
    scenarios,
)
from concord.store.budgets import Grant
from concord.store.database import now
from concord.store.obstacles import obstacle
from concord.store.runs import Failure, NotedCall, Progress, State
from concord.store.writer import Writer
from concord.workspace import Workspace

BEAT_SECONDS = 0.5
PROGRAMS = 2
"""How many of one judge that is a program run at once, unless its entry says."""
GRACE_SECONDS = 30.0
"""How long a run that was stopped waits for its calls in flight."""
CLAIMED = 16
"""Plays that are leased at once."""
LAG_SECONDS = 1.0
"""Calls wait once an answer has waited so long to be stored."""
LOOK_SECONDS = 0.05
"""How often is looked whether it is stored."""
PATIENCE = 10
"""The run ends after this many failures of a model in a row: the rest would fail as well."""

_VECTORS = "_vectors "
"""Prefix of the journal's steps for vectors. They sort first: the last step tells how far a play is."""
_Done = TypeVar("_Done", Completion, Embedded)
_T = TypeVar("_T")


def execute(
    workspace: Workspace,
    job: Job,
    *,
    max_cost: float | None = None,
    retry_failed: bool = False,
    batch: bool = False,
    wait: bool = False,
    cluster: str = "",
    watch: Callable[[Progress], None] | None = None,
) -> Progress:
    """Do what is left of a job and return where it stands.

    With `batch` calls are sent in batches, and the run ends when all wait at the endpoint, unless it is to
    `wait` for the answers. Answers of batches that have ended are collected in any case. `cluster` is the
    address of a Dask scheduler whose workers make the calls.
    It stops at `max_cost` (see `concord.runs.budget`), when the store asks for a stop, and on SIGINT or
    SIGTERM; calls in flight are finished and kept. While the store cannot be written, no call is made and
    nothing is lost. Raises ConcordError if the run cannot start, ConfigError if a price is missing.
    """
    if max_cost is not None:
        check_priced(job.models.values())
    for model in job.models.values():
        model.key()
    todo = survey(workspace, job, retry_failed=retry_failed)
    with ExitStack() as stack:
        with workspace.write() as db:
            _register(db, job)
            number = runs.start(db, job.plan.benchmark, as_dict(job.plan), os.getpid(), max_cost)
            # Before anybody can see the run, so that it is never taken for dead.
            say = stack.enter_context(presence.present(workspace.db_path, number))
            started = runs.get(db, number)
        try:
            with few_collections():
                run = _Run(
                    workspace, started, job, todo, max_cost, retry_failed, batch, wait, cluster, watch, say
                )
                asyncio.run(run.go())
        except BaseException:
            # Where the store cannot be written, the run is known to have ended by its file.
            with suppress(sqlite3.Error, OSError, WorkspaceError), workspace.write() as db:
                runs.end(db, number, "broken", "It ended unexpectedly. The same run continues where it was.")
            raise
    with workspace.read() as db:
        return runs.get(db, number)


def _register(db: Database, job: Job) -> None:
    """Store what is asked: the rubric's version, or the benchmark's criteria."""
    if job.rubric is not None:
        job.rubric.publish(db)
    else:
        benchmark = get(job.plan.benchmark)
        ratings.register(db, benchmark.name, benchmark.criteria, refusal=benchmark.refusal)


@contextmanager
def few_collections() -> Iterator[None]:
    """Collect garbage less often: a call makes many objects and few cycles; the default takes 20 % CPU."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _on_signal(halt: Callable[[str], None]) -> None:
    """The first SIGINT or SIGTERM stops the run cleanly, a second one ends it at once."""
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        halt("Stopped by a signal; calls in flight were finished.")

    for number in (signal.SIGINT, signal.SIGTERM):
        # Only the main thread can handle signals.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, first, number)


@dataclass
class _Run:
    """A run in its event loop, and where it stands. Only the loop changes it."""

    workspace: Workspace
    started: Progress
    job: Job
    survey: Survey
    max_cost: float | None
    retry_failed: bool
    batch: bool
    wait: bool
    cluster: str
    watch: Callable[[Progress], None] | None
    say: Callable[[str], None]
    """Says a sentence to who looks at the run, also while the store cannot be written."""
    done: int = 0
    failed: int = 0
    spent: Spent = NOTHING_SPENT
    failing: Counter[str] = field(default_factory=Counter)
    stop: str = ""
    """Why no new calls are made; empty while the run goes on."""
    broken: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    programs: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)
    """Work that failed: it is not tried again in this run."""
    writer: Writer = field(init=False)
    client: Client = field(init=False)
    batches: Batches = field(init=False)
    budget: Budget | None = None
    seen: Survey = field(default_factory=Survey)
    """What was stored when work was begun: other runs may have stored more since the survey."""
    others: list[Pending] = field(default_factory=list)
    """What other runs are making."""
    other_runs: set[int] = field(default_factory=set)
    made_by_others: int = 0
    failed_by_others: int = 0
    ended: bool = False
    """Whether nothing but storing is left to do."""
    catching_up: asyncio.Task[None] | None = None
    unreadable: str = ""
    """Why the store cannot be read for now."""

    @property
    def number(self) -> int:
        """The run's number."""
        return self.started.id

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """Make no new calls. The first reason is kept."""
        if self.stop:
            return
        self.stop, self.broken = reason, broken
        self.client.stop()
        if self.budget:
            self.budget.stop()
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._abandon)

    def _abandon(self) -> None:
        """End what has no answer yet, such as a body that never ends."""
        left = [task for task in self.tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            self.stop += (
                f" {len(left):,} calls had no answer after {GRACE_SECONDS:g} s and were given up; they may "
                "have been paid for."
            )

    async def go(self) -> None:
        if self.cluster:
            self.client = ClusterClient(self.job.models, address=self.cluster, admit=self._admit)
        else:
            self.client = Client(self.job.models, admit=self._admit)
        calls = self.survey.calls
        guesses = {name: out / calls[name] for name, (_, out) in self.survey.tokens.items()}
        if self.max_cost is not None:
            self.budget = Budget(self.max_cost, self.job.models, guesses, self._granted, self.halt)
        _on_signal(self.halt)
        with Writer(self.workspace.db_path, patient=True) as self.writer:
            self.batches = Batches(
                *(self.workspace, self.job.models, self.client, self.writer, self.number, self.batch),
                *(guesses, self._may_spend, self._collected),
            )
            pulse = asyncio.create_task(self._beat())
            try:
                try:
                    async with self.client:
                        await self._waves()
                except ConfigError as error:
                    self.halt(str(error), broken=True)
                state: State = "broken" if self.broken else "stopped" if self.stop else "finished"
                message = " ".join(
                    filter(None, [*self.client.adaptations.values(), self._shared(), self.stop])
                )
                stands, self.ended = self._stands(), True

                def end(db: Database) -> None:
                    runs.beat(db, self.number, **stands)
                    runs.end(db, self.number, state, message)
                    budgets.close(db, self.number, self.budget.lost if self.budget else 0.0)

                # Whatever was put before is stored before: the pulse tells how long that takes.
                await asyncio.wrap_future(self.writer.ask(end))
            finally:
                pulse.cancel()
                with suppress(asyncio.CancelledError):
                    await pulse
                self._tell()

    async def _waves(self) -> None:
        """Go through what is left; by batch, once more whenever a batch was collected."""
        try:
            await self.batches.collect()
            counted = True
            while not self.stop:
                async with asyncio.TaskGroup() as group:
                    await self._begin(group, counted=counted)
                counted = False
                if not self.stop:
                    await self.batches.submit()
                if not (self.wait and await self.batches.rest(lambda: bool(self.stop))):
                    break
        except CallFailed as failure:
            self.halt(str(failure), broken=True)
        if reason := self.batches.ends_for():
            self.halt(reason, broken=bool(self.batches.problem))

    def _may_spend(self, db: Database) -> float | None:
        if self.max_cost is None:
            return None
        elsewhere = budgets.spent(db, self.started.benchmark, self.started.plan, but=self.number)
        return self.max_cost - elsewhere - self.spent.cost

    def _collected(self, spent: Spent) -> None:
        self.spent += spent
        if self.budget:
            self.budget.paid(spent)

    async def _begin(self, group: asyncio.TaskGroup, *, counted: bool) -> None:
        """Begin what is left and no other run makes; then what others have given back or made in part.

        `counted` notes what was stored before, once for a run.
        """
        # Twice as many plays as calls: a play waits for one call at a time, and plays overlap.
        places = asyncio.Semaphore(2 * sum(limits(self.job.models.values()).values()))
        seen = self.seen if counted else None
        while not self.stop:
            self.others.clear()
            try:
                rest = left(
                    self.workspace,
                    self.job.plays(),
                    retry_failed=self.retry_failed,
                    survey=seen,
                    known=self.survey,
                )
                while batch := list(islice(rest, CLAIMED)):
                    await self._begin_free(batch, group, places)
                break
            except (sqlite3.Error, OSError, WorkspaceError) as error:
                # What is left is looked for once more, from the start; what was begun is leased.
                seen = None
                if not self.stop:
                    await self._until_readable(error)
        while self.others and not self.stop:
            await asyncio.sleep(BEAT_SECONDS)
            waiting, self.others = self.others, []
            keys = [key for item in waiting for key in item.first]
            try:
                held = await self._look(partial(leases.held_by, works=keys))
            except RunStopped:
                return
            free = [item for item in waiting if not held.keys() >= set(item.first)]
            self.others = [item for item in waiting if held.keys() >= set(item.first)]
            for first in range(0, len(free), CLAIMED):
                await self._begin_free(free[first : first + CLAIMED], group, places)

    async def _begin_free(
        self, items: Sequence[Pending], group: asyncio.TaskGroup, places: asyncio.Semaphore
    ) -> None:
        """Lease these pieces of work and begin them, as places become free; note which others make."""
        if self.stop:
            return
        claimed = await asyncio.wrap_future(
            self.writer.ask(partial(claiming.claim, run=self.number, items=items, again=self.retry_failed))
        )
        self.others += claimed.others
        self.other_runs |= claimed.by
        self.made_by_others += claimed.stored
        self.failed_by_others += claimed.failed
        for item in claimed.mine:
            await places.acquire()
            if self.stop:
                return
            task = group.create_task(self._one(item, places))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _look(self, look: Callable[[Database], _T]) -> _T:
        """What the store holds; waits while it cannot be read. Raises RunStopped if the run has stopped."""
        while True:
            try:
                with self.workspace.read() as db:
                    found = look(db)
            except (sqlite3.Error, OSError, WorkspaceError) as error:
                await self._until_readable(error)
            else:
                self.unreadable = ""
                return found

    async def _until_readable(self, error: Exception) -> None:
        """Wait a while for the obstacle to go away. Raises the error if there is none."""
        self.unreadable = obstacle(error)
        if not self.unreadable:
            raise error
        if self.stop:
            raise RunStopped(self.stop)
        await asyncio.sleep(BEAT_SECONDS)

    async def _admit(self) -> None:
        """Wait until a call may be made, called before each. Raises RunStopped if the run has stopped."""
        if self.writer.lag > LAG_SECONDS:
            if self.catching_up is None or self.catching_up.done():
                self.catching_up = asyncio.create_task(self._catch_up())
            await asyncio.shield(self.catching_up)
        if self.stop:
            raise RunStopped(self.stop)

    async def _granted(self, wanted: float) -> Grant:
        """What the store grants of what this run wants to have spent."""
        assert self.max_cost is not None
        change = partial(budgets.grant, run=self.number, wanted=wanted, limit=self.max_cost)
        return await asyncio.wrap_future(self.writer.ask(change))

    async def _catch_up(self) -> None:
        """Wait until the store has taken what was answered, or the run stops."""
        while self.writer.lag > LAG_SECONDS and not self.stop:
            await asyncio.sleep(LOOK_SECONDS)

    async def _one(self, item: Pending, places: asyncio.Semaphore) -> None:
        try:
            conversation = await self._played(item)
            if conversation is not None:
                await asyncio.gather(*(self._judged(item, conversation, owed) for owed in item.judged))
        except RunStopped:
            return  # The calls made are in the journal: the next run continues here.
        except ConcordError as error:
            self.halt(str(error), broken=True)
        finally:
            places.release()

    async def _played(self, item: Pending) -> Conversation | None:
        key = item.play.key
        if key in self.given_up:
            return None
        if item.stored:
            return await self._look(lambda db: conversations.load(db, key))
        if item.play.play is None:
            return None
        ask = await _asking(self, key, key in item.resumed)
        try:
            made = await item.play.play(ask)
        except CallFailed as failure:
            self._failed(item, failure)
            return None
        models, inline = self.job.models, item.play.inline

        def save(db: Database) -> None:
            simulated = any(models[name].simulated for name in ask.reported)
            if isinstance(made, Scenario):
                scenarios.save(db, [replace(made, body={**made.body, "simulated": simulated})])
            else:
                saved = conversations.save(db, made, ask.spent, simulated=simulated)
                configurations.of_conversation_were(db, saved, [ask.use(name) for name in ask.reported])
                if inline is not None:
                    given = inline.judgement(made)
                    rater = replace(given.judge, simulated=models[given.judge.name].simulated)
                    _save_verdict(db, replace(given, judge=rater), inline.prompt, ask)
            runs.settle(db, key)

        self.writer.put(save)
        self.done += 1
        return None if isinstance(made, Scenario) else made

    async def _judged(self, item: Pending, conversation: Conversation, owed: Judging | Comparing) -> None:
        if owed.key in self.given_up:
            return
        ask = await _asking(self, owed.key, owed.key in item.resumed)
        model = self.job.models[owed.judge]
        judged: Judgement | Comparison
        try:
            if isinstance(owed, Judging):
                judged = await judging.judge(ask, conversation, owed, model)
            else:
                against = owed.against
                other = await self._look(lambda db: conversations.load(db, against))
                judged = await judging.compare(ask, conversation, other, owed, model)
        except CallFailed as failure:
            self._failed(owed, failure)
            return
        except RunStopped:
            return  # The other verdicts of this conversation go on.
        verdict, failed = replace(judged, spent=ask.spent), ask.failure

        def save(db: Database) -> None:
            _save_verdict(db, verdict, owed.prompt, ask)
            runs.settle(db, owed.key)
            if verdict.failure is not None and failed is not None:
                runs.save_failure(db, owed.key, self._told(failed), self.number)

        self.writer.put(save)
        if verdict.failure is None:
            self.done += 1
        else:
            self.failed += 1

    def _failed(self, work: Pending | Judging | Comparing, failure: CallFailed) -> None:
        told, pieces, keys = (
            self._told(failure),
            1,
            [work.play.key if isinstance(work, Pending) else work.key],
        )
        if isinstance(work, Pending):
            told = replace(told, player=work.play.player, facets=work.play.facets)
            pieces, keys = work.pieces, [*keys, *work.owed]
        self.given_up.update(keys)

        def save(db: Database) -> None:
            runs.save_failure(db, keys[0], told, self.number)
            leases.release(db, keys)

        self.writer.put(save)
        self.failed += pieces

    def _told(self, failure: CallFailed) -> Failure:
        benchmark, said = self.job.plan.benchmark, str(failure)
        return Failure(failure.kind, said, failure.reason, failure.raw, benchmark, failure.model)

    async def _beat(self) -> None:
        while not self.ended:
            stands = self._stands()
            asked = asyncio.wrap_future(self.writer.ask(partial(runs.beat, run=self.number, **stands)))
            try:
                while not asked.done():
                    await asyncio.wait([asked], timeout=BEAT_SECONDS)
                    self._tell()
            finally:
                asked.cancel()
            if asked.result():
                self.halt("Stopped on request; calls in flight were finished.")
            await asyncio.sleep(BEAT_SECONDS)
        while True:
            self._tell()
            await asyncio.sleep(BEAT_SECONDS)

    def _stands(self) -> dict[str, Any]:
        # What failed before and is not retried counts as failed from the start.
        before, seen = self.survey, self.seen
        said = [*self.client.adaptations.values(), self._shared(), self.client.says(), self.batches.says()]
        return {
            "planned": max(before.planned, seen.planned),
            "stored": max(before.stored, seen.stored) + self.made_by_others,
            "done": self.done,
            "failed": self.failed + max(before.failed, seen.failed) + self.failed_by_others,
            "message": " ".join(filter(None, said)),
        }

    def _shared(self) -> str:
        """Which results other runs make or have made; “” where there are none."""
        made = self.made_by_others + max(0, self.seen.stored - self.survey.stored)
        by = "run " + ", ".join(map(str, sorted(self.other_runs))) if self.other_runs else "another run"
        waiting = sum(item.pieces for item in self.others)
        told = [f"{made:,} results were made by {by} meanwhile."] if made else []
        told += [f"{waiting:,} results are being made by {by}: they are not paid twice."] if waiting else []
        return " ".join(told)

    def _tell(self) -> None:
        """Say where the run stands, and what the store cannot take, without the store."""
        waits, stands = self._waits_for_the_store(), self._stands()
        self.say(waits)
        if self.watch:
            stands["message"] = waits or stands["message"]
            elsewhere = self.budget.elsewhere if self.budget else 0.0
            self.watch(replace(self.started, **stands, spent=self.spent, elsewhere=elsewhere, beat=now()))

    def _waits_for_the_store(self) -> str:
        why = self.writer.obstacle or self.unreadable
        if not why and self.writer.lag <= LAG_SECONDS:
            return ""
        return (
            f"No call is made while the store cannot be used: {why or 'it takes long to write'}. "
            "What was answered is kept in memory and stored as soon as possible"
        )


async def _asking(run: _Run, work: str, resumed: bool) -> "_Asking":
    """How a piece of work asks, with what the journal holds of it."""
    return _Asking(run, work, await run._look(lambda db: runs.noted_calls(db, work)) if resumed else {})


class _Asking:
    """Asks for one piece of work: the journal where the same call was answered before, else the endpoint."""

    def __init__(self, run: _Run, work: str, noted: Mapping[str, NotedCall]):
        self.run = run
        self.work = work
        self.noted = noted
        self.spent = NOTHING_SPENT
        self.reported: dict[str, Counter[Reported]] = {}
        self.failure: CallFailed | None = None
        """The last reply that stayed unusable."""
        self.vectors: dict[str, tuple[str, Reported]] = {}
        for step, call in noted.items():
            if step.startswith(_VECTORS):
                self.vectors |= {mark: (v, call.reported) for mark, v in json.loads(call.reply).items()}
                self.spent += call.spent

    def use(self, model: str) -> Use:
        """The configuration of a model, and what its endpoint reported for this piece of work."""
        return Use(self.run.client.model(model).configuration, self.reported.get(model, {}))

    async def __call__(
        self,
        step: str,
        model: str,
        asked: RenderedPrompt,
        check: Callable[[Any], object] | None = None,
        /,
        *,
        may_be_empty: bool = False,
    ) -> replies.Answer:
        async def call(step: str, messages: Sequence[Message], /) -> Completion:
            return await self._call(step, model, messages, asked)

        try:
            return await replies.answer(
                call, step, asked.messages, asked.reply, check, may_be_empty=may_be_empty
            )
        except CallFailed as failure:
            failure.model = failure.model or model
            self.failure = failure
            if failure.kind in UNANSWERED:
                # The next attempt must not read these unusable replies again.
                self.run.writer.put(lambda db: runs.forget_step(db, self.work, step))
            raise

    async def _call(
        self,
        step: str,
        model: str,
        messages: Sequence[Message],
        asked: RenderedPrompt,
    ) -> Completion:
        run, params, schema = self.run, asked.params, asked.schema
        entry = run.job.models[model].entry.configuration
        sent = _digest([entry.hash, [(m.role, m.content) for m in messages], dict(params), schema])
        noted = self.noted.get(step)
        if noted is not None and noted.asked == sent:
            self.spent += noted.spent
            self._count(model, noted.reported)
            beside = Beside.from_dict(noted.beside)
            return Completion(noted.reply, noted.cut, noted.spent, noted.reported, beside)
        # A retry on demand must not get the answer that failed.
        seed = int(_digest([self.work, step, run.number if run.retry_failed else 0])[:8], 16)
        role = run.job.role(model, asked.name)
        body = partial(request, messages=messages, params=params, schema=schema, seed=seed, role=role)
        await run.batches.ask(self.work, step, sent, model, body)
        done = await self._paid(
            model,
            lambda: run.client.complete(model, messages, params=params, schema=schema, seed=seed, role=role),
            partial(request, run.client.model(model), messages, params=params, schema=schema, role=role),
        )
        self._count(model, done.reported)
        note = NotedCall(sent, done.text, done.cut, done.spent, done.reported, done.beside.as_dict())
        self._note(step, note, run.client.model(model).configuration)
        return done

    async def embed(self, model: str, texts: Sequence[str], /) -> list[Vector]:
        """Vectors from the journal or the endpoint. A resumed run may group the texts differently."""
        configuration = self.run.job.models[model].configuration
        marks = [_digest([configuration.hash, text]) for text in texts]
        new = {mark: text for mark, text in zip(marks, texts, strict=True) if mark not in self.vectors}
        if new:
            texts = list(new.values())
            asked = {"input": texts}
            done = await self._paid(model, lambda: self.run.client.embed(model, texts), lambda: asked)
            packed = {mark: embeddings.pack(v) for mark, v in zip(new, done.vectors, strict=True)}
            self.vectors |= {mark: (vector, done.reported) for mark, vector in packed.items()}
            note = NotedCall("", json.dumps(packed), False, done.spent, done.reported)
            step = _VECTORS + next(iter(new))
            self._note(step, note, configuration)
        self._count(model, *{self.vectors[mark][1] for mark in marks})
        return [embeddings.unpack(self.vectors[mark][0]) for mark in marks]

    def _note(self, step: str, note: NotedCall, configuration: Configuration) -> None:
        """Keep an answered call and what it cost."""

        def keep(db: Database) -> None:
            runs.note_call(db, self.work, step, note, configuration)
            runs.spend(db, self.run.number, note.spent)

        self.run.writer.put(keep)

    async def program(self, model: str, told: Mapping[str, Any], /) -> str:
        """What a program that judges prints; as many run at once as its entry says."""
        run, entry = self.run, self.run.job.models[model]
        gate = run.programs.setdefault(model, asyncio.Semaphore(entry.max_concurrency or PROGRAMS))
        try:
            async with gate:
                await run._admit()
                return await programs.answer(entry, told, run.workspace.path)
        except CallFailed as failure:
            failure.model = model
            self.failure = failure
            raise

    def _count(self, model: str, *reported: Reported) -> None:
        self.reported.setdefault(model, Counter()).update(reported)

    async def _paid(
        self,
        model: str,
        call: Callable[[], Awaitable[_Done]],
        sent: Callable[[], Mapping[str, Any]],
    ) -> _Done:
        """The answer of an endpoint to what is `sent`; counts what it cost and the failures in a row."""
        if self.run.budget is None:
            return await self._answered(model, call)
        body = sent()
        size = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        async with self.run.budget.reserved(model, size, most_tokens(body)) as held:
            try:
                done = await self._answered(model, call)
            except CallFailed as failure:
                held.spent = failure.spent
                raise
            held.spent = done.spent
        return done

    async def _answered(self, model: str, call: Callable[[], Awaitable[_Done]]) -> _Done:
        run = self.run
        try:
            done = await call()
        except CallFailed as failure:
            run.spent += failure.spent
            if failure.spent.calls:
                paid = failure.spent
                run.writer.put(lambda db: runs.spend(db, run.number, paid))
            run.failing[model] += 1
            if failure.kind == "auth" or run.failing[model] >= PATIENCE:
                run.halt(str(failure), broken=True)
            raise
        run.failing[model] = 0
        run.spent += done.spent
        self.spent += done.spent
        return done


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]


def _save_verdict(db: Database, verdict: Judgement | Comparison, prompt: Prompt, ask: _Asking) -> None:
    """Store a verdict with its prompt and the configuration of the judge."""
    ratings.remember_prompt(db, prompt.hash, prompt.benchmark, prompt.version, prompt.name, prompt.body())
    if isinstance(verdict, Comparison):
        comparisons.save(db, verdict)
        configurations.of_verdict_was(db, "comparisons", verdict.key, ask.use(verdict.rater.name))
    else:
        ratings.save_judgement(db, verdict)
        configurations.of_verdict_was(db, "judgements", verdict.key, ask.use(verdict.judge.name))
