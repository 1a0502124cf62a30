"""Calibration: which score of people a judge's score means, and how far off it is.

A judge that orders items as people do may still use other values. A curve from its scores to people's, fitted
on some items, is measured on others.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np
from scipy import sparse

from concord.estimate import too_few, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.crossfit import Levels, folds, levels, once
from concord.statistics.figures import Drawing, Figure, PointEstimate, cluster_codes, empty, mean_of, tabulate
from concord.statistics.intervals import CALIBRATION_ERROR, RMSE
from concord.statistics.ratings import (
    DIGITS,
    Bools,
    Contender,
    CriterionScores,
    Floats,
    Ints,
    Panels,
    Ratings,
    divide,
    sums,
)
from concord.statistics.resampling import Statistic, Weights
from concord.table import Column, Table

FEWEST = 10
"""Items of people and a judge below which no curve is fitted."""

FEWEST_APART = 40
"""Items below which a calibration error has no interval: its groups are too small."""

GROUPS = 10
"""Groups of items by the judge's score; a judge of fewer scores has a group for each."""

FITTED = "the calibration error of a curve fitted to the same people is near 0 by construction; see its RMSE"
"""Why a fitted curve has no calibration error."""

GIVEN, ISOTONIC = "as given", "isotonic"

CALIBRATION = empty(
    "calibration",
    "Calibration of judges and panels",
    columns.RATER,
    Column("curve", help="From the judge's score to people's; a fitted one is measured on other items."),
    columns.N,
    Column("ece", "Calibration error", interval="ends", help=explain("expected calibration error")),
    Column("rmse", "RMSE", interval="ends", help="Root of the mean squared distance to people's mean."),
    caption="Where a fitted curve lowers the RMSE, the judge uses other values than people, and its scores "
    "can be translated; where RMSE stays that of the constant, they tell nothing.",
)
CURVES = empty(
    "calibration_curves",
    "People's mean by the judge's score",
    columns.RATER,
    Column("score", "Judge's score", help="Mean in a group of items of about the same score."),
    columns.N,
    Column("people", "People's mean", interval="ends"),
    Column("isotonic", "Isotonic", help=explain("isotonic calibration")),
    caption="The points of a reliability diagram: a judge is calibrated where people's mean is its score.",
)


def calibration(
    table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """Each judge and panel as given, and calibrated to people's mean, a row each.

    The isotonic curve is the rising step function of least squares (Barlow et al. 1972), fitted out of fold
    (`crossfit.FOLDS`), so its error is that of items that the curve has not seen; intervals take the curve as
    it is.

    `ece` is the expected calibration error in points: with D_b the sum of people's mean less the curve over
    the items of group b, Σ|D_b|/n over `GROUPS` groups of the judge's score. |D_b| of few items is too
    large by chance (Roelofs et al. 2022), so a fold's sum counts with the sign of the other folds', and
    the total is not below 0. Of a fitted curve it is undefined: what a curve leaves in a group sums to
    about 0 over the folds that it was fitted to, whatever its error. `rmse` is the root of the mean
    squared distance; a note has that of the best constant.

    Undefined below `FEWEST` common items, for a judge with one score, and as given on another scale.
    """
    scores = table[criterion]
    rows = []
    for judge in scores.contenders(panels):
        fit = _Fit.of(table, scores, judge, drawing)
        for curve in (GIVEN, ISOTONIC):
            row = {"rater": judge.name, "curve": curve, "n": fit.n}
            rows.append(row | _errors(fit, curve, table.no_level(criterion, judge.members)))
    target = scores.target[~np.isnan(scores.target)]
    notes = (f"RMSE of people's overall mean for every item: {target.std():.2f}",) if len(target) else ()
    return tabulate(CALIBRATION, table, criterion, rows, notes=notes, **drawing)


def calibration_curves(
    table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]
) -> Table:
    """People's mean in each group of a judge's score, and the curve there, fitted to all items.

    A judge whose curve is undefined has one row with the reason.
    """
    scores = table[criterion]
    rows: list[Mapping[str, object]] = []
    for judge in scores.contenders(panels):
        fit = _Fit.of(table, scores, judge, drawing)
        if fit.why:
            rows.append(
                {"rater": judge.name, "score": None, "n": fit.n, "people": undefined(fit.why, n=fit.n)}
            )
            continue
        curve = fit.isotonic(fit.both)
        for group in range(int(fit.group.max()) + 1):
            inside = fit.group == group
            n = int(inside.sum())
            people = mean_of(table, criterion, np.where(inside, scores.target, np.nan), n)
            rows.append(
                {"rater": judge.name, "score": float(judge.score[inside].mean()), "n": n, "people": people}
                | {"isotonic": float(curve[fit.level.code[inside]].mean())}
            )
    return tabulate(CURVES, table, criterion, rows, **drawing)


class _Fit(NamedTuple):
    """A judge beside people's mean: its levels, groups of about equal score, and folds.

    `why` says why no curve can be fitted.
    """

    judge: Contender
    target: Floats
    both: Bools
    level: Levels
    group: Ints
    fold: Ints
    why: str

    @staticmethod
    def of(table: Ratings, scores: CriterionScores, judge: Contender, drawing: Drawing) -> "_Fit":
        both = ~np.isnan(scores.target) & ~np.isnan(judge.score)
        score = np.where(both, judge.score, np.nan)
        level = levels(judge.score)
        own = cluster_codes(table, drawing.get("clusters"))
        fold = folds(both, seed=drawing.get("seed", 0), clusters=own)
        n = int(both.sum())
        why = ""
        if n < FEWEST:
            why = f"{n} items in common, at least {FEWEST} are needed"
        elif len(levels(score).mean) < 2:
            why = f"{judge.name} gives all of them the same score"
        elif fold.max() < 1:
            why = "all items are of one cluster, so none is left to measure the curve on"
        return _Fit(judge, scores.target, both, level, _groups(score), fold, why)

    @property
    def n(self) -> int:
        """How many items people and the judge scored."""
        return int(self.both.sum())

    def isotonic(self, on: Bools) -> Floats:
        """The isotonic curve at each level, fitted to the items `on`."""
        from scipy.optimize import isotonic_regression  # slow to import

        steps = len(self.level.mean)
        code = self.level.code[on]
        count = np.bincount(code, minlength=steps).astype(np.float64)
        there = count > 0
        fit = isotonic_regression(
            divide(sums(code, self.target[on], steps), count)[there], weights=count[there]
        ).x
        return np.interp(self.level.mean, self.level.mean[there], fit)

    def out_of_fold(self) -> Floats:
        """Each item's score by the curve of the other folds; nan without people or judge."""
        scores = np.full(len(self.both), np.nan)
        for fold in range(int(self.fold.max()) + 1):
            inside, others = self.fold == fold, (self.fold >= 0) & (self.fold != fold)
            scores[inside] = self.isotonic(others)[self.level.code[inside]]
        return scores


def _groups(score: Floats) -> Ints:
    """Items grouped by score: by value for up to `GROUPS` values, else in so many parts of equal number."""
    there = ~np.isnan(score)
    rounded = np.round(score[there], DIGITS)
    values, place = np.unique(rounded, return_inverse=True)
    if len(values) > GROUPS:
        ends = np.unique(np.quantile(rounded, np.arange(1, GROUPS) / GROUPS))
        place = np.unique(np.searchsorted(ends, rounded, side="right"), return_inverse=True)[1]
    group = np.full(len(score), -1, dtype=np.int64)
    group[there] = place
    return group


def _errors(fit: _Fit, curve: str, no_level: str) -> dict[str, Figure]:
    """`no_level` says why the judge's score as given is no score of people's scale."""
    if why := fit.why or (no_level if curve == GIVEN else ""):
        return dict.fromkeys(("ece", "rmse"), undefined(why, n=fit.n))
    predicted = fit.judge.score if curve == GIVEN else fit.out_of_fold()
    few = too_few(fit.n, FEWEST_APART) if fit.n < FEWEST_APART else ""
    ece, rmse = _distances(fit.target - predicted, fit.group, fit.fold)
    return {
        "ece": PointEstimate(ece, fit.n, kind=replace(CALIBRATION_ERROR, lacking=few))
        if curve == GIVEN
        else undefined(FITTED, n=fit.n),
        "rmse": PointEstimate(rmse, fit.n, kind=RMSE),
    }


def _distances(off: Floats, group: Ints, fold: Ints) -> tuple[Statistic, Statistic]:
    """Σ|D_b|/n with the sign of each D_b taken from the other folds, and RMSE; see `calibration`."""
    parts, number = int(fold.max()) + 1, int(group.max()) + 1
    there = np.flatnonzero(fold >= 0)
    cell, cells = fold[there] * number + group[there], parts * number
    rows = np.stack([cell, np.full(len(there), cells), np.full(len(there), cells + 1)], axis=1)
    values = np.stack([off[there], off[there] ** 2, np.ones(len(there))], axis=1)
    starts = np.zeros(len(off) + 1, dtype=np.int64)
    starts[there + 1] = 3
    shape = (cells + 2, len(off))
    summing = sparse.csc_array((values.ravel(), rows.ravel(), np.cumsum(starts)), shape=shape)

    @once
    def summed(weights: Weights) -> Floats:
        return np.asarray(summing @ weights, dtype=np.float64)

    def ece(weights: Weights) -> Floats:
        apart = summed(weights)[:cells].reshape(parts, number, -1)
        others = apart.sum(axis=0) - apart
        total = (np.sign(np.round(others, DIGITS)) * apart).sum(axis=(0, 1))
        return np.maximum(divide(total, summed(weights)[-1]), 0.0)

    def rmse(weights: Weights) -> Floats:
        return np.sqrt(divide(*summed(weights)[-2:]))

    return ece, rmse
