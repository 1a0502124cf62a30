"""What judges lean on: whether a feature of an item, such as its length, goes with their scores beyond what people's scores explain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from core.agreement.basis import Figures, basis, columns
from core.agreement.correlation import correlation, pairs
from core.agreement.judges import Clusters
from core.agreement.panels import called, contenders
from core.agreement.ratings import Floats, Ratings, divide, read_ratings
from core.agreement.resampling import Statistic, Weights, bootstrap

FEWEST = 4
"""A correlation given a third score needs one item more than one without."""


def feature_bias(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    features: pd.DataFrame,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters = None,
) -> Figures:
    """Each judge and panel on each column of `features` (numbers, by unit): does it give more where the feature is larger?

    Rows: rater, members, feature, n, partial with its ends, people with its ends, reason. `partial` is Spearman's partial correlation of
    judge and feature given people's mean, (ρ_jf − ρ_jp·ρ_fp) / √((1 − ρ_jp²)(1 − ρ_fp²)), on the items that have all three: above 0,
    of two items that people like alike the judge prefers the one with more of the feature. `people` is what people themselves make of
    it, ρ_fp. People's own noise leaves part of a shared liking in `partial`, so read a small value beside a large `people` with care.
    Scales need not match. Undefined for fewer than four such items, where one of the three does not vary, or where the judge or the
    feature follows people without exception.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    groups = None if clusters is None else table.facet(clusters)[0]
    given = features.reindex(list(table.units))
    wanted = [(members, str(name)) for members in contenders(table, panels) for name in features.columns]
    statistics: list[Statistic] = []
    sizes = []
    for members, name in wanted:
        feature = given[name].to_numpy(np.float64)
        judge = scores.panel(members)
        missing = np.isnan(judge) | np.isnan(scores.target) | np.isnan(feature)
        judge, people, feature = (np.where(missing, np.nan, x) for x in (judge, scores.target, feature))
        statistics += [_partial(judge, feature, people), correlation(pairs(feature, people))]
        sizes.append(int((~missing).sum()))
    own, drawn = bootstrap(
        statistics, scores.items, resamples=resamples, seed=seed, among=table.rated, clusters=groups
    )
    figures = iter(zip(own.tolist(), drawn, strict=True))
    rows = []
    for (members, name), n in zip(wanted, sizes, strict=True):
        found = {"partial": next(figures), "people": next(figures)}
        why = ""
        if n < FEWEST:
            why = f"{n} items in common, at least {FEWEST} are needed"
            found = {of: (np.nan, draw) for of, (_, draw) in found.items()}
        elif np.isnan(found["partial"][0]):
            why = "judge, people or feature do not vary, or one follows another without exception"
        rows.append(
            {"rater": called(members), "members": members, "feature": name, "n": n} | columns(found, why)
        )
    return Figures(
        pd.DataFrame(rows),
        basis(
            table,
            scores,
            resamples=resamples,
            seed=seed,
            clustered=groups is not None,
            target="given the mean of all people on the item",
        ),
    )


def _partial(judge: Floats, feature: Floats, people: Floats) -> Statistic:
    parts = [correlation(pairs(x, y)) for x, y in ((judge, feature), (judge, people), (feature, people))]

    def on(weights: Weights) -> Floats:
        jf, jp, fp = (part(weights) for part in parts)
        left = (1 - jp**2) * (1 - fp**2)
        scale = np.sqrt(np.where(left > 1e-12, left, 0))
        return np.asarray(np.clip(divide(jf - jp * fp, np.where(np.isnan(scale), 0, scale)), -1, 1))

    return on
