"""How often `concord drift` is wrong: “moved” where nothing did, “same” where the change is the margin."""

import numpy as np

from concord.statistics.drift import drift
from concord.statistics.ratings import Floats

MARGIN = 0.1
RUNS = 2000


def changes(rng: np.random.Generator, n: int, flips: float, shift: float) -> Floats:
    """Changes of pass and fail: this share flips, with this mean."""
    drawn = rng.random(n)
    up = (flips + shift) / 2
    return np.where(drawn < up, 1.0, np.where(drawn < flips, -1.0, 0.0))


def main() -> None:
    """Print shares of runs."""
    rng = np.random.default_rng(0)
    for n, flips in ((50, 0.1), (200, 0.1), (200, 0.12), (1000, 0.2)):
        words = [
            [drift(np.zeros(n), changes(rng, n, flips, shift), MARGIN, (0, 1)).word for _ in range(RUNS)]
            for shift in (0.0, MARGIN)
        ]
        moved, edge = words[0].count("moved") / RUNS, words[1].count("same") / RUNS
        same = words[0].count("same") / RUNS
        print(
            f"{n} items, {flips:.0%} flip: moved {moved:.3f}, same at the margin {edge:.3f}; same {same:.3f}"
        )


if __name__ == "__main__":
    main()
