"""Partitions through the Batch API: what waits in batches stands in the journal of its partition.

A partition is one wave: its calls are gathered, sent as a file a judge, and the partition is left. When it is
visited again, what its batches have answered is written to its journal, from which it is judged and
committed. So any number of files is under way at once, and nothing of them is kept in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from concord.errors import CallFailed, RunStopped
from concord.lake.journal import AGAIN_SECONDS, LakeJournal, PartitionJournal
from concord.lake.plan import LakePlan
from concord.llm.client import Client
from concord.rating import NOTHING_SPENT, Spent
from concord.runs.batch_store import BatchEnd, BatchesStanding, CallOutcome
from concord.runs.batches import Batches
from concord.runs.budget import Budget
from concord.runs.call_runner import Calls
from concord.store.batches import FINAL_STATES, Batch, Waiting
from concord.store.database import now


class BatchSession(Protocol):
    """What batches need of the session of their partitions: its plan, connections, limit and journal."""

    plan: LakePlan
    calls: Calls
    client: Client
    budget: Budget | None
    journal: LakeJournal
    stop: str

    async def rest(self, seconds: float) -> None:
        """Wait, no longer than until the session stops."""


class JournalBatches:
    """The batches of a partition, in its journal. See `concord.runs.batch_store.BatchStore`."""

    def __init__(self, journal: PartitionJournal, lake: LakeBatches):
        self.journal = journal
        self.lake = lake

    async def standing(self) -> BatchesStanding:
        """What is known now."""
        models = self.lake.session.calls.models
        journal = self.journal
        calls = {id: call for id, call in journal.waiting.items() if call.model in models}
        batches = [batch for batch in journal.batches.values() if batch.model in models]
        refusals = {
            name: [batch.lines for batch in batches if batch.model == name and batch.state == "refused"]
            for name in models
        }
        return BatchesStanding(
            calls, [batch for batch in batches if batch.state not in FINAL_STATES], refusals
        )

    async def calls(self, batch: int) -> dict[str, Waiting]:
        """The calls that wait in a batch, by id."""
        return {id: call for id, call in self.journal.waiting.items() if call.batch_id == batch}

    async def adopt(self, batch: Batch) -> bool:
        """The journal is locked: the process that holds it collects its batches."""
        return True

    def remedy(self, batch: Batch) -> str:
        """How the calls of a batch that its endpoint has lost are asked again."""
        return f"delete {self.journal.path}: the calls of this partition are asked again."

    def settle(self, call: str) -> None:
        """Forget a call that is made directly, or whose failure was told."""
        self.journal.settle_call(call)

    async def prepare(self, model: str, mark: str, calls: Sequence[Waiting]) -> int:
        """Keep a batch that is about to be sent; its number."""
        number = len(self.journal.batches) + 1
        moment = now()
        batch = Batch(number, mark, None, model, len(calls), "prepared", "", "", "", moment, moment)
        self.journal.keep_batch(batch)
        for call in calls:
            self.journal.keep_call(replace(call, batch_id=number))
        await self._flush()
        return number

    async def change(self, batch: int, state: str, **names: str) -> None:
        """Keep the state of a batch, and its `file`, `name` or `message`."""
        current = self.journal.batches[batch]
        self.journal.keep_batch(replace(current, state=state, changed=now(), **dict[str, Any](names)))
        await self._flush()

    async def forget(self, batch: int) -> None:
        """Remove a batch that the endpoint never had: its calls are asked again."""
        await self._end(batch, "given up", "The endpoint never had it.")

    async def take(self, batch: Batch, outcomes: Sequence[CallOutcome], end: BatchEnd | None) -> Spent:
        """Keep what became of calls, and how the batch ended if it did; what the answers cost."""
        expense = NOTHING_SPENT
        journal = self.journal
        for call, note, values in outcomes:
            current = journal.waiting.get(call.id)
            if current is None or current.batch_id != batch.id:
                continue
            if note is None:
                journal.keep_call(replace(current, batch_id=None, **dict[str, Any](values)))
            else:
                journal.note(call.work, call.step, note, call=call.id)
                expense += note.spent
        if end is not None:
            state = end.state
            if state == "refused" and self.lake.full_of_others(journal, batch.model):
                state = "given up"  # it is sent again as it is
            elif state == "collected":
                self.lake.full.clear()
                self.lake.ends += 1
            await self._end(batch.id, state, end.message)
        return expense

    async def _end(self, batch: int, state: str, message: str) -> None:
        for call in (await self.calls(batch)).values():
            self.journal.keep_call(replace(call, batch_id=None))
        await self.change(batch, state, message=message)

    async def _flush(self) -> None:
        """Wait until the disk has it: a batch may be paid a day before its answers are there."""
        while reason := self.journal.flush():
            self.lake.session.journal.obstacle = reason
            if self.lake.session.stop:
                raise RunStopped(self.lake.session.stop)
            await self.lake.session.rest(AGAIN_SECONDS)
        self.journal.sync()


class LakeBatches:
    """Gathers the calls of partitions where their judges are asked by batch.

    Without `gathers` only calls are known that wait in batches already: they are not made a second time.
    """

    def __init__(self, session: BatchSession, *, gathers: bool = False):
        self.session = session
        self.gathers = gathers
        self.of: dict[PartitionJournal, Batches] = {}
        self.problems: dict[str, str] = {}
        self.full: set[str] = set()
        """Models of whose endpoint the queue is full."""
        self.away = ""
        """Why batches cannot be looked at for now."""
        self.at_limit = False
        self.ends = 0
        """Batches that have been collected."""
        self._refused: dict[tuple[str, str], int] = {}
        """How many batches had been collected when one of a partition was refused."""
        self._open: dict[str, Counter[str]] = {}
        self._reserved: dict[str, float] = {}
        """What the calls that wait may cost, by partition."""
        self.waits: dict[str, int] = {}
        """Calls that wait, by partition."""

    def flying(self, model: str) -> int:
        """The batches at the endpoint of a model, as far as partitions were visited."""
        models = self.session.calls.models
        siblings = [name for name in models if models[name].endpoint == models[model].endpoint]
        return sum(counts[name] for counts in self._open.values() for name in siblings)

    async def ask(
        self,
        work: str,
        step: str,
        prompt_hash: str,
        model: str,
        body: Callable[[], Mapping[str, Any]],
        *,
        gathers: bool = True,
    ) -> None:
        """See `concord.runs.batches.Batches.ask`."""
        journal = self.session.journal.of.get(work)
        if journal is not None and journal in self.of:
            await self.of[journal].ask(work, step, prompt_hash, model, body, gathers=gathers)

    def full_of_others(self, journal: PartitionJournal, model: str) -> bool:
        """Whether a batch was refused because the queue is full of others: nothing is sent until one ends.

        A partition whose batch is refused again, though none has ended since, is sent in smaller batches.
        """
        key = (journal.path.name, model)
        if self.flying(model) < 2 or self._refused.get(key) == self.ends:
            return False
        self._refused[key] = self.ends
        self.full.add(model)
        return True

    @contextmanager
    def of_partition(self, journal: PartitionJournal) -> Iterator[Batches | None]:
        """The batches of a partition that is visited, for the block; None where it needs none."""
        if not self.gathers and not journal.waiting:
            yield None
            return
        name = journal.path.name
        session = self.session
        guesses = {way.judges[0]: float(way.asking.expected[1]) for way in session.plan.ways}
        batches = Batches(
            JournalBatches(journal, self),
            session.calls.models,
            session.client,
            self.gathers,
            guesses,
            session.budget,
            self._count,
            self.problems,
            elsewhere=lambda: sum(cost for key, cost in self._reserved.items() if key != name),
            paused=self.full,
        )
        self.of[journal] = batches
        try:
            yield batches
        finally:
            del self.of[journal]
            self.at_limit |= batches.at_limit
            waiting = [call for call in journal.waiting.values() if call.batch_id is not None]
            self.reserve(name, sum(call.cost for call in waiting))
            self.waits[name] = len(waiting)
            self._open[name] = Counter(
                batch.model for batch in journal.batches.values() if batch.state not in FINAL_STATES
            )
            if not waiting:
                del self.waits[name], self._open[name]
            self.full -= {model for model in self.full if not self.flying(model)}

    def reserve(self, name: str, cost: float) -> None:
        """Note what the calls that wait for a partition may cost."""
        self._reserved[name] = cost
        if not cost:
            del self._reserved[name]

    async def collect(self, batches: Batches) -> bool:
        """Collect what the batches of a partition have answered; whether anything was."""
        try:
            changed = await batches.collect()
        except CallFailed as failure:
            self.away = str(failure)  # Batches go on without us: they are looked at later.
            return False
        self.away = ""
        return changed

    def _count(self, expense: Spent) -> None:
        self.session.calls.usage += expense
        if self.session.budget:
            self.session.budget.record_usage(expense)

    @property
    def total(self) -> int:
        """Calls that wait in batches."""
        return sum(self.waits.values())

    def says(self) -> str:
        """What waits at endpoints, and why no more is sent; “” for nothing."""
        sentences = [*self.problems.values()]
        if self.at_limit:
            sentences.append("Further calls might exceed the spending limit. Raise --max-cost.")
        if self.waits:
            count = sum(counts.total() for counts in self._open.values())
            sentences.append(f"{self.total:,} calls wait in {count:,} batch{'es' if count > 1 else ''}.")
        if self.full:
            sentences.append("The endpoint's queue is full: further batches are sent once some have ended.")
        return " ".join([*sentences, *filter(None, [self.away])])
