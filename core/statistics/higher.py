"""How often a judge scores an item higher than annotators do."""

from typing import Any, Unpack

import numpy as np

from concord.statistics import columns
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import SHARE
from concord.statistics.ratings import Panels, Ratings
from concord.statistics.resampling import mean
from concord.table import Column, Table

HIGHER = empty(
    "higher",
    "Items that a judge scores higher than annotators",
    columns.RATER,
    columns.N,
    Column("higher", percent=True, interval="ends"),
)


def higher(ratings: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]) -> Table:
    """The share of items that a judge or a panel scores above the mean of annotators, one row each.

    Undefined where no item has both scores.
    """

    def rows(some: Ratings) -> list[dict[str, Any]]:
        scores = some[criterion]
        table: list[dict[str, Any]] = []
        for judge in scores.contenders(panels):
            both = np.isfinite(judge.score) & np.isfinite(scores.target)
            above = np.where(both, judge.score > scores.target, np.nan)
            n = int(both.sum())
            share = PointEstimate(mean(above), n, reason="no item has both scores", kind=SHARE, items=both)
            table.append({"rater": judge.name, "n": n, "higher": share})
        return table

    return tabulate(HIGHER, ratings, criterion, rows(ratings), recompute=rows, **drawing)
