"""Where judges fail: within and between groups of items, such as player models.

A correlation over everything mixes two questions, whether the judge orders groups as people do and whether it
orders the items of one group. They can even disagree in sign (Simpson's paradox), so they are kept apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from core.agreement import columns
from core.agreement.correlation import correlated, correlation, point, together, why_undefined
from core.agreement.figures import Drawing, Figure, PointEstimate, empty, tabulate
from core.agreement.ratings import DIGITS, OTHER_SCALE, Floats, Ints, Panels, Ratings, divide
from core.agreement.resampling import Weights, mean, mean_defined
from core.estimate import undefined
from core.table import Column, Table

Groups = Mapping[Hashable, Hashable] | pd.Series

FEWEST_GROUPS = 6
"""Fewer groups than this have no order worth a correlation."""

PLAYERS = empty(
    "players",
    "Judges within each player",
    columns.RATER,
    Column("group", "Player"),
    columns.N,
    columns.SPEARMAN,
    columns.BIAS,
)
LEVELS = empty(
    "levels",
    "Correlation overall, within and between players",
    columns.RATER,
    Column("level", help="Over all items, the mean within a player, or between the players' means."),
    columns.N,
    columns.SPEARMAN,
    Column("groups", "Players"),
    Column("skipped", "Players left out", help="Fewer than three items, or equal scores throughout."),
    caption="A high overall correlation with a low one within players means that the judge tells players "
    "apart, not that it orders the conversations of one player.",
)


def within_groups(
    table: Ratings, criterion: str, groups: Groups, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """Each judge and panel inside each group (unit → player model, or any facet).

    Bias is the mean of judge less people. Correlation is undefined for a group of fewer than three items, or
    where the judge or people give equal scores throughout.
    """
    scores = table[criterion]
    codes, names = table.facet(groups)
    why = "no item in common" if table.same_scale else OTHER_SCALE
    rows = []
    for judge in scores.contenders(panels):
        for code, name in enumerate(names):
            inside = np.where(codes == code, judge.score, np.nan)
            rho = correlated(inside, scores.target, a=judge.name)
            bias = PointEstimate(mean(table.level(inside) - scores.target), rho.n, reason=why)
            rows.append({"rater": judge.name, "group": str(name), "n": rho.n, "spearman": rho, "bias": bias})
    unknown = int((codes < 0).sum())
    notes = (f"{unknown} items belong to no group",) if unknown else ()
    return tabulate(PLAYERS, table, criterion, rows, notes=notes, **drawing)


def levels(
    table: Ratings, criterion: str, groups: Groups, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """Spearman over everything, within groups and between groups: three rows per judge and panel.

    rater, level, n (items), spearman, groups (used), skipped (groups). *within* is the mean over groups of
    the correlation inside each, every group counting once; groups of fewer than three items or of equal
    scores are skipped and counted. *between* correlates the groups' means, and needs six groups. Intervals
    draw items; groups are taken as they are.
    """
    target = table[criterion].target
    codes, names = table.facet(groups)
    rows = []
    for judge in table[criterion].contenders(panels):
        inside = [np.where(codes == code, judge.score, np.nan) for code in range(len(names))]
        usable = [part for part in inside if not why_undefined(*together(part, target))]
        filled = sum(len(together(part, target)[0]) > 0 for part in inside)
        overall = correlated(judge.score, target, a=judge.name)
        for level, rho, used, skipped in (
            ("overall", overall, 0, 0),
            ("within", _within(usable, target, overall.n), len(usable), len(inside) - len(usable)),
            (
                "between",
                _between(judge.score, target, codes, len(names), filled, overall.n),
                filled,
                len(names) - filled,
            ),
        ):
            rows.append(
                {"rater": judge.name, "level": level, "n": overall.n, "spearman": rho}
                | {"groups": used, "skipped": skipped}
            )
    return tabulate(LEVELS, table, criterion, rows, **drawing)


def _within(parts: Sequence[Floats], target: Floats, n: int | None) -> Figure:
    if not parts:
        return undefined("no group has three items whose scores vary", n=n)
    statistics = [correlation(part, target) for part in parts]
    value = float(np.mean([point(part, target)[0] for part in parts]))
    return PointEstimate(lambda weights: mean_defined(np.array([on(weights) for on in statistics])), n, value)


def _between(score: Floats, target: Floats, codes: Ints, groups: int, filled: int, n: int | None) -> Figure:
    """Spearman of the groups' means, recomputed in every resample from the groups that were drawn."""
    if filled < FEWEST_GROUPS:
        return undefined(f"{filled} groups are too few, at least {FEWEST_GROUPS} are needed", n=n)
    both = np.flatnonzero(~np.isnan(score) & ~np.isnan(target) & (codes >= 0))
    x, y = score[both][:, None], target[both][:, None]
    member = (codes[both][None, :] == np.arange(groups)[:, None]).astype(np.float64)

    def means(weight: Floats) -> list[Floats]:
        size = member @ weight
        return [np.round(divide(member @ (weight * values), size), DIGITS) for values in (x, y)]

    def on(weights: Weights) -> Floats:
        rank_x, rank_y = (_places(values) for values in means(weights[both].astype(np.float64)))
        scale = np.sqrt((rank_x**2).sum(axis=0) * (rank_y**2).sum(axis=0))
        return divide(np.asarray((rank_x * rank_y).sum(axis=0), dtype=np.float64), scale)

    own = means(np.ones((len(both), 1)))
    return PointEstimate(on, n, point(own[0][:, 0], own[1][:, 0])[0], "the groups' means are all equal")


def _places(values: Floats) -> Floats:
    """Centred midranks down each column; nan takes no part and has rank 0."""
    above = (values[:, None] > values[None, :]).sum(axis=1, dtype=np.float64)
    below = (values[:, None] < values[None, :]).sum(axis=1, dtype=np.float64)
    return np.asarray((above - below) / 2, dtype=np.float64)
