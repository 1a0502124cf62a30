"""The work of one process: its partitions one after another, overlapping, each committed by rename."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concord.errors import ConcordError
from concord.files import VERSION
from concord.lake import plan as plans
from concord.lake.journal import AGAIN_SECONDS, Busy, PartitionJournal
from concord.lake.judging import JudgedPartition, JudgeSession, items_of, judge_partition
from concord.lake.partitions import Partition
from concord.lake.plan import LakePlan
from concord.runs.engine import GRACE_SECONDS, alongside

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 8
"""Partitions that a process has open at once: the first ones wait for their last answers."""
FACTS = b"concord"
"""The name of what a file of answers says of itself in its metadata."""


@dataclass(frozen=True)
class PartitionEnd:
    """How work on a partition ended: `complete` if every judge's answers are committed, an
    `error` of its own, how many calls wait in batches, and whether some were collected.
    """

    number: int
    complete: bool
    items: int = 0
    error: str = ""
    busy: bool = False
    waits: int = 0
    collected: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for another process."""
        return asdict(self)


def owing(plan: LakePlan, number: int, *, retry_failed: bool = False) -> list[str]:
    """The judges whose answers to a partition are not committed, or have failures that are to be retried."""
    return [
        judge
        for judge in plan.models
        if not (part := plan.part(judge, number)).exists()
        or (retry_failed and answer_facts(part).get("failed"))
    ]


def answer_facts(part: Path) -> Mapping[str, Any]:
    """What a file of answers says of itself: conversations, failures, cost; {} where it cannot be read."""
    from pyarrow import ArrowException, parquet

    try:
        metadata = parquet.read_schema(part).metadata or {}
        values = json.loads(metadata[FACTS])
    except (OSError, ArrowException, KeyError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


async def work_on(session: JudgeSession, partition: Partition, on_begun: Callable[[], None]) -> PartitionEnd:
    """Judge a partition and commit its answers; what fails is its own."""
    plan = session.plan
    number = partition.number
    try:
        journal = PartitionJournal(plan.journal(number))
    except Busy as error:
        return PartitionEnd(number, False, error=str(error), busy=True)
    complete = False
    try:
        judges = owing(plan, number, retry_failed=session.retry_failed)
        if not judges:
            complete = True
            return PartitionEnd(number, True)
        with session.batches.of_partition(journal) as batches:
            collected = batches is not None and await session.batches.collect(batches)
            if batches is not None and batches.waits and not collected:
                return PartitionEnd(number, False, waits=batches.waits)
            judged = await _judged(session, partition, journal, judges, on_begun)
            for judge in sorted(judged.complete):
                await _commit(session, judge, number, judged)
            complete = judged.complete == set(judges)
            if complete or batches is None:
                return PartitionEnd(number, complete, judged.items)
            if not session.stop:
                await batches.submit()
            for judge in set(judges) - judged.complete:
                session.standing.take_back(judged.tallies[judge])
            waits = batches.waits or len(session.batches.full)
            return PartitionEnd(number, False, judged.items, waits=waits, collected=collected)
    finally:
        journal.close(complete=complete)


async def _judged(
    session: JudgeSession,
    partition: Partition,
    journal: PartitionJournal,
    judges: Sequence[str],
    on_begun: Callable[[], None],
) -> JudgedPartition:
    """What judges answer to a partition, as far as they do now."""
    plan = session.plan
    parts = {judge: plan.part(judge, partition.number) for judge in judges}
    earlier = {judge: _read(part) for judge, part in parts.items() if part.exists()}
    reader = plan.reader()
    return await judge_partition(
        items_of(plan, reader.rows(partition), reader.key),
        plan,
        session=session,
        journal=journal,
        judges=judges,
        earlier=earlier,
        on_begun=on_begun,
    )


def _read(part: Path) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(part)


async def _commit(session: JudgeSession, judge: str, number: int, judged: JudgedPartition) -> None:
    """Write a judge's answers under another name, then rename; waits while the disk takes nothing."""
    plan = session.plan
    table = judged.tables[judge]
    part = plan.part(judge, number)
    facts = {
        "conversations": judged.items,
        "failed": judged.tallies[judge].failed,
        "cost": sum(table.column("cost").to_pylist()),
        "version": VERSION,
    }
    table = table.replace_schema_metadata({FACTS: json.dumps(facts).encode()})
    while True:
        try:
            plans.settle(part.parent, session.calls.models[judge].configuration)
            _write(table, part)
        except OSError as error:
            session.journal.obstacle = error.strerror or str(error)
            if session.stop:
                raise ConcordError(f"{part} cannot be written: {session.journal.obstacle}.") from error
            await session.rest(AGAIN_SECONDS)
        else:
            return


def _write(table: pa.Table, part: Path) -> None:
    from pyarrow import parquet

    temporary = part.with_name(f".{part.name}.{os.getpid()}")
    try:
        parquet.write_table(table, temporary, compression="zstd")
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, part)
    finally:
        temporary.unlink(missing_ok=True)


Feed = Callable[[], Awaitable[Partition | None]]


async def drive(session: JudgeSession, feed: Feed, report: Callable[[PartitionEnd], None]) -> None:
    """Work on partitions as they are fed, the next one once all judgements of the last have begun."""
    tasks: set[asyncio.Task[None]] = set()
    room = asyncio.Semaphore(AT_ONCE)

    async def one(partition: Partition, on_begun: asyncio.Event) -> None:
        try:
            end = await work_on(session, partition, on_begun.set)
        except asyncio.CancelledError:
            report(PartitionEnd(partition.number, False))
            raise
        except Exception as error:  # noqa: BLE001 - one partition may not end the others
            message = str(error) if isinstance(error, ConcordError) else f"{type(error).__name__}: {error}"
            end = PartitionEnd(partition.number, False, error=" ".join(message.split())[:500])
        finally:
            on_begun.set()
            room.release()
        report(end)

    def abandon() -> None:
        for task in tasks:
            task.cancel()

    async def watch() -> None:
        while not session.stop:
            await session.rest(3600)
        await asyncio.sleep(GRACE_SECONDS)
        abandon()

    try:
        async with alongside(watch()):
            while not session.stop:
                await room.acquire()
                partition = None if session.stop else await feed()
                if partition is None:
                    room.release()
                    break
                on_begun = asyncio.Event()
                task = asyncio.create_task(one(partition, on_begun))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                await on_begun.wait()
            if tasks:
                await asyncio.wait(set(tasks))
    finally:
        abandon()
        if tasks:
            await asyncio.wait(set(tasks))
