"""Panels: which there are, how much their members repeat each other, and what the best of many is worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from core.agreement.basis import Basis, Figures, basis, columns
from core.agreement.correlation import correlation, pairs
from core.agreement.ratings import Floats, Ratings, divide, read_ratings
from core.agreement.resampling import Weights, draws, everything, interval, mean_defined


def default_panels(judges: Sequence[str]) -> list[tuple[str, ...]]:
    """All judges together, then every pair of them; nothing for fewer than two judges."""
    if len(judges) < 2:
        return []
    return [tuple(judges)] + (list(itertools.combinations(judges, 2)) if len(judges) > 2 else [])


def called(members: Sequence[str]) -> str:
    """A judge's own name, or “Avg(…)” of a panel's members."""
    return members[0] if len(members) == 1 else f"Avg({', '.join(members)})"


def contenders(table: Ratings, panels: Iterable[Sequence[str]] | None) -> list[tuple[str, ...]]:
    """Every judge, then the panels asked for (None: the default ones)."""
    chosen = default_panels(table.judges) if panels is None else [tuple(panel) for panel in panels]
    return [(judge,) for judge in table.judges] + chosen


def redundancy(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    judges: Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """How much judges err together: one row with judges, n, correlation, effective (both with low and high), reason.

    `correlation` is the mean over pairs of the correlation of their residuals, what is left of a judge's scores after a straight line in
    the mean of people (a partial correlation, so scales need not match). `effective` is k/(1 + (k − 1)r): so many independent judges
    would average as well as these k. People's own noise is in everybody's residual, so r is an upper estimate. `detail` has each pair.

    Undefined for fewer than two judges, fewer than four items that all of them and somebody rated, and a judge whose residuals do not vary.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    judges = list(table.judges if judges is None else judges)
    k = len(judges)
    stacked = np.array([scores.panel([judge]) for judge in judges] + [scores.target])
    shared = np.flatnonzero(~np.isnan(stacked).any(axis=0))
    n = len(shared)
    why = (
        "fewer than two judges"
        if k < 2
        else f"{n} items rated by all of them and a person are too few"
        if n < 4
        else ""
    )
    based = basis(table, scores, resamples=resamples, seed=seed, notes=("correlation of residuals",))
    detail = pd.DataFrame({"a": [], "b": [], "correlation": []})
    own, drawn = np.full((1, 1), np.nan), np.full((1, resamples), np.nan)
    if not why:
        own = _partial(stacked[:, shared], everything(n))
        parts = [
            _partial(stacked[:, shared], weights[shared])
            for weights in draws(scores.items, resamples, seed, among=table.rated)
        ]
        drawn = np.concatenate([own[:, :0], *parts], axis=1)
        couples = list(itertools.combinations(judges, 2))
        detail = pd.DataFrame(
            {"a": [a for a, _ in couples], "b": [b for _, b in couples], "correlation": own[:, 0]}
        )
        why = "residuals of a judge do not vary" if np.isnan(own).any() else ""
    r, rs = own.mean(axis=0), drawn.mean(axis=0)
    figures = {"correlation": (float(r[0]), rs), "effective": (float(_effective(r, k)[0]), _effective(rs, k))}
    row = {"judges": tuple(judges), "n": n} | columns(figures, why)
    return Figures(pd.DataFrame([row]), based, detail)


def _effective(r: Floats, k: int) -> Floats:
    return divide(np.full_like(r, k), np.where(np.isnan(r), 0, 1 + (k - 1) * r))


def _partial(stacked: Floats, weights: Weights) -> Floats:
    """Correlation of every two rows given the last one: pairs × resamples."""
    weight = weights.astype(np.float64)
    n = np.maximum(weight.sum(axis=0), 1)
    centred = stacked - stacked.mean(axis=1)[:, None]
    means = centred @ weight / n
    size = len(stacked)
    first, second = np.triu_indices(size)
    moments = (centred[first] * centred[second]) @ weight / n - means[first] * means[second]
    spread = moments[first == second]
    spread[spread <= 1e-12] = 0
    scale = np.sqrt(spread[first] * spread[second])
    table = np.full((size, size, weight.shape[1]), np.nan)
    table[first, second] = table[second, first] = divide(moments, scale)
    a, b = np.array(list(itertools.combinations(range(size - 1), 2))).T
    left = np.maximum((1 - table[a, -1] ** 2) * (1 - table[b, -1] ** 2), 0)
    left[left <= 1e-12] = 0
    return divide(table[a, b] - table[a, -1] * table[b, -1], np.sqrt(left))


@dataclass(frozen=True, eq=False)
class Search:
    """The best of several panels, and what is left of it on items that did not choose it.

    `shown` is the best panel's Spearman on the items that chose it: flattered. `worth` is the mean, over resamples, of the Spearman that
    the panel chosen on the drawn items reaches on the items left out. `lead` is the best less the second, with the ends of its paired
    interval. `rows` has every candidate: rater, members, spearman, spearman_low, spearman_high, reason, chosen (share of resamples it won).
    """

    basis: Basis
    candidates: int
    n: int
    reason: str = ""
    best: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    shown: float = np.nan
    worth: float = np.nan
    lead: float = np.nan
    lead_low: float = np.nan
    lead_high: float = np.nan
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)


def best_panel(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    candidates: Iterable[Sequence[str]] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Search:
    """Search the candidates (default: every pair of judges) for the highest Spearman, and correct the winner for having been searched.

    All candidates are compared on the same items: those that every judge of any candidate, and a person, rated. Undefined with fewer
    than two candidates or ten such items.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    chosen = (
        list(itertools.combinations(table.judges, 2))
        if candidates is None
        else [tuple(c) for c in candidates]
    )
    members = sorted({judge for candidate in chosen for judge in candidate})
    stacked = np.array([scores.panel([judge]) for judge in members] + [scores.target])
    complete = ~np.isnan(stacked).any(axis=0)
    target = np.where(complete, scores.target, np.nan)
    statistics = [correlation(pairs(scores.panel(candidate), target)) for candidate in chosen]
    based = basis(
        table, scores, resamples=resamples, seed=seed, notes=(f"{len(chosen)} candidates searched",)
    )
    n = int(complete.sum())
    nothing = Search(based, candidates=len(chosen), n=n)
    if len(chosen) < 2 or n < 10:
        few = (
            "fewer than two candidates"
            if len(chosen) < 2
            else f"{n} items rated by all of them and a person are too few"
        )
        return replace(nothing, reason=few)

    def measured(weights: Weights) -> Floats:
        return np.array([statistic(weights) for statistic in statistics])

    own = measured(everything(scores.items))[:, 0]
    if np.isnan(own).any():
        return replace(nothing, reason="a candidate's or people's scores are all equal")
    inside, outside = [], []
    for weights in draws(scores.items, resamples, seed, among=table.rated):
        inside.append(measured(weights))
        outside.append(measured((weights == 0).astype(np.float64)))
    drawn, left_out = np.concatenate(inside, axis=1), np.concatenate(outside, axis=1)
    winner = np.where(np.isnan(drawn), -np.inf, drawn).argmax(axis=0)
    worth = left_out[winner, np.arange(len(winner))]
    order = np.argsort(-own, kind="stable")
    best, second = int(order[0]), int(order[1])
    lead = interval(drawn[best] - drawn[second])
    rows = [
        {"rater": called(candidate), "members": candidate}
        | columns({"spearman": (own[place], drawn[place])})
        | {"chosen": float((winner == place).mean())}
        for place, candidate in enumerate(chosen)
    ]
    return replace(
        nothing,
        best=chosen[best],
        second=chosen[second],
        shown=float(own[best]),
        worth=float(mean_defined(worth[:, None])[0]),
        lead=float(own[best] - own[second]),
        lead_low=np.nan if lead.low is None else lead.low,
        lead_high=np.nan if lead.high is None else lead.high,
        rows=pd.DataFrame(rows),
    )
