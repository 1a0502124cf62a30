"""Figures of one criterion as a Table: each statistic is resampled on the same draws and becomes an Estimate.

A statistic's module lists rows whose cells are `PointEstimate`s; `tabulate` draws the resamples once for all
of them and states what the figures rest on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from core.agreement.ratings import OTHER_SCALE, CriterionScores, Floats, Ratings
from core.agreement.resampling import Statistic, bootstrap, interval
from core.estimate import Estimate, undefined
from core.glossary import explain
from core.table import Column, Table

Clusters = Mapping[Hashable, Hashable] | pd.Series | None
"""Unit → cluster: units of one cluster are drawn together."""


class Drawing(TypedDict, total=False):
    """How resamples are drawn: their number (default 1000), the seed (0), and clusters of units (none)."""

    resamples: int
    seed: int
    clusters: Clusters


@dataclass(frozen=True, eq=False)
class PointEstimate:
    """A figure before its interval: a statistic of weights, and the number of items it rests on.

    `value` is the point value where a library gives it; None takes the statistic of all items, each once.
    `why` says why the figure is undefined, where it is. Without a statistic (`on`) there is no interval.
    """

    on: Statistic | None
    n: int | None = None
    value: float | None = None
    why: str = ""


def basis(
    table: Ratings, scores: CriterionScores, *, method: str = "", target: str = "", notes: Sequence[str] = ()
) -> dict[str, Any]:
    """What figures of one criterion rest on, as plain values; `text` says it in one line.

    `items` have at least one person's rating; `people_per_item` is (least, median, most) over these.
    `left_out` counts items by reason. `target` says what judges are compared with, `method` how the intervals
    were found.
    """
    if not table.same_scale:
        notes = (*notes, f"{OTHER_SCALE}: figures of level are undefined")
    present = scores.present[scores.present > 0]
    least, most = (int(present.min()), int(present.max())) if len(present) else (0, 0)
    median = float(np.median(present)) if len(present) else 0.0
    unrated = int((scores.present == 0).sum())
    left_out = dict(table.left_out) | ({"without a person's rating": unrated} if unrated else {})
    each = f"{least}" if least == most else f"{least} to {most} (median {median:g})"
    out = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    parts = (
        f"{len(present)} items rated by {each} people each",
        f"left out: {out}" if out else "",
        target,
        method,
        *notes,
    )
    return {
        "text": " · ".join(part for part in parts if part),
        "items": len(present),
        "people_per_item": (least, median, most),
        "left_out": left_out,
        "target": target,
        "method": method,
    }


def described(*, resamples: int = 1000, seed: int = 0, clusters: Clusters = None) -> str:
    """How intervals were found, in words; empty where nothing was resampled."""
    drawn = "clusters of items" if clusters is not None else "items"
    return f"95% percentile bootstrap over {drawn}, {resamples} resamples, seed {seed}" if resamples else ""


def estimates(
    figures: Sequence[PointEstimate],
    table: Ratings,
    *,
    all_items: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters = None,
) -> list[Estimate]:
    """Figures with intervals, all on the same draws: of items that a person rated, or of `all_items`."""
    method = described(resamples=resamples, seed=seed, clusters=clusters)
    own, drawn = bootstrap(
        [figure.on for figure in figures if figure.on is not None],
        len(table.units),
        resamples=resamples,
        seed=seed,
        among=None if all_items else table.rated,
        clusters=None if clusters is None else table.facet(clusters)[0],
    )
    resampled = iter(zip(own.tolist(), drawn, strict=True))
    found = []
    for figure in figures:
        value, many = next(resampled) if figure.on is not None else (np.nan, None)
        found.append(_estimate(figure, value, many, method))
    return found


def _estimate(figure: PointEstimate, own: float, drawn: Floats | None, method: str) -> Estimate:
    value = own if figure.value is None else figure.value
    if np.isnan(value):
        return undefined(figure.why or "undefined", n=figure.n)
    return Estimate(value, n=figure.n) if drawn is None else bounded(value, drawn, figure.n, method)


def bounded(value: float, drawn: Floats, n: int | None, method: str) -> Estimate:
    """A value with the interval of its resamples, or the reason why it has none."""
    low, high, reason = interval(drawn)
    if low is None or high is None:
        return Estimate(value, n=n, reason=f"no interval: {reason}")
    return Estimate(value, low, high, n, method)


def tabulate(
    table: Ratings,
    criterion: str,
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    caption: str = "",
    target: str = "against the mean of all people on the item",
    notes: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
    all_items: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters = None,
) -> Table:
    """A table of one criterion: figures become Estimates, and the basis is noted below and kept in `meta`."""
    figures = [cell for row in rows for cell in row.values() if isinstance(cell, PointEstimate)]
    drawn = Drawing(resamples=resamples, seed=seed, clusters=clusters)
    found = iter(estimates(figures, table, all_items=all_items, **drawn))
    resampled = any(figure.on is not None for figure in figures)
    rests_on = basis(
        table, table[criterion], method=described(**drawn) if resampled else "", target=target, notes=notes
    )
    return Table(
        name,
        title,
        tuple(columns),
        tuple(
            {key: next(found) if isinstance(cell, PointEstimate) else cell for key, cell in row.items()}
            for row in rows
        ),
        caption,
        (rests_on.pop("text"),),
        {"basis": rests_on, **(meta or {})},
    )


RATER = Column("rater", "Judge or panel")
N = Column("n", help="Items that the figures rest on.")
SPEARMAN = Column("spearman", "Spearman's ρ", digits=3, interval="ends", help=explain("Spearman correlation"))
BIAS = Column("bias", "Bias", interval="ends", signed=True, help=explain("bias"))
MAE = Column("mae", "MAE", interval="ends", help=explain("MAE"))
