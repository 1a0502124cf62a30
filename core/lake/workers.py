"""The engine of several processes on this machine: a coordinator that judges nothing itself.

A worker that dies is begun again, and its partitions go to others; what it had answered is in their journals.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from concord import messages
from concord.lake.coordinator import BEAT_SECONDS, TRIES, Coordinator, LakeProgress, Surveying, known_survey
from concord.lake.surveying import PartitionSurvey
from concord.lake.working import PartitionEnd
from concord.rating import NOTHING_SPENT, Spent
from concord.runs.engine import GRACE_SECONDS, stopped_by_signals

LINE = 2**24
"""Bytes of a line that a worker says: a survey of a partition has a hash a conversation."""
SHARES = 20
"""In about so many leases the spending limit is handed out to each worker."""


@dataclass(eq=False)
class _Worker:
    """A process as seen from here."""

    process: asyncio.subprocess.Process
    holds: set[int] = field(default_factory=set)
    ready: bool = False
    stands: dict[str, Any] = field(default_factory=dict)
    granted: float = 0.0
    exited: bool = False

    def tell(self, **values: Any) -> None:
        """Tell it something; one that has ended is told nothing."""
        assert self.process.stdin is not None
        with suppress(OSError, RuntimeError):
            self.process.stdin.write(json.dumps(values).encode() + b"\n")


class _Pool:
    """The workers, and what they are given."""

    def __init__(self, coordinator: Coordinator):
        self.of = coordinator
        self.plan = coordinator.plan
        self.how = coordinator.how
        self.workers: list[_Worker] = []
        self.gone: list[dict[str, Any]] = []
        """Where workers stood that have ended."""
        self.spent_by_gone = 0.0
        self.surveying: Surveying | None = None
        self.to_survey: list[int] = []
        self.reading: set[asyncio.Task[None]] = set()
        self.changed = asyncio.Event()
        self.lost = 0
        self.stillborn = 0
        """Workers that died before they were given anything, since one was ready."""

    async def begin(self) -> None:
        """Begin a worker."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "concord.lake.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE,
        )
        assert process.stdin is not None
        worker = _Worker(process)
        process.stdin.write(pickle.dumps((self.plan, self.how, max(self.how.workers, 1))))
        self.workers.append(worker)
        task = asyncio.create_task(self._read(worker))
        self.reading.add(task)
        task.add_done_callback(self.reading.discard)

    async def _read(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        while line := await worker.process.stdout.readline():
            with suppress(ValueError):
                self._read_line(worker, json.loads(line))
        await worker.process.wait()
        self._lose(worker)
        self.changed.set()

    def _read_line(self, worker: _Worker, line: dict[str, Any]) -> None:
        worker.stands = line.get("stands", worker.stands)
        if "survey" in line:
            one = PartitionSurvey.from_dict(line["survey"])
            worker.holds.discard(one.number)
            if self.surveying is not None:
                self.surveying.add(one)
        if "ended" in line:
            end = PartitionEnd(**line["ended"])
            worker.holds.discard(end.number)
            self.of.finish(end)
        if "need" in line:
            worker.tell(grant=self._grant(worker, float(line["need"])))
        if "ready" in line:
            worker.ready = True
            self.stillborn = 0
        if "done" in line:
            worker.exited = True
            if line.get("halted") and line.get("broken"):
                self.of.broken = True
                self.halt(str(line["halted"]))
            elif line.get("halted") and not self.of.stop:
                self.of.stop = str(line["halted"])
        self.changed.set()

    def _grant(self, worker: _Worker, amount: float) -> float:
        """What a worker may spend more; 0 where the limit is handed out."""
        limit = self.how.max_cost
        if limit is None:
            return amount
        folder = self.of.before + self.spent_by_gone + sum(one.granted for one in self.workers)
        lease = min(max(amount, limit / (SHARES * max(self.how.workers, 1))), limit - folder)
        if lease < amount:
            return 0.0
        worker.granted += lease
        return lease

    def _lose(self, worker: _Worker) -> None:
        """A worker has ended: of one that died its partitions go to others."""
        self.workers.remove(worker)
        self.gone.append(worker.stands)
        # What a worker that died has spent is not known: what it was given counts.
        expense = float(Spent(*worker.stands["spent"]).cost) if worker.stands else 0.0
        missing = float(worker.stands.get("lost", 0.0))
        self.spent_by_gone += expense + missing if worker.exited else worker.granted
        if worker.exited:
            return
        self.lost += 1
        for number in sorted(worker.holds):
            if not self.of.survives(number, f"{TRIES} workers died on it."):
                continue
            if self.surveying is not None:
                self.to_survey.append(number)
            else:
                self.of.requeue(number)
        self.stillborn += not worker.holds
        if self.stillborn > TRIES * self.how.workers:
            self.of.broken = True
            self.halt("Workers die as they begin.")

    def halt(self, reason: str) -> None:
        """Have all workers finish their calls in flight and end."""
        self.of.stop = self.of.stop or reason
        for worker in self.workers:
            worker.tell(halt=reason)
        self.changed.set()

    async def survey(self) -> list[int]:
        """Have all partitions surveyed. Raises ImportRefused or ConfigError for what is wrong."""
        if (cached := known_survey(self.plan)) is not None:
            return cached
        surveying = self.surveying = Surveying(self.plan)
        self.to_survey = [partition.number for partition in self.plan.partitions][::-1]
        total = len(self.to_survey)
        while surveying.total.partitions < total and not self.of.stop:
            await self._fill()
            for worker in self.workers:
                while self.to_survey and len(worker.holds) < 2:
                    number = self.to_survey.pop()
                    worker.holds.add(number)
                    worker.tell(survey=number)
            await self._pause()
            if self.of.progress.problems:
                break
        self.surveying = None
        self.of.deaths.clear()
        return surveying.counted_conversations() if surveying.total.partitions == total else []

    async def judge(self) -> None:
        """Have all partitions judged."""
        while self.of.todo or self.of.held or any(worker.holds for worker in self.workers):
            if self.of.stop and not any(worker.holds for worker in self.workers):
                break
            if not self.of.stop:
                await self._fill()
            for worker in [entry for entry in self.workers if entry.ready and not entry.exited]:
                partition = self.of.next()
                if partition is None:
                    break
                worker.ready = False
                worker.holds.add(partition.number)
                worker.tell(judge=partition.number)
            if not self.workers:
                break
            await self._pause()
        for worker in self.workers:
            worker.tell(end=True)

    async def _fill(self) -> None:
        """Begin as many workers as are wanted, and as there is work for."""
        target = min(self.how.workers, len(self.plan.partitions))
        while len(self.workers) < target and not self.of.stop:
            await self.begin()

    async def _pause(self) -> None:
        self.changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT_SECONDS):
                await self.changed.wait()
        self.stands()
        self.of.tell()

    def stands(self) -> None:
        """Add up where workers stand."""
        progress = self.of.progress
        items = [one for one in (*self.gone, *(worker.stands for worker in self.workers)) if one]
        for name in ("judged", "failed", "put_off"):
            setattr(progress, name, sum(one[name] for one in items))
        progress.expense = sum((Spent(*one["spent"]) for one in items), NOTHING_SPENT)
        reasons: dict[str, int] = {}
        for one in items:
            for reason, count in one["reasons"].items():
                reasons[reason] = reasons.get(reason, 0) + count
        progress.reasons = reasons
        progress.workers = len(self.workers)
        missing = f"Workers lost: {self.lost}." if self.lost else ""
        sentences = dict.fromkeys(one["message"] for one in items)
        progress.message = " ".join(filter(None, [missing, self.of.waits(), *sentences]))

    def stopped(self) -> list[str]:
        """Which judges no more calls are made to."""
        stopped: dict[str, str] = {}
        for one in (*self.gone, *(worker.stands for worker in self.workers)):
            stopped |= one.get("stopped", {}) if one else {}
        if not stopped or self.of.stop:
            return []
        self.of.broken = True
        return [messages.models_stopped(stopped, others=len(self.plan.models) > len(stopped))]

    async def close(self) -> None:
        """Wait until all workers have ended; one that does not is killed."""
        for worker in self.workers:
            worker.tell(end=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS + 10):
                while self.reading:
                    await asyncio.wait(set(self.reading))
        for worker in list(self.workers):
            with suppress(ProcessLookupError):
                worker.process.kill()
        if self.reading:
            await asyncio.wait(set(self.reading))


async def run(coordinator: Coordinator) -> LakeProgress:
    """Judge a plan with processes of this machine."""
    pool = _Pool(coordinator)
    signals: list[int] = []

    def signalled(number: int) -> None:
        signals.append(number)
        pool.halt(messages.STOPPED_BY_SIGNAL)

    with stopped_by_signals(signalled):
        try:
            counts = await pool.survey()
            if counts or not coordinator.stop:
                coordinator.begin(counts)
                await pool.judge()
        finally:
            await pool.close()
    pool.stands()
    coordinator.progress.signal = signals[0] if signals else 0
    return coordinator.close(" ".join(filter(None, [coordinator.progress.message, *pool.stopped()])))
