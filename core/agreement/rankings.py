"""How alike several rankings of the same players are: Kendall's tau-b of every two, their mean, PageRank among judges, Spearman.

After PingPong's further experiments: the order by judge, by interrogator, under pools of judges, and another benchmark's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.agreement.correlation import FEWEST, midranks, p_value, spearman
from core.agreement.ratings import Floats, Ints, divide
from core.agreement.resampling import Weights, draws, everything, gathering, interval, mean_defined

TIE = 1e-7
"""Scores this near are equal: what is averaged was rounded to nine digits before."""

DAMPING = 0.85
"""The share of its rank that a node hands on; Brin and Page's."""


@dataclass(frozen=True)
class Tau:
    """Kendall's tau-b of two rankings over the `players` both have, with its 95% interval; None where undefined, with the reason."""

    a: str
    b: str
    value: float | None
    ci: tuple[float, float] | None
    players: int
    reason: str = ""


@dataclass(frozen=True)
class Stability:
    """Every two of some rankings, and the mean of those that have a value; None where none has, with the reason."""

    pairs: tuple[Tau, ...]
    mean: float | None = None
    ci: tuple[float, float] | None = None
    reason: str = ""

    @property
    def defined(self) -> int:
        """How many pairs the mean is over."""
        return sum(pair.value is not None for pair in self.pairs)


@dataclass(frozen=True)
class Against:
    """Two scores of the same `n` models: Spearman with p, None where undefined; ranks from the best (1), ties at their mean rank."""

    n: int
    ranks_here: tuple[float, ...]
    ranks_there: tuple[float, ...]
    spearman: float | None = None
    p: float | None = None
    reason: str = ""
    p_reason: str = ""


def means(
    values: Floats, group: Ints, groups: int, *, resamples: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """The mean of each column of `values` (items × columns) in each group: as they are (columns × groups), and resampled (resamples × …).

    Items are drawn plainly, as many as there are, whatever group they are of; all columns and groups share the draws. nan where a
    group has no item, or none in a draw.
    """
    own = _means(values, group, groups, everything(len(values)))[0]
    parts = [_means(values, group, groups, weights) for weights in draws(len(values), resamples, seed)]
    return own, np.concatenate([np.empty((0, *own.shape)), *parts])


def _means(values: Floats, group: Ints, groups: int, weights: Weights) -> Floats:
    gather = gathering(group, groups)
    count = np.asarray(gather @ weights, dtype=np.float64)
    totals = [np.asarray(gather @ (weights * column[:, None]), dtype=np.float64) for column in values.T]
    return np.stack([divide(total, count).T for total in totals], axis=1)


def taus(scores: Floats) -> Floats:
    """Tau-b of every two rankings (rankings × players, nan where a ranking lacks a player → rankings × rankings).

    (concordant − discordant) / √(pairs untied in one × pairs untied in the other), over the pairs of players both have; nan where
    one of the two ties them all.
    """
    first, second = np.triu_indices(scores.shape[1], 1)
    step = scores[:, first] - scores[:, second]
    there = ~np.isnan(step)
    step = np.where(np.abs(step) > TIE, np.sign(step), 0.0)
    untied = np.abs(step) @ there.T.astype(np.float64)
    return np.clip(divide(step @ step.T, np.sqrt(untied * untied.T)), -1, 1)


def stability(names: Sequence[str], own: Floats, drawn: Floats) -> Stability:
    """Rankings compared two by two. `own` is rankings × players, `drawn` the same for every resample (resamples × rankings × players).

    Undefined for fewer than three players in common, and where a ranking gives them all the same score. A resample that lost a
    player of one of the two has no value.
    """
    if len(names) < 2:
        return Stability((), reason="fewer than two rankings to compare")
    matrix = taus(own)
    lost = np.any(np.isnan(drawn) & ~np.isnan(own), axis=2)
    every = np.array([taus(scores) for scores in drawn]).reshape(len(drawn), len(names), len(names))
    every[np.logical_or(lost[:, :, None], lost[:, None, :])] = np.nan
    pairs, resampled = [], []
    for i, j in combinations(range(len(names)), 2):
        common = ~np.isnan(own[i]) & ~np.isnan(own[j])
        why = _undefined([names[i], names[j]], own[[i, j]][:, common])
        if why:
            pairs.append(Tau(names[i], names[j], None, None, int(common.sum()), why))
            continue
        ci, reason = _interval(every[:, i, j])
        pairs.append(Tau(names[i], names[j], float(matrix[i, j]), ci, int(common.sum()), reason))
        resampled.append(every[:, i, j])
    values = [pair.value for pair in pairs if pair.value is not None]
    if not values:
        reasons = {pair.reason for pair in pairs}
        why = reasons.pop() if len(reasons) == 1 else "no two of them can be compared"
        return Stability(tuple(pairs), reason=why)
    ci, reason = _interval(mean_defined(np.array(resampled)))
    return Stability(tuple(pairs), sum(values) / len(values), ci, reason)


def _undefined(names: Sequence[str], scores: Floats) -> str:
    players = scores.shape[1]
    if players < FEWEST:
        return _few(players, "player")
    alike = [name for name, row in zip(names, scores, strict=True) if np.ptp(row) <= TIE]
    return f"{alike[0]} scores them all alike" if alike else ""


def _few(count: int, what: str) -> str:
    few = {0: f"no {what}", 1: f"one {what}"}.get(count, f"{count} {what}s")
    return f"{few} in common, at least {FEWEST} are needed"


def _interval(values: Floats) -> tuple[tuple[float, float] | None, str]:
    low, high, reason = interval(values)
    return (None if low is None or high is None else (low, high)), reason


def pagerank(edges: Floats, damping: float = DAMPING) -> Floats:
    """PageRank of nodes, their sum 1. `edges[i, j]` is the weight of the edge from i to j.

    r_j = (1 − d)/n + d · Σ_i r_i · w_ij / Σ_k w_ik, solved as the linear system it is. Edges from a node to itself do not count; a
    node without edges hands its rank to all alike. Raises ValueError for a negative weight.
    """
    if (edges < 0).any():
        raise ValueError("a weight is negative")
    n = len(edges)
    edges = np.where(np.eye(n, dtype=bool), 0.0, edges)
    total = edges.sum(axis=1, keepdims=True)
    handed = np.where(total > 0, edges / np.where(total > 0, total, 1), 1 / n)
    rank: Floats = np.linalg.solve(np.eye(n) - damping * handed.T, np.full(n, (1 - damping) / n))
    return rank


def against(here: Floats, there: Floats) -> Against:
    """Two scores of the same models, more being better in both. Undefined for fewer than three models or equal scores.

    p is that of Student's t with n − 2 degrees of freedom, as in scipy.
    """
    n = len(here)
    at, at_there = (tuple(((n + 1) / 2 - midranks(scores)).tolist()) for scores in (here, there))
    if n < FEWEST:
        return Against(n, at, at_there, reason=_few(n, "model"))
    rho = spearman(here, there)
    if np.isnan(rho):
        return Against(n, at, at_there, reason="one of the two scores them all alike")
    p, why = p_value(rho, n)
    return Against(n, at, at_there, rho, p, p_reason=why)
