"""Test–retest of a judge: how far repeated runs over the same items agree. They are not a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from core.agreement import columns
from core.agreement.figures import Drawing, PointEstimate, empty, tabulate
from core.agreement.ratings import DIGITS, CriterionScores, Floats, Ints, Ratings, divide
from core.agreement.resampling import Statistic, Weights, mean
from core.estimate import undefined
from core.table import Column, Table

RETEST = empty(
    "retest",
    "Test–retest of judges",
    Column("judge"),
    Column("runs"),
    columns.N,
    Column("icc", "ICC(1,1), one run", digits=3, interval="ends"),
    Column("exact", "Pairs of runs with the same answer", percent=True, interval="ends"),
    caption="How much of a judge's score is the item's and not chance, by repeated runs.",
)


def retest(
    table: Ratings, criterion: str, runs: Mapping[str, Sequence[str]], **drawing: Unpack[Drawing]
) -> Table:
    """The reliability of one run from repeated runs, one row a judge: judge, runs, n, icc, exact.

    `runs` maps a judge to the names of its runs. `icc` is ICC(1,1) of Shrout and Fleiss (1979): the share of
    variance that is the items' own; `exact` the share of pairs of runs with the same answer. Only items that
    every run rated count. Undefined for fewer than two runs or two such items, and where all answers are
    equal.
    """
    rows = [
        {"judge": judge, "runs": len(names)} | _row(table[criterion], names) for judge, names in runs.items()
    ]
    target = "runs of one judge among themselves"
    return tabulate(RETEST, table, criterion, rows, target=target, all_items=True, **drawing)


def _row(scores: CriterionScores, runs: Sequence[str]) -> dict[str, Any]:
    stacked = np.array([scores.panel([run]) for run in runs]).reshape(len(runs), scores.items)
    items = np.flatnonzero(~np.isnan(stacked).any(axis=0)) if len(runs) else np.empty(0, dtype=np.int64)
    n = len(items)
    if len(runs) < 2 or n < 2:
        why = "fewer than two runs" if len(runs) < 2 else f"{n} items rated in every run are too few"
        return {"n": n} | dict.fromkeys(("icc", "exact"), undefined(why, n=n))
    same = np.full(scores.items, np.nan)
    pairs = combinations(stacked[:, items], 2)
    same[items] = np.mean([np.round(a - b, DIGITS) == 0 for a, b in pairs], axis=0)
    icc = PointEstimate(_icc(stacked, items), n, reason="all answers are equal")
    return {"n": n, "icc": icc, "exact": PointEstimate(mean(same), n)}


def _icc(stacked: Floats, items: Ints) -> Statistic:
    table = stacked[:, items]
    k = len(table)
    centre = table.mean(axis=0)
    within = ((table - centre) ** 2).sum(axis=0)
    centre = centre - centre.mean()

    def on(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        n = weight.sum(axis=0)
        spread = np.maximum((centre**2) @ weight - divide((centre @ weight) ** 2, n), 0)
        between = divide(k * spread, n - 1)
        error = divide(within @ weight, n * (k - 1))
        total = between + (k - 1) * error
        return divide(between - error, np.where(total > 10**-DIGITS, total, 0))

    return on
