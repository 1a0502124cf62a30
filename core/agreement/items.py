"""Where judges fail: on which items, on items of high disagreement, on which part of the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd

from core.agreement import columns
from core.agreement.correlation import correlated, midranks
from core.agreement.figures import Drawing, PointEstimate, empty, tabulate
from core.agreement.ratings import (
    DIGITS,
    OTHER_SCALE,
    CriterionScores,
    Floats,
    Panels,
    Ratings,
    called,
    divide,
    sums,
)
from core.agreement.resampling import Statistic, mean
from core.table import Column, Table

HIGH_DISAGREEMENT = empty(
    "high_disagreement",
    "Items on which people agree and differ",
    columns.RATER,
    Column("people", help="Items split at the median of people's spread."),
    columns.N,
    columns.SPEARMAN,
    columns.BIAS,
    columns.MAE,
    caption="A judge that is as good on items of high disagreement is not held back by people's noise.",
)
BANDS = empty(
    "bands",
    "Bias by part of the scale",
    columns.RATER,
    Column("band", help="Thirds of people's scores."),
    columns.N,
    columns.BIAS,
    caption="Judge less people, where people's scores are low, in the middle and high.",
)


def item_scores(table: Ratings, criterion: str, raters: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """Item by item: unit, mean and spread of people, people (how many), a column per judge or panel."""
    scores = table[criterion]
    found = {
        "unit": pd.Series(list(table.units), dtype=object),
        "mean": scores.target,
        "spread": _people_spread(scores),
        "people": scores.present,
    }
    return pd.DataFrame(found | {called(members): scores.panel(members) for members in raters})


def largest_differences(
    table: Ratings, criterion: str, members: Sequence[str], *, count: int = 20
) -> pd.DataFrame:
    """The items on which a judge (or a panel) is farthest from the mean of people, farthest first.

    Columns: unit, score, mean, people, spread, difference (judge less people). Ties stand in the order of
    units. Spread is people's standard deviation (nan for one person). Where judges and people answer on
    different scales, difference is that of their places among all items, from −1 to 1.
    """
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
    table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """Judges on items on which people agree and on items of high disagreement.

    Rows: rater, people (“agree” or “differ”), n, spearman, bias, mae. Items of two or more people are split
    at the median of their standard deviation; ties go to “agree”. Where judges are as good on items of high
    disagreement as elsewhere, people's noise is not what holds them back.
    """
    scores = table[criterion]
    spread = _people_spread(scores)
    defined = spread[~np.isnan(spread)]
    middle = float(np.median(defined)) if len(defined) else np.nan
    why = "no item in common" if table.same_scale else OTHER_SCALE
    rows = []
    for judge in scores.contenders(panels):
        for name, chosen in (("agree", spread <= middle), ("differ", spread > middle)):
            inside = np.where(chosen, judge.score, np.nan)
            rho = correlated(inside, scores.target, a=judge.name)
            gap = table.level(inside) - scores.target
            level: dict[str, Any] = {
                "bias": PointEstimate(mean(gap), rho.n, reason=why),
                "mae": PointEstimate(mean(np.abs(gap)), rho.n, reason=why),
            }
            rows.append({"rater": judge.name, "people": name, "n": rho.n, "spearman": rho} | level)
    note = f"split at a standard deviation of {middle:.3g}" if len(defined) else "no item has two people"
    return tabulate(HIGH_DISAGREEMENT, table, criterion, rows, notes=(note,), **drawing)


def bands(table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]) -> Table:
    """Bias by score band: rater, band (low, middle, high thirds of people's scores), n, bias.

    One half of an item's people (drawn by the seed) chooses its band, the other half is what the judge is
    measured against, and then the other way round. Were it the same people, chance highs would look like
    highs that the judge misses: regression to the mean.
    """
    scores = table[criterion]
    halves = _halves(scores, drawing.get("seed", 0))
    shared = ~np.isnan(halves).any(axis=0)
    pooled = halves[:, shared].ravel()
    cuts = np.quantile(pooled, [1 / 3, 2 / 3]) if len(pooled) else np.zeros(2)
    why = "no item with two people falls here" if table.same_scale else OTHER_SCALE
    rows = []
    for judge in scores.contenders(panels):
        for band, name in enumerate(("low", "middle", "high")):
            chosen = (np.searchsorted(cuts, halves, side="left") == band) & shared
            gaps = np.where(chosen, table.level(judge.score) - halves[::-1], np.nan)
            n = int((~np.isnan(gaps)).sum())
            bias = PointEstimate(_pooled(gaps), n, reason=why)
            rows.append({"rater": judge.name, "band": name, "n": n, "bias": bias})
    return tabulate(
        BANDS,
        table,
        criterion,
        rows,
        target="one half of an item's people chooses the band, the judge is measured against the other half",
        notes=(f"bands end at {cuts[0]:.3g} and {cuts[1]:.3g}; n counts an item once for each half",),
        **drawing,
    )


def _people_spread(scores: CriterionScores) -> Floats:
    """Standard deviation of people on each item (n − 1); nan for fewer than two."""
    off = scores.score - scores.target[scores.item]
    number = np.bincount(scores.item, minlength=scores.items)
    return np.sqrt(divide(sums(scores.item, off**2, scores.items), np.maximum(number - 1, 0)))


def _halves(scores: CriterionScores, seed: int) -> Floats:
    """The means of two random halves of each item's people; nan for the second half of one person."""
    ordered = np.lexsort((scores.person, scores.item))
    chance = np.random.default_rng(seed).random(len(ordered))
    rows = ordered[np.lexsort((chance, scores.item[ordered]))]
    item, score = scores.item[rows], scores.score[rows]
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=scores.items))])
    second = (np.arange(len(item)) - starts[item]) % 2 == 1
    return np.array(
        [
            divide(
                sums(item[half], score[half], scores.items), np.bincount(item[half], minlength=scores.items)
            )
            for half in (~second, second)
        ]
    )


def _pooled(values: Floats) -> Statistic:
    """The mean of several values per item, each value counting once."""
    total, number = np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0)
    return lambda weights: divide(total @ weights.astype(np.float64), number @ weights.astype(np.float64))
