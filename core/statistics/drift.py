"""Whether a judge that judged the same items again gives the same scores: a test of equivalence, and flips.

Two one-sided tests (Schuirmann 1987): the mean change lies within a margin where its 90% interval does.
"""

import math
from dataclasses import dataclass

import numpy as np

from concord.codes import DriftOutcome
from concord.estimate import Estimate, too_few, undefined
from concord.statistics.intervals import Ends, student
from concord.statistics.ratings import DIGITS, Floats

FEWEST = 8
"""Items below which no change is tested."""


@dataclass(frozen=True)
class Drift:
    """How scores changed: `shift` is the mean of new less old, `flips` the share of items that changed.

    `outcome` is SAME if the 90% interval of the shift lies within ± `margin`, otherwise MOVED if its 95%
    interval excludes 0, otherwise INCONCLUSIVE; TOO_FEW without an interval.
    """

    shift: Estimate
    flips: Estimate
    margin: float
    outcome: DriftOutcome


def drift(old: Floats, new: Floats, margin: float, ends: Ends) -> Drift:
    """The drift of scores of the same items; `ends` are those of the scale. Intervals are value ± t·SE."""
    change = np.round(new - old, DIGITS)
    n = len(change)
    width = ends[1] - ends[0]
    flips = Estimate(float((change != 0).mean()), n=n) if n else undefined("no item in common", n=0)
    if n < FEWEST:
        return Drift(undefined(too_few(n, FEWEST, "in common"), n=n), flips, margin, DriftOutcome.TOO_FEW)
    value = float(change.mean())
    (low, high), (certain_low, certain_high) = (_ends(change, width, alpha) for alpha in (0.1, 0.05))
    if -margin <= low and high <= margin:
        outcome = DriftOutcome.UNCHANGED
    elif certain_low > 0 or certain_high < 0:
        outcome = DriftOutcome.MOVED
    else:
        outcome = DriftOutcome.INCONCLUSIVE
    shift = Estimate(value, min(low, value), max(high, value), n, "90%, Student's t")
    return Drift(shift, flips, margin, outcome)


def _ends(change: Floats, width: float, alpha: float) -> Ends:
    """The interval of the mean of changes within ± the width of the scale."""
    # One more item that moves by the whole scale either way, so that no change at all is not certainty.
    padded = np.concatenate([change, [-width, width]])
    n = len(change)
    half = student(n + 1, 1 - alpha) * float(padded.std(ddof=1)) / math.sqrt(n + 2)
    return float(change.mean()) - half, float(change.mean()) + half
