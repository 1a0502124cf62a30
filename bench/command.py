"""How much processor time `concord agreement` takes, beside importing the libraries that it does without.

    python -m bench.command [--items 1600] [--repeats 5] [--large 100000]

The study has five people (three an item), three judges and three criteria. The baseline is a process that
imports pandas and scipy.stats and does nothing. Python keeps the bytecode of modules, as it does where
Concord is installed: each call is made once before it is timed. A second study has 50 people and 100,000
items (`--large 0`: none); of it, processor time and peak memory of one call are printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import reached

ROOT = Path(__file__).parents[1]


def ratings(items: int, people: int = 5) -> str:
    """The study as CSV."""
    rng = np.random.default_rng(0)
    lines = ["item_id,criterion,rater,rater_type,score"]
    for criterion in ("character", "entertaining", "fluency"):
        for item in range(items):
            raters = [(f"person {p}", "human") for p in rng.permutation(people)[:3]]
            raters += [(f"judge-{j}", "judge") for j in "abc"]
            place = 3 + rng.normal()
            for rater, kind in raters:
                score = int(np.clip(round(place + rng.normal()), 1, 5))
                lines.append(f"{item},{criterion},{rater},{kind},{score}")
    return "\n".join(lines) + "\n"


def seconds(call: Sequence[str], repeats: int) -> float:
    """The median processor time of a process, user and system, after a first one that is not counted."""
    environment = {name: of for name, of in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(repeats + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *call], cwd=ROOT, env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times[1:])


def imported(folder: Path, table: str) -> list[str]:
    """The start of a call on a new workspace that holds the table as the study “bench”."""
    file = folder / "ratings.csv"
    file.write_text(table, encoding="utf-8")
    concord = ["-m", "concord.cli", "--workspace", f"{folder}/workspace"]
    call = [sys.executable, *concord, "import", "ratings", str(file), "--study", "bench"]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    return concord


def alone(call: Sequence[str]) -> tuple[float, float]:
    """Processor seconds, and MB at the peak, of one process."""
    process = subprocess.Popen([sys.executable, *call], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"The call ended with {process.returncode}.")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=1600)
    parser.add_argument("--repeats", type=int, default=5, help="medians are over this many (default 5)")
    parser.add_argument("--large", type=int, default=100_000, help="items of the second study")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        concord = imported(Path(folder), ratings(options.items))
        calls = {
            "import pandas, scipy.stats": ["-c", "import pandas, scipy.stats"],
            "concord agreement --help": [*concord, "agreement", "--help"],
            f"concord agreement, {options.items:,} items": [*concord, "agreement", "--study", "bench"],
        }
        measured = {name: seconds(call, options.repeats) for name, call in calls.items()}
    baseline = next(iter(measured.values()))
    for name, took in measured.items():
        print(f"{name:<36} {took:6.2f} s {took / baseline:6.2f} × the imports")
    reached("command", took / baseline)
    if options.large:
        with tempfile.TemporaryDirectory() as folder:
            concord = imported(Path(folder), ratings(options.large, people=50))
            took, peak = alone([*concord, "agreement", "--study", "bench"])
        reached("large", took)
        reached("large memory", peak)


if __name__ == "__main__":
    main()
