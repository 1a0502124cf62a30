"""Claims: the findings that a report may state, and how sure each has to be for a page to be right.

A page states a false finding in at most 5 of 100 studies. The verdict has half of that, and each other kind
of claim a share of the rest; within a kind Holm (1979) adjusts over judges, criteria and people.
`bench/claims.py` measures how often each is stated where it is false and where it is true; docs/agreement.md
has its table.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from concord.estimate import Estimate
from concord.statistics.intervals import FEWEST, holm, student
from concord.statistics.ratings import Bools, Floats
from concord.table import Cell

MARGIN = 0.1
"""How much lower than a person's a judge's ρ with the other people may be, to count as as good."""

Word = Literal[
    "at least as good",
    "worse",
    "not known yet",
    "too few",
    "undefined",
]
"""Of a judge beside one more person."""

ONE_FLAG = 0.001
"""The share of each kind of flag."""


class ClaimKind(NamedTuple):
    """A kind of claim: the rate at which all of its kind together may be false on a page, and what it says.

    A fact, which is a count and holds wherever it is printed, has no rate. What is `first` stands beside the
    verdict, the rest in what limits the answer.
    """

    share: float | None
    says: str
    first: bool = True


CLAIMS = {
    "verdict": ClaimKind(0.025, "the judges together are at least as good as one more person, or worse"),
    "other judges": ClaimKind(
        0.005, "another judge or panel is at least as good as one more person, or worse"
    ),
    "told apart": ClaimKind(0.0075, "people tell two players apart"),
    "constant": ClaimKind(None, "a rater gave one answer to all items"),
    "other way round": ClaimKind(ONE_FLAG, "a judge orders the items the other way round than people"),
    "copy": ClaimKind(ONE_FLAG, "a judge repeats one person's answers"),
    "one answer": ClaimKind(ONE_FLAG, "a judge gives one answer more often than people do"),
    "few": ClaimKind(None, "few items were answered by judge and people"),
    "rare": ClaimKind(None, "people gave one of two answers to few items"),
    "group": ClaimKind(ONE_FLAG, "a judge treats a group of items otherwise than people do"),
    "length": ClaimKind(ONE_FLAG, "a judge prefers longer replies, or shorter ones, beside people"),
    "lacks ratings": ClaimKind(ONE_FLAG, "a judge lacks ratings of the worse items, or of the better ones"),
    "careless": ClaimKind(ONE_FLAG, "a person gives one answer more often than others do to the same items"),
    "gold": ClaimKind(ONE_FLAG, "a person hits too few gold items"),
    "repeats": ClaimKind(ONE_FLAG, "a person answers too few repeated items alike"),
    "level": ClaimKind(ONE_FLAG, "the judges score higher or lower than people"),
    "too fast": ClaimKind(None, "a person was faster than the replies can be read"),
    "attention": ClaimKind(None, "a person missed an attention check", first=False),
    "incomplete": ClaimKind(None, "a judge has no rating of some items", first=False),
    "scale": ClaimKind(None, "a rater answers on another scale", first=False),
}
"""Every kind of claim that a report words, by name, the most serious flags first."""


def stated(name: str, p: Sequence[float] | Floats) -> Bools:
    """Which claims of one kind a page may state: their p-values, adjusted by Holm, are within its share."""
    share = CLAIMS[name].share
    assert share is not None
    return np.asarray(holm(np.asarray(p, dtype=np.float64)) <= share)


def sure_of(name: str, p: Sequence[float], tests: int) -> list[bool]:
    """`stated` of these p-values out of so many tests; of those that are not listed p is 1."""
    padded = np.array([*p, *np.ones(max(tests - len(p), 0))])
    return [bool(sure) for sure in stated(name, padded)[: len(p)]]


def p_above(figure: Estimate, bound: float, *, fisher: bool = False) -> float:
    """One-sided p that a figure's truth is no more than `bound`, from its interval; 1 without one.

    The interval is value ± t·SE, with the figure's degrees of freedom (else its items less 1), with `fisher`
    on Fisher's z scale.
    """
    if figure.value is None or figure.interval is None:
        return 1.0
    freedom = figure.freedom if figure.freedom is not None else (figure.n or math.inf) - 1
    value, low, least = figure.value, figure.interval[0], bound
    if fisher:
        value, low, least = np.arctanh(np.clip([value, low, least], -1 + 1e-9, 1 - 1e-9)).tolist()
    error = (value - low) / student(freedom)
    return _tail((value - least) / error, freedom) if error > 0 else 1.0


def p_below(figure: Estimate, bound: float, *, fisher: bool = False) -> float:
    """One-sided p that a figure's truth is no less than `bound`: see `p_above`."""
    if figure.value is None or figure.interval is None:
        return 1.0
    low, high = figure.interval
    turned = Estimate(-figure.value, -high, -low, figure.n, freedom=figure.freedom)
    return p_above(turned, -bound, fisher=fisher)


def beside_person(
    differences: Sequence[Cell], sizes: Sequence[Cell], first: int, *, margin: float
) -> list[Word]:
    """The word of each judge or panel, from the differences (judge less held-out annotator) and their n.

    That at `first` is the verdict, and goes by its 95% interval: at least as good where it lies above
    −margin, worse where it ends below 0. The others share `other judges` (Bonferroni): by the same rules each
    also needs a p within its part. “too few” items have no interval; scores that do not vary are “undefined”.
    """
    figures = [cell if isinstance(cell, Estimate) else None for cell in differences]
    others = sum(f is not None and f.interval is not None for f in figures) - 1
    share = (CLAIMS["other judges"].share or 0.0) / max(others, 1)
    words: list[Word] = []
    for place, (figure, n) in enumerate(zip(figures, sizes, strict=True)):
        if figure is None:
            words.append("undefined")
        elif figure.interval is None:
            enough = not figure.defined and isinstance(n, int) and n >= FEWEST
            words.append("undefined" if enough else "too few")
        else:
            low, high = figure.interval
            word: Word = "at least as good" if low > -margin else "worse" if high < 0 else "not known yet"
            p = p_below(figure, 0.0) if word == "worse" else p_above(figure, -margin)
            words.append(word if place == first or p <= share else "not known yet")
    return words


def more_items(difference: Estimate, margin: float) -> int | None:
    """About how many more items would decide the verdict 4 times of 5, should the difference stay.

    The standard error has to fall to the distance from the nearer bound over 1.96 + 0.84, and falls with the
    square root of the items. None without an interval; rounded up to two digits.
    """
    if difference.value is None or difference.interval is None or not difference.n:
        return None
    error = (difference.interval[1] - difference.interval[0]) / 2 / student(math.inf)
    distance = max(difference.value + margin, -difference.value, 1e-9)
    wanted = distance / (student(math.inf) + 0.8416)
    more = max(difference.n * ((error / wanted) ** 2 - 1), 1.0)
    step: int = 10 ** max(math.floor(math.log10(more)) - 1, 0)
    return int(math.ceil(more / step) * step)


def _tail(t: float, freedom: float) -> float:
    from scipy import special  # a tenth of the import time of scipy.stats

    return float(special.ndtr(-t) if math.isinf(freedom) else special.stdtr(freedom, -t))


class Flag(NamedTuple):
    """A sentence that a reader has to know, its kind of claim, the judge whose use it bars, and the criteria
    that it is about (none: all).
    """

    claim: str
    text: str
    judge: str = ""
    on: tuple[str, ...] = ()


def ranked(flags: Sequence[Flag]) -> list[Flag]:
    """Flags in the order of `CLAIMS`, the most serious first; equal ones as they come."""
    order = list(CLAIMS)
    return sorted(flags, key=lambda flag: order.index(flag.claim))
