"""How often the interval of a bounded mean holds the truth, beside Student's t and the percentile bootstrap.

    python -m bench.bounded_mean [--samples 10000] [--resamples 200]

Values lie on 1 to 5: means of a conversation's scores as PingPong has them (mean 4.62, standard deviation
0.28), others at a ceiling, whole answers, and values at the ends alone, which is a share. Printed for every
kind and number of values: the share of intervals that hold the mean, and half the median width. The
percentile bootstrap is tried on a tenth of the samples. The simulation error of a share of 10,000 is 0.2
points at 95%.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from concord.statistics.intervals import bounded_mean
from concord.statistics.ratings import Floats

LEAST, GREATEST = 1.0, 5.0
SIZES = (8, 16, 32, 64, 128, 256)

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def beta(mean: float, deviation: float) -> tuple[Draw, float]:
    """Values with a beta distribution, and their mean."""
    span = GREATEST - LEAST
    share, variance = (mean - LEAST) / span, (deviation / span) ** 2
    both = share * (1 - share) / variance - 1
    return lambda rng, shape: LEAST + span * rng.beta(share * both, (1 - share) * both, shape), mean


def answers(*shares: float) -> tuple[Draw, float]:
    """Whole answers 1 to 5 with these shares, and their mean."""
    scale = np.arange(1.0, 6.0)
    return lambda rng, shape: rng.choice(scale, size=shape, p=shares), float(scale @ np.array(shares))


KINDS = {
    "mean 4.62, SD 0.28": beta(4.62, 0.28),
    "mean 4.85, SD 0.25": beta(4.85, 0.25),
    "mean 4.5, SD 0.6": beta(4.5, 0.6),
    "answers about 3": answers(0.1, 0.2, 0.4, 0.2, 0.1),
    "85% fives": answers(0.01, 0.01, 0.03, 0.10, 0.85),
    "95% fives": answers(0.01, 0.0, 0.01, 0.03, 0.95),
    "5% ones, else fives": answers(0.05, 0.0, 0.0, 0.0, 0.95),
    "half ones, half fives": answers(0.5, 0.0, 0.0, 0.0, 0.5),
}


def held(ends: Floats, mean: float) -> str:
    """The share of intervals (samples × 2) that hold the mean, and half their median width."""
    low, high = ends.T
    share = np.mean((low <= mean + 1e-9) & (high >= mean - 1e-9))
    return f"{share:.3f} ({np.median(high - low) / 2:.3f})"


def by_us(sample: Floats) -> tuple[float, float]:
    """The interval that Concord prints, without the noise of resamples."""
    n = len(sample)
    return bounded_mean(float(sample.mean()), float(sample.std(ddof=1)) / n**0.5, n, (LEAST, GREATEST))


def by_student(samples: Floats) -> Floats:
    """Mean ± t · standard error."""
    n = samples.shape[1]
    half = stats.t.ppf(0.975, n - 1) * samples.std(axis=1, ddof=1) / n**0.5
    return np.stack([samples.mean(axis=1) - half, samples.mean(axis=1) + half], axis=1)


def by_percentile(rng: np.random.Generator, samples: Floats, resamples: int) -> Floats:
    """The 2.5% and 97.5% points of the means of resamples."""
    n = samples.shape[1]
    ends = []
    for sample in samples:
        means = sample[rng.integers(0, n, (resamples, n))].mean(axis=1)
        ends.append(np.quantile(means, [0.025, 0.975]))
    return np.array(ends)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=200)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| values | n | Concord | Student's t | percentile |\n|---|--:|--:|--:|--:|")
    for kind, (draw, mean) in KINDS.items():
        for n in SIZES:
            samples = draw(rng, (options.samples, n))
            own = held(np.array([by_us(sample) for sample in samples]), mean)
            t = held(by_student(samples), mean)
            few = samples[: options.samples // 10]
            percentile = held(by_percentile(rng, few, options.resamples), mean)
            print(f"| {kind} | {n} | {own} | {t} | {percentile} |", flush=True)


if __name__ == "__main__":
    main()
