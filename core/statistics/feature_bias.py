"""Feature bias: how far a feature such as length moves judges' scores beyond people's."""

from collections.abc import Mapping
from typing import Unpack

import numpy as np

from concord.estimate import undefined
from concord.statistics import columns
from concord.statistics.correlation import correlated, correlation, point
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import CORRELATION
from concord.statistics.ratings import Contender, Facet, Floats, Ints, Panels, Ratings, divide
from concord.statistics.resampling import Statistic, Weights, gathering
from concord.table import Column, Table

FEWEST = 4
"""A correlation given a third score needs one item more than one without."""

FEWEST_OF_A_SIDE = 4
"""A feature that an item has or lacks needs as many items of either."""

FEATURE_BIAS = empty(
    "feature_bias",
    "Feature bias",
    columns.RATER,
    Column("feature"),
    Column("step", help="What the effect is for: one standard deviation of the feature, or having it."),
    columns.N,
    Column(
        "effect",
        "Effect (points)",
        interval="ends",
        signed=True,
        help="How far judge less people moves, on the scale's points.",
    ),
    Column(
        "standardised",
        "Effect (SD)",
        interval="ends",
        signed=True,
        help="The same with both scores in their own standard deviations.",
    ),
    Column(
        "within",
        "Within players",
        interval="ends",
        signed=True,
        help="The effect in points among items of the same player.",
    ),
    Column("partial", "Partial ρ given people", interval="ends", signed=True),
    Column("people", "ρ of people's mean with it", interval="ends", signed=True),
    caption="An effect above 0: the judge gives more than people do to items with more of the feature. An "
    "effect that is gone within players may be the players' own. Partial ρ: of two items that people score "
    "alike, the judge prefers the one with more of it; people's noise leaves part of a shared preference in "
    "it.",
)


def feature_bias(
    table: Ratings,
    criterion: str,
    features: Mapping[str, Floats],
    *,
    own: Mapping[str, Mapping[str, Floats]] | None = None,
    players: Facet | None = None,
    panels: Panels = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel on each feature: a number for each of `table.units`, nan where unknown.

    `own` holds features that differ from judge to judge, such as being of the player's family: name → judge →
    numbers. A feature of 0 and 1 is one that items have or lack.

    `effect` is the slope of judge − people's mean on the feature (least squares), for a standard deviation of
    the feature, or for having it; `standardised` the same with judge and people each divided by their own
    standard deviation, so that scales need not match; `within` the slope in points pooled within `players`.
    People's noise does not bias them: it is in people's score, not in the feature.

    `partial` is Spearman's partial correlation of judge and feature given people's mean, (ρ_jf − ρ_jp·ρ_fp) /
    √((1 − ρ_jp²)(1 − ρ_fp²)), on the items that have all three; `people` is ρ_fp. People's own noise leaves
    part of a shared preference in `partial`, so read a small value beside a large `people` with care.

    Undefined for fewer than four such items (for a feature that items have or lack: of either), where one of
    the three does not vary, and a partial correlation where the judge or the feature follows people without
    exception.
    """
    scores = table[criterion]
    groups = np.full(len(table.units), -1) if players is None else table.facet(players)[0]
    rows = []
    for judge in scores.contenders(panels):
        alone = judge.members[0] if len(judge.members) == 1 else ""
        mine = {name: of[alone] for name, of in (own or {}).items() if alone in of}
        for name, given in {**features, **mine}.items():
            three = np.array([judge.score, given, scores.target])
            three[:, np.isnan(three).any(axis=0)] = np.nan
            rows.append(
                {"rater": judge.name, "feature": name}
                | _effects(table, criterion, judge, three, groups)
                | _correlations(three)
            )
    target = "judge less the mean of all people on the item"
    return tabulate(FEATURE_BIAS, table, criterion, rows, target=target, **drawing)


def _effects(
    table: Ratings, criterion: str, judge: Contender, three: Floats, groups: Ints
) -> dict[str, Figure | str | int]:
    """The effect of a feature in points, in standard deviations, and within players."""
    score, feature, people = three
    both = np.flatnonzero(~np.isnan(feature))
    n, seen = len(both), feature[both]
    sides = set(seen.tolist()) <= {0.0, 1.0}
    unit = 1.0 if sides else float(seen.std(ddof=1)) if n > 1 else 0.0
    found: dict[str, Figure | str | int] = {"n": n, "step": "yes, against no" if sides else f"+{unit:.3g}"}
    names = ("effect", "standardised", "within")
    fewer = min((seen == 0).sum(), (seen == 1).sum()) if sides else n
    if n < FEWEST or (sides and fewer < FEWEST_OF_A_SIDE):
        what = "items of either kind" if sides and n >= FEWEST else "items in common"
        few = f"{fewer if sides and n >= FEWEST else n} {what}, at least {FEWEST} are needed"
        return found | dict.fromkeys(names, undefined(few, n=n))
    if unit < 1e-12:
        return found | dict.fromkeys(names, undefined("the feature does not vary", n=n))
    where = _Slopes(both, feature / unit, len(score))
    gap = table.level(criterion, judge) - people
    other = table.no_level(criterion, judge.members)

    def standardised(weights: Weights) -> Floats:
        return where.slope(score, weights) / where.spread(score, weights) - where.slope(
            people, weights
        ) / where.spread(people, weights)

    flat = "judge or people do not vary"
    alike = "the feature does not vary within a player"
    figures: dict[str, Figure] = {"standardised": PointEstimate(standardised, n, reason=flat)}
    if other:
        figures |= dict.fromkeys(("effect", "within"), undefined(other, n=n))
    else:
        figures["effect"] = PointEstimate(lambda weights: where.slope(gap, weights), n)
        figures["within"] = PointEstimate(where.within(gap, groups), n, reason=alike)
    return found | figures


class _Slopes:
    """Least-squares slopes on one feature, as functions of the weights of items."""

    def __init__(self, items: Ints, feature: Floats, size: int) -> None:
        """`items` are those that have the feature and both scores."""
        self.items, self.size = items, size
        self.feature = feature[items] - feature[items].mean()

    def slope(self, score: Floats, weights: Weights) -> Floats:
        """The slope of a score on the feature; nan where the feature does not vary."""
        weight = weights[self.items].astype(np.float64)
        y = score[self.items] - score[self.items].mean()
        total = weight.sum(axis=0)
        mean = divide(self.feature @ weight, total)
        across = (self.feature * y) @ weight - mean * (y @ weight)
        return _over(across, (self.feature**2) @ weight - total * mean**2)

    def spread(self, score: Floats, weights: Weights) -> Floats:
        """The standard deviation of a score; nan where it does not vary."""
        weight = weights[self.items].astype(np.float64)
        y = score[self.items] - score[self.items].mean()
        total = weight.sum(axis=0)
        variance = divide((y**2) @ weight, total) - divide(y @ weight, total) ** 2
        return np.sqrt(np.where(variance > 1e-12, variance, np.nan))

    def within(self, score: Floats, groups: Ints) -> Statistic:
        """The slope pooled within groups; items of no group take no part."""
        group = groups[self.items]
        sum_of = gathering(group, int(group.max(initial=-1)) + 1)
        y = score[self.items] - score[self.items].mean()

        def on(weights: Weights) -> Floats:
            weight = np.where(group[:, None] >= 0, weights[self.items], 0).astype(np.float64)
            total = sum_of @ weight
            x_mean, y_mean = (divide(sum_of @ (v[:, None] * weight), total) for v in (self.feature, y))
            x_mean, y_mean = np.nan_to_num(x_mean), np.nan_to_num(y_mean)
            across = (self.feature * y) @ weight - (total * x_mean * y_mean).sum(axis=0)
            return _over(across, (self.feature**2) @ weight - (total * x_mean**2).sum(axis=0))

        return on


def _over(across: Floats, squares: Floats) -> Floats:
    return divide(across, np.where(squares > 1e-9, squares, 0))


def _correlations(three: Floats) -> dict[str, Figure]:
    n = int((~np.isnan(three[0])).sum())
    if n < FEWEST:
        few = f"{n} items in common, at least {FEWEST} are needed"
        return dict.fromkeys(("partial", "people"), undefined(few, n=n))
    judge, feature, people = three
    couples = ((judge, feature), (judge, people), (feature, people))
    statistics = [correlation(x, y) for x, y in couples]

    def on(weights: Weights) -> Floats:
        return _given(*(statistic(weights) for statistic in statistics))

    value = float(_given(*(np.array([point(x, y)]) for x, y in couples))[0])
    why = "judge, people or feature do not vary, or one follows another without exception"
    return {
        "partial": PointEstimate(on, n, value, why, CORRELATION),
        "people": correlated(feature, people, a="the feature"),
    }


def _given(jf: Floats, jp: Floats, fp: Floats) -> Floats:
    """The partial correlation of judge and feature given people, from the three correlations."""
    left = (1 - jp**2) * (1 - fp**2)
    scale = np.sqrt(np.where(left > 1e-12, left, 0))
    return np.asarray(np.clip(divide(jf - jp * fp, np.where(np.isnan(scale), 0, scale)), -1, 1))
