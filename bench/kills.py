"""Judging files while processes are killed: what is lost, doubled, or paid twice.

    python -m bench.kills [--conversations 2000] [--kills 20] [--engines coordinator,worker,shards,cluster]

A job is judged by each engine into a folder of its own, and a process is killed at equal distances of the
work. Then every conversation must be there once, all engines must agree, and what the mock server answered
beyond one call a judgement are calls that were in flight when something was killed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pyarrow as pa

from bench.throughput import server
from concord.workspace import Workspace
from tests.conftest import toml
from tests.lake import kills
from tests.lake.kills import KillOutcome, LakeJob, Victims
from tests.lake.logs import RUBRIC, conversation

ENGINES = ("coordinator", "worker", "shards", "cluster")


def main() -> None:
    """Judge and kill."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--conversations", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--partition", type=int, default=0, help="Conversations of a partition.")
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--folder", help="Keep everything there; else a temporary folder is used.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "log.jsonl"
        write_log(log, options.conversations)
        partition = options.partition or max(20, min(1000, options.conversations // 50))
        first: pa.Table | None = None
        for engine in options.engines.split(","):
            answers = measured(
                engine, folder, options.conversations, options.kills, partition, options.latency
            )
            assert first is None or answers.equals(first), f"{engine} has another result"
            first = answers
    print("All engines have the same result." if "," in options.engines else "")


def write_log(path: Path, conversations: int) -> None:
    """Write conversations as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(conversations):
            file.write(json.dumps(conversation(number)) + "\n")


def measured(
    engine: str, folder: Path, conversations: int, count: int, partition: int, latency: float
) -> pa.Table:
    """Judge with an engine under kills, print what it cost, and return the answers. Raises AssertionError."""
    with server(latency, 0.3) as url, _options(engine) as (options, victims):
        workspace = Workspace.open(folder / f"ws-{engine}")
        (workspace.path / "rubrics").mkdir(exist_ok=True)
        (workspace.path / "rubrics" / "support.toml").write_text(RUBRIC, encoding="utf-8")
        workspace.models_path.write_text(
            toml(url, a='model = "mock-judge-strict"\nmax_concurrency = 32'), encoding="utf-8"
        )
        out = folder / f"out-{engine}"
        job = LakeJob(workspace, folder / "log.jsonl", out, "a", partition, options)

        def beat(outcome: KillOutcome) -> None:
            print(f"    {engine}: kill {outcome.kills} at {time.strftime('%H:%M:%S')}", flush=True)

        outcome = kills.carried_out(job, victims, conversations, count, beat=beat)
    answers = job.answers()
    keys = answers.column("key").value_counts()
    assert len(keys) == conversations, f"{conversations - len(keys)} conversations are lost"
    assert set(keys.field("counts").to_pylist()) == {2}, "answers are doubled"
    assert answers.column("failure").null_count == answers.num_rows, "judgements failed"
    assert not job.journals(), "journals are left"
    assert outcome.answered == conversations + outcome.repeated, "a call was paid and its answer lost"
    assert outcome.repeated <= outcome.kills * outcome.peak, "more was paid twice than was in flight"
    print(
        f"  {engine:12s} {conversations:,} judgements, {outcome.kills} kills, {outcome.restarts} restarts, "
        f"{outcome.seconds:.0f} s: {outcome.repeated} calls paid twice, {outcome.flying} were in flight "
        f"(at most {outcome.peak} at once); nothing lost, nothing doubled",
        flush=True,
    )
    return answers


@contextmanager
def _options(engine: str) -> Iterator[tuple[Sequence[Sequence[str]], Victims]]:
    """The options of the commands of an engine, and whom to kill."""
    if engine == "coordinator":
        yield [("--workers", "2")], kills.commands
    elif engine == "worker":
        yield [("--workers", "2")], kills.workers
    elif engine == "both":
        yield [("--workers", "2")], kills.both
    elif engine == "shards":
        yield [("--shard", f"{number}/4") for number in range(1, 5)], kills.commands
    else:
        from distributed import LocalCluster

        # A nanny begins each worker again that was killed, as those of `dask worker` do.
        how = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None, "silence_logs": 50}
        with LocalCluster(**how) as cluster:
            cluster.wait_for_workers(2)

            def victims(running: Sequence[Popen[str]]) -> Sequence[int]:
                processes = [nanny.process for nanny in cluster.workers.values()]
                pids = [process.pid for process in processes if process is not None]
                return [*kills.commands(running), *filter(None, pids)]

            yield [("--cluster", cluster.scheduler_address)], victims


if __name__ == "__main__":
    main()
