"""Judges and panels against people's mean: order and level."""

from typing import Any, Unpack, get_args

import numpy as np

from concord.arrays import levels
from concord.estimate import undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.correlation import (
    FEWEST,
    Coefficient,
    correlated,
    paired,
    spearman_p,
    why_undefined,
)
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import BIAS, MAE
from concord.statistics.ratings import (
    DIGITS,
    Contender,
    CriterionScores,
    Floats,
    Panels,
    Ratings,
)
from concord.statistics.resampling import mean
from concord.table import Column, Table

JUDGES = empty(
    "judges",
    "Order and level of judges and panels",
    columns.RATER,
    columns.N,
    columns.SPEARMAN,
    columns.BIAS,
    columns.MAE,
    columns.KENDALL,
    columns.PEARSON,
    columns.P,
    Column("commonest", "Commonest answer", digits=2),
    Column("commonest_share", "Its share", percent=True, help=explain("near-constant judge")),
    caption="Correlation ignores level and error ignores order: read both. Each interval is for its rater "
    "alone: the best of several looks better than it is.",
)


def judge_figures(
    table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """Judges and panels against the mean of people, one row each: order, level, most frequent answer.

    Figures of level are undefined where judges and people answer on different scales, and all are on fewer
    than three common items.
    """
    return tabulate(
        JUDGES,
        table,
        criterion,
        _rows(table, criterion, panels),
        recompute=lambda resampled_table: _rows(resampled_table, criterion, panels),
        **drawing,
    )


def _rows(table: Ratings, criterion: str, panels: Panels) -> list[dict[str, Any]]:
    scores = table[criterion]
    rows: list[dict[str, Any]] = []
    for judge in scores.contenders(panels):
        order = {name: against_people(scores, judge, name) for name in get_args(Coefficient)}
        answer, share = commonest(judge.score)
        rows.append(
            {"rater": judge.name, "n": order["spearman"].n, "p": spearman_p(order["spearman"])}
            | order
            | level_figures(table, criterion, judge)
            | {"commonest": answer, "commonest_share": share}
        )
    return rows


def against_people(
    scores: CriterionScores, judge: Contender, coefficient: Coefficient = "spearman"
) -> Figure:
    """The correlation of a judge or a panel with the mean of people."""
    alone = len(judge.members) == 1
    if not (scores.present > 0).any():
        return undefined("no annotator's rating to compare with", n=0)
    if np.isnan(judge.score).all():
        reason = f"{judge.name} rated nothing here" if alone else "no item was rated by every member"
        return undefined(reason, n=0)
    return correlated(judge.score, scores.target, coefficient, a=judge.name if alone else "the panel")


def commonest(score: Floats) -> tuple[float | None, float | None]:
    """A rater's most frequent answer and its share; None without answers."""
    values, code = levels(np.round(score[~np.isnan(score)], DIGITS))
    count = np.bincount(code)
    return (float(values[count.argmax()]), float(count.max() / count.sum())) if len(values) else (None, None)


def level_figures(table: Ratings, criterion: str, judge: Contender) -> dict[str, Figure]:
    """bias and mae of a judge or a panel, for `tabulate`.

    Undefined on fewer than three common items, and where judges and people answer on different scales.
    """
    target = table[criterion].target
    common = paired(judge.score, target)
    n = len(common[0])
    if n < FEWEST:
        return dict.fromkeys(("bias", "mae"), undefined(why_undefined(*common), n=n))
    reason = table.no_level(criterion, judge.members)
    gap = table.level(criterion, judge) - target
    items = ~np.isnan(judge.score) & ~np.isnan(target)
    return {
        "bias": PointEstimate(mean(gap), n, reason=reason, kind=BIAS, items=items),
        "mae": PointEstimate(mean(np.abs(gap)), n, reason=reason, kind=MAE, items=items),
    }
