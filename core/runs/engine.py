"""The engine of a run: makes what a plan asks for and the store lacks; it can be stopped, killed and resumed.

One process, one event loop, one writing thread. An answered call is in the journal within a fraction of a
second, and a result is one transaction: after `kill -9` only calls in flight and answers of the last tenth
of a second are paid again. While the store takes nothing, no call is made.
"""

import asyncio
import gc
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

from sqlite_utils import Database

from concord import messages
from concord.conversation import Conversation
from concord.errors import (
    CallFailed,
    ConcordError,
    ConfigError,
    DatabaseReplaced,
    RunStopped,
    WorkspaceError,
)
from concord.llm.client import Client, limits
from concord.llm.prompts import Prompt
from concord.rating import Comparison, Judgement, Spent
from concord.runs import handshakes, judging
from concord.runs.batch_store import StoredBatches
from concord.runs.batches import Batches
from concord.runs.benchmark import DueJudgement
from concord.runs.budget import Budget, check_priced
from concord.runs.call_runner import Asker, Calls
from concord.runs.handshakes import Handshakes
from concord.runs.journal import StoreJournal
from concord.runs.planning import Job, Pending, Survey, left, survey
from concord.runs.plans import RunOptions, as_dict
from concord.runs.registry import get
from concord.runs.stored import UNREADABLE, RunStore
from concord.scenario import Scenario
from concord.store import (
    comparisons,
    configurations,
    conversations,
    images,
    locks,
    ratings,
    runs,
    scenarios,
)
from concord.store.database import now
from concord.store.runs import FailedWork, Progress, State
from concord.store.writer import Writer, applied
from concord.workspace import Workspace

BEAT_SECONDS = 0.5
GRACE_SECONDS = 30.0
"""How long a run that was stopped waits for its calls in flight."""


def execute(
    workspace: Workspace,
    job: Job,
    *,
    watch: Callable[[Progress], None] | None = None,
    **options: Unpack[RunOptions],
) -> Progress:
    """Do what is left of a job and return where it stands.

    Answers of batches that have ended are collected in any case. It also stops when the store asks for it,
    and on SIGINT or SIGTERM; calls in flight are finished and kept. A second signal ends the process. While
    the store cannot be written, no call is made and nothing is lost. Raises ConcordError if the run cannot
    start, ConfigError if a price is missing.
    """
    max_cost = options.get("max_cost")
    retry_failed = options.get("retry_failed", False)
    if max_cost is not None:
        check_priced(job.models.values())
    for model in job.models.values():
        model.key()
        model.sent_headers()
    todo = survey(workspace, job, retry_failed=retry_failed)
    with ExitStack() as stack:
        with workspace.write() as db:
            _register(db, job)
            number = runs.start(db, job.plan.benchmark, as_dict(job.plan), os.getpid(), max_cost)
            # Before anybody can see the run, so that it is never taken for dead.
            say = stack.enter_context(locks.present(workspace.db_path, number))
            started = runs.get(db, number)
        try:
            with few_collections():
                run = _Run(workspace, started, job, todo, options, watch, say)
                return asyncio.run(run.go())
        except DatabaseReplaced:
            raise  # the run of this number is another one in the file that lies there now
        except BaseException:
            # Where the store cannot be written, the run is known to have ended by its file.
            with suppress(sqlite3.Error, OSError, WorkspaceError), workspace.write() as db:
                runs.end(db, number, "broken", "It ended unexpectedly. Resume the run to continue.")
            raise


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


SIGNALS = (signal.SIGINT, signal.SIGTERM)


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """A coroutine runs while the block does; at its end it is cancelled and waited for."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@contextmanager
def stopped_by_signals(stop: Callable[[int], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops the run cleanly; the system ends the process at a second one.

    A handler of the loop would wait until the loop is free, and one of Python until its code is.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def first(number: int, _frame: object) -> None:
        for signal_number in SIGNALS:
            signal.signal(signal_number, signal.SIG_DFL)
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop, number)

    try:
        for number in SIGNALS:
            with suppress(ValueError):  # Only the main thread can handle signals.
                signal.signal(number, first)
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError, TypeError):  # not the main thread, or not a handler of Python's
                signal.signal(number, handler)


@dataclass
class _Run:
    """A run in its event loop, and where it stands. Only the loop changes it."""

    workspace: Workspace
    started: Progress
    job: Job
    survey: Survey
    options: RunOptions
    watch: Callable[[Progress], None] | None
    say: Callable[[str], None]
    """Says a sentence to who looks at the run, also while the store cannot be written."""
    finished_works: int = 0
    failed: int = 0
    refused_keys: set[str] = field(default_factory=set)
    """Work counted as done whose result the store did not take. The writing thread adds to it."""
    stop: str = ""
    """Why no new calls are made; empty while the run goes on."""
    broken: bool = False
    signal: int = 0
    """The signal that stopped it; 0 for none."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    """Work that failed: it is not tried again in this run."""
    store: RunStore = field(init=False)
    client: Client = field(init=False)
    batches: Batches = field(init=False)
    calls: Calls = field(init=False)
    budget: Budget | None = None
    current_survey: Survey = field(default_factory=Survey)
    """What was stored when work was begun: another run may have stored more since the survey."""
    ahead: int | None = None
    """The run of the benchmark that this one waits for."""
    unseen: dict[str, set[str]] = field(default_factory=dict)
    """Conversations whose images a judge was not shown."""
    is_ended: bool = False
    """Whether nothing but storing is left to do."""

    @property
    def number(self) -> int:
        """The run's number."""
        return self.started.id

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """Make no new calls. The first reason is kept."""
        if self.stop:
            return
        self.stop = reason
        self.broken = broken
        self.client.stop()
        if self.budget:
            self.budget.stop()
        if hasattr(self, "calls"):
            self.calls.release()
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._abandon)

    def _signalled(self, number: int) -> None:
        self.signal = number
        self.halt(messages.STOPPED_BY_SIGNAL)

    def _abandon(self) -> None:
        """End what has no answer yet, such as a body that never ends."""
        left = [task for task in self.tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            self.stop += (
                f" {len(left):,} calls had no answer after {GRACE_SECONDS:g} s and were abandoned; they "
                "may have been paid."
            )

    async def go(self) -> Progress:
        """Make what is left; where the run stands at its end."""
        with stopped_by_signals(self._signalled), Writer(self.workspace.db_path, patient=True) as writer:
            self.store = RunStore(self.workspace, writer, lambda: self.stop)
            self.client = Client(self.job.models, admit=self.store.admit)
            known_handshakes = await self.store.look(
                lambda db: handshakes.known_handshakes(db, self.job.models)
            )
            shaken = Handshakes(self.job.models, known_handshakes)
            # From here on a model is what its endpoint takes.
            self.job = replace(self.job, models=shaken.models)
            calls = self.survey.calls
            guesses = {name: tokens_out / calls[name] for name, (_, tokens_out) in self.survey.tokens.items()}
            if (limit := self.started.max_cost) is not None:
                self.budget = Budget(limit, self.job.models, guesses, self._granted, self.halt)
            self.batches = Batches(
                StoredBatches(self.store, self.number, self.job.models),
                self.job.models,
                self.client,
                self.options.get("batch", False),
                guesses,
                self.budget,
                self._collected,
            )
            self.calls = Calls(
                run=self.number,
                journal=StoreJournal(self.store, self.number),
                models=self.job.models,
                retry_failed=self.options.get("retry_failed", False),
                client=self.client,
                batches=self.batches,
                handshakes=shaken,
                budget=self.budget,
                halt=self.halt,
            )
            ever = await self.store.look(lambda db: configurations.latest(db, self.job.models))
            self.calls.answered_models.update(ever, known_handshakes)
            try:
                async with alongside(self._beat()):
                    return await self._to_its_end(writer)
            finally:
                self._tell()

    async def _to_its_end(self, writer: Writer) -> Progress:
        """Work in waves, then store how the run ended."""
        try:
            async with self.client:
                await self._waves()
        except ConfigError as error:
            self.halt(str(error), broken=True)
        if writer.replaced:
            self.halt(str(writer.replaced), broken=True)
        stopped = self.calls.stopped
        broken = self.broken or bool(stopped)
        state: State = "broken" if broken else "stopped" if self.stop else "finished"
        others_left = len(self.job.models) > len(stopped)
        ends = self.stop or (messages.models_stopped(stopped, others=others_left) if stopped else "")
        message = " ".join(filter(None, [*self._notes(), ends]))
        self.is_ended = True

        def end(db: Database) -> Progress:
            # Only now it is known what the store refused.
            runs.beat(db, self.number, **self._stands())
            runs.end(db, self.number, state, message)
            runs.end_grant(db, self.number, self.budget.lost if self.budget else 0.0)
            return runs.get(db, self.number)

        # Whatever was put before is stored before: the pulse tells how long that takes.
        end_state = await self.store.do(end)
        return replace(end_state, signal=self.signal)

    async def _waves(self) -> None:
        """Go through what is left; by batch, once more whenever a batch was collected."""
        try:
            await self._turn()
            await self.batches.collect()
            is_counted = True
            while not self.stop:
                async with asyncio.TaskGroup() as group:
                    await self._begin(group, is_counted=is_counted)
                is_counted = False
                if not self.stop:
                    await self.batches.submit()
                if not (self.options.get("wait") and await self.batches.rest(lambda: bool(self.stop))):
                    break
        except CallFailed as failure:
            self.halt(str(failure), broken=True)
        except RunStopped:
            return  # The store could not be read until the run was stopped.
        if reason := self.batches.ends_for():
            self.halt(reason, broken=bool(self.batches.problems))

    async def _turn(self) -> None:
        """Wait until no run of the benchmark that was started before is at work; time counts from then."""
        has_waited = False
        while not self.stop:
            self.ahead = await self.store.look(partial(runs.ahead, run=self.number))
            if self.ahead is None:
                break
            has_waited = True
            await asyncio.sleep(BEAT_SECONDS)
        self.ahead = None
        if has_waited and not self.stop:
            began = await self.store.do(partial(runs.begin, run=self.number))
            self.started = replace(self.started, started=began)
        if self.budget:
            self.budget.elsewhere = await self.store.do(partial(runs.elsewhere, run=self.number))

    def _collected(self, usage: Spent) -> None:
        self.calls.usage += usage
        if self.budget:
            self.budget.record_usage(usage)

    async def _begin(self, group: asyncio.TaskGroup, *, is_counted: bool) -> None:
        """Begin what is left, as places become free. `is_counted` notes what was stored, once for a run."""
        # Twice as many plays as calls: a play waits for one call at a time, and plays overlap.
        places = asyncio.Semaphore(2 * sum(limits(self.job.models.values()).values()))
        survey_now = self.current_survey if is_counted else None
        started_keys = set[str]()
        retry = self.calls.retry_failed
        earlier = self.survey
        while not self.stop:
            try:
                for item in left(
                    self.workspace, self.job.plays(), retry_failed=retry, survey=survey_now, earlier=earlier
                ):
                    if item.key in started_keys:
                        continue
                    await places.acquire()
                    if self.stop:
                        return
                    started_keys.add(item.key)
                    task = group.create_task(self._one(item, places))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                return
            except UNREADABLE as error:
                # What is left is looked for once more, from the start.
                survey_now = None
                if not self.stop:
                    await self.store.until_readable(error)

    async def _asker(self, work: str, resumed: bool) -> Asker:
        """How a piece of work asks, with what the journal holds of it."""
        noted = await self.store.look(lambda db: runs.noted_calls(db, work)) if resumed else {}
        return Asker(self.calls, work, noted)

    async def _granted(self, amount: float) -> None:
        await self.store.do(partial(runs.grant, run=self.number, amount=amount))

    async def _one(self, item: Pending, places: asyncio.Semaphore) -> None:
        try:
            conversation = await self._play(item)
            if conversation is not None:
                await asyncio.gather(
                    *(self._judged(conversation, o, resumed=o.key in item.resumed) for o in item.judged)
                )
        except RunStopped:
            return  # The calls made are in the journal: the next run continues here.
        except ConcordError as error:
            self.halt(str(error), broken=True)
        finally:
            places.release()

    async def _play(self, item: Pending) -> Conversation | None:
        key = item.play.key
        if key in self.given_up or (not item.is_stored and self._lacks(e.model for e in item.play.expected)):
            return None
        if item.is_stored:
            return await self.store.look(lambda db: conversations.load(db, key))
        if item.play.play is None:
            return None
        ask = await self._asker(key, key in item.resumed)
        try:
            result = await item.play.play(ask)
        except CallFailed as failure:
            self._failed(item, failure)
            return None
        except ConcordError:
            raise
        except Exception as error:  # noqa: BLE001 - no reply may end a run
            self._failed(item, ask.unexpected(error))
            return None
        models = self.job.models
        inline = item.play.inline

        def save(db: Database) -> None:
            simulated = any(models[name].simulated for name in ask.reported)
            if isinstance(result, Scenario):
                scenarios.save(db, [replace(result, body={**result.body, "simulated": simulated})])
            else:
                saved = conversations.save(db, result, ask.spent, simulated=simulated)
                configurations.of_conversation_were(db, saved, [ask.use(name) for name in ask.reported])
                if inline is not None:
                    inline_judgement = inline.judgement(result)
                    rater = replace(
                        inline_judgement.judge, simulated=models[inline_judgement.judge.name].simulated
                    )
                    _save_verdict(db, replace(inline_judgement, judge=rater), inline.prompt, ask)
            runs.settle(db, key)

        self.store.submit(partial(self._store_work, save, key, ask, True))
        self.finished_works += 1
        return None if isinstance(result, Scenario) else result

    def _lacks(self, models: Iterable[str]) -> bool:
        """Whether no more calls are made to one of these models."""
        return any(model in self.calls.stopped for model in models)

    async def _judged(self, conversation: Conversation, due: DueJudgement, *, resumed: bool) -> None:
        if due.key in self.given_up or self._lacks([due.judge]):
            return
        ask = await self._asker(due.key, resumed)
        model = self.job.models[due.judge]
        conversations_ = [conversation]
        try:
            for opponent in due.against:
                conversations_.append(await self.store.look(partial(conversations.load, name=opponent)))
            if pictured := [c for c in conversations_ if any(m.images for m in c.messages)]:
                if model.vision:
                    conversations_ = [
                        await self.store.look(partial(images.shown, conversation=c)) for c in conversations_
                    ]
                else:
                    self.unseen.setdefault(due.judge, set()).update(c.key for c in pictured)
            judged, *other_verdicts = await judging.judged(ask, conversations_, due, model)
        except CallFailed as failure:
            self._failed(due, failure)
            return
        except RunStopped:
            return  # The other verdicts of this conversation go on.
        verdict = replace(judged, spent=ask.spent)
        unusable = ask.failure

        def save(db: Database) -> None:
            for one in (verdict, *other_verdicts):
                _save_verdict(db, one, due.prompt, ask)
            runs.settle(db, due.key)
            if verdict.failure is not None and unusable is not None:
                runs.save_failure(db, due.key, self._as_failure(unusable), self.number)

        is_done = verdict.failure is None
        self.store.submit(partial(self._store_work, save, due.key, ask, is_done))
        self.finished_works += is_done
        self.failed += not is_done

    def _store_work(
        self, save: Callable[[Database], None], key: str, ask: Asker, is_done: bool, db: Database
    ) -> None:
        """Store a result, counted as `finished_works` or failed; one that the store refuses is a failure of
        its own.
        """
        _, error = applied(db, save)
        if error is not None:
            self.refused_keys |= {key} if is_done else set()
            runs.save_failure(db, key, self._as_failure(ask.failing(error)), self.number)

    def _failed(self, work: Pending | DueJudgement, failure: CallFailed) -> None:
        failed = self._as_failure(failure)
        pieces = 1
        key = work.key
        self.given_up.add(key)
        if isinstance(work, Pending):
            failed = replace(failed, player=work.play.player, facets=work.play.facets)
            pieces = work.pieces
            self.given_up.update(due.key for due in work.judged)
        self.store.submit(lambda db: runs.save_failure(db, key, failed, self.number))
        self.failed += pieces

    def _as_failure(self, failure: CallFailed) -> FailedWork:
        benchmark = self.job.plan.benchmark
        message = str(failure)
        return FailedWork(failure.code, message, failure.reason, failure.raw, benchmark, failure.model)

    async def _beat(self) -> None:
        while not self.is_ended:
            stands = self._stands()
            beat = asyncio.ensure_future(self.store.do(partial(runs.beat, run=self.number, **stands)))
            try:
                while not beat.done():
                    await asyncio.wait([beat], timeout=BEAT_SECONDS)
                    self._tell()
            finally:
                beat.cancel()
            if self.store.writer.replaced:
                self.halt(str(self.store.writer.replaced), broken=True)
            elif beat.result():
                self.halt("Stopped on request; calls in flight were finished.")
            await asyncio.sleep(BEAT_SECONDS)
        while True:
            self._tell()
            await asyncio.sleep(BEAT_SECONDS)

    def _stands(self) -> dict[str, Any]:
        # What failed before and is not retried counts as failed from the start.
        before = self.survey
        survey_now = self.current_survey
        sentences = [*self._notes(), self.client.status(), self.batches.status()]
        return {
            "planned": max(before.planned, survey_now.planned),
            "stored": max(before.stored_count, survey_now.stored_count),
            "done": self.finished_works - len(self.refused_keys),
            "failed": self.failed + max(before.failed, survey_now.failed) + len(self.refused_keys),
            "message": " ".join(filter(None, sentences)),
        }

    def _notes(self) -> list[str]:
        """Whose images were not seen, and which run this one waits for."""
        waits = f"Run {self.ahead} is at work on {self.started.benchmark}: this run starts when it has ended."
        blind = (
            f"“{judge}” did not see the images of {len(keys):,} conversations, only their placeholders, "
            "because models.toml does not set vision = true."
            for judge, keys in self.unseen.items()
        )
        return [*self.calls.handshakes.lines(), *blind, waits if self.ahead else ""]

    def _tell(self) -> None:
        """Say where the run stands, and what the store cannot take, without the store."""
        waits = self.store.status()
        stands = self._stands()
        self.say(waits)
        if self.watch:
            stands["message"] = waits or stands["message"]
            elsewhere = self.budget.elsewhere if self.budget else 0.0
            self.watch(
                replace(
                    self.started, **stands, spent=self.calls.usage, elsewhere=elsewhere, heartbeat_at=now()
                )
            )


def _save_verdict(db: Database, verdict: Judgement | Comparison, prompt: Prompt, ask: Asker) -> None:
    """Store a verdict with its prompt and the configuration of the judge."""
    ratings.remember_prompt(db, prompt.hash, prompt.benchmark, prompt.version, prompt.name, prompt.body)
    if isinstance(verdict, Comparison):
        comparisons.save(db, verdict, configurations.columns(db, ask.use(verdict.rater.name)))
    else:
        ratings.save_judgement(db, verdict, configurations.columns(db, ask.use(verdict.judge.name)))
