"""How `concord check` grows with a table: processor time and peak memory of the command, beside pandas.

    python -m bench.tables [--rows 1000000] [--parquet 10000000]

A table has an id, a model, a person's stars on 2,000 rows and a judge's on all. The one of 100,000 rows has
three people and two judges on every row; there pandas reads it, groups people's answers and correlates. Its
reading is measured apart from its intervals. Tables of 100 items have 20, 50 and 100 people and three judges.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import reached

RATED = 2_000
CHECK = "import sys; from concord.cli import main; main(['check', sys.argv[1]])"
READ = "import sys; from concord.reading import labels; labels.read(sys.argv[1])"
PANDAS = """
import sys, pandas as pd
from scipy.stats import spearmanr
table = pd.read_csv(sys.argv[1]).set_index("id")
people = table.filter(like="human").stack().groupby(level=0).mean()
for judge in table.filter(like="judge"):
    spearmanr(table[judge].reindex(people.index), people)
"""
IMPORTS = "import pandas, scipy.stats"


def sparse(rows: int) -> pa.Table:
    """A judge on every row, a person on 2,000."""
    rng = np.random.default_rng(0)
    judge = rng.integers(1, 6, rows)
    human = np.full(rows, np.nan)
    rated = rng.choice(rows, min(RATED, rows), replace=False)
    human[rated] = np.clip(judge[rated] + rng.integers(-1, 2, len(rated)), 1, 5)
    ids = pa.array(np.arange(rows)).cast(pa.string())
    models = pa.array(np.array(["elm", "oak", "ash"])[rng.integers(0, 3, rows)])
    human_column = pa.array(human, from_pandas=True)
    return pa.table({"id": ids, "model": models, "human": human_column, "judge": judge.astype(np.int8)})


def full(rows: int) -> pd.DataFrame:
    """Three people and two judges on every row."""
    rng = np.random.default_rng(0)
    place = rng.integers(1, 6, rows)
    names = ("human_1", "human_2", "human_3", "judge_1", "judge_2")
    stars = {name: np.clip(place + rng.integers(-1, 2, rows), 1, 5) for name in names}
    return pd.DataFrame({"id": np.arange(rows), **stars})


def raters(people: int) -> pd.DataFrame:
    """So many people and three judges on each of 100 items, from 1 to 5."""
    rng = np.random.default_rng(people)
    quality = rng.normal(size=100)
    names = [f"{kind}_{number + 1}" for kind, of in (("human", people), ("judge", 3)) for number in range(of)]
    stars = {name: np.clip(np.round(3 + quality + rng.normal(0, 0.8, 100)), 1, 5) for name in names}
    return pd.DataFrame({"id": np.arange(100), **stars}).astype(int)


def measured(code: str, *arguments: object) -> tuple[float, float]:
    """Processor seconds and peak MB of a process."""
    program = "import resource, subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]], "
    program += "stdout=subprocess.DEVNULL, check=True); u = resource.getrusage(resource.RUSAGE_CHILDREN); "
    program += "print(u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)"
    call = [sys.executable, "-c", program, code, *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what each call took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parquet", type=int, default=10_000_000)
    asked = parser.parse_args(arguments)
    imports = min(measured(IMPORTS)[0] for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        for rows in sorted({20_000, 100_000, asked.rows}):
            sparse(rows).to_pandas().to_csv(file, index=False)
            seconds, megabytes = measured(CHECK, file)
            print(f"{rows:,} rows, {RATED:,} rated: {seconds:.1f} s, {megabytes:.0f} MB")
            if rows == 20_000:
                reached("table 20,000", seconds / imports)
        reached("table of a million", seconds)
        reached("table of a million, memory", megabytes)
        full(100_000).to_csv(file, index=False)
        baseline = min(measured(PANDAS, file)[0] for _ in range(2))
        reached("reading five raters", min(measured(READ, file)[0] for _ in range(2)) / baseline)
        reached("check five raters", min(measured(CHECK, file)[0] for _ in range(2)) / baseline)
        full(20_000).to_csv(file, index=False)
        reached("check 20,000 rated", min(measured(CHECK, file)[0] for _ in range(2)) / imports)
        for people in (20, 50, 100):
            raters(people).to_csv(file, index=False)
            reached(f"{people} raters", min(measured(CHECK, file)[0] for _ in range(2)))
        if asked.parquet:
            large = Path(folder) / "table.parquet"
            parquet.write_table(sparse(asked.parquet), large)
            seconds, megabytes = measured(CHECK, large)
            print(f"{asked.parquet:,} rows of Parquet: {seconds:.1f} s, {megabytes:.0f} MB")
            reached("table of ten million", seconds)
            reached("table of ten million, memory", megabytes)


if __name__ == "__main__":
    main()
