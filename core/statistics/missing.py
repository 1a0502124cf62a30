"""Judges that lack ratings of some items of people, and whether what they lack is chance.

The test is that of Mann and Whitney (1947), with the normal approximation corrected for ties and continuity
(Lehmann, “Nonparametrics”, 1975). Where items hang together, whole clusters are summed, and Student's t is
taken of the sums of rank and missing (Liang and Zeger 1986).
"""

from math import comb, erfc, nan, sqrt
from typing import NamedTuple

import numpy as np

from concord.statistics.correlation import midranks
from concord.statistics.figures import cluster_codes
from concord.statistics.ratings import Facet, Floats, Ints, Ratings, sums
from concord.statistics.resampling import own_clusters

EXACT = 20_000_000
"""Steps up to which the distribution of a rank sum is counted; beyond it is taken for normal."""

FEWEST = 3
"""Items rated, and items missing, below which they are not compared."""


class Lacking(NamedTuple):
    """A judge that rated some items of people but not all, with people's mean of those it rated and lacks.

    `p` is that both are of one distribution, two-sided; nan for fewer than `FEWEST` items of either kind, and
    where people's mean does not vary.
    """

    judge: str
    rated: int
    missing: int
    mean_rated: float
    mean_missing: float
    p: float


def lacking(table: Ratings, criterion: str, clusters: Facet | None = None) -> list[Lacking]:
    """The judges that lack ratings of a criterion; `clusters` are items that hang together.

    Items on which judges are not compared are not lacking, and a judge without any rating was not asked.
    """
    scores = table[criterion]
    codes = cluster_codes(table, clusters)
    of_people = table.open(criterion) & (scores.present > 0)
    rows = []
    for judge, score in scores.judges.items():
        complete, lacks = (
            np.flatnonzero(of_people & (np.isnan(score) == missing)) for missing in (False, True)
        )
        if len(complete) and len(lacks):
            x = scores.target[complete]
            y = scores.target[lacks]
            if codes is None:
                p = rank_test(x, y)
            else:
                p = clustered_rank_test(x, y, own_clusters(codes[np.concatenate([complete, lacks])]))
            rows.append(Lacking(judge, len(x), len(y), float(x.mean()), float(y.mean()), p))
    return rows


def clustered_rank_test(x: Floats, y: Floats, cluster: Ints) -> float:
    """Two-sided p that two samples are of one distribution, where items of a cluster (x's, then y's) depend.

    Each item's rank less the mean, times missing less its mean, is summed by cluster; the sum of all over the
    root of the sum of squares is compared with Student's t of as many degrees of freedom as clusters less 1.
    """
    if min(len(x), len(y)) < FEWEST:
        return nan
    rank = midranks(np.concatenate([x, y]))
    lacks = np.concatenate([np.zeros(len(x)), np.ones(len(y))])
    part = sums(cluster, (rank - rank.mean()) * (lacks - lacks.mean()), int(cluster.max()) + 1)
    spread = float((part**2).sum())
    if spread <= 0:
        return nan
    from scipy import special  # a tenth of the import time of scipy.stats

    t = abs(float(part.sum())) / sqrt(spread)
    return float(2 * special.stdtr(len(part) - 1, -t))


def rank_test(x: Floats, y: Floats) -> float:
    """Two-sided p of the test of Mann and Whitney that two samples are of one distribution.

    Exact given the ties where few values or few items of one kind let it be counted (twice the smaller tail).
    """
    n = len(x)
    m = len(y)
    if min(n, m) < FEWEST:
        return nan
    pooled = np.concatenate([x, y])
    rank = midranks(pooled)
    ties = np.unique(rank, return_counts=True)[1].astype(np.float64)
    total = n + m
    spread = n * m / 12 * (total + 1 - ((ties**3 - ties).sum() / (total * (total - 1))))
    if spread <= 0:
        return nan
    smaller, size = (rank[:n], n) if n <= m else (rank[n:], m)
    if (p := _exact_p(rank, smaller, size)) is not None:
        return p
    z = max(abs(float(rank[:n].sum())) - 0.5, 0.0) / sqrt(spread)
    return erfc(z / sqrt(2))


def _exact_p(rank: Floats, ranks: Floats, size: int) -> float | None:
    """Twice the smaller tail of the sum of `size` ranks (midranks less a constant); None where that is
    long."""
    values, counts = np.unique(np.round(2 * (rank - rank.min())).astype(np.int64), return_counts=True)
    largest_sum = size * int(values[-1])
    if len(values) * size * size * largest_sum > EXACT:
        return None
    ways = np.zeros((size + 1, largest_sum + 1))
    ways[0, 0] = 1
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        extended = ways.copy()
        for ties in range(1, min(count, size) + 1):
            shift = ties * value
            extended[ties:, shift:] += comb(count, ties) * ways[: size + 1 - ties, : largest_sum + 1 - shift]
        ways = extended
    rank_sum = round(float(2 * (ranks - rank.min()).sum()))
    tails = ways[size, : rank_sum + 1].sum(), ways[size, rank_sum:].sum()
    return float(min(2 * min(tails) / ways[size].sum(), 1.0))
