"""Engines: who judges the partitions of a plan. One process, processes of this machine, a Dask cluster.

A shard is one process whose plan has only the keys of the shard. All of them call the same function; the
coordinator of the others hands out numbers of partitions, and what may be spent.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from concord import messages
from concord.errors import ConfigError
from concord.lake import dask, workers
from concord.lake import plan as plans
from concord.lake.coordinator import (
    BEAT_SECONDS,
    BUSY_SECONDS,
    Coordinator,
    LakeHow,
    LakeProgress,
    Watch,
    alone,
    known_survey,
    survey_here,
)
from concord.lake.journal import journal_reserve
from concord.lake.judging import JudgeSession
from concord.lake.partitions import Partition
from concord.lake.plan import LakePlan
from concord.lake.working import drive, owing
from concord.runs.batches import FIRST_LOOK, LONGEST_LOOK
from concord.runs.budget import check_priced
from concord.runs.engine import alongside, few_collections, stopped_by_signals
from concord.runs.planning import Survey

PLAIN = LakeHow()
"""In this process, without a limit."""


def execute(plan: LakePlan, options: LakeHow = PLAIN, watch: Watch | None = None) -> LakeProgress:
    """Judge what is left of a plan and say where it stands.

    It stops on SIGINT or SIGTERM; calls in flight are finished and kept. Raises ConcordError, before anything
    is paid, where files, folder, models or rubric cannot be used.
    """
    plans.check_files(plan)
    _check(plan, options)
    plans.check_folder(plan)
    with alone(plan), few_collections():
        coordinator = Coordinator(plan, options, watch)
        if options.cluster:
            return asyncio.run(dask.run(coordinator))
        if options.workers:
            return asyncio.run(workers.run(coordinator))
        return asyncio.run(_in_process(coordinator))


def _check(plan: LakePlan, options: LakeHow) -> None:
    """Raise ConfigError for what cannot go together."""
    if options.workers and options.cluster:
        raise ConfigError("Give --workers or --cluster, not both.")
    if plan.shard.total > 1 and (options.workers or options.cluster):
        raise ConfigError("--shard is for jobs without a coordinator. Remove --workers and --cluster.")
    if options.batch and (options.workers or options.cluster):
        raise ConfigError(
            "One process sends all batches: the work is the endpoint's. Remove --workers and --cluster."
        )
    if options.wait and not options.batch:
        raise ConfigError("--wait is for --batch: without it every answer is waited for.")
    if plan.functions and (options.workers or options.cluster):
        raise ConfigError(
            "Judges that are functions run in this process. Name them in models.toml as module:name for "
            "workers."
        )
    if options.max_cost is not None:
        check_priced(plan.models.values())
    if not options.cluster:
        for model in plan.models.values():
            model.key()
            model.sent_headers()


async def _in_process(coordinator: Coordinator) -> LakeProgress:
    """All partitions in this process."""
    plan = coordinator.plan
    options = coordinator.how
    coordinator.begin(known_survey(plan) or survey_here(plan).counted_conversations())
    limit = None if options.max_cost is None else options.max_cost - coordinator.before
    session = JudgeSession(plan, max_cost=limit, retry_failed=options.retry_failed, batch=options.batch)
    if limit is not None:
        for partition in coordinator.todo:
            path = plan.journal(partition.number)
            session.batches.reserve(path.name, journal_reserve(path))
    signals: list[int] = []

    def signalled(number: int) -> None:
        signals.append(number)
        session.halt(messages.STOPPED_BY_SIGNAL)

    async def feed() -> Partition | None:
        while (partition := coordinator.next()) is None and coordinator.held and not session.stop:
            await session.rest(BUSY_SECONDS)
        return partition

    async def beat() -> None:
        while True:
            _stands(coordinator, session)
            coordinator.tell()
            await asyncio.sleep(BEAT_SECONDS)

    with stopped_by_signals(signalled):
        async with alongside(beat()), session:
            await drive(session, feed, coordinator.finish)
            pause = FIRST_LOOK
            while options.wait and coordinator.waiting and not session.stop:
                pause = FIRST_LOOK if coordinator.collected else min(LONGEST_LOOK, pause * 1.5)
                coordinator.collected = False
                await session.rest(pause)
                coordinator.visit_again()
                await drive(session, feed, coordinator.finish)
    _stands(coordinator, session)
    coordinator.stop = session.stop
    coordinator.broken = session.broken or bool(session.calls.stopped)
    coordinator.broken |= bool(session.batches.problems)
    coordinator.progress.signal = signals[0] if signals else 0
    return coordinator.close(" ".join(filter(None, [session.says(), *_stopped(session)])))


def _stopped(session: JudgeSession) -> list[str]:
    """Which judges no more calls are made to, while the work goes on."""
    stopped = session.calls.stopped
    if not stopped or session.stop:
        return []
    return [messages.models_stopped(stopped, others=len(session.plan.models) > len(stopped))]


def _stands(coordinator: Coordinator, session: JudgeSession) -> None:
    standing = session.standing
    progress = coordinator.progress
    progress.judged = standing.judged
    progress.failed = standing.failed
    progress.put_off = standing.put_off
    progress.reasons = standing.reasons
    progress.expense = session.calls.usage
    progress.message = " ".join(filter(None, [coordinator.waits(), session.says()]))
    progress.waiting = session.batches.total


def expected(plan: LakePlan) -> Survey:
    """What is left to be judged and what it would cost; all rows are read, nothing is asked or written.

    Raises as `execute` does.
    """
    plans.check_files(plan)
    plans.check_folder(plan)
    surveying = survey_here(plan)
    surveying.total.check(plan)
    left: Counter[str] = Counter()
    for partition in plan.partitions:
        for judge in owing(plan, partition.number):
            left[judge] += surveying.counts[partition.number]
    survey = surveying.total.cost(plan, left)
    survey.planned = surveying.total.conversations * len(plan.models)
    survey.stored_count = survey.planned - left.total()
    return survey
