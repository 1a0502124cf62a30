"""Calibration: which score of people a judge's score means."""

from typing import Any, Unpack

import numpy as np

from concord.estimate import undefined
from concord.statistics import columns
from concord.statistics.figures import Drawing, empty, mean_of, tabulate
from concord.statistics.ratings import DIGITS, Floats, Ints, Panels, Ratings
from concord.table import Column, Table

GROUPS = 10
"""Groups of items by the judge's score; a judge of fewer scores has a group for each."""

CURVES = empty(
    "calibration_curves",
    "People's mean by the judge's score",
    columns.RATER,
    Column("score", "Judge's score", help="Mean in a group of items of about the same score."),
    columns.N,
    Column("people", "People's mean", interval="ends"),
    Column("difference", "Judge less people", signed=True),
    caption="The points of a reliability diagram: a judge is calibrated where people's mean is its score.",
)


def calibration_curves(
    table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """People's mean in each group of a judge's score, a row each; a judge without an item in common has one
    row with the reason. `difference` is there where both answer on one scale.
    """
    target = table[criterion].target
    rows: list[dict[str, Any]] = []
    for judge in table[criterion].contenders(panels):
        group = _groups(np.where(np.isnan(target), np.nan, judge.score))
        for place in range(int(group.max(initial=-1)) + 1):
            inside = group == place
            n, score = int(inside.sum()), float(judge.score[inside].mean())
            people = mean_of(table, criterion, np.where(inside, target, np.nan), n)
            off = None if table.no_level(criterion, judge.members) else score - float(target[inside].mean())
            row = {"rater": judge.name, "score": score, "n": n, "people": people}
            rows.append(row | {"difference": off})
        if not (group >= 0).any():
            nothing = undefined(f"{judge.name} and people have no item in common", n=0)
            rows.append({"rater": judge.name, "score": None, "n": 0, "people": nothing})
    return tabulate(CURVES, table, criterion, rows, **drawing)


def _groups(score: Floats) -> Ints:
    """Items grouped by score: by value for up to `GROUPS` values, else in so many parts of equal number."""
    there = ~np.isnan(score)
    rounded = np.round(score[there], DIGITS)
    values, place = np.unique(rounded, return_inverse=True)
    if len(values) > GROUPS:
        ends = np.unique(np.quantile(rounded, np.arange(1, GROUPS) / GROUPS))
        place = np.unique(np.searchsorted(ends, rounded, side="right"), return_inverse=True)[1]
    group = np.full(len(score), -1, dtype=np.int64)
    group[there] = place
    return group
