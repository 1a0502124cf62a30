"""Confidence sequences: intervals of a mean that hold at every look, however often one looks.

Betting: a wealth that nobody can expect to multiply while the mean lies on one side of m, and that has grown
1/α-fold, shows with error at most α that it does not (Ville 1939). Waudby-Smith and Ramdas (2023), Estimating
means of bounded random variables by betting, section 4, with the bets of their appendix B (aGRAPA).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from concord.estimate import Estimate, undefined
from concord.statistics.intervals import Ends
from concord.statistics.ratings import Floats, Ints

ERROR = 0.05
"""How often a sequence may ever exclude the mean."""
GRID = 500
"""The means that are bet against divide the scale into so many steps."""
MOST_STAKED = 0.5
"""Of the wealth, the most that one value can lose."""
HALF_LIFE = 100
"""One of two bettors forgets: a value so many rows ago weighs half, so that a change is soon seen."""
ROWS = 500
"""Values that are bet on at a time: what is held in memory."""
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """What bets on a stream of values have shown, up to its last value.

    With error `error` the mean was at least `interval[0]` at some value, and at most `interval[1]` at some
    value: for a constant mean, it lies between them, at every look at once. `means` are the means that were
    bet against; `excluded_above` and `excluded_below` count the values after which it was shown that the mean
    was greater (less) than each, `NEVER` where it was not.
    """

    value: float
    n: int
    ends: Ends
    error: float
    means: Floats
    excluded_above: Ints
    excluded_below: Ints

    @property
    def interval(self) -> Ends:
        """The ends of the interval at the last value."""
        return self.interval_at(self.n)

    def interval_at(self, look: int) -> Ends:
        """The ends after so many values: the interval never widens."""
        # A side holds as far as every mean before it was ruled out: of those beyond, none may stand in doubt.
        upper_start = int(np.argmax(np.append(self.excluded_above > look, True)))
        down = int(np.argmax(np.append(self.excluded_below[::-1] > look, True)))
        low = self.ends[0] if upper_start == 0 else float(self.means[upper_start - 1])
        high = self.ends[1] if down == 0 else float(self.means[::-1][down - 1])
        return low, high

    @property
    def changed(self) -> bool:
        """Whether no constant mean is left: what was at least this was at most less."""
        low, high = self.interval
        return low > high

    def first_below(self, bound: float) -> int | None:
        """After how many values it was shown that the mean was less than `bound`; None where it never was."""
        return _first(self.excluded_below[self.means >= bound - 1e-12], upwards=False)

    def first_above(self, bound: float) -> int | None:
        """After how many values it was shown that the mean was greater than `bound`."""
        return _first(self.excluded_above[self.means <= bound + 1e-12], upwards=True)

    @property
    def estimate(self) -> Estimate:
        """The mean so far with the interval; without one where the mean has changed, or there is no value."""
        if not self.n:
            return undefined("no value", n=0)
        low, high = self.interval
        if low > high:
            return Estimate(self.value, n=self.n, reason="no interval: the mean has changed")
        level = f"{100 * (1 - self.error):.4g}%"
        return Estimate(
            self.value,
            min(low, self.value),
            max(high, self.value),
            self.n,
            f"{level} at every look, by betting (Waudby-Smith and Ramdas 2023)",
        )


def _first(times: Ints, *, upwards: bool) -> int | None:
    """When all of the means up to a bound (from one, downwards) were ruled out."""
    if not len(times):
        return None
    last = int(times.max())
    return None if last == NEVER else last


def confidence_sequence(
    values: Floats, ends: Ends = (0.0, 1.0), *, error: float = ERROR, bounds: tuple[float, ...] = ()
) -> ConfidenceSequence:
    """The confidence sequence of the mean of values between `ends`, in the order in which they came.

    `error` is shared by both sides. `bounds` are means to bet against beside the grid. The bets on a value
    rest on the values before it alone. Two bettors share the wealth: one remembers every value, one forgets,
    so that a late change is seen. Values may depend on each other; what is bounded is the mean of each, given
    those before. Without values the interval is the scale. Raises ValueError for a scale without width and
    for values outside it.
    """
    lowest, greatest = ends
    width = greatest - lowest
    if not width > 0:
        raise ValueError("a scale needs two ends")
    unit = (np.asarray(values, dtype=np.float64) - lowest) / width
    if len(unit) and not (unit.min() >= -1e-9 and unit.max() <= 1 + 1e-9):
        raise ValueError("a value lies outside its scale")
    unit = np.clip(unit, 0, 1)
    inside = [(bound - lowest) / width for bound in bounds if lowest < bound < greatest]
    grid = np.unique(np.concatenate([np.arange(1, GRID) / GRID, inside]))
    sides = [_ruled_out(unit, grid, error / 2), _ruled_out(1 - unit, 1 - grid, error / 2)]
    value = float(np.mean(values)) if len(unit) else math.nan
    return ConfidenceSequence(value, len(unit), ends, error, lowest + width * grid, *sides)


def _ruled_out(unit: Floats, means: Floats, error: float) -> Ints:
    """After how many values the wealth that bets on a mean greater than each of `means` was 1/error-fold."""
    times = np.full(len(means), NEVER, dtype=np.int64)
    wealth = np.zeros((2, len(means)))
    bettors = [_predicted(unit, 1.0), _predicted(unit, 0.5 ** (1 / HALF_LIFE))]
    for start in range(0, len(unit), ROWS):
        rows = slice(start, start + ROWS)
        # Nobody bets on more than is expected, and what was ruled out stays so.
        expected = max(predicted[rows].max() for predicted, _ in bettors)
        active = np.flatnonzero((means < expected) & (times == NEVER))
        won = np.stack(
            [_gains(unit[rows], means[active], *(series[rows] for series in one)) for one in bettors]
        )
        grown = wealth[:, None, active] + np.cumsum(won, axis=1)
        wealth[:, active] = grown[:, -1, :]
        reached = np.logaddexp(grown[0], grown[1]) - math.log(2) >= -math.log(error)
        times[active] = np.where(reached.any(axis=0), start + 1 + reached.argmax(axis=0), NEVER)
    return times


def _gains(unit: Floats, means: Floats, predicted: Floats, spread: Floats) -> Floats:
    """The logarithm of what each value multiplies the wealth by, values × means."""
    advantage = predicted[:, None] - means
    bets = np.clip(advantage / (spread[:, None] + advantage**2), 0.0, MOST_STAKED / means)
    return np.asarray(np.log1p(bets * (unit[:, None] - means)))


def _predicted(unit: Floats, memory: float) -> tuple[Floats, Floats]:
    """The mean and the variance that the values before each lead to expect; ½ and ¼ before the first.

    A value weighs `memory` to the power of its age.
    """
    weight = _discounted(np.ones_like(unit), memory)
    mean = (0.5 + _discounted(unit, memory)) / (1 + weight)
    spread = (0.25 + _discounted((unit - mean) ** 2, memory)) / (1 + weight)
    before = (np.concatenate([[start], series[:-1]]) for start, series in ((0.5, mean), (0.25, spread)))
    first, second = (series[: len(unit)] for series in before)
    return first, second


def _discounted(values: Floats, memory: float) -> Floats:
    """The sum of the values up to each, those before discounted."""
    if memory == 1.0:
        return np.cumsum(values)
    return np.fromiter(accumulate(values.tolist(), lambda total, value: memory * total + value), float)
