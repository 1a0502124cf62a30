"""Whether a judge that judged the same items again gives the same scores: a test of equivalence, and flips.

Two one-sided tests (Schuirmann 1987): the mean change lies within a margin where its 90% interval does. For a
stream that is looked at again and again, a confidence sequence holds at every look at once.
"""

import math
from dataclasses import dataclass

import numpy as np

from concord.estimate import Estimate, too_few, undefined
from concord.statistics.intervals import Ends, student
from concord.statistics.ratings import DIGITS, Floats

FEWEST = 8
"""Items below which no change is tested."""


@dataclass(frozen=True)
class Drift:
    """How scores changed: `shift` is the mean of new less old, `flips` the share of items that changed.

    `word` is “same” where the 90% interval of the shift lies within ± `margin`, else “moved” where its 95%
    interval leaves out 0, “not known yet” else, and “too few” without an interval.
    """

    shift: Estimate
    flips: Estimate
    margin: float
    word: str


def drift(old: Floats, new: Floats, margin: float, ends: Ends, *, every_look: bool = False) -> Drift:
    """The drift of scores of the same items, in the order in which they came; `ends` are those of the scale.

    With `every_look` intervals are those of `confidence_sequence`, which may be looked at as often as one
    likes; else value ± t·SE.
    """
    change = np.round(new - old, DIGITS)
    n, width = len(change), ends[1] - ends[0]
    flips = Estimate(float((change != 0).mean()), n=n) if n else undefined("no item in common", n=0)
    if n < FEWEST:
        return Drift(undefined(too_few(n, FEWEST, "in common"), n=n), flips, margin, "too few")
    value = float(change.mean())
    (low, high), (least, most) = (_ends(change, width, alpha, every_look) for alpha in (0.1, 0.05))
    how = "confidence sequence, valid at every look" if every_look else "Student's t"
    word = "moved" if least > 0 or most < 0 else "not known yet"
    if -margin <= low and high <= margin:
        word = "same"
    return Drift(Estimate(value, min(low, value), max(high, value), n, f"90%, {how}"), flips, margin, word)


def _ends(change: Floats, width: float, alpha: float, every_look: bool) -> Ends:
    """The interval of the mean of changes within ± the width of the scale."""
    if every_look:
        low, high = confidence_sequence((change + width) / (2 * width), alpha)
        return 2 * width * low - width, 2 * width * high - width
    # One more item that moves by the whole scale either way, so that no change at all is not certainty.
    padded = np.concatenate([change, [-width, width]])
    n = len(change)
    half = student(n + 1, 1 - alpha) * float(padded.std(ddof=1)) / math.sqrt(n + 2)
    return float(change.mean()) - half, float(change.mean()) + half


def confidence_sequence(values: Floats, alpha: float = 0.05) -> Ends:
    """An interval of the mean of values within 0 and 1 that holds at every look with 1 − alpha.

    The predictable plug-in empirical Bernstein confidence sequence (Waudby-Smith and Ramdas 2024, theorem 2):
    with λ_t = min(½, √(2 log(2/α) / (σ̂²_{t−1} t log(1 + t)))), Σλx/Σλ ± (log(2/α) + Σ v ψ(λ)) / Σλ, where
    v_t = 4(x_t − μ̂_{t−1})² and ψ(λ) = (−log(1 − λ) − λ)/4. The running mean and variance begin at ½ and ¼.
    The intersection over all looks up to now is taken.
    """
    t = np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (t + 1)
    before = np.concatenate([[0.5], mean[:-1]])
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (t + 1)
    earlier = np.concatenate([[0.25], variance[:-1]])
    log = math.log(2 / alpha)
    weight = np.minimum(0.5, np.sqrt(2 * log / (earlier * t * np.log(1 + t))))
    total = np.cumsum(weight)
    centre = np.cumsum(weight * values) / total
    half = (log + np.cumsum((values - before) ** 2 * (-np.log(1 - weight) - weight))) / total
    return max(0.0, float((centre - half).max())), min(1.0, float((centre + half).min()))
