"""How many more items must people rate for an interval of a wanted width?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.agreement.alpha import alpha, value_counts
from core.agreement.correlation import correlation
from core.agreement.figures import tabulate
from core.agreement.panels import called
from core.agreement.ratings import CriterionScores, Ratings, read_ratings
from core.agreement.resampling import Interval, Statistic, draws, interval
from core.estimate import Estimate, estimate, undefined
from core.table import Column, Table

FEWEST_ITEMS, FARTHEST = 10, 20
"""No forecast below ten items, and none beyond this many times the items there are."""

PEOPLE: tuple[str, ...] = ()
"""No judges: people's ordinal alpha is meant."""


def needed(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    of: Sequence[Sequence[str]] = (PEOPLE,),
    *,
    width: float = 0.2,
    resamples: int = 1000,
    seed: int = 0,
) -> Table:
    """The number of items for which the 95% interval is `width` wide from end to end, one row a figure.

    `of` are judges and panels, whose Spearman with people's mean is meant, or `PEOPLE` for people's ordinal
    alpha. Rows: figure, items, width (now), needed (items in all), more (items still to be rated), then (the
    width that resamples of a first guess of that size show). Further items are taken to be like those there
    are and rated by as many people. The first guess lets the width fall with the square root of the number,
    and is corrected by what resamples of that size show. Undefined where the figure is, and beyond 20 times
    the items there are.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    rows = [_row(table, scores, tuple(members), width, resamples, seed) for members in of]
    return tabulate(
        table,
        criterion,
        "needed",
        "Items needed",
        (
            Column("figure"),
            Column("items", help="Items that the figure rests on now."),
            Column("width", "Width now", help="Width of the 95% interval, from end to end."),
            Column("needed", "Items in all", digits=0),
            Column("more", "Items more", digits=0),
        ),
        rows,
        caption=f"Items for an interval {width:g} wide from end to end, if further items are like these.",
        target="",
        notes=(f"resamples of other sizes, {resamples} each, seed {seed}",),
    )


def _row(
    table: Ratings, scores: CriterionScores, members: tuple[str, ...], width: float, resamples: int, seed: int
) -> dict[str, Any]:
    statistic: Statistic
    if members:
        score = scores.panel(members)
        statistic, usable = correlation(score, scores.target), ~np.isnan(score) & (scores.present > 0)
    else:
        counts, values = value_counts(scores.item, scores.score, scores.items)
        statistic, usable = alpha(counts, values, "ordinal"), scores.present > 0
    items = np.flatnonzero(usable)

    def at(size: int) -> Estimate:
        """The width of the interval of so many items."""
        drawn = [
            statistic(weights) for weights in draws(scores.items, resamples, seed, among=items, size=size)
        ]
        return _width(interval(np.concatenate([np.empty(0), *drawn])))

    now = at(len(items))
    name = f"Spearman's ρ of {called(members)}" if members else "People's alpha, ordinal"
    row: dict[str, Any] = {"figure": name, "items": len(items), "width": now}
    if now.value is None:
        return row | {"needed": undefined(now.reason), "more": undefined(now.reason)}
    guess = max(int(np.ceil(len(items) * (now.value / width) ** 2)), FEWEST_ITEMS)
    if guess > FARTHEST * len(items):
        why = undefined(f"more than {FARTHEST} times the items there are")
        return row | {"needed": why, "more": why}
    then = at(guess)
    if then.value is None:
        return row | {"needed": undefined(then.reason), "more": undefined(then.reason)}
    found = max(int(np.ceil(guess * (then.value / width) ** 2)), FEWEST_ITEMS)
    return row | {"needed": estimate(found), "more": estimate(max(found - len(items), 0)), "then": then}


def _width(ends: Interval) -> Estimate:
    return undefined(ends.reason) if ends.low is None or ends.high is None else Estimate(ends.high - ends.low)
