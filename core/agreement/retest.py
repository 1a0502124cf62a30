"""Does a judge repeat itself? Runs of one judge over the same items are test and retest, not a panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.agreement.basis import Figures, basis, columns
from core.agreement.ratings import DIGITS, Floats, Ratings, divide, read_ratings
from core.agreement.resampling import Statistic, Weights, bootstrap, mean


def retest(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    runs: Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figures:
    """The reliability of one run from repeated runs: one row with runs, n, icc, exact (both with low and high), reason.

    `runs` are the judges' names of the runs. `icc` is ICC(1,1) of Shrout and Fleiss (1979): the share of variance that is the items' own;
    `exact` the share of pairs of runs with the same answer. Only items that every run rated count.

    Undefined for fewer than two runs or two such items, and where all answers are equal.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    stacked = np.array([scores.panel([run]) for run in runs]).reshape(len(runs), scores.items)
    items = np.flatnonzero(~np.isnan(stacked).any(axis=0)) if len(runs) else np.empty(0, dtype=np.int64)
    k, n = len(runs), len(items)
    why = "fewer than two runs" if k < 2 else f"{n} items rated in every run are too few" if n < 2 else ""
    own, drawn = np.full(2, np.nan), np.full((2, resamples), np.nan)
    if not why:
        same = np.full(scores.items, np.nan)
        agreeing = [
            np.round(a - b, DIGITS) == 0 for i, a in enumerate(stacked[:, items]) for b in stacked[:i, items]
        ]
        same[items] = np.mean(agreeing, axis=0)
        own, drawn = bootstrap(
            [_icc(stacked, items), mean(same)], scores.items, resamples=resamples, seed=seed
        )
        why = "all answers are equal" if np.isnan(own[0]) else ""
    figures = {"icc": (own[0], drawn[0]), "exact": (own[1], drawn[1])}
    row = {"runs": tuple(runs), "n": n} | columns(figures, why)
    based = basis(table, scores, resamples=resamples, seed=seed, target="runs of one judge among themselves")
    return Figures(pd.DataFrame([row]), based)


def _icc(stacked: Floats, items: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Statistic:
    table = stacked[:, items]
    k = len(table)
    centre = table.mean(axis=0)
    within = ((table - centre) ** 2).sum(axis=0)
    centre = centre - centre.mean()

    def on(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        n = weight.sum(axis=0)
        spread = np.maximum((centre**2) @ weight - divide((centre @ weight) ** 2, n), 0)
        between = divide(k * spread, n - 1)
        error = divide(within @ weight, n * (k - 1))
        total = between + (k - 1) * error
        return divide(between - error, np.where(total > 10**-DIGITS, total, 0))

    return on
