"""Where batches and the calls in them are kept: the database of a run, or a file beside a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

from sqlite_utils import Database

from concord.llm.models import Model
from concord.rating import NOTHING_SPENT, Spent
from concord.runs.stored import RunStore
from concord.store import batches as stored
from concord.store import runs
from concord.store.batches import Batch, Waiting
from concord.store.database import now
from concord.store.runs import NotedCall

FULL_DAYS = 1
"""For how long batches of a model stay smaller after its endpoint said that its queue was full."""


class CallOutcome(NamedTuple):
    """What became of a call in a batch: the answer, or the values with which it leaves the batch."""

    call: Waiting
    note: NotedCall | None = None
    values: Mapping[str, int | str] = {}


class BatchEnd(NamedTuple):
    """How a batch ended: the last state, and why."""

    state: str
    message: str = ""


class BatchesStanding(NamedTuple):
    """The calls that wait or failed by id, the batches that are not collected, the oldest first, and by model
    how many calls each batch had that was lately refused because the queue was full.
    """

    calls: dict[str, Waiting]
    batches: list[Batch]
    refused: dict[str, list[int]]


class BatchStore(Protocol):
    """Keeps batches so that a process that is killed finds them again."""

    async def standing(self) -> BatchesStanding:
        """What is known now."""

    async def calls(self, batch: int) -> dict[str, Waiting]:
        """The calls that wait in a batch, by id."""

    async def adopt(self, batch: Batch) -> bool:
        """Take a batch over; False where another run that is at work collects it."""

    def remedy(self, batch: Batch) -> str:
        """The end of a sentence: how the calls of a batch that its endpoint has lost are asked again."""

    def settle(self, call: str) -> None:
        """Forget a call that is made directly, or whose failure was told."""

    async def prepare(self, model: str, mark: str, calls: Sequence[Waiting]) -> int:
        """Keep a batch that is about to be sent; its number."""

    async def change(self, batch: int, state: str, **names: str) -> None:
        """Keep the state of a batch, and its `file`, `name` or `message`."""

    async def forget(self, batch: int) -> None:
        """Remove a batch that the endpoint never had: its calls are asked again."""

    async def take(self, batch: Batch, outcomes: Sequence[CallOutcome], end: BatchEnd | None) -> Spent:
        """Keep what became of calls, and how the batch ended if it did; what the answers cost.

        An answer to a call that does not wait in the batch any more is not counted again.
        """


class StoredBatches:
    """The batches of a run, in the database."""

    def __init__(self, store: RunStore, run: int, models: Mapping[str, Model]):
        self.store = store
        self.run = run
        self.models = models

    async def standing(self) -> BatchesStanding:
        """See `BatchStore`."""
        start = now(timedelta(days=-FULL_DAYS))

        def read(db: Database) -> BatchesStanding:
            calls = {id: call for id, call in stored.calls(db).items() if call.model in self.models}
            refusals = {name: stored.refusals(db, name, start) for name in self.models}
            return BatchesStanding(calls, stored.waiting(db, self.models), refusals)

        return await self.store.look(read)

    async def calls(self, batch: int) -> dict[str, Waiting]:
        """See `BatchStore`."""
        return await self.store.look(lambda db: stored.calls(db, batch))

    async def adopt(self, batch: Batch) -> bool:
        """See `BatchStore`."""
        if await self.store.look(lambda db: _at_work(db, batch.run_id, self.run)):
            return False
        if batch.run_id != self.run:
            await self.store.do(lambda db: stored.adopt(db, batch.id, self.run))
        return True

    def remedy(self, batch: Batch) -> str:
        """See `BatchStore`."""
        return f"`concord run forget-batch {batch.id}` has its calls asked again."

    def settle(self, call: str) -> None:
        """See `BatchStore`."""
        self.store.submit(lambda db: stored.settle(db, call))

    async def prepare(self, model: str, mark: str, calls: Sequence[Waiting]) -> int:
        """See `BatchStore`."""
        return await self.store.do(lambda db: stored.prepare(db, self.run, model, mark, calls))

    async def change(self, batch: int, state: str, **names: str) -> None:
        """See `BatchStore`."""
        await self.store.do(lambda db: stored.change(db, batch, state, **names))

    async def forget(self, batch: int) -> None:
        """See `BatchStore`."""
        await self.store.do(lambda db: stored.forget(db, batch))

    async def take(self, batch: Batch, outcomes: Sequence[CallOutcome], end: BatchEnd | None) -> Spent:
        """See `BatchStore`."""
        configuration = self.models[batch.model].configuration

        def change(db: Database) -> Spent:
            expense = NOTHING_SPENT
            for call, note, values in outcomes:
                if note is None:
                    stored.leave(db, call.id, batch.id, **values)
                elif stored.settle(db, call.id, batch.id):
                    runs.note_call(db, call.work, call.step, note, configuration)
                    expense += note.spent
            runs.spend(db, self.run, expense)
            if end is not None:
                stored.end(db, batch.id, end.state, end.message)
            return expense

        return await self.store.do(change)


def _at_work(db: Database, run: int | None, own_run: int) -> bool:
    """Whether the run that sent a batch is another one, and at work: then it collects the batch."""
    return run not in (None, own_run) and runs.get(db, run or 0).stands == "running"
