"""Where judges fail: within and between groups of items, such as player models.

A correlation over everything mixes two questions, whether the judge orders groups as people do and whether it
orders the items of one group. They can even disagree in sign (Simpson's paradox), so the levels are kept
apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from core.agreement.correlation import correlated, correlation, point, why_undefined
from core.agreement.figures import BIAS, RATER, SPEARMAN, Drawing, N, PointEstimate, tabulate
from core.agreement.panels import called, contenders
from core.agreement.ratings import DIGITS, OTHER_SCALE, Floats, Ints, Ratings, divide, read_ratings
from core.agreement.resampling import Weights, mean, mean_defined
from core.table import Column, Table

Groups = Mapping[Hashable, Hashable] | pd.Series

FEWEST_GROUPS = 6
"""Fewer groups than this have no order worth a correlation."""


def within_groups(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    groups: Groups,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel inside each group (unit → player model, or any facet).

    Bias is the mean of judge less people. Correlation is undefined for a group of fewer than three items, or
    where the judge or people give equal scores throughout.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    codes, names = table.facet(groups)
    rows = []
    for members in contenders(table, panels):
        score = scores.panel(members)
        for code, name in enumerate(names):
            inside = np.where(codes == code, score, np.nan)
            gap = table.level(inside) - scores.target
            rho = correlated(inside, scores.target, a=called(members))
            why = "" if table.same_scale else OTHER_SCALE
            rows.append(
                {"rater": called(members), "group": str(name), "n": rho.n, "spearman": rho}
                | {"bias": PointEstimate(mean(gap), rho.n, why=why or "no item in common")}
            )
    unknown = int((codes < 0).sum())
    return tabulate(
        table,
        criterion,
        "players",
        "Judges within each player",
        (RATER, Column("group", "Player"), N, SPEARMAN, BIAS),
        rows,
        notes=(f"{unknown} items belong to no group",) if unknown else (),
        **drawing,
    )


def levels(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    groups: Groups,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Spearman over everything, within groups and between groups: three rows per judge and panel.

    rater, level, n (items), spearman, groups (used), skipped (groups). *within* is the mean over groups of
    the correlation inside each, every group counting once; groups of fewer than three items or of equal
    scores are skipped and counted. *between* correlates the groups' means, and needs six groups. Intervals
    draw items; groups are taken as they are.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    target = scores.target
    codes, names = table.facet(groups)
    rows = []
    for members in contenders(table, panels):
        score = scores.panel(members)
        inside = [np.where(codes == code, score, np.nan) for code in range(len(names))]
        usable = [part for part in inside if not why_undefined(part, target)]
        filled = sum(bool((~np.isnan(part) & ~np.isnan(target)).any()) for part in inside)
        overall = correlated(score, target, a=called(members))
        few = (
            f"{filled} groups are too few, at least {FEWEST_GROUPS} are needed"
            if filled < FEWEST_GROUPS
            else ""
        )
        figures = {
            "overall": (overall, 0, 0),
            "within": (_within(usable, target, overall.n), len(usable), len(inside) - len(usable)),
            "between": (
                PointEstimate(None, overall.n, why=few)
                if few
                else _between(score, target, codes, len(names), overall.n),
                filled,
                len(names) - filled,
            ),
        }
        rows += [
            {"rater": called(members), "level": level, "n": overall.n, "spearman": figure}
            | {"groups": used, "skipped": skipped}
            for level, (figure, used, skipped) in figures.items()
        ]
    return tabulate(
        table,
        criterion,
        "levels",
        "Correlation overall, within and between players",
        (
            RATER,
            Column("level", help="Over all items, the mean within a player, or between the players' means."),
            N,
            SPEARMAN,
            Column("groups", "Players"),
            Column("skipped", "Players left out", help="Fewer than three items, or equal scores throughout."),
        ),
        rows,
        caption="A high overall correlation with a low one within players means that the judge tells players "
        "apart, not that it orders the conversations of one player.",
        **drawing,
    )


def _within(parts: Sequence[Floats], target: Floats, n: int | None) -> PointEstimate:
    if not parts:
        return PointEstimate(None, n, why="no group has three items whose scores vary")
    statistics = [correlation(part, target) for part in parts]
    value = float(np.mean([point(part, target)[0] for part in parts]))
    return PointEstimate(lambda weights: mean_defined(np.array([on(weights) for on in statistics])), n, value)


def _between(score: Floats, target: Floats, codes: Ints, groups: int, n: int | None) -> PointEstimate:
    """Spearman of the groups' means, recomputed in every resample from the groups that were drawn."""
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
