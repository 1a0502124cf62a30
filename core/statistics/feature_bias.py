"""Feature bias: how far a feature such as length moves judges' scores beyond people's, in points."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from concord.estimate import undefined
from concord.statistics import columns
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.ratings import Contender, Facet, Floats, Ints, Panels, Ratings, divide
from concord.statistics.resampling import Statistic, Weights, gathering
from concord.table import Column, Table

FEWEST = 4
"""Items below which there is no slope; of a feature that items have or lack, items of either kind."""

FEATURE_BIAS = empty(
    "feature_bias",
    "Feature bias",
    columns.RATER,
    Column("feature"),
    Column("step", help="Unit of the effect: one standard deviation of the feature, or having it."),
    columns.N,
    Column(
        "effect",
        "Effect (points)",
        interval="ends",
        signed=True,
        help="Change of judge less annotators, in points of the scale.",
    ),
    Column(
        "within",
        "Within players",
        interval="ends",
        signed=True,
        help="The effect in points among items of the same model.",
    ),
    caption="Effect above 0: the judge favours items with more of the feature, compared with annotators. "
    "If the effect vanishes within models, it may come from the models. A judge with a narrower range "
    "than annotators has effects below 0 for anything that annotators like.",
)


def feature_bias(
    table: Ratings,
    criterion: str,
    features: Mapping[str, Floats],
    *,
    judge_features: Mapping[str, Mapping[str, Floats]] | None = None,
    players: Facet | None = None,
    panels: Panels = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel on each feature: a number for each of `table.units`, nan where unknown.

    `judge_features` holds features that differ from judge to judge, such as being of the player's family:
    name → judge → numbers. A feature of 0 and 1 is one that items have or lack.

    `effect` is the slope of judge − people's mean on the feature (least squares), for a standard deviation of
    the feature, or for having it; `within` the same pooled within `players`. Noise of people and judges does
    not bias them: it is in the scores, not in the feature. Figures that divide by a score's own spread, such
    as effects in its standard deviations or correlations given people, move with that noise.

    Undefined for fewer than four items that have the feature and both scores (for a feature that items have
    or lack: of either), where the feature does not vary, and where judge and people answer on different
    scales.
    """
    groups = np.full(len(table.units), -1) if players is None else table.facet(players)[0]
    rows = []
    for judge in table[criterion].contenders(panels):
        alone = judge.members[0] if len(judge.members) == 1 else ""
        this_judge = {
            name: by_judge[alone] for name, by_judge in (judge_features or {}).items() if alone in by_judge
        }
        for name, feature in {**features, **this_judge}.items():
            rows.append(
                {"rater": judge.name, "feature": name} | _effects(table, criterion, judge, feature, groups)
            )
    target = "judge less the mean of all annotators on the item"
    return tabulate(FEATURE_BIAS, table, criterion, rows, target=target, **drawing)


def _effects(
    table: Ratings, criterion: str, judge: Contender, feature: Floats, groups: Ints
) -> dict[str, Any]:
    """The effect of a feature in points, over all and within players."""
    gap = judge.score - table[criterion].target
    common = np.flatnonzero(~np.isnan(feature + gap))
    n = len(common)
    common_feature = feature[common]
    sides = set(common_feature.tolist()) <= {0.0, 1.0}
    unit = 0.0
    if sides:
        unit = 1.0
    elif n > 1:
        unit = float(common_feature.std(ddof=1))
    row = {"n": n, "step": "yes, against no" if sides else f"+{unit:.3g}"}
    fewer = min((common_feature == 0).sum(), (common_feature == 1).sum()) if sides else n
    reason = table.no_level(criterion, judge.members)
    if fewer < FEWEST:
        noun = "items of either kind" if sides and n >= FEWEST else "items in common"
        reason = f"{fewer if n >= FEWEST else n} {noun}, at least {FEWEST} are needed"
    elif unit < 1e-12:
        reason = "the feature does not vary"
    if reason:
        return row | dict.fromkeys(("effect", "within"), undefined(reason, n=n))
    alike = "the feature does not vary within a model"
    feature = feature[common] / unit
    gap = gap[common]
    return row | {
        "effect": PointEstimate(_slope(common, feature, gap, np.zeros(n, dtype=np.int64)), n),
        "within": PointEstimate(_slope(common, feature, gap, groups[common]), n, reason=alike),
    }


def _slope(items: Ints, feature: Floats, gap: Floats, group: Ints) -> Statistic:
    """The least-squares slope pooled within groups of `items`; items of no group (−1) take no part.

    nan where the feature does not vary within a group.
    """
    sum_of = gathering(group, int(group.max(initial=-1)) + 1)
    x = feature - feature.mean()
    y = gap - gap.mean()

    def statistic(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64) * (group >= 0)[:, None]
        total = sum_of @ weight
        x_mean, y_mean = (np.nan_to_num(divide(sum_of @ (v[:, None] * weight), total)) for v in (x, y))
        across = (x * y) @ weight - (total * x_mean * y_mean).sum(axis=0)
        squares = (x**2) @ weight - (total * x_mean**2).sum(axis=0)
        return divide(across, np.where(squares > 1e-9, squares, 0))

    return statistic
