"""The engine of a Dask cluster: its workers judge partitions, and write them where all machines see them.

A task is one partition; Dask gives the tasks of a worker that is lost to another one, which goes on from the
journal. Keys and addresses are those of the worker's environment.
"""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from concord import messages
from concord.errors import ConfigError
from concord.files import VERSION
from concord.lake.coordinator import BEAT_SECONDS, Coordinator, LakeProgress, Surveying, known_survey
from concord.lake.journal import journal_cost
from concord.lake.judging import JudgeSession
from concord.lake.partitions import Partition
from concord.lake.plan import LakePlan
from concord.lake.surveying import PartitionSurvey, survey_partition
from concord.lake.working import PartitionEnd, drive
from concord.llm.client import limits
from concord.llm.models import Endpoint
from concord.rating import Spent
from concord.runs.engine import alongside, stopped_by_signals

CONNECT_SECONDS = 20
AHEAD = 2
"""Tasks that wait at the scheduler for each thread of a worker."""
LOOK_SECONDS = 0.05
"""How often is looked which tasks have ended."""
STOP_SECONDS = 0.5
"""How often a task looks whether the job has stopped."""
PLACE_SECONDS = 0.2
"""How long a worker waits for each further place at an endpoint."""
GROW_SECONDS = 2.0
"""Between two tries of a task to have the places that it still lacks."""
LEASE_SECONDS = 10.0
"""After so long without a sign of life of its worker, a place is free for others."""
ROOM = 1.5
"""How many times the expected cost of a partition its lease is."""


# ── On a worker ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class JudgeTask:
    """One partition: its number, what it may spend, and where a file says that the job has stopped.

    `limits` are the calls in flight that the endpoint of each judge allows to all workers together, `share`
    among so many tasks. `cost` is what the calls in the partition's journal cost when it was handed out.
    """

    number: int
    lease: float | None
    cost: float
    retry_failed: bool
    stop: str
    share: int
    version: str = VERSION


def worker_version() -> str:
    """The version of Concord on a worker."""
    return VERSION


def survey_task(plan: LakePlan, number: int) -> dict[str, Any]:
    """Survey a partition."""
    return survey_partition(plan, plan.partitions[number]).as_dict()


def judge_task(plan: LakePlan, task: JudgeTask) -> dict[str, Any]:
    """Judge a partition and commit it; says how it ended, where it was, and what it cost."""
    current = _address()
    if task.version != VERSION:
        return {"worker": current, "refused": f"has Concord {VERSION}, and this is {task.version}"}
    try:
        for model in plan.models.values():
            model.key()
            model.sent_headers()
    except ConfigError as error:
        return {"worker": current, "refused": f"cannot judge: {error}"}
    places = _Places(plan, task.share)
    try:
        places.begin()
        return {"worker": current, **asyncio.run(_judged(plan, task, places))}
    finally:
        places.give_back()


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


class _Places:
    """The calls in flight that a task may have to each endpoint: one at first, its share as they become free.

    Endpoints are shared by all workers, those of this machine's own addresses by its workers.
    """

    def __init__(self, plan: LakePlan, share: int):
        # In one order for all tasks, so that no two of them wait for each other.
        by_endpoint = dict(sorted(limits(plan.models.values()).items()))
        self._semaphores = {
            endpoint: semaphore(place_name(endpoint, limit), limit) for endpoint, limit in by_endpoint.items()
        }
        self.shares = {endpoint: max(1, limit // max(share, 1)) for endpoint, limit in by_endpoint.items()}
        self.counts = dict.fromkeys(by_endpoint, 0)

    def begin(self) -> None:
        """Wait for a place at each endpoint, and take those of the share that are free."""
        for endpoint, entry in self._semaphores.items():
            entry.acquire()
            self.counts[endpoint] += 1
        self.grow()

    @property
    def complete(self) -> bool:
        """Whether the task has its share of every endpoint."""
        return self.counts == self.shares

    def grow(self) -> None:
        """Take further places, as many of the share as are free."""
        for endpoint, share in self.shares.items():
            while self.counts[endpoint] < share:
                if not self._semaphores[endpoint].acquire(timeout=PLACE_SECONDS):
                    break
                self.counts[endpoint] += 1

    def give_back(self) -> None:
        """Give all places back."""
        for endpoint, count in self.counts.items():
            for _ in range(count):
                self._semaphores[endpoint].release()


def place_name(endpoint: Endpoint, limit: int) -> str:
    """The name of an endpoint's semaphore.

    It has the limit, as Dask refuses a semaphore of the same name with another one.
    """
    machine = f"@{socket.gethostname()}" if _is_local(endpoint[0]) else ""
    return f"concord {endpoint}{machine} {limit}"


@cache
def semaphore(name: str, limit: int) -> Any:
    """A semaphore of the cluster, the same for all tasks of a worker: each has a callback that never ends."""
    from dask import config
    from distributed import Semaphore

    with config.set({"distributed.scheduler.locks.lease-timeout": f"{LEASE_SECONDS} s"}):
        places = Semaphore(max_leases=limit, name=name)
        places.register()
    return places


def _is_local(base_url: str) -> bool:
    """Whether an address is of the machine that asks."""
    host = urlsplit(base_url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


async def _judged(plan: LakePlan, task: JudgeTask, places: _Places) -> dict[str, Any]:
    limit = task.lease
    missing = 0.0
    if limit is not None:
        # Dask gives the task of a worker that died to another one: what the first one paid is in the journal.
        missing = max(journal_cost(plan.journal(task.number)) - task.cost, 0.0)
        limit = max(limit - missing, 0.0)
    session = JudgeSession(
        plan,
        max_cost=limit,
        retry_failed=task.retry_failed,
        limits_of={name: places.shares[model.endpoint] for name, model in plan.models.items()},
    )
    ends: list[PartitionEnd] = []
    left = [plan.partitions[task.number]]

    async def feed() -> Partition | None:
        return left.pop() if left else None

    async def look() -> None:
        while not os.path.exists(task.stop):
            await asyncio.sleep(STOP_SECONDS)
        session.halt("The job was stopped; calls in flight were finished.")

    async def grow() -> None:
        session.client.allow(places.counts)
        while not places.complete:
            await asyncio.sleep(GROW_SECONDS)
            await asyncio.to_thread(places.grow)
            session.client.allow(places.counts)

    async with session, alongside(look()), alongside(grow()):
        await drive(session, feed, ends.append)
    progress = session.progress()
    progress["lost"] += missing
    return {
        "end": ends[0].as_dict() if ends else PartitionEnd(task.number, False).as_dict(),
        "halted": session.stop,
        "broken": session.broken,
        **progress,
    }


# ── Here ──────────────────────────────────────────────────────────────────────────────────────────────────


async def run(coordinator: Coordinator) -> LakeProgress:
    """Judge a plan with the workers of a Dask cluster. Raises ConfigError where it cannot be used."""
    try:
        import distributed
    except ImportError as error:
        raise ConfigError("--cluster needs Dask: pip install 'concord-eval[cluster]'.") from error
    address = coordinator.how.cluster
    connecting = distributed.Client(address, asynchronous=True, timeout=CONNECT_SECONDS, set_as_default=False)
    try:
        client = await connecting
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        raise ConfigError(f"The Dask cluster {address} cannot be reached: {error}.") from error
    try:
        return await _Cluster(coordinator, client).go()
    finally:
        await client.close()


@dataclass
class _Leases:
    """What may still be spent, and what tasks hold of it."""

    limit: float | None
    expense: float
    leases: dict[int, float] = field(default_factory=dict)
    judged: int = 0
    price: float = 0.0
    alone: int = -1
    """The partition that holds all that is left, while no other task holds anything; -1 for none."""
    exhausted: bool = False
    """Whether a task ended without a call, as its lease was too small: others give theirs back first."""

    def take(self, number: int, guess: float) -> float | None:
        """A lease for a partition that is expected to cost `guess`; 0 where nothing is left."""
        if self.limit is None:
            return None
        left = self.limit - self.expense - sum(self.leases.values())
        wanted_lease = left if self.exhausted else guess * ROOM
        self.exhausted = False
        lease = max(min(wanted_lease, left), 0.0)
        self.leases[number] = lease
        return lease

    def give_back(self, number: int, expense: float) -> None:
        """A task has ended."""
        self.leases.pop(number, None)
        self.expense += expense
        if self.alone == number:
            self.alone = -1


class _Cluster:
    """The tasks of a job, and how they ended."""

    def __init__(self, coordinator: Coordinator, client: Any):
        self.of = coordinator
        self.plan = coordinator.plan
        self.client = client
        self.refused: dict[str, str] = {}
        """Workers that are not used, with the reason."""
        self.running: dict[Any, int] = {}
        self.sent: Any = None
        """The plan, on the workers."""
        self.stop_file = Path(self.plan.answers) / f"_stop-{uuid.uuid4().hex[:12]}"
        self.leases = _Leases(coordinator.how.max_cost, 0.0)
        self.said: dict[str, None] = {}
        self.stopped: dict[str, str] = {}

    async def go(self) -> LakeProgress:
        """Survey and judge."""
        await self._check()
        signals: list[int] = []

        def signalled(number: int) -> None:
            signals.append(number)
            self.halt(messages.STOPPED_BY_SIGNAL)

        with stopped_by_signals(signalled):
            try:
                counts = known_survey(self.plan)
                if counts is None:
                    counts = await self._survey()
                if not self.of.stop:
                    self.of.begin(counts)
                    self.leases.expense = self.of.before
                    await self._judge()
            finally:
                self.stop_file.unlink(missing_ok=True)
        self.of.progress.signal = signals[0] if signals else 0
        parts = [*self.said, *(f"{name} {reason}." for name, reason in self.refused.items())]
        if self.stopped and not self.of.stop:
            self.of.broken = True
            models = self.plan.models
            parts.append(messages.models_stopped(self.stopped, others=len(models) > len(self.stopped)))
        return self.of.close(" ".join(parts))

    async def _workers(self) -> dict[str, int]:
        """The workers that are used, with their threads."""
        facts = (await self.client.scheduler.identity())["workers"]
        return {name: int(value["nthreads"]) for name, value in facts.items() if name not in self.refused}

    async def _threads(self) -> dict[str, int]:
        """The workers that are used, as by `_workers`, once the plan was sent to them; {} for none."""
        workers = await self._workers()
        if workers and (self.sent is None or self.plan_is_lost):
            try:
                self.sent = await self.client.scatter(self.plan, broadcast=True, hash=False)
            except (OSError, KeyError):  # a worker has died meanwhile
                return {}
        return workers

    @property
    def plan_is_lost(self) -> bool:
        """Whether every worker that had the plan has died."""
        return self.sent is not None and self.sent.status != "finished"

    async def _check(self) -> None:
        """Raise ConfigError where there are no workers, or they have no Concord or another one."""
        workers = await self._workers()
        if not workers:
            address = self.of.how.cluster
            raise ConfigError(
                f"The Dask cluster {address} has no workers. Start some: `dask worker {address}`."
            )
        answers = await self.client.run(worker_version, on_error="return")
        for name, version in answers.items():
            if isinstance(version, OSError):
                continue  # it has just died
            if isinstance(version, Exception):
                raise ConfigError(
                    f"The worker {name} of the cluster has no Concord: {type(version).__name__}: {version}."
                )
            if version != VERSION:
                raise ConfigError(f"The worker {name} has Concord {version}, and this is {VERSION}.")

    def halt(self, reason: str, *, broken: bool = False) -> None:
        """Have tasks finish their calls in flight; hand out no more."""
        self.of.stop = self.of.stop or reason
        self.of.broken |= broken
        with suppress(OSError):
            self.stop_file.touch()

    async def _survey(self) -> list[int]:
        """Have all partitions surveyed. Raises ImportRefused or ConfigError for what is wrong."""
        surveying = Surveying(self.plan)
        left = [p.number for p in self.plan.partitions][::-1]

        def submit() -> None:
            number = left.pop()
            future = self.client.submit(survey_task, self.sent, number, pure=False)
            self.running[future] = number

        def take(_number: int, result: dict[str, Any]) -> None:
            surveying.add(PartitionSurvey.from_dict(result))

        while (left or self.running) and not self.of.stop:
            room = AHEAD * sum((await self._threads()).values()) - len(self.running)
            while left and room > 0:
                submit()
                room -= 1
            await self._ends(take, left.append)
            self.of.tell()
            if self.of.progress.problems:
                raise ConfigError(self.of.progress.problems[0])
        return [] if self.of.stop else surveying.counted_conversations()

    async def _judge(self) -> None:
        while self.of.todo or self.running or self.of.held:
            if self.of.stop and not self.running:
                break
            workers = await self._threads()
            if not workers and self.refused:
                self.halt("No worker of the cluster can be used.", broken=True)
            self.of.progress.workers = len(workers)
            self.of.progress.message = (
                self.of.waits() if workers else "The cluster has no workers: the job waits for one."
            )
            room = AHEAD * sum(workers.values()) - len(self.running)
            while room > 0 and (partition := self.of.next()) is not None:
                if not self._submit(partition, workers):
                    self.of.todo.appendleft(partition)
                    break
                room -= 1
            await self._ends(self._finish, self.of.requeue)
            self.of.tell()

    def _submit(self, partition: Partition, workers: Mapping[str, int]) -> bool:
        """Hand a partition out; False where the spending limit has nothing left for it now."""
        final_lease = self.leases.exhausted
        if self.leases.alone >= 0 or (final_lease and self.running):
            return False
        lease = self.leases.take(partition.number, self._guess(partition))
        if lease is not None and lease <= 0:
            self.leases.give_back(partition.number, 0.0)
            if not self.running:
                self._halt_at_limit()
            return False
        if final_lease:
            self.leases.alone = partition.number
        share = min(sum(workers.values()), len(self.plan.partitions))
        cost = 0.0 if lease is None else journal_cost(self.plan.journal(partition.number))
        task = JudgeTask(partition.number, lease, cost, self.of.how.retry_failed, str(self.stop_file), share)
        restriction = {"workers": list(workers)} if self.refused else {}
        future = self.client.submit(judge_task, self.sent, task, pure=False, **restriction)
        self.running[future] = partition.number
        return True

    def _halt_at_limit(self) -> None:
        self.halt(messages.lake_limit(self.leases.limit or 0.0, self.leases.expense))

    def _guess(self, partition: Partition) -> float:
        """What a partition is expected to cost: as those before, else by a first guess."""
        count = self.of.counts[partition.number]
        if self.leases.judged:
            return count * len(self.plan.models) * self.leases.price / self.leases.judged
        total = 0.0
        for way in self.plan.ways:
            tokens_in, tokens_out = way.asking.expected
            total += count * self.plan.models[way.judges[0]].cost(tokens_in, tokens_out)
        return total

    async def _ends(
        self, take: Callable[[int, dict[str, Any]], None], requeue: Callable[[int], None]
    ) -> None:
        """Take the tasks that have ended, waiting a moment for one."""
        for _ in range(int(BEAT_SECONDS / LOOK_SECONDS)):
            if any(future.done() for future in self.running):
                break
            await asyncio.sleep(LOOK_SECONDS)
        for future in [one for one in self.running if one.done()]:
            number = self.running.pop(future)
            error = await future.exception() if future.status == "error" else None
            if future.status == "finished":
                take(number, await future.result())
                continue
            self.leases.give_back(number, self.leases.leases.get(number, 0.0))
            reason = f"{type(error).__name__}: {error}" if error else f"the task was {future.status}"
            if future.status != "error" and self.client.status != "running":
                self.halt("The Dask cluster is gone.", broken=True)
            elif self.plan_is_lost or self.of.survives(number, " ".join(reason.split())[:300]):
                requeue(number)

    def _finish(self, number: int, result: dict[str, Any]) -> None:
        if "refused" in result:
            self.leases.give_back(number, 0.0)
            self.refused[result["worker"]] = result["refused"]
            self.of.requeue(number)
            return
        end = PartitionEnd(**result["end"])
        expense = Spent(*result["spent"])
        final_lease = self.leases.alone == number
        self.leases.give_back(number, expense.cost + result["lost"])
        self.leases.judged += result["judged"]
        self.leases.price += expense.cost
        progress = self.of.progress
        progress.judged += result["judged"] if end.complete else 0
        if end.complete and not end.items:
            # A task of a coordinator that was killed has committed it meanwhile.
            progress.earlier += self.of.pending[number]
        progress.failed += result["failed"]
        progress.put_off += result["put_off"]
        progress.expense += expense
        for reason, count in result["reasons"].items():
            progress.reasons[reason] = progress.reasons.get(reason, 0) + count
        if result["message"]:
            self.said[result["message"]] = None
        self.stopped |= result["stopped"]
        if result["halted"] and result["broken"]:
            self.halt(result["halted"], broken=True)
        elif result["halted"] and not self.of.stop:
            # Its lease was too small: what is left of the limit may do, once others have given theirs back.
            self.of.requeue(number)
            if final_lease and not expense.calls:
                self._halt_at_limit()
            self.leases.exhausted = not expense.calls
        else:
            self.of.finish(end)
