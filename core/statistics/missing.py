"""Judges that lack ratings: measured beside the others on common items, and whether what they lack is chance.

The test is that of Mann and Whitney (1947), with the normal approximation corrected for ties and continuity
(Lehmann, “Nonparametrics”, 1975).
"""

from math import erfc, sqrt
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, estimate, undefined
from concord.statistics import columns
from concord.statistics.correlation import midranks
from concord.statistics.figures import Drawing, empty, tabulate
from concord.statistics.judges import against_people, level_figures
from concord.statistics.ratings import Bools, Contender, Floats, Ratings
from concord.table import Column, Table

FEWEST = 3
"""Items rated, and items missing, below which they are not compared."""

COMMON = empty(
    "common_items",
    "Judges on the items that all of them rated",
    Column("rater", "Judge"),
    Column("own_n", "n, its own", help="Items that the judge and people rated."),
    Column("own", "Spearman's ρ, on its own", digits=3, interval="ends"),
    Column("n", "n, common", help="Items that every judge and people rated."),
    columns.SPEARMAN,
    columns.BIAS,
    columns.MAE,
    caption="Judges that rated different items are ranked by the common ones alone.",
)
MISSING = empty(
    "missing_ratings",
    "Items without a judge's rating",
    Column("rater", "Judge"),
    Column("rated", help="Items of people that the judge rated."),
    Column("missing", help="Items of people that it did not rate."),
    Column("mean_rated", "People's mean, rated"),
    Column("mean_missing", "People's mean, missing"),
    Column("difference", "Missing less rated", signed=True),
    Column("p", digits=4, least=0.0001, help="Two-sided p of the rank test of Mann and Whitney."),
    caption="A judge that fails on bad dialogues is measured on the good ones alone.",
)


def without_rating(table: Ratings, criterion: str) -> dict[str, Bools]:
    """For each judge that rated some items of people but not all: which it lacks.

    Items on which judges are not compared are not lacking, and a judge without any rating was not asked.
    """
    scores = table[criterion]
    asked = table.open(criterion) & (scores.present > 0)
    found = {}
    for judge, score in scores.judges.items():
        lacks = asked & np.isnan(score)
        if lacks.any() and not lacks[asked].all():
            found[judge] = lacks
    return found


def common_items(table: Ratings, criterion: str, **drawing: Unpack[Drawing]) -> Table:
    """Each judge on its own items and on those that all judges rated, one row each; of these also the level.

    Judges without any rating on the criterion take no part.
    """
    scores = table[criterion]
    given = {judge: score for judge, score in scores.judges.items() if not np.isnan(score).all()}
    common = np.isfinite(np.sum(list(given.values()), axis=0)) if given else np.zeros(scores.items, bool)
    rows = []
    for judge, score in given.items():
        own = Contender(judge, (judge,), score)
        of = Contender(judge, (judge,), np.where(common, score, np.nan))
        alone, rho = against_people(scores, own), against_people(scores, of)
        level = level_figures(table, criterion, of)
        rows.append(
            {"rater": judge, "own_n": alone.n, "own": alone, "n": rho.n, "spearman": rho}
            | {"bias": level["bias"], "mae": level["mae"]}
        )
    return tabulate(COMMON, table, criterion, rows, **drawing)


def missing_ratings(table: Ratings, criterion: str) -> Table:
    """Whether people's mean differs between the items that a judge rated and those it lacks, a row a judge.

    Only judges that lack some. The test is undefined for fewer than three items of either kind, and where
    people's mean does not vary. p-values are not corrected for the number of judges.
    """
    scores = table[criterion]
    asked = table.open(criterion) & (scores.present > 0)
    rows = [
        {"rater": judge} | _compared(scores.target[asked & ~lacks], scores.target[lacks])
        for judge, lacks in without_rating(table, criterion).items()
    ]
    return tabulate(MISSING, table, criterion, rows, target="people's mean where a judge rated and where not")


def _compared(x: Floats, y: Floats) -> dict[str, Any]:
    return {
        "rated": len(x),
        "missing": len(y),
        "mean_rated": estimate(float(x.mean()), n=len(x)),
        "mean_missing": estimate(float(y.mean()), n=len(y)),
        "difference": Estimate(float(y.mean() - x.mean()), n=len(x) + len(y)),
        "p": rank_test(x, y),
    }


def rank_test(x: Floats, y: Floats) -> Estimate:
    """Two-sided p of the test of Mann and Whitney that two samples are of one distribution."""
    n, m = len(x), len(y)
    if min(n, m) < FEWEST:
        return undefined(f"{min(n, m)} items of a kind are too few, at least {FEWEST} are needed", n=n + m)
    both = np.concatenate([x, y])
    rank = midranks(both)
    ties = np.unique(rank, return_counts=True)[1].astype(np.float64)
    total = n + m
    spread = n * m / 12 * (total + 1 - ((ties**3 - ties).sum() / (total * (total - 1))))
    if spread <= 0:
        return undefined("people's mean does not vary", n=total)
    z = max(abs(float(rank[:n].sum())) - 0.5, 0.0) / sqrt(spread)
    return Estimate(erfc(z / sqrt(2)), n=total)
