"""The coordinator of a job on files: surveys them, hands out partitions, and counts what comes back."""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import parse_json
from concord.lake import plan as plans
from concord.lake.journal import journal_cost
from concord.lake.partitions import Partition, Shard
from concord.lake.plan import LakePlan
from concord.lake.surveying import LakeSurvey, PartitionSurvey, survey_partition
from concord.lake.working import PartitionEnd, answer_facts, owing
from concord.rating import NOTHING_SPENT, Spent

BEAT_SECONDS = 0.5
BUSY_SECONDS = 1.0
"""Before a partition that another process holds is tried again."""
TRIES = 3
"""Workers that may die, or tasks that may fail, on one partition before it is left."""
SURVEY = "_survey.json"
PROGRESS = "_progress"


@dataclass
class LakeProgress:
    """Where a job stands: partitions and judgements, what they cost, and why it ended or waits.

    `earlier` judgements were there before; `put_off` ones failed by their endpoint and are asked again by the
    same command; `waiting` calls wait in batches at an endpoint. `problems` are partitions with errors of
    their own.
    """

    state: str = "running"
    conversations: int = 0
    partitions: int = 0
    partitions_done: int = 0
    planned: int = 0
    earlier: int = 0
    judged: int = 0
    failed: int = 0
    put_off: int = 0
    waiting: int = 0
    expense: Spent = NOTHING_SPENT
    max_cost: float | None = None
    seconds: float = 0.0
    message: str = ""
    problems: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    workers: int = 1
    beat: float = 0.0
    signal: int = 0

    @property
    def left(self) -> int:
        """Partitions that are not committed whole."""
        return self.partitions - self.partitions_done

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LakeProgress:
        """What `as_dict` gave. Raises TypeError or KeyError for anything else."""
        inner = dict(values)
        return cls(**{**inner, "expense": Spent(**inner["expense"])})


@dataclass(frozen=True)
class LakeHow:
    """How a plan is carried out: with so many `workers` (0: in this process) or a Dask `cluster`.

    With `batch` calls are sent through the Batch API; with `wait` until all of them are answered.
    """

    workers: int = 0
    cluster: str = ""
    max_cost: float | None = None
    retry_failed: bool = False
    batch: bool = False
    wait: bool = False


Watch = Callable[[LakeProgress], None]


@contextmanager
def alone(plan: LakePlan) -> Iterator[None]:
    """Keep others from judging into the folder for the block. Raises ConfigError where one does."""
    path = Path(plan.answers) / f"_lock{plan.shard.suffix}"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        subject = f"shard {plan.shard.number} of {plan.answers}" if plan.shard.total > 1 else plan.answers
        raise ConfigError(f"Another process judges into {subject}. Wait for it, or stop it.") from None
    except OSError as error:
        os.close(file)
        raise ConfigError(
            f"{plan.answers} is on a file system without locks: {error.strerror}. Name another folder."
        ) from error
    try:
        yield
    finally:
        os.close(file)


# ── The survey ────────────────────────────────────────────────────────────────────────────────────────────


def known_survey(plan: LakePlan) -> list[int] | None:
    """How many conversations each partition holds, where all were surveyed before and nothing has changed."""
    try:
        values = parse_json((Path(plan.answers) / _survey_name(plan.shard)).read_text(encoding="utf-8"))
        if values["inputs"] != _stamp(plan) or values["rubric"] != plan.questions.hash:
            return None
        return [int(count) for count in values["conversations"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _survey_name(shard: Shard) -> str:
    return f"{SURVEY.removesuffix('.json')}{shard.suffix}.json"


def _stamp(plan: LakePlan) -> list[Any]:
    """What tells files that were surveyed from others of the same names."""
    times = [os.stat(file.address).st_mtime_ns if "://" not in file.address else 0 for file in plan.files]
    return [plan.inputs["files"], times, dict(plan.keep)]


class Surveying:
    """Takes the surveys of partitions, in any order; `counted_conversations` checks them all."""

    def __init__(self, plan: LakePlan):
        self.plan = plan
        self.counts = [0] * len(plan.partitions)
        self.total = LakeSurvey()

    def add(self, one: PartitionSurvey) -> None:
        """Count a partition."""
        self.counts[one.number] = one.conversations
        self.total.add(one)

    def counted_conversations(self) -> list[int]:
        """The conversations of each partition. Raises ImportRefused or ConfigError for what is wrong."""
        self.total.check(self.plan)
        with suppress(OSError):
            plans.write_json(
                Path(self.plan.answers) / _survey_name(self.plan.shard),
                {
                    "inputs": _stamp(self.plan),
                    "rubric": self.plan.questions.hash,
                    "conversations": self.counts,
                    "characters": self.total.characters / max(self.total.prompts, 1),
                },
            )
        return self.counts


def survey_here(plan: LakePlan) -> Surveying:
    """Survey all partitions in this process."""
    result = Surveying(plan)
    for partition in plan.partitions:
        result.add(survey_partition(plan, partition))
    return result


# ── The coordinator ───────────────────────────────────────────────────────────────────────────────────────


class Coordinator:
    """Hands out partitions and what may be spent, and counts what comes back."""

    def __init__(self, plan: LakePlan, options: LakeHow, watch: Watch | None):
        self.plan = plan
        self.how = options
        self.watch = watch
        self.progress = LakeProgress(max_cost=options.max_cost, workers=max(options.workers, 1))
        self.counts: list[int] = []
        self.pending: dict[int, int] = {}
        """The judgements that each partition lacked at the beginning."""
        self.todo: deque[Partition] = deque()
        self.deaths: Counter[int] = Counter()
        """Workers that have died on each partition."""
        self.held: dict[int, float] = {}
        """When partitions are tried again that processes of an earlier command hold: they are just ending."""
        self.waiting: set[int] = set()
        """Partitions whose calls wait in batches."""
        self.collected = False
        """Whether a batch was collected since that was last asked."""
        self.before = 0.0
        """What was spent of the limit before."""
        self.stop = ""
        self.broken = False
        self._began = time.monotonic()
        self._written = -1.0

    def begin(self, counts: list[int]) -> None:
        """Take what a survey counted, and what is stored."""
        plan = self.plan
        progress = self.progress
        plans.prepared(plan)
        self.counts = counts
        progress.conversations = sum(counts)
        progress.partitions = len(plan.partitions)
        progress.planned = progress.conversations * len(plan.models)
        for partition in plan.partitions:
            owing_judges = owing(plan, partition.number, retry_failed=self.how.retry_failed)
            progress.earlier += counts[partition.number] * (len(plan.models) - len(owing_judges))
            self.pending[partition.number] = counts[partition.number] * len(owing_judges)
            if owing_judges:
                self.todo.append(partition)
            else:
                progress.partitions_done += 1
        if self.how.max_cost is not None:
            self.before = spent_before(plan)

    def next(self) -> Partition | None:
        """The next partition; None where none is left for now, or the job has stopped."""
        now = time.monotonic()
        for number in [number for number, moment in self.held.items() if moment <= now]:
            del self.held[number]
            self.requeue(number)
        return self.todo.popleft() if self.todo and not self.stop else None

    def requeue(self, number: int) -> None:
        """Have a partition worked on once more, after the others."""
        self.todo.append(self.plan.partitions[number])

    def survives(self, number: int, reason: str) -> bool:
        """Count a death on a partition; whether it is worked on once more, else `reason` is kept."""
        self.deaths[number] += 1
        if self.deaths[number] < TRIES:
            return True
        self.problem(number, reason)
        return False

    def visit_again(self) -> bool:
        """Have the partitions visited again whose calls wait in batches; whether there are any."""
        self.todo.extend(self.plan.partitions[number] for number in sorted(self.waiting))
        self.waiting.clear()
        return bool(self.todo)

    def finish(self, end: PartitionEnd) -> None:
        """Count a partition that ended."""
        self.waiting.discard(end.number)
        self.collected |= end.collected or end.complete
        if end.waits:
            self.waiting.add(end.number)
        if end.complete:
            self.progress.partitions_done += 1
        elif end.busy:
            self.held[end.number] = time.monotonic() + BUSY_SECONDS
        elif end.error:
            self.problem(end.number, end.error)

    def problem(self, number: int, reason: str) -> None:
        """Note why a partition could not be judged."""
        file = self.plan.files[self.plan.partitions[number].file].address
        self.progress.problems.append(f"Partition {number} ({file}): {reason}")

    def waits(self) -> str:
        """That partitions are still held by others, in a sentence; “” where none is."""
        if not self.held:
            return ""
        several = "s" if len(self.held) > 1 else ""
        return f"Waiting for an earlier command to leave {len(self.held)} partition{several}."

    def tell(self, *, force: bool = False) -> None:
        """Say where the job stands, also in a file of the folder."""
        now = time.monotonic()
        self.progress.seconds = now - self._began
        self.progress.beat = time.time()
        if self.watch:
            self.watch(self.progress)
        if force or now - self._written >= 2:
            self._written = now
            with suppress(OSError):
                name = f"{PROGRESS}{self.plan.shard.suffix}.json"
                plans.write_json(Path(self.plan.answers) / name, self.progress.as_dict())

    def close(self, message: str = "") -> LakeProgress:
        """Where the job ended."""
        progress = self.progress
        broken = self.broken or bool(progress.problems)
        complete = not progress.left
        progress.state = (
            "finished" if complete else "broken" if broken else "stopped" if self.stop else "open"
        )
        progress.message = " ".join(filter(None, [self.stop, message]))
        self.tell(force=True)
        return progress


def spent_before(plan: LakePlan) -> float:
    """What the judgements of a plan have cost so far: those that are committed, and in journals."""
    total = 0.0
    for judge in plan.models:
        total += sum(
            float(answer_facts(part).get("cost", 0.0)) for part in plans.parts_of(plan.judge_folder(judge))
        )
    return total + sum(map(journal_cost, plan.rubric_folder.glob("part-*.journal")))
