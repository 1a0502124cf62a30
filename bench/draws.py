"""How wide the interval of people's mean is after a first draw by judges' disagreement, beside an even draw.

    nice -n 15 python -m bench.draws [--draws 200]

2,000 items that three judges scored, of which 100 are drawn for people: evenly, by judges' standard deviation
alone, by it with its mean added, or by the error expected after 60 items were rated. A quarter of each draw
is a simple random sample. Printed is the width of the interval of people's corrected mean (PPI++), and the
standard deviation of that mean over draws, both over those of the even draw.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from concord.statistics.corrected import corrected_mean
from concord.statistics.next_items import by_disagreement, expected_error
from concord.studies.sampling import places_by_chance

ITEMS, DRAWN, PILOT = 2000, 100, 60
EVEN, CEILING, RARE = (-1.5, -0.5, 0.5, 1.5), (-4.5, -3.5, -2.8, -1.6), (2.1,)
DESIGNS: dict[str, tuple[tuple[float, ...], float, float]] = {
    "even 1–5": (EVEN, 0.8, 0.0),
    "ceiling 1–5": (CEILING, 0.8, 0.0),
    "rare yes/no": (RARE, 0.8, 0.0),
    "even 1–5, a tenth is hard for judges": (EVEN, 0.3, 2.0),
    "even 1–5, a tenth is hard for all": (EVEN, 0.3, -2.0),
}
"""Cuts of the scale, noise, and the noise added on a tenth of the items: of judges, or of all where
negative."""

Floats = npt.NDArray[np.float64]


def world(
    rng: np.random.Generator, cuts: tuple[float, ...], noise: float, hard: float
) -> tuple[Floats, Floats]:
    """Answers of three judges (3 × items), and of one person (items)."""
    quality = rng.normal(size=ITEMS)
    more = abs(hard) * (rng.random(ITEMS) < 0.1)
    judges = quality + rng.normal(size=(3, ITEMS)) * np.hypot(noise, more)
    person = quality + rng.normal(size=ITEMS) * np.hypot(noise, more if hard < 0 else 0)
    return np.searchsorted(cuts, judges).astype(float), np.searchsorted(cuts, person).astype(float)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row a design and way to draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--draws", type=int, default=200)
    number = parser.parse_args(arguments).draws
    print("| items | drawn by | width of the interval | spread of the mean |\n|---|---|--:|--:|")
    for name, given in DESIGNS.items():
        rng = np.random.default_rng(0)
        judges, person = world(rng, *given)
        judged, spread = judges.mean(axis=0), judges.std(axis=0, ddof=1)
        pilot = np.where(np.arange(ITEMS) < PILOT, person, np.nan)
        ways = {
            "even": np.ones(ITEMS),
            "judges' standard deviation alone": spread,
            "standard deviation, its mean added": by_disagreement(spread),
            "expected error, after 60 items": expected_error(judged, spread, pilot),
        }
        by_way = {}
        for way, size in ways.items():
            widths, means = [], []
            for seed in range(number):
                mine, chance, _ = places_by_chance(range(ITEMS), DRAWN, size, seed=seed)
                rest = np.setdiff1d(np.arange(ITEMS), mine)
                mean = corrected_mean(person[mine], judged[mine], judged[rest], chance=chance).value
                widths.append(2 * (mean.half_width or 0))
                means.append(mean.value or 0.0)
            by_way[way] = np.mean(widths), np.std(means)
        for way, (width, wide) in by_way.items():
            print(
                f"| {name} | {way} | {width / by_way['even'][0]:.2f} | {wide / by_way['even'][1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
