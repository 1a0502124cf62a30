"""A run: what is planned minus what is stored is played, judged and stored, many at a time; it can be stopped, killed and continued.

One process, one event loop, one writing thread. Every answered call is in the journal within a fraction of a second, every
result in one transaction, so the same plan continues after `kill -9` and pays again only for the calls that were in flight.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlite_utils import Database

from core.benchmarks import get
from core.benchmarks.benchmark import Comparing, Judging
from core.conversation import Conversation, Message
from core.errors import CallFailed, ConcordError, RunStopped
from core.llm import embeddings, replies
from core.llm.embeddings import Vector
from core.llm.models import Client, Completion, Embedded, limits
from core.llm.prompts import Prompt, RenderedPrompt
from core.llm.replies import json_schema
from core.rating import NOTHING_SPENT, Comparison, Judgement, Spent
from core.runs import judging
from core.runs.planning import Job, Pending, Survey, left, survey
from core.store import comparisons, conversations, ratings, runs
from core.store.database import now
from core.store.runs import Progress
from core.store.writer import Writer
from core.workspace import Workspace

BEAT_SECONDS = 0.5
PATIENCE = 10
"""So many failures of an endpoint in a row, with no answer between them, end the run: the rest would fail as well."""


@dataclass
class _State:
    """Where the run stands, in the one loop that changes it."""

    survey: Survey
    done: int = 0
    failed: int = 0
    spent: Spent = NOTHING_SPENT
    failing: Counter[str] = field(default_factory=Counter)
    stop: str | None = None
    broken: bool = False

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """No new calls from here on; the first reason is the one that is told."""
        if self.stop is None:
            self.stop, self.broken = reason, broken


def execute(
    workspace: Workspace,
    job: Job,
    *,
    max_cost: float | None = None,
    retry_failed: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Progress:
    """Do what is left of a job and return where it stands.

    Stops cleanly (calls in flight are finished and kept) at `max_cost`, when the store's stop is asked for, on SIGINT or SIGTERM.
    Raises ConcordError where the run cannot start, or where another process is at the same plan.
    """
    _refuse_twin(workspace, job)
    for model in job.models.values():
        model.key()
    system = get(job.benchmark)
    state = _State(survey(workspace, job, retry_failed=retry_failed))
    with workspace.write() as db:
        ratings.register(db, system.name, system.criteria, refusal=system.refusal)
        number = runs.start(db, job.benchmark, job.plan, os.getpid())
    try:
        with few_collections():
            asyncio.run(_Run(workspace, number, job, state, max_cost, retry_failed, watch).go())
    except BaseException:
        with workspace.write() as db:
            runs.end(db, number, "broken", "It ended unexpectedly. The same run continues where it was.")
        raise
    with workspace.write() as db:
        runs.end(
            db,
            number,
            "broken" if state.broken else "stopped" if state.stop else "finished",
            state.stop or "",
        )
        return runs.get(db, number)


@contextmanager
def few_collections() -> Iterator[None]:
    """A call makes thousands of short-lived objects and next to no cycles: collecting after every 700 costs a fifth of its CPU."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def on_signal(halt: Callable[[str], None]) -> None:
    """Have the first signal to end stop the work of this loop cleanly; a second one ends it at once."""
    loop = asyncio.get_running_loop()

    def first(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        halt("Stopped by a signal; calls in flight were finished.")

    for number in (signal.SIGINT, signal.SIGTERM):
        # Only a process's main thread may listen to signals; a run inside a test's thread does without.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, first, number)


@asynccontextmanager
async def heartbeat(
    beat: Callable[[], Coroutine[None, None, None]], last: Callable[[], None]
) -> AsyncIterator[None]:
    """Have `beat` go on beside the work, until that ends in whatever way; then tell `last` where it stands."""
    pulse = asyncio.create_task(beat())
    try:
        yield
    finally:
        pulse.cancel()
        with suppress(asyncio.CancelledError):
            await pulse
        last()


class _Run:
    """The loop's side of a run."""

    writer: Writer
    client: Client

    def __init__(
        self, workspace: Workspace, number: int, job: Job, state: _State,
        max_cost: float | None, retry_failed: bool, watch: Callable[[Progress], None] | None,
    ):  # fmt: skip
        self.workspace = workspace
        self.number = number
        self.job = job
        self.state = state
        self.max_cost = max_cost
        self.retry_failed = retry_failed
        self.watch = watch

    async def go(self) -> None:
        # Twice as many conversations under way as calls: each waits for one call at a time, and one's end overlaps another's beginning.
        places = asyncio.Semaphore(2 * sum(limits(self.job.models.values()).values()))
        on_signal(self.state.halt)
        with Writer(self.workspace.db_path) as self.writer:
            async with (
                Client(self.job.models) as self.client,
                heartbeat(self._beat, self._write_beat),
                asyncio.TaskGroup() as group,
            ):
                for item in left(self.workspace, self.job.plays(), retry_failed=self.retry_failed):
                    await places.acquire()
                    if self.state.stop is not None:
                        break
                    group.create_task(self._one(item, places))

    async def _one(self, item: Pending, places: asyncio.Semaphore) -> None:
        try:
            conversation = await self._played(item)
            if conversation is not None:
                await asyncio.gather(*(self._judged(item, conversation, owed) for owed in item.judged))
        except RunStopped:
            return  # what was begun is in the journal and is taken up by the next run
        except ConcordError as error:
            self.state.halt(str(error), broken=True)
        finally:
            places.release()

    async def _played(self, item: Pending) -> Conversation | None:
        key = item.play.key
        if item.stored:
            with self.workspace.read() as db:
                return conversations.load(db, key)
        if item.play.play is None:
            return None
        ask = _Asking(self, key, key in item.resumed)
        try:
            conversation = await item.play.play(ask)
        except CallFailed as failure:
            self._failed(key, failure, item.pieces)
            return None
        simulated = any(self.job.models[name].simulated for name in ask.models)
        within = item.play.within

        def save(db: Database) -> None:
            conversations.save(db, conversation, ask.spent, simulated=simulated)
            if within is not None:
                given = within.judgement(conversation)
                rater = replace(given.judge, simulated=self.job.models[given.judge.name].simulated)
                _remember(db, within.prompt)
                ratings.save_judgement(db, replace(given, judge=rater))
            _settle(db, key)

        self.writer.put(save)
        self.state.done += 1
        return conversation

    async def _judged(self, item: Pending, conversation: Conversation, owed: Judging | Comparing) -> None:
        ask = _Asking(self, owed.key, owed.key in item.resumed)
        model = self.job.models[owed.judge]
        judged: Judgement | Comparison
        try:
            if isinstance(owed, Judging):
                judged = await judging.judge(ask, conversation, owed, model)
            else:
                with self.workspace.read() as db:
                    other = conversations.load(db, owed.against)
                judged = await judging.compare(ask, conversation, other, owed, model)
        except CallFailed as failure:
            self._failed(owed.key, failure)
            return
        verdict, prompt = replace(judged, spent=ask.spent), owed.prompt

        def save(db: Database) -> None:
            _remember(db, prompt)
            if isinstance(verdict, Comparison):
                comparisons.save(db, verdict)
            else:
                ratings.save_judgement(db, verdict)
            _settle(db, owed.key)

        self.writer.put(save)
        if verdict.failure is None:
            self.state.done += 1
        else:
            self.state.failed += 1

    def _failed(self, key: str, failure: CallFailed, pieces: int = 1) -> None:
        kind, message, raw = failure.kind, str(failure), failure.raw
        self.writer.put(lambda db: runs.save_failure(db, key, kind, message, raw, self.number))
        self.state.failed += pieces

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._write_beat()
            with self.workspace.read() as db:
                if runs.stop_asked(db, self.number):
                    self.state.halt("Stopped on request; calls in flight were finished.")

    def _write_beat(self) -> None:
        s = self.state
        # Judgements that failed before and are not retried count as failed from the start: they are not left to do.
        stands: dict[str, Any] = {
            "planned": s.survey.planned,
            "stored": s.survey.stored,
            "done": s.done,
            "failed": s.failed + s.survey.failed,
        }
        spent = s.spent
        self.writer.put(lambda db: runs.beat(db, self.number, **stands, spent=spent))
        if self.watch:
            with self.workspace.read() as db:
                self.watch(replace(runs.get(db, self.number), **stands, spent=spent, beat=now()))


class _Asking:
    """Asks on behalf of one piece of work: from the journal where the same was answered before, else from the endpoint."""

    def __init__(self, run: _Run, work: str, resumed: bool):
        self.run = run
        self.work = work
        self.spent = NOTHING_SPENT
        self.models: set[str] = set()
        self.noted: Mapping[str, tuple[str, str, Spent]] = {}
        if resumed:
            with run.workspace.read() as db:
                self.noted = runs.noted_calls(db, work)
        self.vectors: dict[str, str] = {}
        for step, (_, packed, spent) in self.noted.items():
            if step.startswith(_VECTORS):
                self.vectors |= json.loads(packed)
                self.spent += spent

    async def __call__(
        self, step: str, model: str, asked: RenderedPrompt, check: Callable[[Any], object] | None = None, /
    ) -> replies.Answer:
        self.models.add(model)
        schema = json_schema(asked.reply) if asked.reply else None

        async def call(step: str, messages: Sequence[Message], /) -> Completion:
            return await self._call(step, model, messages, asked.params, schema)

        return await replies.answer(call, step, asked.messages, asked.reply, check)

    async def _call(
        self,
        step: str,
        model: str,
        messages: Sequence[Message],
        params: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
    ) -> Completion:
        run = self.run
        sent = _digest([model, [(m.role, m.content) for m in messages], dict(params)])
        if step in self.noted and self.noted[step][0] == sent:
            _, text, spent = self.noted[step]
            self.spent += spent
            return Completion(text.removeprefix(_CUT), text.startswith(_CUT), spent)
        # A judgement retried on demand must not get the very answer that failed.
        seed = int(_digest([self.work, step, run.number if run.retry_failed else 0])[:8], 16)
        done = await self._paid(
            model, lambda: run.client.complete(model, messages, params=params, schema=schema, seed=seed)
        )
        work, text = self.work, (_CUT if done.cut else "") + done.text
        run.writer.put(lambda db: runs.note_call(db, work, step, sent, text, done.spent))
        return done

    async def embed(self, model: str, texts: Sequence[str], /) -> list[Vector]:
        """From the journal text by text: a resumed run may ask for them in other company than before."""
        self.models.add(model)
        entry = self.run.job.models[model]
        marks = [_digest([model, entry.served, entry.params, text]) for text in texts]
        new = {mark: text for mark, text in zip(marks, texts, strict=True) if mark not in self.vectors}
        found = {mark: embeddings.unpack(self.vectors[mark]) for mark in marks if mark in self.vectors}
        if new:
            done = await self._paid(model, lambda: self.run.client.embed(model, list(new.values())))
            found |= zip(new, done.vectors, strict=True)
            packed = json.dumps({mark: embeddings.pack(v) for mark, v in zip(new, done.vectors, strict=True)})
            work, step = self.work, _VECTORS + next(iter(new))
            self.run.writer.put(lambda db: runs.note_call(db, work, step, "", packed, done.spent))
        return [found[mark] for mark in marks]

    async def _paid(self, model: str, call: Callable[[], Awaitable[_Done]]) -> _Done:
        """A call to an endpoint, counted; none where the run is to stop."""
        run, state = self.run, self.run.state
        if run.max_cost is not None and state.spent.cost >= run.max_cost:
            state.halt(f"Stopped at the spending limit of {run.max_cost:g}. Raise --max-cost to go on.")
        if state.stop is not None:
            raise RunStopped(state.stop)
        try:
            done = await call()
        except CallFailed as failure:
            state.spent += failure.spent
            state.failing[model] += 1
            if failure.kind == "auth" or state.failing[model] >= PATIENCE:
                state.halt(str(failure), broken=True)
            raise
        state.failing[model] = 0
        state.spent += done.spent
        self.spent += done.spent
        return done


_CUT = "\x00cut\x00"
"""Stands before a journalled reply that was cut off at the length limit."""
_VECTORS = "_vectors "
"""Begins the names under which vectors are journalled: before those of steps in the alphabet, the last of which tells how far a play is."""
_Done = TypeVar("_Done", Completion, Embedded)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]


def _settle(db: Database, work: str) -> None:
    runs.forget_calls(db, work)
    runs.forget_failure(db, work)


def _remember(db: Database, prompt: Prompt) -> None:
    ratings.remember_prompt(db, prompt.hash, prompt.benchmark, prompt.version, prompt.name, prompt.body())


def _refuse_twin(workspace: Workspace, job: Job) -> None:
    with workspace.read() as db:
        other = runs.at_work(db, job.plan)
    if other is not None:
        raise ConcordError(
            f"Run {other} is at work on this very plan. Watch it on the runs page, or stop it first."
        )
