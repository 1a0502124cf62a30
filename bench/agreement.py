"""How fast a study's agreement is, against a plain loop over `krippendorff.alpha` and
`scipy.stats.spearmanr`.

    python -m bench.agreement [--resamples 1000] [--repeats 5] [--sizes 5x250,13x1700,50x100000]

Both sides compute the same intervals: for every criterion and for final, alpha (ordinal and interval) and
Spearman of three judges, of their mean and of every pair, against the mean of people. The loop is timed on a
few resamples and scaled to all of them. `figures` is the whole of `study_agreement`: the same intervals and
everything else a study shows.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import reached
from concord.statistics.ratings import default_panels, read_ratings
from concord.statistics.study import study_agreement

CRITERIA = ("character", "entertaining", "fluency", "depth")
JUDGES = ("a", "b", "c")
SIZES = {"5x250": 5, "13x1700": 3, "50x100000": 5}
"""People × items, and how many people rate each item."""

TURNS = {1: "Likert", 4: "4 turns"}
"""A judge answers every turn of an item, and their mean is its score."""

LOOPED = {"5x250": 20, "13x1700": 5, "50x100000": 1}
"""Resamples that the plain loop is timed on."""


def ratings(people: int, items: int, each: int, *, turns: int, seed: int = 0) -> pd.DataFrame:
    """Likert answers of `each` people per item; judges answer every turn and their mean is their score."""
    rng = np.random.default_rng(seed)
    who = np.argsort(rng.random((items, people), dtype=np.float32), axis=1)[:, :each].ravel()
    unit = np.repeat(np.arange(items), each)
    parts = []
    for criterion in CRITERIA:
        quality = rng.normal(size=items)
        score = np.clip(np.round(3 + quality[unit] + rng.normal(size=len(unit))), 1, 5)
        names = pd.Categorical.from_codes(who, [f"person {number}" for number in range(people)]).astype(str)
        parts.append(
            pd.DataFrame(
                {"unit": unit, "criterion": criterion, "rater": names, "kind": "human", "score": score}
            )
        )
        for judge in JUDGES:
            answers = np.clip(np.round(3 + quality + rng.normal(size=(turns, items))), 1, 5).mean(axis=0)
            parts.append(
                pd.DataFrame(
                    {
                        "unit": np.arange(items),
                        "criterion": criterion,
                        "rater": judge,
                        "kind": "judge",
                        "score": answers,
                    }
                )
            )
    return pd.concat(parts)


def loop(frame: pd.DataFrame, resamples: int) -> float:
    """Seconds that the plain way takes for some resamples, the tables made ready before."""
    tables = []
    for criterion in (*CRITERIA, "final"):
        rows = frame if criterion == "final" else frame[frame["criterion"] == criterion]
        rows = rows.groupby(["kind", "rater", "unit"], as_index=False, observed=True)["score"].mean()
        person = rows[rows["kind"] == "human"].pivot(index="rater", columns="unit", values="score")
        judge = rows[rows["kind"] == "judge"].pivot(index="rater", columns="unit", values="score")
        scores = [
            judge.loc[list(panel)].mean().to_numpy()
            for panel in [(j,) for j in JUDGES] + default_panels(JUDGES)
        ]
        tables.append((person.to_numpy(), scores))
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(resamples):
        drawn = rng.integers(0, tables[0][0].shape[1], tables[0][0].shape[1])
        for person, scores in tables:
            again = person[:, drawn]
            krippendorff.alpha(again, level_of_measurement="ordinal")
            krippendorff.alpha(again, level_of_measurement="interval")
            target = np.nanmean(again, axis=0)
            for score in scores:
                stats.spearmanr(score[drawn], target)
    return time.perf_counter() - start


def ours(size: str, turns: int, options: argparse.Namespace) -> tuple[float, list[float]]:
    """Seconds to read the frame, and to make every figure, several times."""
    people, items = map(int, size.split("x"))
    frame = ratings(people, items, SIZES[size], turns=turns)
    start = time.process_time()
    table = read_ratings(frame)
    read = time.process_time() - start
    times = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        study_agreement(table, resamples=options.resamples)
        times.append(time.perf_counter() - start)
    return read, times


def theirs(size: str, turns: int, options: argparse.Namespace) -> float:
    """Seconds that the loop would take for all resamples, from the few it was run for."""
    people, items = map(int, size.split("x"))
    frame = ratings(people, items, SIZES[size], turns=turns)
    few = LOOPED[size]
    return statistics.median(loop(frame, few) for _ in range(options.repeats)) / few * options.resamples


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5, help="medians are over this many (default 5)")
    parser.add_argument("--sizes", default=",".join(SIZES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [(size, turns) for size in options.sizes.split(",") for turns in TURNS]
    measured = [ours(size, turns, options) for size, turns in cases]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024**3 if sys.platform == "darwin" else 1024**2
    )
    print(
        f"{len(CRITERIA)} criteria and final, {len(JUDGES)} judges, {options.resamples} resamples; "
        f"seconds, medians of {options.repeats}"
    )
    print(
        f"{'people x items':>15} {'judges':>8} {'read':>6} {'figures':>8} {'(range)':>12} "
        f"{'loop, scaled':>13} {'ratio':>7}"
    )
    for (size, turns), (read, times) in zip(cases, measured, strict=True):
        plain, own = theirs(size, turns, options), statistics.median(times)
        spread = f"{min(times):.2f}–{max(times):.2f}"
        print(
            f"{size:>15} {TURNS[turns]:>8} {read:6.2f} {own:8.2f} {spread:>12} {plain:13.0f} "
            f"{plain / own:6.0f}x",
            flush=True,
        )
        if turns == 1 and size == "13x1700":
            reached("figures", own / plain)
        if turns == 1 and size == "50x100000":
            reached("read", read)
    few = ", ".join(f"{LOOPED[size]} at {size}" for size in options.sizes.split(","))
    print(
        f"The loop was run for few resamples ({few}) and scaled. Peak memory before it: {peak:.2f} "
        "GB, the frame included."
    )


if __name__ == "__main__":
    main()
