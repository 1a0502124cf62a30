"""Files are judged while processes are killed; the mock server's ledger says what was paid."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyarrow import dataset

from concord.workspace import Workspace
from tests.lake.logs import COMMAND, calls_of

LOOK_SECONDS = 0.05
"""Between two looks at the ledger."""
ATTEMPTS = 10
"""How often a command is begun again that ends before its work is complete."""
ANSWERS = ("key", "judge", "criterion", "turn", "score", "reason", "failure")


def children(number: int) -> list[int]:
    """The processes that a process has begun, as /proc says."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == number]


def _parent(name: str) -> int:
    try:
        return int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


@dataclass
class LakeJob:
    """A job on files as commands that run at once, such as its shards."""

    workspace: Workspace
    files: Path
    out: Path
    judges: str = "a"
    partition: int = 20
    options: Sequence[Sequence[str]] = ((),)
    """The options of each command."""
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, options: Sequence[str]) -> list[str]:
        """The words of a command."""
        words = ["--workspace", str(self.workspace.path), "judge", str(self.files), "--rubric", "support"]
        words += ["--judges", self.judges, "--out", str(self.out), "--partition", str(self.partition)]
        return [sys.executable, "-c", COMMAND, *words, *options]

    def begin(self, number: int) -> subprocess.Popen[str]:
        """Begin a command."""
        return subprocess.Popen(
            self.command(self.options[number]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def answers(self) -> pa.Table:
        """Everything that judges answered, in an order of its own."""
        parts = sorted(map(str, self.out.glob("*/*/part-*.parquet")))
        whole = dataset.dataset(parts).to_table(columns=[*ANSWERS])
        return whole.sort_by([(name, "ascending") for name in ANSWERS[:4]]).combine_chunks()

    def journals(self) -> list[Path]:
        """The journals of partitions in progress."""
        return list(self.out.glob("*/*.journal"))


@dataclass
class KillOutcome:
    """What kills have cost: `flying` are the calls in flight just before each kill, together."""

    kills: int = 0
    restarts: int = 0
    flying: int = 0
    answered: int = 0
    repeated: int = 0
    peak: int = 0
    seconds: float = 0.0
    output: list[str] = field(default_factory=list)


Victims = Callable[[Sequence[subprocess.Popen[str]]], Sequence[int]]
"""Which processes may be killed, by those of the commands that run."""


def commands(running: Sequence[subprocess.Popen[str]]) -> Sequence[int]:
    """The commands themselves: a coordinator, a shard."""
    return [process.pid for process in running]


def workers(running: Sequence[subprocess.Popen[str]]) -> Sequence[int]:
    """The processes that the commands have begun."""
    return [child for process in running for child in children(process.pid)]


def both(running: Sequence[subprocess.Popen[str]]) -> Sequence[int]:
    """Commands, and what they have begun."""
    return [*commands(running), *workers(running)]


def carried_out(
    job: LakeJob,
    victims: Victims,
    judgements: int,
    kills: int,
    seed: int = 0,
    beat: Callable[[KillOutcome], None] | None = None,
) -> KillOutcome:
    """Carry out a job of so many judgements and kill one of `victims` at equal distances of its work.

    Each command is begun again until it ends complete. Raises AssertionError for one that does not.
    """
    outcome, rng, began = KillOutcome(), random.Random(seed), time.monotonic()
    before = sum(calls_of(job.workspace)["answered"].values())
    job.running = [job.begin(number) for number in range(len(job.options))]
    try:
        for number in range(kills):
            target = before + judgements * (number + 1) // (kills + 1)
            _kill(job, outcome, victims, target, rng)
            if beat:
                beat(outcome)
        for place in range(len(job.running)):
            _complete(job, outcome, place)
    finally:
        for process in job.running:
            with suppress(OSError):
                process.kill()
    counts = calls_of(job.workspace)
    outcome.answered = sum(counts["answered"].values()) - before
    outcome.repeated, outcome.peak = counts["repeated"], counts["peak_in_flight"]
    outcome.seconds = time.monotonic() - began
    return outcome


def _kill(job: LakeJob, outcome: KillOutcome, victims: Victims, target: int, rng: random.Random) -> None:
    """Wait until so much is answered, and kill one process."""
    while True:
        counts = calls_of(job.workspace)
        for place, process in enumerate(job.running):
            if process.poll() not in (None, 0):
                _begin_again(job, outcome, place)
        if all(process.poll() == 0 for process in job.running):
            return  # the work is complete
        if sum(counts["answered"].values()) >= target:
            alive = [process for process in job.running if process.poll() is None]
            if found := victims(alive):
                break
        time.sleep(LOOK_SECONDS)
    victim = rng.choice(sorted(found))
    outcome.flying += calls_of(job.workspace)["in_flight"]
    with suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
        outcome.kills += 1
    for place, process in enumerate(job.running):
        if process.pid == victim:
            _begin_again(job, outcome, place)


def _begin_again(job: LakeJob, outcome: KillOutcome, place: int) -> None:
    output, _ = job.running[place].communicate()
    outcome.output.append(output)
    outcome.restarts += 1
    job.running[place] = job.begin(place)


def _complete(job: LakeJob, outcome: KillOutcome, place: int) -> None:
    for _ in range(ATTEMPTS):
        output, _ = job.running[place].communicate()
        outcome.output.append(output)
        if job.running[place].returncode == 0:
            return
        outcome.restarts += 1
        job.running[place] = job.begin(place)
    raise AssertionError(f"It does not end complete: {output}")
