"""A worker: a process that judges the partitions whose numbers it is told, until its coordinator is gone.

It is told on standard input, a JSON object a line, and answers on standard output.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from concord.errors import ConcordError
from concord.lake.coordinator import BEAT_SECONDS, LakeHow
from concord.lake.judging import JudgeSession
from concord.lake.partitions import Partition
from concord.lake.plan import LakePlan
from concord.lake.surveying import survey_partition
from concord.lake.working import PartitionEnd, drive
from concord.runs.engine import alongside, few_collections


class CoordinatorLines:
    """What the coordinator tells, in the worker's event loop; `gone` once it has ended.

    `on_end` is called at that moment in the thread that reads, also while the loop is busy.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self._on_end = on_end
        self.lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the work is done
            for line in sys.stdin.buffer:
                self.loop.call_soon_threadsafe(self.lines.put_nowait, json.loads(line))
            self._on_end()
            self.loop.call_soon_threadsafe(self.lines.put_nowait, {"gone": True})


class LakeWorker:
    """The partitions of one worker, and what it asks of its coordinator."""

    def __init__(self, plan: LakePlan, options: LakeHow, share: int, output: int):
        self.plan = plan
        self.how = options
        self.output = output
        self.feeding: asyncio.Queue[Partition | None] = asyncio.Queue()
        self.granted: asyncio.Queue[float] = asyncio.Queue()
        self.session: JudgeSession | None = None
        self.limits_of = share_of(plan, share)

    def say(self, **values: Any) -> None:
        """Tell the coordinator; a worker whose coordinator is gone ends by its input."""
        with suppress(OSError):
            os.write(self.output, json.dumps(values).encode() + b"\n")

    async def listen(self, inbox: CoordinatorLines) -> None:
        """Do what is told."""
        while True:
            line = await inbox.lines.get()
            if "survey" in line:
                one = survey_partition(self.plan, self.plan.partitions[line["survey"]])
                self.say(survey=one.as_dict())
            elif "judge" in line:
                self.feeding.put_nowait(self.plan.partitions[line["judge"]])
            elif "grant" in line:
                self.granted.put_nowait(line["grant"])
            elif "end" in line:
                self.feeding.put_nowait(None)
            elif "halt" in line or "gone" in line:
                reason = line.get("halt") or "The coordinator has ended; run the same command to continue."
                self.feeding.put_nowait(None)
                self.granted.put_nowait(0.0)
                self.end_unless_judging()
                if self.session is not None:
                    self.session.halt(reason)

    def end_unless_judging(self) -> None:
        """End this process before its first partition: it has no calls in flight, and nothing to keep."""
        if self.session is None:
            os._exit(0)

    async def feed(self) -> Partition | None:
        """The next partition that the coordinator gives."""
        self.say(ready=True)
        return await self.feeding.get()

    async def ask_lease(self, amount: float) -> float:
        """What the coordinator gives of the spending limit."""
        self.say(need=amount)
        return await self.granted.get()

    def finish(self, end: PartitionEnd) -> None:
        """Tell how a partition ended."""
        self.say(ended=end.as_dict(), **self.stands())

    def stands(self) -> dict[str, Any]:
        """Where the worker stands."""
        return {} if self.session is None else {"stands": self.session.progress()}

    async def beat(self) -> None:
        """Tell where the worker stands, again and again."""
        while True:
            self.say(**self.stands())
            await asyncio.sleep(BEAT_SECONDS)

    async def go(self) -> None:
        """Work until nothing is left to be done."""
        listening = asyncio.create_task(self.listen(CoordinatorLines(self.end_unless_judging)))
        # Before its first partition it surveys what it is told, and has no connections.
        first = await self.feed()
        if first is not None:
            await self._judge(first)
        listening.cancel()

    async def _judge(self, first: Partition) -> None:
        self.session = session = JudgeSession(
            self.plan,
            max_cost=None if self.how.max_cost is None else 0.0,
            retry_failed=self.how.retry_failed,
            limits_of=self.limits_of,
            ask_more=self.ask_lease,
        )

        queue = [first]

        async def feed() -> Partition | None:
            return queue.pop() if queue else await self.feed()

        async with alongside(self.beat()), session:
            await drive(session, feed, self.finish)


def share_of(plan: LakePlan, share: int) -> dict[str, int]:
    """What each judge may have in flight in one of so many workers."""
    from concord.llm.client import limits

    limit = limits(plan.models.values())
    return {name: max(1, limit[model.endpoint] // share) for name, model in plan.models.items()}


def main() -> None:
    """Work for the process that began this one."""
    try:
        plan, options, share = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):
        return  # the coordinator has died meanwhile
    output = os.dup(1)
    os.dup2(2, 1)  # what a program that judges prints is no answer to the coordinator
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches it too; the coordinator tells it to stop
    worker = LakeWorker(plan, options, share, output)
    try:
        with few_collections():
            asyncio.run(worker.go())
    except ConcordError as error:
        worker.say(done=True, halted=str(error), broken=True)
        return
    halted, broken = (worker.session.stop, worker.session.broken) if worker.session else ("", False)
    worker.say(done=True, halted=halted, broken=broken, **worker.stands())
    os._exit(0)  # the thread that reads its input is in a read that nothing ends


if __name__ == "__main__":
    main()
