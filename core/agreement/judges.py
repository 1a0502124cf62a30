"""Judges and panels against people's mean: order and level, both always."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.agreement.basis import Figures, basis, columns
from core.agreement.correlation import FEWEST, correlation, kendall_possible, once, p_value, pairs
from core.agreement.panels import called, contenders
from core.agreement.ratings import DIGITS, Floats, Ratings, Scores, divide, read_ratings
from core.agreement.reliability import NEAR_CONSTANT
from core.agreement.resampling import Statistic, Weights, bootstrap, mean

Clusters = Mapping[Hashable, Hashable] | pd.Series | None


def judge_figures(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters = None,
) -> Figures:
    """Judges and panels against the mean of people: one row each, with rater, members, n, p, reason, and

    - order: spearman, kendall (tau-b), pearson;
    - level: bias (mean of judge less people), sd_ratio (spread of the judge over that of people's mean), mae (mean distance);
    - commonest, commonest_share: the judge's most frequent answer; near_constant if it makes up more than nine in ten.

    Each figure but the last has its ends in `…_low` and `…_high`. Correlation is blind to level and error to order: read both.
    A mean of people or of judges spreads less than one rater does, which alone moves sd_ratio. Figures of level are undefined where
    judges and people answer on different scales, and everything is on fewer than three items in common.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    groups = None if clusters is None else table.facet(clusters)[0]
    raters = contenders(table, panels)
    given = [scores.panel(members) for members in raters]
    plans = [_statistics(score, scores.target, table.level(score)) for score in given]
    statistics = [statistic for plan in plans for statistic in plan.values()]
    own, drawn = bootstrap(
        statistics, scores.items, resamples=resamples, seed=seed, among=table.rated, clusters=groups
    )
    figures = iter(zip(own.tolist(), drawn, strict=True))
    rows = []
    for members, score, plan in zip(raters, given, plans, strict=True):
        found = {name: next(figures) for name in plan}
        rows.append(_row(members, score, scores, found))
    return Figures(
        pd.DataFrame(rows),
        basis(table, scores, resamples=resamples, seed=seed, clustered=groups is not None),
    )


def _statistics(score: Floats, target: Floats, level: Floats) -> dict[str, Statistic]:
    pair = pairs(score, target)
    kendall = correlation(pair, "kendall") if kendall_possible(pair) else _fixed(once(pair, "kendall"))
    return {
        "spearman": correlation(pair),
        "kendall": kendall,
        "pearson": correlation(pair, "pearson"),
        "bias": mean(level - target),
        "sd_ratio": _spread(level, target),
        "mae": mean(np.abs(level - target)),
    }


def _fixed(value: float) -> Statistic:
    """A value for the items as they are; resamples of it are undefined."""
    return lambda weights: np.full(weights.shape[1], value if weights.shape[1] == 1 else np.nan)


def _spread(score: Floats, target: Floats) -> Statistic:
    """Ratio of standard deviations on the items that have both; nan where people's mean does not vary."""
    both = np.flatnonzero(~np.isnan(score) & ~np.isnan(target))
    x, y = score[both], target[both]

    def on(weights: Weights) -> Floats:
        weight = weights[both].astype(np.float64)
        n = np.maximum(weight.sum(axis=0), 1)
        spread_x, spread_y = (
            np.maximum((value**2) @ weight / n - (value @ weight / n) ** 2, 0)
            for value in (x - x.mean(), y - y.mean())
        )
        varies = spread_y > 10**-DIGITS
        return np.sqrt(divide(spread_x, np.where(varies, spread_y, 0)))

    return on if len(both) else lambda weights: np.full(weights.shape[1], np.nan)


def _row(
    members: tuple[str, ...], score: Floats, scores: Scores, found: Mapping[str, tuple[float, Floats]]
) -> dict[str, Any]:
    n = int((~np.isnan(score) & ~np.isnan(scores.target)).sum())
    why = ""
    if n < FEWEST:
        why = f"{n} items in common, at least {FEWEST} are needed"
        found = {name: (np.nan, drawn) for name, (_, drawn) in found.items()}
    elif np.isnan(found["spearman"][0]):
        why = "the judge's or people's scores are all equal on the items in common"
    figures = columns(found, why)
    p, why_p = (None, "") if why else p_value(found["spearman"][0], n)
    row: dict[str, Any] = {"rater": called(members), "members": members, "n": n} | figures
    row["p"] = np.nan if p is None else p
    given, count = np.unique(np.round(score[~np.isnan(score)], DIGITS), return_counts=True)
    row["commonest"] = given[count.argmax()] if len(given) else np.nan
    row["commonest_share"] = count.max() / count.sum() if len(given) else np.nan
    row["near_constant"] = bool(row["commonest_share"] > NEAR_CONSTANT)
    return row | {"reason": "; ".join(filter(None, [str(figures["reason"]), f"p: {why_p}" if why_p else ""]))}
