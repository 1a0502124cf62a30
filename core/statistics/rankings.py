"""Rankings of the same players: how far two agree, Kendall's tau-b of several, PageRank, open ranks."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from concord.estimate import Estimate, undefined
from concord.statistics.correlation import FEWEST, rank_correlation, spearman_p, too_few
from concord.statistics.intervals import ORDER, resampled
from concord.statistics.ratings import Floats, Ints, divide
from concord.statistics.resampling import Weights, draws, full_sample, gathering, mean_defined

TIE = 1e-7
"""Scores that differ by less are equal, because averages are of values rounded to nine digits."""

DAMPING = 0.85
"""The share of its rank that a node passes on (Brin and Page 1998)."""


class Tau(NamedTuple):
    """Kendall's tau-b of two rankings; its n counts the players that both have."""

    a: str
    b: str
    tau: Estimate


class Stability(NamedTuple):
    """Tau-b of every two of some rankings, and the mean of those that are defined; its n counts them."""

    pairs: tuple[Tau, ...]
    mean: Estimate


def means(
    values: Floats, group: Ints, groups: int, *, resamples: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """The mean of each column in each group (columns × groups), and resamples of these means.

    A resample draws as many items as there are, whatever their group; all columns and groups share the draws.
    nan where a group has no item, or none in a draw.
    """
    point = _means(values, group, groups, full_sample(len(values)))[0]
    parts = [_means(values, group, groups, weights) for weights in draws(len(values), resamples, seed)]
    return point, np.concatenate([np.empty((0, *point.shape)), *parts])


def _means(values: Floats, group: Ints, groups: int, weights: Weights) -> Floats:
    gather = gathering(group, groups)
    count = np.asarray(gather @ weights, dtype=np.float64)
    totals = [np.asarray(gather @ (weights * column[:, None]), dtype=np.float64) for column in values.T]
    return np.stack([divide(total, count).T for total in totals], axis=1)


def taus(scores: Floats) -> Floats:
    """Tau-b of every two rankings, from rankings × players (nan where a player is missing).

    (concordant − discordant) / √(pairs untied in one × pairs untied in the other), over the pairs of players
    that both have; nan where one of the two ties them all.
    """
    first, second = np.triu_indices(scores.shape[1], 1)
    step = scores[:, first] - scores[:, second]
    present = ~np.isnan(step)
    step = np.where(np.abs(step) > TIE, np.sign(step), 0.0)
    untied = np.abs(step) @ present.T.astype(np.float64)
    return np.clip(divide(step @ step.T, np.sqrt(untied * untied.T)), -1, 1)


def stability(names: Sequence[str], values: Floats, resampled_values: Floats, items: int) -> Stability:
    """Tau-b of every two rankings. `values` is rankings × players, `resampled_values` one such array for
    every resample of `items` items.

    Undefined for fewer than three players in common, and where a ranking scores them all alike. A resample
    that lost a player of one of the two has no value.
    """
    if len(names) < 2:
        return Stability((), undefined("fewer than two rankings to compare", n=0))
    matrix = taus(values)
    incomplete = np.any(np.isnan(resampled_values) & ~np.isnan(values), axis=2)
    tau = np.array([taus(scores) for scores in resampled_values]).reshape(
        len(resampled_values), len(names), len(names)
    )
    tau[np.logical_or(incomplete[:, :, None], incomplete[:, None, :])] = np.nan
    pairs = []
    defined = []
    for i, j in combinations(range(len(names)), 2):
        common = ~np.isnan(values[i]) & ~np.isnan(values[j])
        n = int(common.sum())
        if reason := _undefined([names[i], names[j]], values[[i, j]][:, common]):
            pairs.append(Tau(names[i], names[j], undefined(reason, n=n)))
        else:
            pairs.append(Tau(names[i], names[j], _resampled(matrix[i, j], tau[:, i, j], n, items)))
            defined.append((i, j))
    if not defined:
        reasons = {pair.tau.reason for pair in pairs}
        reason = reasons.pop() if len(reasons) == 1 else "no two of them can be compared"
        return Stability(tuple(pairs), undefined(reason, n=0))
    mean = sum(matrix[pair] for pair in defined) / len(defined)
    drawn_mean = mean_defined(np.array([tau[:, i, j] for i, j in defined]))
    return Stability(tuple(pairs), _resampled(mean, drawn_mean, len(defined), items))


def _resampled(value: float, resampled_values: Floats, n: int, items: int) -> Estimate:
    return resampled(value, resampled_values, n=n, kind=ORDER, units=items)


def _undefined(names: Sequence[str], scores: Floats) -> str:
    if scores.shape[1] < FEWEST:
        return too_few(scores.shape[1], "player")
    alike = [name for name, row in zip(names, scores, strict=True) if np.ptp(row) <= TIE]
    return f"{alike[0]} gives all of them the same score" if alike else ""


def pagerank(edges: Floats, damping: float = DAMPING) -> Floats:
    """PageRank of nodes, their sum 1. `edges[i, j]` is the weight of the edge from i to j.

    r_j = (1 − d)/n + d · Σ_i r_i · w_ij / Σ_k w_ik, solved as a linear system. Edges from a node to itself do
    not count; a node without edges passes its rank to all nodes equally. Raises ValueError for a negative
    weight.
    """
    if (edges < 0).any():
        raise ValueError("a weight is negative")
    n = len(edges)
    edges = np.where(np.eye(n, dtype=bool), 0.0, edges)
    total = edges.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, edges / np.where(total > 0, total, 1), 1 / n)
    rank: Floats = np.linalg.solve(np.eye(n) - damping * shares.T, np.full(n, (1 - damping) / n))
    return rank


def against(first: Floats, second: Floats) -> tuple[Estimate, Estimate]:
    """Spearman's rho of two scores of the same models, and its p.

    Undefined for fewer than three models or equal scores. p is scipy's, by Student's t with n − 2 degrees of
    freedom.
    """
    rho = rank_correlation(first, second, "here", "there")
    n = len(first)
    if rho.defined:
        return rho, spearman_p(rho)
    reason = too_few(n, "model") if n < FEWEST else "one of the two gives all of them the same score"
    return undefined(reason, n=n), undefined(reason, n=n)


def open_places(scores: Sequence[Floats]) -> list[str]:
    """The ranks that each player may have, such as “1 or 2”, by the scores of its conversations; best first.

    A player is behind another whose mean is significantly greater, by Welch's t at 5% shared by Bonferroni
    over its comparisons with all others. The set holds the true rank in 95% of samples at least (Mogstad,
    Romano, Shaikh and Wilhelm, “Inference for Ranks with Applications to Mobility across Neighbourhoods and
    Academic Achievement across Countries”, Review of Economic Studies 2024, with Bonferroni in place of their
    bootstrap). A player with fewer than two conversations may have every rank.
    """
    if len(scores) < 2:
        return ["1"] * len(scores)
    n = np.array([len(values) for values in scores], float)
    means = np.array([values.mean() for values in scores])
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.array([values.var(ddof=1) if len(values) > 1 else np.inf for values in scores]) / n
        gap = means[:, None] - means
        error = spread[:, None] + spread
        freedom = error**2 / (spread[:, None] ** 2 / (n[:, None] - 1) + spread**2 / (n - 1))
        limit = stdtrit(np.nan_to_num(freedom, nan=1.0, posinf=1.0), 1 - 0.025 / (len(scores) - 1))
        separated = gap > limit * np.sqrt(error)
    np.fill_diagonal(separated, False)
    ahead = separated.sum(axis=0)
    behind = separated.sum(axis=1)
    first_ranks = (1 + ahead).tolist()
    last_ranks = (len(scores) - behind).tolist()
    return [_rank_words(first, last) for first, last in zip(first_ranks, last_ranks, strict=True)]


def _rank_words(first: int, last: int) -> str:
    if first == last:
        return str(first)
    if last == first + 1:
        return f"{first} or {last}"
    return f"{first} to {last}"
