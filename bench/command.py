"""How much processor time `concord agreement` takes, beside importing the libraries that it does without.

    python -m bench.command [--items 1600] [--repeats 5]

The study has five people (three an item), three judges and three criteria. The baseline is a process that
imports pandas and scipy.stats and does nothing. Python keeps the bytecode of modules, as it does where
Concord is installed: each call is made once before it is timed.
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

ROOT = Path(__file__).parents[1]


def ratings(items: int) -> str:
    """The study as CSV."""
    rng = np.random.default_rng(0)
    lines = ["item_id,criterion,rater,rater_type,score"]
    for criterion in ("character", "entertaining", "fluency"):
        for item in range(items):
            raters = [(f"person {p}", "human") for p in rng.permutation(5)[:3]]
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=1600)
    parser.add_argument("--repeats", type=int, default=5, help="medians are over this many (default 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        file.write_text(ratings(options.items), encoding="utf-8")
        concord = ["-m", "concord.cli", "--workspace", f"{folder}/workspace"]
        imported = [*concord, "import", "ratings", str(file), "--study", "bench"]
        subprocess.run([sys.executable, *imported], cwd=ROOT, check=True, capture_output=True)
        calls = {
            "import pandas, scipy.stats": ["-c", "import pandas, scipy.stats"],
            "concord agreement --help": [*concord, "agreement", "--help"],
            f"concord agreement, {options.items:,} items": [*concord, "agreement", "--study", "bench"],
        }
        measured = {name: seconds(call, options.repeats) for name, call in calls.items()}
    baseline = next(iter(measured.values()))
    for name, took in measured.items():
        print(f"{name:<36} {took:6.2f} s {took / baseline:6.2f} × the imports")


if __name__ == "__main__":
    main()
