"""Judges and panels against people's mean: order and level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from core.agreement.correlation import FEWEST, Coefficient, correlated, spearman_p, why_undefined
from core.agreement.figures import BIAS, MAE, RATER, SPEARMAN, Drawing, N, PointEstimate, tabulate
from core.agreement.panels import called, contenders
from core.agreement.ratings import DIGITS, OTHER_SCALE, CriterionScores, Floats, Ratings, divide, read_ratings
from core.agreement.resampling import Statistic, Weights, mean
from core.glossary import explain
from core.table import Column, Table

NEAR_CONSTANT = 0.9
"""A rater who gives one answer to more than this share of items tells little, whatever the coefficient."""

KENDALL = Column("kendall", "Kendall's τ-b", digits=3, interval="ends", help=explain("tau-b"))
PEARSON = Column("pearson", "Pearson's r", digits=3, interval="ends", help=explain("Pearson correlation"))
COLUMNS = (
    RATER,
    N,
    SPEARMAN,
    Column("p", digits=4, help="Two-sided p of Spearman's ρ by Student's t approximation."),
    KENDALL,
    PEARSON,
    BIAS,
    Column(
        "sd_ratio",
        "SD ratio",
        interval="ends",
        help="Standard deviation of the judge's scores over that of people's mean.",
    ),
    MAE,
    Column("commonest", "Commonest answer", digits=2),
    Column("commonest_share", "Its share", percent=True),
    Column("near_constant", help=explain("near-constant judge")),
)


def judge_figures(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Judges and panels against the mean of people, one row each.

    - order: spearman with p, kendall (tau-b), pearson;
    - level: bias (mean of judge less people), sd_ratio (spread of the judge over that of people's mean), mae;
    - commonest, commonest_share: the judge's most frequent answer; near_constant above nine in ten.

    A mean of people or of judges spreads less than one rater does, which alone moves sd_ratio. Figures of
    level are undefined where judges and people answer on different scales, and all are on fewer than three
    common items.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    rows = []
    for members in contenders(table, panels):
        score, target = scores.panel(members), scores.target
        level = table.level(score)
        rho = against_people(scores, members)
        few = why_undefined(score, target) if (rho.n or 0) < FEWEST else ""
        why = few or ("people's mean does not vary" if table.same_scale else OTHER_SCALE)

        def of_level(
            statistic: Statistic, few: str = few, why: str = why, n: int | None = rho.n
        ) -> PointEstimate:
            return PointEstimate(None if few else statistic, n, why=why)

        answer, share = commonest(score)
        rows.append(
            {"rater": called(members), "n": rho.n, "spearman": rho, "p": spearman_p(score, target)}
            | {"kendall": against_people(scores, members, "kendall")}
            | {"pearson": against_people(scores, members, "pearson")}
            | {"bias": of_level(mean(level - target)), "sd_ratio": of_level(_spread(level, target))}
            | {"mae": of_level(mean(np.abs(level - target))), "commonest": answer, "commonest_share": share}
            | {"near_constant": share is not None and share > NEAR_CONSTANT}
        )
    return tabulate(
        table,
        criterion,
        "judges",
        "Order and level of judges and panels",
        COLUMNS,
        rows,
        caption="Correlation is blind to level, error is blind to order: read both.",
        **drawing,
    )


def against_people(
    scores: CriterionScores, members: Sequence[str], coefficient: Coefficient = "spearman"
) -> PointEstimate:
    """The correlation of a judge or a panel with the mean of people."""
    score = scores.panel(members)
    why = ""
    if not (scores.present > 0).any():
        why = "no person's rating to compare with"
    elif np.isnan(score).all():
        alone = f"{members[0]} rated nothing here"
        why = alone if len(members) == 1 else "no item was rated by every member"
    if why:
        return PointEstimate(None, 0, why=why)
    return correlated(
        score, scores.target, coefficient, a=called(members) if len(members) == 1 else "the panel"
    )


def commonest(score: Floats) -> tuple[float | None, float | None]:
    """A rater's most frequent answer and its share; None without answers."""
    given, count = np.unique(np.round(score[~np.isnan(score)], DIGITS), return_counts=True)
    return (float(given[count.argmax()]), float(count.max() / count.sum())) if len(given) else (None, None)


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
