"""Figures of hidden items: test–retest of each annotator, and hits on gold items.

Quadratic weighted kappa as Cohen (1968); for categories kappa as Cohen (1960).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.figures import PointEstimate, compute
from concord.statistics.intervals import (
    CORRELATION,
    DIFFERENCE,
    FEWEST,
    SHARE,
    Kind,
    bounded_mean,
    described,
)
from concord.statistics.nominal import kappa
from concord.statistics.ratings import DIGITS, Floats, divide
from concord.statistics.resampling import Statistic, Weights, mean, ratio
from concord.table import Column, Table

REPEATED_ITEMS = "repeat items of an annotator; all other figures exclude the second answers"
JUDGE_ALONE = "second answers given after the other annotators' answers were shown are excluded"

Twice = tuple[list[float], list[float], list[float]]
"""Somebody's first and second answers to items, and the judge's scores that were shown beside the second ones
(nan where none was).
"""


def annotator_retest(
    pairs: Mapping[str, Twice],
    *,
    judged: bool = False,
    nominal: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Table:
    """Test–retest of each annotator: the first and the second answers to the same items, one row a person.

    `exact` is the share of items with the same answer twice, `kappa` quadratic weighted kappa (unweighted for
    `nominal` answers), `difference` the mean of second minus first (none for nominal ones). Items are
    resampled; below `FEWEST` of them no figure has an interval. Kappa is undefined where both answers are
    always the same one.

    `judged`: the second answers were given in sight of a judge's score. With b the first answer, j the
    judge's score and v the second one, `share` is Σ(v − b)(j − b) / Σ(j − b)², the slope through the origin
    of the change on the distance: the weight of advice (Yaniv 2004), 0 where nobody moves and 1 where
    everybody adopts the judge's score. It is undefined where the judge gave every answer's score.
    """
    rows = [
        {"annotator": name, **_retest(answers, nominal, judged, resamples, seed)}
        for name, answers in pairs.items()
    ]
    kinds = [SHARE, CORRELATION, *([] if nominal else [DIFFERENCE])]
    toward = Column(
        "share",
        "share of the distance",
        interval="ends",
        digits=2,
        help="Change divided by the distance to the judge's score: 0 if no annotator moves, 1 if all adopt "
        "the score.",
    )
    method = described(kinds, resamples=resamples, seed=seed)
    columns = (
        Column("annotator"),
        Column("n", "items twice"),
        Column("exact", "same answer", percent=True, interval="ends"),
        Column("kappa", "Cohen's κ" if nominal else "quadratic weighted κ", digits=3, interval="ends"),
        *(() if nominal else (Column("difference", "second − first", signed=True, interval="ends"),)),
        *((toward,) if judged and not nominal else ()),
    )
    if judged:
        name = "anchoring"
        title = "Second answers after the judge's score"
        caption = "How far annotators move after they see the judge's score."
    else:
        name = "annotator_retest"
        title = "Test–retest of annotators"
        caption = "How consistently an annotator answers a repeat item."
    return Table(
        name,
        title,
        columns,
        tuple(rows),
        caption=caption,
        notes=(" · ".join(filter(None, (REPEATED_ITEMS, JUDGE_ALONE if judged else "", method))),),
    )


def _retest(answers: Twice, nominal: bool, judged: bool, resamples: int, seed: int) -> dict[str, Any]:
    first, second, start_answers = map(np.array, answers)
    n = len(first)
    equal = (np.round(first - second, DIGITS) == 0).astype(np.float64)
    lacking_reason = too_few(n, FEWEST) if n < FEWEST else ""

    def figure(statistic: Statistic, kind: Kind, constant_words: str = "the same answer") -> PointEstimate:
        return PointEstimate(
            statistic, n, reason=f"{constant_words} every time", kind=replace(kind, lacking=lacking_reason)
        )

    twice = kappa(first, second) if nominal else weighted_kappa(first, second)
    figures = {"exact": figure(mean(equal), SHARE), "kappa": figure(twice, CORRELATION)}
    if not nominal:
        figures["difference"] = figure(mean(second - first), DIFFERENCE)
    if judged and not nominal:
        share = ratio((second - first) * (start_answers - first), (start_answers - first) ** 2)
        figures["share"] = figure(share, DIFFERENCE, "the judge's score")
    computed = compute([*figures.values()], n, resamples=resamples, seed=seed)
    return {"n": n} | dict(zip(figures, computed, strict=True))


def weighted_kappa(first: Floats, second: Floats) -> Statistic:
    """1 − mean (a − b)² / the mean of (a − b)² over every first with every second answer."""

    def statistic(weights: Weights) -> Floats:
        weight = weights.astype(np.float64)
        n = weight.sum(axis=0)
        observed = ((first - second) ** 2) @ weight / n
        squares = (first**2 + second**2) @ weight / n
        by_chance = squares - 2 * (first @ weight / n) * (second @ weight / n)
        return 1 - divide(observed, np.where(by_chance > 10**-DIGITS, by_chance, 0))

    return statistic


def share(hits: int, n: int, empty_reason: str = "no item was submitted") -> Estimate:
    """A share of n items with the interval of `bounded_mean`; none below `FEWEST`, undefined for none.

    `empty_reason` says why there is none.
    """
    if not n:
        return undefined(empty_reason, n=0)
    value = hits / n
    if n < FEWEST:
        return estimate(value, n=n, reason=f"no interval: {too_few(n, FEWEST)}")
    low, high = bounded_mean(value, math.sqrt(value * (1 - value) / (n - 1)), n, SHARE.ends)
    return estimate(value, low, high, n=n, method=SHARE.words)


def gold_hits(hits: Mapping[str, Sequence[tuple[bool, bool]]]) -> Table:
    """Hits on gold items of each annotator, one row a person: (whether hit, whether an attention check).

    A hit is an item of which every known answer was hit. Attention checks are gold items too, and have
    columns of their own.
    """
    rows: list[dict[str, Any]] = []
    for name, items in hits.items():
        checks = [hit for hit, attention in items if attention]
        rows.append(
            {"annotator": name, "n": len(items), "hits": share(sum(hit for hit, _ in items), len(items))}
            | {"checks": len(checks), "passed": sum(checks)}
        )
    columns = (
        Column("annotator"),
        Column("n", "gold items"),
        Column("hits", percent=True, interval="ends"),
        Column("checks", "attention checks"),
        Column("passed"),
    )
    return Table(
        "gold_items",
        "Gold items of annotators",
        columns,
        tuple(rows),
        caption="A gold item is right if all its known answers were given, within their tolerance.",
        notes=(
            "All other figures exclude gold items. 95% intervals: means of bounded values with one more "
            "value at each end, assuming independent gold items.",
        ),
    )
