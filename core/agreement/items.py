"""Where judges fail: on which items, on items of high disagreement, on which part of the scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd

from core.agreement.correlation import correlated, midranks
from core.agreement.figures import BIAS, MAE, RATER, SPEARMAN, Drawing, N, PointEstimate, tabulate
from core.agreement.panels import called, contenders
from core.agreement.ratings import (
    DIGITS,
    OTHER_SCALE,
    CriterionScores,
    Floats,
    Ratings,
    divide,
    read_ratings,
    sums,
)
from core.agreement.resampling import Statistic, mean
from core.table import Column, Table


def item_scores(
    ratings: pd.DataFrame | Ratings, criterion: str, raters: Sequence[tuple[str, ...]] | None = None
) -> pd.DataFrame:
    """Item by item: unit, mean and spread of people, people (how many), a column per judge or panel."""
    table = read_ratings(ratings)
    scores = table[criterion]
    chosen = contenders(table, None) if raters is None else raters
    columns: dict[str, Any] = {
        "unit": pd.Series(list(table.units), dtype=object),
        "mean": scores.target,
        "spread": _people_spread(scores),
        "people": scores.present,
    }
    return pd.DataFrame(columns | {called(members): scores.panel(members) for members in chosen})


def largest_differences(
    ratings: pd.DataFrame | Ratings, criterion: str, members: Sequence[str], *, count: int = 20
) -> pd.DataFrame:
    """The items on which a judge (or a panel) is farthest from the mean of people, farthest first.

    Columns: unit, score, mean, people, spread, difference (judge less people). Ties stand in the order of
    units. Spread is people's standard deviation (nan for one person). Where judges and people answer on
    different scales, difference is that of their places among all items, from −1 to 1.
    """
    table = read_ratings(ratings)
    frame = item_scores(table, criterion, [tuple(members)]).rename(columns={called(members): "score"})
    frame = frame.dropna(subset=["score", "mean"])
    score, target = frame["score"].to_numpy(), frame["mean"].to_numpy()
    if table.same_scale:
        frame["difference"] = score - target
    else:
        frame["difference"] = (midranks(score) - midranks(target)) / max(len(frame), 1)
    order = np.argsort(-np.abs(frame["difference"].to_numpy()).round(DIGITS), kind="stable")
    return frame.iloc[order[:count]].reset_index(drop=True)


def high_disagreement(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Judges on items on which people agree and on items of high disagreement.

    Rows: rater, people (“agree” or “differ”), n, spearman, bias, mae. Items of two or more people are split
    at the median of their standard deviation; ties go to “agree”. Where judges are as good on items of high
    disagreement as elsewhere, people's noise is not what holds them back.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    spread = _people_spread(scores)
    defined = spread[~np.isnan(spread)]
    middle = float(np.median(defined)) if len(defined) else np.nan
    rows = []
    for members in contenders(table, panels):
        score = scores.panel(members)
        for name, chosen in (("agree", spread <= middle), ("differ", spread > middle)):
            inside = np.where(chosen, score, np.nan)
            rho = correlated(inside, scores.target, a=called(members))
            gap = table.level(inside) - scores.target
            why = "no item in common" if table.same_scale else OTHER_SCALE
            rows.append(
                {"rater": called(members), "people": name, "n": rho.n, "spearman": rho}
                | {
                    "bias": PointEstimate(mean(gap), rho.n, why=why),
                    "mae": PointEstimate(mean(np.abs(gap)), rho.n, why=why),
                }
            )
    return tabulate(
        table,
        criterion,
        "high_disagreement",
        "Items on which people agree and differ",
        (
            RATER,
            Column("people", help="Items split at the median of people's spread."),
            N,
            SPEARMAN,
            BIAS,
            MAE,
        ),
        rows,
        caption="A judge that is as good on items of high disagreement is not held back by people's noise.",
        notes=(
            f"split at a standard deviation of {middle:.3g}" if len(defined) else "no item has two people",
        ),
        **drawing,
    )


def bands(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Bias by score band: rater, band (low, middle, high thirds of people's scores), n, bias.

    One half of an item's people (drawn by the seed) chooses its band, the other half is what the judge is
    measured against, and then the other way round. Were it the same people, chance highs would look like
    highs that the judge misses: regression to the mean.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    halves = _halves(scores, drawing.get("seed", 0))
    shared = ~np.isnan(halves[0]) & ~np.isnan(halves[1])
    pooled = np.concatenate([half[shared] for half in halves])
    cuts = np.quantile(pooled, [1 / 3, 2 / 3]) if len(pooled) else np.zeros(2)
    rows = []
    for members in contenders(table, panels):
        score = scores.panel(members)
        for band, name in enumerate(("low", "middle", "high")):
            gaps = []
            for chooser, measure in (halves, halves[::-1]):
                chosen = np.searchsorted(cuts, chooser, side="left") == band
                gaps.append(np.where(chosen & shared, table.level(score) - measure, np.nan))
            n = int((~np.isnan(gaps)).sum())
            why = "no item with two people falls here" if table.same_scale else OTHER_SCALE
            rows.append(
                {
                    "rater": called(members),
                    "band": name,
                    "n": n,
                    "bias": PointEstimate(_pooled(gaps), n, why=why),
                }
            )
    return tabulate(
        table,
        criterion,
        "bands",
        "Bias by part of the scale",
        (RATER, Column("band", help="Thirds of people's scores."), N, BIAS),
        rows,
        caption="Judge less people, where people's scores are low, in the middle and high.",
        target="one half of an item's people chooses the band, the judge is measured against the other half",
        notes=(f"bands end at {cuts[0]:.3g} and {cuts[1]:.3g}; n counts an item once for each half",),
        **drawing,
    )


def _people_spread(scores: CriterionScores) -> Floats:
    """Standard deviation of people on each item (n − 1); nan for fewer than two."""
    off = scores.score - scores.target[scores.item]
    number = np.bincount(scores.item, minlength=scores.items)
    return np.sqrt(divide(sums(scores.item, off**2, scores.items), np.maximum(number - 1, 0)))


def _halves(scores: CriterionScores, seed: int) -> tuple[Floats, Floats]:
    """The means of two random halves of each item's people; nan for the second half of one person."""
    ordered = np.lexsort((scores.person, scores.item))
    chance = np.random.default_rng(seed).random(len(ordered))
    rows = ordered[np.lexsort((chance, scores.item[ordered]))]
    item, score = scores.item[rows], scores.score[rows]
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=scores.items))])
    second = (np.arange(len(item)) - starts[item]) % 2 == 1
    first, other = (
        divide(sums(item[half], score[half], scores.items), np.bincount(item[half], minlength=scores.items))
        for half in (~second, second)
    )
    return first, other


def _pooled(values: Sequence[Floats]) -> Statistic:
    """The mean of several values per item, each value counting once."""
    total = np.where(np.isnan(values), 0, values).sum(axis=0)
    number = (~np.isnan(values)).sum(axis=0)
    return lambda weights: divide(total @ weights.astype(np.float64), number @ weights.astype(np.float64))
