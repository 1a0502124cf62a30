"""Two systems judged by one judge: how much higher one is than the other, as people would say.

Paired by item, the difference of a judge's scores is corrected by that of people's where they answered both
(PPI++ of differences: see `concord.statistics.corrected`). Unpaired, each system's mean is corrected, and the
interval of the difference is made of both intervals (MOVER, Zou and Donner 2008).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from concord.codes import SystemOrder
from concord.estimate import Estimate, undefined
from concord.statistics.corrected import FEWEST, Corrected, corrected_mean
from concord.statistics.intervals import Ends, holm, student
from concord.statistics.ratings import Floats

ERROR = 0.05
"""How often one of all comparisons may be stated that is not true."""


@dataclass(frozen=True, eq=False)
class SystemAnswers:
    """A system's scores by item, in the order that all systems share; nan where there is none."""

    people: Floats
    judge: Floats


@dataclass(frozen=True)
class SystemDifference:
    """The first system less the second: by people, by the judge alone, and as people would say.

    `p` is adjusted for all comparisons (Holm 1979); None where there is no corrected difference. `paired`
    says whether items pair the two.
    """

    first: str
    second: str
    people: Estimate
    judge: Estimate
    corrected: Estimate
    p: float | None
    order: SystemOrder
    paired: bool


def system_means(systems: Mapping[str, SystemAnswers], ends: Ends) -> dict[str, Corrected]:
    """Each system's mean as people would give it: see `corrected_mean`."""
    return {name: _mean(answers, ends) for name, answers in systems.items()}


def system_differences(
    systems: Mapping[str, SystemAnswers],
    ends: Ends,
    *,
    against: str = "",
    paired: bool | None = None,
) -> list[SystemDifference]:
    """The differences of every two systems, or of each from one of them, `against`.

    Items that people answered have to be a random draw of those judged. `paired` None leaves it to the
    items: they pair two systems where at least half of the judged, and of the labelled, items of the one with
    fewer are shared. Without enough labels (four) a difference is the judge's alone, and no order is stated.
    """
    if against:
        pairs: Sequence[tuple[str, str]] = [(name, against) for name in systems if name != against]
    else:
        pairs = [*combinations(systems, 2)]
    differences = [
        _difference(one, second, systems[one], systems[second], ends, paired) for one, second in pairs
    ]
    adjusted = holm(
        np.array(
            [math.nan if difference.p is None else difference.p for difference in differences],
            dtype=np.float64,
        )
    )
    return [_ordered(difference, float(p)) for difference, p in zip(differences, adjusted, strict=True)]


def _ordered(difference: SystemDifference, p: float) -> SystemDifference:
    """A difference with its adjusted p, and the order that it shows."""
    order = difference.order
    if not math.isnan(p) and difference.corrected.value is not None:
        order = SystemOrder.INCONCLUSIVE
        if p <= ERROR:
            order = SystemOrder.HIGHER if difference.corrected.value > 0 else SystemOrder.LOWER
    adjusted = None if math.isnan(p) else p
    figures = (difference.people, difference.judge, difference.corrected)
    return SystemDifference(difference.first, difference.second, *figures, adjusted, order, difference.paired)


def _mean(answers: SystemAnswers, ends: Ends) -> Corrected:
    judged = ~np.isnan(answers.judge)
    rated = ~np.isnan(answers.people)
    common = judged & rated
    alone = judged & ~rated
    return corrected_mean(answers.people[common], answers.judge[common], answers.judge[alone], scale=ends)


def _pairs(one: SystemAnswers, partner: SystemAnswers) -> bool:
    """Whether items pair two systems: most of those judged and of those labelled are shared."""
    enough = True
    for first, second in ((one.judge, partner.judge), (one.people, partner.people)):
        present = ~np.isnan(first), ~np.isnan(second)
        fewer = min(int(present[0].sum()), int(present[1].sum()))
        enough = enough and 2 * int((present[0] & present[1]).sum()) >= fewer
    return enough


def _difference(
    first: str,
    second: str,
    one: SystemAnswers,
    partner: SystemAnswers,
    ends: Ends,
    paired: bool | None,
) -> SystemDifference:
    by_item = _pairs(one, partner) if paired is None else paired
    width = ends[1] - ends[0]
    if by_item:
        gaps = SystemAnswers(one.people - partner.people, one.judge - partner.judge)
        mean = _mean(gaps, (-width, width))
        people = mean.people
        judge = mean.judges
        corrected = mean.value
        freedom = float((corrected.n or 0) + 1)
    else:
        means = _mean(one, ends), _mean(partner, ends)
        people = _subtract(means[0].people, means[1].people, width)
        judge = _subtract(means[0].judges, means[1].judges, width)
        corrected = _subtract(means[0].value, means[1].value, width)
        freedom = math.inf
    p = _p(corrected, freedom)
    order = SystemOrder.UNCORRECTED if p is None else SystemOrder.INCONCLUSIVE
    return SystemDifference(first, second, people, judge, corrected, p, order, by_item)


def _subtract(one: Estimate, second: Estimate, width: float) -> Estimate:
    """One mean less another of other items: with an interval where both have one."""
    n = (one.n or 0) + (second.n or 0)
    if one.value is None or second.value is None:
        return undefined(one.reason or second.reason, n=n)
    value = one.value - second.value
    if one.interval is None or second.interval is None:
        return Estimate(value, n=n)
    low = value - math.hypot(one.value - one.interval[0], second.interval[1] - second.value)
    high = value + math.hypot(one.interval[1] - one.value, second.value - second.interval[0])
    return Estimate(
        value, max(low, -width), min(high, width), n, "both corrected means (Zou and Donner 2008)"
    )


def _p(difference: Estimate, freedom: float) -> float | None:
    """Two-sided p that the difference is 0, from its interval; None without one."""
    if difference.interval is None or (difference.n or 0) < FEWEST:
        return None
    from scipy import special

    low, high = difference.interval
    error = (high - low) / 2 / student(freedom)
    if error <= 0:
        return None
    t = abs(low + high) / 2 / error
    tail = special.ndtr(-t) if math.isinf(freedom) else special.stdtr(freedom, -t)
    return float(2 * tail)
