"""The journal of a partition in progress: a file of answered calls beside it, a line each.

A line is written as its answer arrives, so that a process that is killed pays again only for calls in flight.
The file is locked by who works on the partition; the system gives the lock back when that process ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from concord.codes import ErrorCode
from concord.configuration import Configuration, Reported
from concord.errors import ConcordError, RunStopped
from concord.lake import plan as plans
from concord.lake.plan import LakePlan
from concord.llm.handshake import Handshake
from concord.llm.models import Model
from concord.rating import NOTHING_SPENT, Spent
from concord.store.batches import Batch, Waiting
from concord.store.runs import NotedCall

AGAIN_SECONDS = 0.5
"""Between two tries to write what the disk did not take."""


class Busy(ConcordError):
    """Another process works on the partition."""

    code = ErrorCode.BUSY


class PartitionJournal:
    """The answered calls of one partition. Raises Busy where another process has it, OSError for a disk."""

    def __init__(self, path: Path):
        self.path = path
        self._file = _locked(path)
        self._unwritten = b""
        self._torn = False
        self.noted: dict[str, dict[str, NotedCall]] = {}
        self.failures: Counter[str] = Counter()
        """How often each piece of work failed by its endpoint."""
        self.spent = NOTHING_SPENT
        self.batches: dict[int, Batch] = {}
        """The batches in which calls of the partition were sent, by number."""
        self.waiting: dict[str, Waiting] = {}
        """The calls that wait in batches, are to be asked again or failed, by id."""
        self._read()

    def _read(self) -> None:
        size = os.fstat(self._file).st_size
        if not size:
            return
        with open(os.dup(self._file), "rb") as file:
            file.seek(0)
            last = b"\n"
            for line in file:
                last = line
                with suppress(ValueError, KeyError, TypeError, AttributeError):  # the end of a full disk
                    self._read_line(json.loads(line))
        self._torn = not last.endswith(b"\n")

    def _read_line(self, line: Mapping[str, Any]) -> None:
        work = line.get("work", "")
        if "forget" in line:
            step = line["forget"]
            present = self.noted.get(work, {})
            for name in [n for n in present if n == step or n.startswith(f"{step} again ")]:
                del present[name]
        elif "failed" in line:
            self.failures[work] += 1
        elif "batch" in line:
            batch = Batch(**line["batch"])
            self.batches[batch.id] = batch
        elif "waits" in line:
            call = Waiting(**line["waits"])
            self.waiting[call.id] = call
        elif "settled" in line:
            self.waiting.pop(line["settled"], None)
        else:
            expense = Spent(*line["spent"])
            reported = Reported(*line["reported"])
            self.spent += expense
            self.waiting.pop(line.get("call", ""), None)
            self.noted.setdefault(work, {})[line["step"]] = NotedCall(
                line["asked"], line["reply"], line["cut"], expense, reported, line["details"]
            )

    def note(self, work: str, step: str, note: NotedCall, call: str = "") -> None:
        """Keep an answered call; one that waited in a batch by its id, which ends its wait."""
        self.spent += note.spent
        if call:
            self.waiting.pop(call, None)
            self.noted.setdefault(work, {})[step] = note
        self._write(
            ({"call": call} if call else {})
            | {
                "work": work,
                "step": step,
                "asked": note.asked,
                "reply": note.reply,
                "cut": note.cut,
                "spent": list(vars(note.spent).values()),
                "reported": list(note.reported),
                "details": dict(note.details),
            }
        )

    def forget(self, work: str, step: str) -> None:
        """Forget the replies of a step that were all unusable."""
        self._write({"work": work, "forget": step})

    def fail(self, work: str, code: str) -> None:
        """Note that a piece of work failed by its endpoint."""
        self.failures[work] += 1
        self._write({"work": work, "failed": code})

    def keep_batch(self, batch: Batch) -> None:
        """Keep where a batch stands."""
        self.batches[batch.id] = batch
        self._write({"batch": asdict(batch)})

    def keep_call(self, call: Waiting) -> None:
        """Keep a call that waits in a batch, or has left one without an answer."""
        self.waiting[call.id] = call
        self._write({"waits": asdict(call)})

    def settle_call(self, call: str) -> None:
        """Forget a call that is made directly, or whose failure was told."""
        if self.waiting.pop(call, None) is not None:
            self._write({"settled": call})

    @property
    def reserved(self) -> float:
        """What the calls that wait in batches may cost."""
        return sum(call.cost for call in self.waiting.values() if call.batch_id is not None)

    def sync(self) -> None:
        """Have the disk keep what was written."""
        with suppress(OSError):
            os.fsync(self._file)

    def _write(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        self._unwritten += text.encode("utf-8", "surrogatepass") + b"\n"
        self.flush()

    def flush(self) -> str:
        """Write what is not written yet; why it cannot be, “” where it is."""
        if self._torn and self._unwritten:
            self._unwritten = b"\n" + self._unwritten
            self._torn = False
        while self._unwritten:
            try:
                count = os.write(self._file, self._unwritten)
            except OSError as error:
                return error.strerror or str(error)
            self._unwritten = self._unwritten[count:]
        return ""

    def close(self, *, complete: bool = False) -> None:
        """Give the partition back; its journal is deleted where it is `done`."""
        if complete:
            self.path.unlink(missing_ok=True)
        else:
            self.flush()
            with suppress(OSError):
                if not os.fstat(self._file).st_size:
                    self.path.unlink(missing_ok=True)
        os.close(self._file)


def _locked(path: Path) -> int:
    """The open file, locked. Raises Busy."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_ino == path.stat().st_ino:
                return file
        except FileNotFoundError:
            pass  # who had it before has ended it
        except BlockingIOError:
            os.close(file)
            raise Busy(f"Another process works on {path.stem}.") from None
        os.close(file)


def journal_cost(path: Path) -> float:
    """What the calls in a journal cost; 0 where there is none, or where another process works on it."""
    return _figure(path, lambda journal: journal.spent.cost)


def journal_reserve(path: Path) -> float:
    """What the calls of a journal that wait in batches may cost; 0 as in `journal_cost`."""
    return _figure(path, lambda journal: journal.reserved)


def _figure(path: Path, figure: Callable[[PartitionJournal], float]) -> float:
    if not path.exists():
        return 0.0
    try:
        journal = PartitionJournal(path)
    except (Busy, OSError):
        return 0.0
    journal.close()
    return float(figure(journal))


class LakeJournal:
    """Keeps what was answered in the journal of the partition whose work it is.

    See `concord.runs.call_runner.Journal`. `stopped` says why the work has stopped, “” before.
    """

    def __init__(self, plan: LakePlan, stopped: Callable[[], str]):
        self.plan = plan
        self._stopped = stopped
        self.of: dict[str, PartitionJournal] = {}
        """The journal of each piece of work under way."""
        self.obstacle = ""
        """Why what was answered cannot be written."""
        self._looking: asyncio.Task[None] | None = None
        self._configurations: dict[str, Configuration | None] = {}

    @property
    def folder(self) -> Path:
        """Where a program that judges is looked for first."""
        return Path(self.plan.folder)

    async def admit(self) -> None:
        """Wait until what was answered is written. Raises RunStopped if the work has stopped."""
        if self.obstacle:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._until_written())
            await asyncio.shield(self._looking)
        if reason := self._stopped():
            raise RunStopped(reason)

    async def _until_written(self) -> None:
        while not self._stopped():
            self.obstacle = next(filter(None, (entry.flush() for entry in {*self.of.values()})), "")
            if not self.obstacle:
                return
            await asyncio.sleep(AGAIN_SECONDS)

    def note(
        self, work: str, step: str, note: NotedCall, entry: Model, model: Model, handshake: Handshake | None
    ) -> None:
        """Keep an answered call, what it cost, and the handshake that it was."""
        journal = self.of[work]
        journal.note(work, step, note)
        self.obstacle = self.obstacle or journal.flush()
        if handshake is not None:
            folder = self.plan.judge_folder(model.name)
            try:
                plans.settle(folder, model.configuration)
                plans.write_json(folder / HANDSHAKE, {"asked_as": entry.asked_as, **handshake.as_dict()})
            except OSError as error:
                self.obstacle = error.strerror or str(error)
            self._configurations.pop(model.name, None)

    def spend(self, cost: Spent) -> None:
        """What a call cost that gave no answer is counted where the work stands, and not kept."""

    def forget(self, work: str, step: str) -> None:
        """Forget the replies of a step that were all unusable."""
        if work in self.of:
            self.of[work].forget(work, step)

    async def latest(self, model: str) -> Configuration | None:
        """The configuration of a judge's answers so far."""
        if model not in self._configurations:
            self._configurations[model] = plans.configuration_of(self.plan.judge_folder(model))
        return self._configurations[model]


HANDSHAKE = "_handshake.json"


def known_handshakes(plan: LakePlan) -> dict[str, Handshake]:
    """What is known of the endpoints of the judges, where they were asked before."""
    cached = {}
    for name, model in plan.models.items():
        with suppress(OSError, ValueError, KeyError, TypeError):
            values = json.loads((plan.judge_folder(name) / HANDSHAKE).read_text(encoding="utf-8"))
            if values.pop("asked_as") == model.asked_as:
                cached[name] = Handshake.from_dict(values)
    return cached
