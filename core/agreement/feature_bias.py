"""Feature bias: whether a feature such as length goes with judges' scores beyond people's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np
import pandas as pd

from core.agreement.correlation import correlated, correlation, point
from core.agreement.figures import RATER, Drawing, N, PointEstimate, tabulate
from core.agreement.panels import called, contenders
from core.agreement.ratings import Floats, Ratings, divide, read_ratings
from core.agreement.resampling import Weights
from core.table import Column, Table

FEWEST = 4
"""A correlation given a third score needs one item more than one without."""


def feature_bias(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    features: pd.DataFrame,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel on each column of `features` (numbers, by unit).

    `partial` is Spearman's partial correlation of judge and feature given people's mean, (ρ_jf − ρ_jp·ρ_fp) /
    √((1 − ρ_jp²)(1 − ρ_fp²)), on the items that have all three: above 0, of two items that people score alike
    the judge prefers the one with more of the feature. `people` is ρ_fp. People's own noise leaves part of a
    shared preference in `partial`, so read a small value beside a large `people` with care. Scales need not
    match. Undefined for fewer than four such items, where one of the three does not vary, or where the judge
    or the feature follows people without exception.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    given = features.reindex(list(table.units))
    rows = []
    for members in contenders(table, panels):
        for name in features.columns:
            feature, judge = given[name].to_numpy(np.float64), scores.panel(members)
            missing = np.isnan(judge) | np.isnan(scores.target) | np.isnan(feature)
            judge, people, feature = (np.where(missing, np.nan, x) for x in (judge, scores.target, feature))
            n = int((~missing).sum())
            few = f"{n} items in common, at least {FEWEST} are needed"
            rows.append(
                {"rater": called(members), "feature": str(name), "n": n}
                | {
                    "partial": PointEstimate(None, n, why=few)
                    if n < FEWEST
                    else _partial(judge, feature, people, n),
                    "people": PointEstimate(None, n, why=few)
                    if n < FEWEST
                    else correlated(feature, people, a="the feature"),
                }
            )
    return tabulate(
        table,
        criterion,
        "feature_bias",
        "Feature bias",
        (
            RATER,
            Column("feature"),
            N,
            Column("partial", "Partial ρ given people", interval="ends", signed=True),
            Column("people", "ρ of people's mean with it", interval="ends", signed=True),
        ),
        rows,
        caption="Above 0: of two items that people score alike, the judge prefers the one with more of the "
        "feature. People's noise leaves part of a shared preference in the judge's figure.",
        target="given the mean of all people on the item",
        **drawing,
    )


def _partial(judge: Floats, feature: Floats, people: Floats, n: int) -> PointEstimate:
    couples = ((judge, feature), (judge, people), (feature, people))
    statistics = [correlation(x, y) for x, y in couples]
    value = float(_given(*(np.array([point(x, y)[0]]) for x, y in couples))[0])

    def on(weights: Weights) -> Floats:
        return _given(*(statistic(weights) for statistic in statistics))

    return PointEstimate(
        on, n, value, "judge, people or feature do not vary, or one follows another without exception"
    )


def _given(jf: Floats, jp: Floats, fp: Floats) -> Floats:
    """The partial correlation of judge and feature given people, from the three correlations."""
    left = (1 - jp**2) * (1 - fp**2)
    scale = np.sqrt(np.where(left > 1e-12, left, 0))
    return np.asarray(np.clip(divide(jf - jp * fp, np.where(np.isnan(scale), 0, scale)), -1, 1))
