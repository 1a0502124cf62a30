"""Judging files against a run of a workspace, its memory, and the estimate of many rows.

    python -m bench.lake [--only cpu,ideal,memory,estimate] [--conversations 2000] [--large 300000]

CPU is that of each further 1,000 conversations: of a job three times as large, less that of the small one, so
that starts do not count. The baseline is a run of the same judge on the same conversations, stored in a
workspace. The mock server is a process of its own. Memory is measured with a judge that is a function, so
that a million conversations need no endpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from bench.aims import reached
from bench.throughput import server
from concord.lake import engines, plan
from concord.lake.counting import GroupColumn, count
from concord.lake.judging import schema
from concord.rubrics.reading import read
from tests.lake.logs import RUBRIC

PLACES, LATENCY = 64, 1.0
TICK = os.sysconf("SC_CLK_TCK")
SMALL = 10_000
"""Conversations of the job whose memory a large one is compared with."""


def write_log(path: Path, conversations: int) -> Path:
    """Write conversations of about 1.1 kB as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(conversations):
            messages = [
                {"role": "user", "content": f"My parcel {number} is lost. " * 20},
                {"role": "assistant", "content": "I am sorry to hear that. " * (number % 20 + 20)},
            ]
            row = {"id": f"c{number}", "messages": messages, "segment": "ab"[number % 2]}
            file.write(json.dumps(row) + "\n")
    return path


def home(folder: Path, url: str) -> Path:
    """A workspace with a rubric and a judge."""
    (folder / "rubrics").mkdir(parents=True)
    (folder / "rubrics" / "support.toml").write_text(RUBRIC, encoding="utf-8")
    entry = f'[models.a]\nbase_url = "{url}"\nmodel = "mock-judge-strict"\nmax_concurrency = {PLACES}\n'
    (folder / "models.toml").write_text(entry, encoding="utf-8")
    return folder


def cpu_of(*words: str) -> tuple[float, float]:
    """CPU seconds of a command with all its children, and those of its own process alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([sys.executable, "-m", "concord.cli", *words], stdout=subprocess.DEVNULL)
    own = 0.0
    while process.poll() is None:
        try:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            own = (int(fields[11]) + int(fields[12])) / TICK
        except (OSError, IndexError):
            break
        time.sleep(0.02)
    if process.wait():
        sys.exit(f"{' '.join(words)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, own


def measured_cpu(conversations: int) -> None:
    """CPU of each further 1,000 conversations: of a run, one process, two workers, their coordinator."""
    sizes, seconds = (conversations, 3 * conversations), {}
    with tempfile.TemporaryDirectory() as temporary, server(0.05, 0.3) as url:
        for size in sizes:
            folder = Path(temporary) / str(size)
            folder.mkdir()
            ws = ("--workspace", str(home(folder / "ws", url)))
            log = write_log(folder / "log.jsonl", size)
            cpu_of(*ws, "import", "conversations", str(log))
            files = ("judge", str(log), "--rubric", "support", "--judges", "a", "--keep", "segment")
            seconds["run", size] = cpu_of(*ws, "judge", "support", "--judges", "a")[0]
            seconds["one", size] = cpu_of(*ws, *files, "--out", str(folder / "one"))[0]
            two = cpu_of(*ws, *files, "--out", str(folder / "two"), "--workers", "2")
            seconds["two", size], seconds["coordinator", size] = two
    small, large = sizes
    each = {
        name: (seconds[name, large] - seconds[name, small]) / (large - small) * 1000
        for name in ("run", "one", "two", "coordinator")
    }
    for name, value in each.items():
        print(
            f"  {name:12s} {value:.3f} s of CPU for each further 1,000; {seconds[name, small]:.1f} s for the "
            f"first {small:,}, start included",
            flush=True,
        )
    reached("lake cpu", each["one"] / each["run"])
    reached("lake workers", each["one"] / each["two"])
    reached("lake coordinator", each["coordinator"])


def ideal(conversations: int) -> None:
    """Judge files in this process and print the share of the ideal rate that is reached."""
    with tempfile.TemporaryDirectory() as temporary, server(LATENCY, 0.3) as url:
        folder = Path(temporary)
        ws = home(folder / "ws", url)
        for name, size in (("warm", 10), ("whole", conversations)):
            judges = {"a": {"base_url": url, "model": "mock-judge-strict", "max_concurrency": PLACES}}
            value = plan.planned(
                [str(write_log(folder / f"{name}.jsonl", size))],
                read(ws / "rubrics" / "support.toml"),
                judges,
                str(folder / name),
            )
            began = time.perf_counter()
            assert engines.execute(value).state == "finished"
            seconds = time.perf_counter() - began
    share = conversations * LATENCY / PLACES / seconds
    print(f"  {conversations:,} conversations at {PLACES} places in {seconds:.1f} s, the survey included")
    reached("lake ideal", share)


def judged_by_function(conversations: int) -> dict[str, float]:
    """Judge with a function; the peak of memory in MB and CPU seconds of this process."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "support.toml").write_text(RUBRIC, encoding="utf-8")
        value = plan.planned(
            [str(write_log(folder / "log.jsonl", conversations))],
            read(folder / "support.toml"),
            {},
            str(folder / "out"),
            functions={"short": lambda _item: {"solved": "yes", "polite": 3}},
        )
        end = engines.execute(value)
        assert (end.state, end.judged, end.failed) == ("finished", conversations, 0), end
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"mb": used.ru_maxrss / 1024, "cpu": used.ru_utime + used.ru_stime}


def memory(large: int) -> None:
    """The peak of a large job against that of a small one, each in a process of its own."""
    small_peak, large_peak = (_alone("--judge", str(size)) for size in (SMALL, large))
    for size, value in ((SMALL, small_peak), (large, large_peak)):
        print(
            f"  {size:,} conversations: {value['mb']:.0f} MB at most, {value['cpu']:.0f} s of CPU", flush=True
        )
    reached("lake memory", large_peak["mb"] / small_peak["mb"])


def _alone(*words: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.lake", *words]
    values: dict[str, float] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    return values


def write_answers(folder: Path, rows: int) -> list[Path]:
    """Write answers of a judge as files of 100,000 rows."""
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
        paths.append(folder / f"part-{number:06}.parquet")
        parquet.write_table(pa.table(columns), paths[-1], compression="zstd")
    return paths


def counted(folder: str) -> dict[str, float]:
    """Count the answers of a folder by segment and week; seconds, CPU and the peak of this process."""
    began, paths = time.perf_counter(), sorted(Path(folder).glob("part-*.parquet"))
    groupings = (GroupColumn("segment"), GroupColumn("week"))
    replies = count(paths, "solved", groupings, ["c0-1", "c3-7"]).replies
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    return {
        "rows": replies,
        "seconds": time.perf_counter() - began,
        "cpu": cpu,
        "mb": used.ru_maxrss / 1024,
    }


def estimating(rows: int) -> None:
    """CPU seconds and memory of counting many answers, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write_answers(Path(folder), rows)
        value = _alone("--count", folder)
    print(
        f"  estimate of {value['rows']:,} rows by segment and week: {value['seconds']:.1f} s, "
        f"{value['cpu']:.1f} s of CPU with imports, {value['mb']:.0f} MB at most"
    )
    reached("lake estimate", value["cpu"])
    reached("lake estimate memory", value["mb"])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="cpu,ideal,memory,estimate")
    parser.add_argument("--conversations", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=300_000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--judge", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--count", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        print(json.dumps(judged_by_function(options.judge)))
        return
    if options.count:
        print(json.dumps(counted(options.count)))
        return
    parts = {
        "cpu": lambda: measured_cpu(options.conversations),
        "ideal": lambda: ideal(2 * options.conversations),
        "memory": lambda: memory(options.large),
        "estimate": lambda: estimating(options.rows),
    }
    for name in options.only.split(","):
        parts[name]()


if __name__ == "__main__":
    main()
