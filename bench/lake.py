"""Judging files against a run of a workspace, in CPU seconds, and the estimate of many rows.

    python -m bench.lake [CONVERSATIONS] [ROWS]

Baseline: an import and a run of the same conversations by the same judge in a workspace. The mock server is a
process of its own, so that CPU is that of who judges.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from concord.lake.counting import GroupColumn, count
from concord.lake.judging import schema

RUBRIC = """
title = "Support"
unit = "conversation"
[[criteria]]
name = "solved"
statement = "The assistant solves the problem."
type = "yes-no"
"""
PORT = 8797


def write_log(path: Path, conversations: int) -> None:
    """Write conversations of about 1.5 kB as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(conversations):
            messages = [
                {"role": "user", "content": f"My parcel {number} is lost. " * 20},
                {"role": "assistant", "content": "I am sorry to hear that. " * (number % 20 + 20)},
            ]
            row = {"id": f"c{number}", "messages": messages, "segment": "ab"[number % 2]}
            file.write(json.dumps(row) + "\n")


@contextmanager
def mock():
    """A mock server as a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.mock", "--port", str(PORT)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def cpu_of(*words: str) -> tuple[float, float]:
    """CPU seconds of a command with all its children, and its wall time."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "concord.cli", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        time.perf_counter() - began,
    )


def judging(conversations: int) -> None:
    """CPU per 1,000 conversations of a run, of one process on files, and of two workers."""
    with tempfile.TemporaryDirectory() as folder, mock():
        home = Path(folder)
        (home / "ws" / "rubrics").mkdir(parents=True)
        (home / "ws" / "rubrics" / "support.toml").write_text(RUBRIC)
        (home / "ws" / "models.toml").write_text(
            f'[models.a]\nbase_url = "http://127.0.0.1:{PORT}/v1"\nmodel = "mock-judge-strict"\n'
            "max_concurrency = 64\n"
        )
        log = home / "log.jsonl"
        write_log(log, conversations)
        ws = ("--workspace", str(home / "ws"))
        imported, _ = cpu_of(*ws, "import", "conversations", str(log))
        by_run, run_seconds = cpu_of(*ws, "judge", "support", "--judges", "a")
        files = ("judge", str(log), "--rubric", "support", "--judges", "a", "--keep", "segment")
        one, seconds = cpu_of(*ws, *files, "--out", str(home / "one"))
        two, _ = cpu_of(*ws, *files, "--out", str(home / "two"), "--workers", "2")
    thousands = conversations / 1000
    print(f"import and run of a workspace: {(imported + by_run) / thousands:.2f} s of CPU per 1,000")
    print(f"files, one process:            {one / thousands:.2f} s ({one / (imported + by_run):.2f} of it)")
    print(
        f"files, two workers:            {two / thousands:.2f} s ({one / two:.2f} of its rate per CPU second)"
    )
    print(f"wall: run {run_seconds:.0f} s, files {seconds:.0f} s")


def estimating(rows: int) -> None:
    """Seconds and memory of counting many answers."""
    with tempfile.TemporaryDirectory() as folder:
        rng, paths, part = np.random.default_rng(0), [], 100_000
        for number in range(rows // part):
            columns = {
                name: pa.nulls(part, kind) for name, kind in zip(schema().names, schema().types, strict=True)
            }
            columns |= {
                "key": pa.array([f"c{number}-{place}" for place in range(part)]),
                "criterion": pa.array(["solved"] * part),
                "score": pa.array(rng.integers(0, 2, part).astype(float)),
                "refused": pa.array(np.zeros(part, dtype=bool)),
                "chars": pa.array(rng.integers(50, 900, part)),
                "segment": pa.array(rng.choice(["a", "b", "c"], part)),
                "week": pa.array(rng.choice([f"2026-W{week:02}" for week in range(1, 53)], part)),
            }
            paths.append(Path(folder) / f"part-{number:06}.parquet")
            parquet.write_table(pa.table(columns), paths[-1], compression="zstd")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, cpu = time.perf_counter(), time.process_time()
        counted = count(paths, "solved", (GroupColumn("segment"), GroupColumn("week")), ["c0-1", "c3-7"])
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"estimate of {counted.replies:,} rows by segment and week: {seconds:.1f} s ({cpu:.1f} s of CPU), "
        f"{memory / 1024:.0f} MB at most, {(memory - before) / 1024:.0f} MB more than before"
    )


def main() -> None:
    """Measure."""
    judging(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    estimating(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)


if __name__ == "__main__":
    main()
