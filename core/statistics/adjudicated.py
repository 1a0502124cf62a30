"""Judges and people against adjudicated scores, or means with extra ratings, beside first raters' mean."""

from collections.abc import Hashable, Mapping
from typing import Any, Unpack

import numpy as np

from concord.estimate import undefined
from concord.statistics import columns
from concord.statistics.correlation import correlated
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import MAE
from concord.statistics.ratings import Floats, Panels, Ratings, divide, sums
from concord.statistics.resampling import mean
from concord.table import Column, Table

ONE_ANNOTATOR = "one annotator"
"""The row of people: the mean over an item's annotators of how far each is from the settled score."""

ADJUDICATION = empty(
    "adjudication",
    "Judges before and after adjudication",
    columns.RATER,
    Column("before", "ρ with people's mean", digits=3, interval="ends", n=True),
    Column("after", "ρ with settled scores", digits=3, interval="ends", n=True),
    Column("mae_before", "MAE from people's mean", interval="ends"),
    Column("mae_after", "MAE from adjudicated", interval="ends", n=True),
    caption="Correlations are on all items; a settled score stands in place of people's mean on adjudicated "
    "ones. MAE is on adjudicated items, which were chosen because people differ there.",
)
EXTRA = empty(
    "extra",
    "Judges without and with extra ratings",
    columns.RATER,
    Column("before", "ρ with first raters' mean", digits=3, interval="ends", n=True),
    Column("after", "ρ with extra ratings too", digits=3, interval="ends", n=True),
    Column("mae_before", "MAE from first raters", interval="ends"),
    Column("mae_after", "MAE with extra ratings", interval="ends", n=True),
    caption="Correlations are on all items. MAE is on items with an extra rating, which were chosen because "
    "people differ there. An extra rating makes people's mean of an item less noisy, and may shift it, "
    "because it was given for what the first raters answered.",
)


def settled(
    form: Table,
    table: Ratings,
    criterion: str,
    scores: Mapping[Hashable, float],
    *,
    panels: Panels = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Judges and panels against first raters' mean and against settled scores (unit → score), a row each.

    Of `ADJUDICATION` these are an adjudicator's, and the last row is one annotator: the mean distance from
    the settled score over the item's annotators. Of `EXTRA` they are means with extra ratings. Figures of
    level are undefined where judges and people answer on different scales.
    """
    rows, adjudicated = _rows(table, criterion, scores, panels), form is ADJUDICATION
    target = ", and the adjudicator's score of it" if adjudicated else ", extra raters left out or included"
    note = f"{'adjudicated scores' if adjudicated else 'extra ratings'} enter no other section"
    return tabulate(
        form,
        table,
        criterion,
        rows if adjudicated else rows[:-1],
        target=f"against the mean of all people on the item{target}",
        notes=(note,),
        **drawing,
    )


def _rows(
    table: Ratings, criterion: str, settled: Mapping[Hashable, float], panels: Panels
) -> list[dict[str, Any]]:
    scores = table[criterion]
    score = np.array([settled.get(unit, np.nan) for unit in table.units])
    score = np.where(scores.present > 0, score, np.nan)
    before = np.where(np.isnan(score), np.nan, scores.target)
    after = np.where(np.isnan(score), scores.target, score)
    rows: list[dict[str, Any]] = []
    for judge in scores.contenders(panels):
        level, why = table.level(criterion, judge), table.no_level(criterion, judge.members)
        rows.append(
            {
                "rater": judge.name,
                "before": correlated(judge.score, scores.target, "spearman", a=judge.name),
                "after": correlated(judge.score, after, "spearman", a=judge.name),
                "mae_before": _distance(level, before, why),
                "mae_after": _distance(level, score, why),
            }
        )
    far = np.abs(scores.score - score[scores.item])
    rated = ~np.isnan(far)
    total = sums(scores.item[rated], far[rated], scores.items)
    each = divide(total, np.bincount(scores.item[rated], minlength=scores.items))
    rows.append({"rater": ONE_ANNOTATOR, "mae_after": _mean(each, "nothing was adjudicated")})
    return rows


def _distance(one: Floats, other: Floats, why: str) -> Figure:
    return _mean(np.abs(one - other), why or "no adjudicated item has both")


def _mean(values: Floats, why: str) -> Figure:
    items = ~np.isnan(values)
    if not items.any():
        return undefined(why, n=0)
    return PointEstimate(mean(values), int(items.sum()), reason=why, kind=MAE, items=items)
