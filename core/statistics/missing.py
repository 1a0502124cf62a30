"""Judges that lack ratings: measured beside the others on common items, and whether what they lack is chance.

The test is that of Mann and Whitney (1947), with the normal approximation corrected for ties and continuity
(Lehmann, “Nonparametrics”, 1975). Where items hang together, whole clusters are summed, and Student's t is
taken of the sums of rank and missing (Liang and Zeger 1986).
"""

from math import comb, erfc, sqrt
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics import columns
from concord.statistics.correlation import midranks
from concord.statistics.figures import Drawing, cluster_codes, empty, tabulate
from concord.statistics.intervals import holm
from concord.statistics.judges import against_people, level_figures
from concord.statistics.ratings import Bools, Contender, Facet, Floats, Ints, Ratings, sums
from concord.statistics.resampling import own_clusters
from concord.table import Column, Table

EXACT = 20_000_000
"""Steps up to which the distribution of a rank sum is counted; beyond it is taken for normal."""

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
    columns.P_HOLM,
    caption="A judge that lacks ratings of bad dialogues is measured on the good ones alone.",
)


def without_rating(table: Ratings, criterion: str) -> dict[str, Bools]:
    """For each judge that rated some items of people but not all: which it lacks.

    Items on which judges are not compared are not lacking, and a judge without any rating was not asked.
    """
    scores = table[criterion]
    rated = table.open(criterion) & (scores.present > 0)
    lacking = {}
    for judge, score in scores.judges.items():
        lacks = rated & np.isnan(score)
        if lacks.any() and not lacks[rated].all():
            lacking[judge] = lacks
    return lacking


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


def missing_ratings(table: Ratings, criterion: str, clusters: Facet | None = None) -> Table:
    """Whether people's mean differs between the items that a judge rated and those it lacks, a row a judge.

    Only judges that lack some. The test is undefined for fewer than three items of either kind, and where
    people's mean does not vary. `clusters` are items that hang together. `p_holm` is adjusted for the judges.
    """
    scores = table[criterion]
    rated = table.open(criterion) & (scores.present > 0)
    codes = cluster_codes(table, clusters)
    rows: list[dict[str, Any]] = [
        {"rater": judge} | _compared(scores.target, rated & ~lacks, lacks, codes)
        for judge, lacks in without_rating(table, criterion).items()
    ]
    adjusted = holm(np.array([np.nan if row["p"].value is None else row["p"].value for row in rows]))
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        row["p_holm"] = estimate(p, n=row["p"].n, reason=row["p"].reason)
    return tabulate(MISSING, table, criterion, rows, target="people's mean where a judge rated and where not")


def _compared(target: Floats, rated: Bools, lacks: Bools, codes: Ints | None) -> dict[str, Any]:
    x, y = target[rated], target[lacks]
    if codes is None:
        p = rank_test(x, y)
    else:
        both = np.concatenate([np.flatnonzero(rated), np.flatnonzero(lacks)])
        p = clustered_rank_test(x, y, own_clusters(codes[both]))
    return {
        "rated": len(x),
        "missing": len(y),
        "mean_rated": estimate(float(x.mean()), n=len(x)),
        "mean_missing": estimate(float(y.mean()), n=len(y)),
        "difference": Estimate(float(y.mean() - x.mean()), n=len(x) + len(y)),
        "p": p,
    }


def clustered_rank_test(x: Floats, y: Floats, cluster: Ints) -> Estimate:
    """Two-sided p that two samples are of one distribution, where items of a cluster (x's, then y's) depend.

    Each item's rank less the mean, times missing less its mean, is summed by cluster; the sum of all over the
    root of the sum of squares is compared with Student's t of as many degrees of freedom as clusters less 1.
    """
    total = len(x) + len(y)
    if min(len(x), len(y)) < FEWEST:
        return undefined(too_few(min(len(x), len(y)), FEWEST, "of a kind"), n=total)
    rank = midranks(np.concatenate([x, y]))
    lacks = np.concatenate([np.zeros(len(x)), np.ones(len(y))])
    part = sums(cluster, (rank - rank.mean()) * (lacks - lacks.mean()), int(cluster.max()) + 1)
    spread = float((part**2).sum())
    if spread <= 0:
        return undefined("people's mean does not vary", n=total)
    from scipy import special  # a tenth of the import time of scipy.stats

    t = abs(float(part.sum())) / sqrt(spread)
    return Estimate(float(2 * special.stdtr(len(part) - 1, -t)), n=total)


def rank_test(x: Floats, y: Floats) -> Estimate:
    """Two-sided p of the test of Mann and Whitney that two samples are of one distribution.

    Exact given the ties where few values or few items of one kind let it be counted (twice the smaller tail).
    """
    n, m = len(x), len(y)
    if min(n, m) < FEWEST:
        return undefined(too_few(min(n, m), FEWEST, "of a kind"), n=n + m)
    both = np.concatenate([x, y])
    rank = midranks(both)
    ties = np.unique(rank, return_counts=True)[1].astype(np.float64)
    total = n + m
    spread = n * m / 12 * (total + 1 - ((ties**3 - ties).sum() / (total * (total - 1))))
    if spread <= 0:
        return undefined("people's mean does not vary", n=total)
    few, whole = (rank[:n], n) if n <= m else (rank[n:], m)
    if (p := _exact_p(rank, few, whole)) is not None:
        return Estimate(p, n=total)
    z = max(abs(float(rank[:n].sum())) - 0.5, 0.0) / sqrt(spread)
    return Estimate(erfc(z / sqrt(2)), n=total)


def _exact_p(rank: Floats, of: Floats, size: int) -> float | None:
    """Twice the smaller tail of the sum of `size` ranks (midranks less a constant); None where that is
    long."""
    values, counts = np.unique(np.round(2 * (rank - rank.min())).astype(np.int64), return_counts=True)
    most = size * int(values[-1])
    if len(values) * size * size * most > EXACT:
        return None
    ways = np.zeros((size + 1, most + 1))
    ways[0, 0] = 1
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        chosen = ways.copy()
        for taken in range(1, min(count, size) + 1):
            at = taken * value
            chosen[taken:, at:] += comb(count, taken) * ways[: size + 1 - taken, : most + 1 - at]
        ways = chosen
    own = round(float(2 * (of - rank.min()).sum()))
    tails = ways[size, : own + 1].sum(), ways[size, own:].sum()
    return float(min(2 * min(tails) / ways[size].sum(), 1.0))
