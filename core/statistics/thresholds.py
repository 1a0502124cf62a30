"""Pass or fail at a cut of the scale: how often a judge decides as people do, and pass rates.

An item passes with people where their mean reaches the cut, and with a judge where its score reaches a cut of
the judge's own, which is chosen on other items: a judge that is a point stricter than people can still decide
as they do.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.corrected import corrected_mean
from concord.statistics.crossfit import Levels, folds, levels, once
from concord.statistics.figures import Drawing, Figure, PointEstimate, cluster_codes, empty, tabulate
from concord.statistics.intervals import SHARE, held
from concord.statistics.ratings import DIGITS, Bools, Contender, Facet, Floats, Ints, Panels, Ratings, divide
from concord.statistics.resampling import Weights, everything, gathering, mean
from concord.table import Column, Table

FEWEST = 4
"""People's passes, and as many fails, below which no cut is chosen for a judge."""

FEWEST_SURE = 8
"""Passes, and as many fails, below which the interval of a corrected rate is too narrow."""

ALL = "all players"


THRESHOLDS = empty(
    "thresholds",
    "Pass or fail: judges and panels beside people",
    columns.RATER,
    columns.N,
    Column(
        "cut", "Judge's cut", help="A score of at least this passes; chosen so as to decide as people do."
    ),
    Column("sensitivity", percent=True, interval="ends", help=explain("sensitivity")),
    Column("specificity", percent=True, interval="ends", help=explain("specificity")),
    Column("precision", percent=True, interval="ends", help=explain("precision")),
    Column("agreement", "Same decision", percent=True, interval="ends"),
    Column("commoner", "Always the commoner", percent=True, help="Agreement of one answer for all items."),
    Column("prevalence", "People pass", percent=True, interval="ends", help=explain("prevalence")),
    caption="A judge whose agreement is no higher than that of always giving the commoner answer decides "
    "nothing. All shares are measured on items on which the judge's cut was not chosen.",
)
PASS_RATES = empty(
    "pass_rates",
    "Pass rate of each player, corrected for the judge's errors",
    columns.RATER,
    Column("group", "Player"),
    Column("people", "People", percent=True, interval="ends", n=True),
    Column("judge", "Judge alone", percent=True, interval="ends", n=True),
    Column("corrected", "PPI++", percent=True, interval="ends", help=explain("prediction-powered inference")),
    caption="The last column is the share that people would pass of all items that the judge scored, by "
    "the player's own items of people.",
)

Numbers = dict[str, Figure | float | None]


class Decisions(NamedTuple):
    """Weighted counts of each resample.

    People's `passes` and `fails`; `true` and `false`, how many of either the judge passes at a cut of other
    folds. `cuts` are the levels of its score from which it passes, folds × resamples, that of all items last.
    """

    passes: Floats
    fails: Floats
    true: Floats
    false: Floats
    cuts: Ints

    @property
    def sensitivity(self) -> Floats:
        """The share of people's passes that the judge passes."""
        return divide(self.true, self.passes)

    @property
    def specificity(self) -> Floats:
        """The share of people's fails that the judge fails."""
        return 1 - divide(self.false, self.fails)

    @property
    def precision(self) -> Floats:
        """The share of the judge's passes that people pass."""
        return divide(self.true, self.true + self.false)

    @property
    def agreement(self) -> Floats:
        """The share of items on which both decide alike."""
        return divide(self.true + self.fails - self.false, self.passes + self.fails)


def thresholds(
    table: Ratings,
    criterion: str,
    cut: float,
    *,
    panels: Panels = None,
    note: str = "",
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge and panel as a decision: its cut, and its agreement with people's mean ≥ `cut`.

    The judge's cut maximises Youden's J = sensitivity + specificity − 1 (Youden 1950), the least such cut.
    Items are dealt to `crossfit.FOLDS` folds by the seed, and each is decided by the cut of the other folds,
    anew in every resample; the column `cut` is that of all items. Scales need not match. `note` says where
    `cut` comes from.

    Undefined for fewer than `FEWEST` passes or fails of people, and for a judge with one score.
    """
    rows = []
    for judge in table[criterion].contenders(panels):
        given = _Given.of(table, criterion, judge, cut, drawing)
        rows.append({"rater": judge.name, "n": given.n} | _as_decision(given))
    notes = (_people_pass(cut, note), "the judge's cut chosen on other items, by Youden's J")
    return tabulate(THRESHOLDS, table, criterion, rows, notes=notes, meta={"cut": cut}, **drawing)


def pass_rates(
    table: Ratings,
    criterion: str,
    cut: float,
    players: Facet,
    *,
    panels: Panels = None,
    note: str = "",
    **drawing: Unpack[Drawing],
) -> Table:
    """The pass rate of each player: people's on items that the judge scored, the judge's, and the corrected.

    Items of people are decided by a cut chosen on other folds (see `thresholds`), the others by the mean of
    the decisions at the cuts of all folds. `corrected` is `corrected_mean` of these decisions and people's,
    of the player's own items; it takes items for independent. Cuts are taken as they are.

    Undefined where `thresholds` is.
    """
    codes, names = table.facet(players)
    rows: list[Mapping[str, object]] = []
    few = False
    for judge in table[criterion].contenders(panels):
        given = _Given.of(table, criterion, judge, cut, drawing)
        passed = _passed(given)
        passes = int((given.passes & given.both).sum())
        few = few or (not given.why and min(passes, given.n - passes) < FEWEST_SURE)
        for place, name in enumerate((ALL, *map(str, names)), start=-1):
            member = codes == place if place >= 0 else np.ones(len(codes), dtype=np.bool_)
            # Beside a judge people's rate is of the items that it scored too.
            rated = given.both if given.n else given.rated
            rates = {"people": _people_rate(given, rated & member), **_rates(given, passed, member)}
            rows.append({"rater": judge.name, "group": name, **rates})
    notes = [_people_pass(cut, note), "PPI++ with one more item at each end, items taken for independent"]
    notes += [held("the corrected rate of few passes or fails", 89)] if few else []
    return tabulate(
        PASS_RATES, table, criterion, rows, notes=notes, meta={"cut": cut}, all_items=True, **drawing
    )


class _Given(NamedTuple):
    """People's decisions on a criterion beside a judge's scores. `why` says why they cannot be compared."""

    judge: Contender
    rated: Bools
    passes: Bools
    both: Bools
    level: Levels
    fold: Ints
    why: str

    @staticmethod
    def of(table: Ratings, criterion: str, judge: Contender, cut: float, drawing: Drawing) -> "_Given":
        target = table[criterion].target
        rated = ~np.isnan(target)
        both = rated & ~np.isnan(judge.score)
        passes = np.where(rated, np.round(target, DIGITS), -np.inf) >= round(cut, DIGITS)
        n, passed = int(both.sum()), int((passes & both).sum())
        own = cluster_codes(table, drawing.get("clusters"))
        fold = folds(both, seed=drawing.get("seed", 0), clusters=own)
        why = ""
        if not n:
            why = f"{judge.name} and people have no item in common"
        elif min(passed, n - passed) < FEWEST:
            why = f"at {cut:g} people pass {passed} and fail {n - passed} of {n} items"
            why += f", {FEWEST} of each are needed"
        elif len(np.unique(np.round(judge.score[both], DIGITS))) < 2:
            why = f"{judge.name} gives all of them the same score"
        elif fold.max() < 1:
            why = "all items are of one cluster, so none is left to choose the judge's cut on"
        return _Given(judge, rated, passes, both, levels(judge.score), fold, why)

    @property
    def n(self) -> int:
        """How many items people and the judge scored."""
        return int(self.both.sum())


def _people_pass(cut: float, note: str) -> str:
    return f"people pass an item with a mean of {cut:g} or more" + (f" ({note})" if note else "")


def _people_rate(given: _Given, of: Bools, why: str = "no person's rating") -> Figure:
    """People's pass rate over the items `of`."""
    n = int(of.sum())
    share = mean(np.where(of, given.passes, np.nan))
    return PointEstimate(share, n, kind=SHARE) if n else undefined(why, n=0)


def _as_decision(given: _Given) -> Numbers:
    n, passed = given.n, int((given.passes & given.both).sum())
    prevalence = _people_rate(given, given.both, given.why)
    row: Numbers = {"commoner": max(passed, n - passed) / n if n else None, "prevalence": prevalence}
    if given.why:
        return row | dict.fromkeys(
            ("cut", "sensitivity", "specificity", "precision", "agreement"), undefined(given.why, n=n)
        )
    counted = _deciding(given)
    own = counted(everything(len(given.both)))

    def figure(of: Callable[[Decisions], Floats], n: int, why: str = "") -> PointEstimate:
        return PointEstimate(lambda weights: of(counted(weights)), n, reason=why, kind=SHARE)

    nothing = f"{given.judge.name} passes nothing"
    return row | {
        "cut": float(given.level.least[own.cuts[-1, 0]]),
        "sensitivity": figure(lambda d: d.sensitivity, passed),
        "specificity": figure(lambda d: d.specificity, n - passed),
        "precision": figure(lambda d: d.precision, round(float((own.true + own.false)[0])), nothing),
        "agreement": figure(lambda d: d.agreement, n),
    }


def _passed(given: _Given) -> Floats:
    """The judge's decision of each item, 1 or 0, of items without people a share of cuts; nan without one."""
    if given.why:
        return np.full(len(given.both), np.nan)
    cuts = _deciding(given)(everything(len(given.both))).cuts[:-1]
    by_fold = (given.level.code >= cuts).astype(np.float64)
    decided = np.where(given.fold < 0, by_fold.mean(axis=0), by_fold[given.fold, np.arange(len(given.both))])
    return np.where(given.level.code < 0, np.nan, decided)


def _rates(given: _Given, passed: Floats, member: Bools) -> dict[str, Figure]:
    scored = member & ~np.isnan(given.judge.score)
    if given.why or not (n := int(scored.sum())):
        why = given.why or f"{given.judge.name} scored nothing here"
        return dict.fromkeys(("judge", "corrected"), undefined(why, n=int(scored.sum())))
    both, alone = scored & given.both, scored & ~given.both
    return {
        "judge": PointEstimate(mean(np.where(member, passed, np.nan)), n, kind=SHARE),
        "corrected": corrected_mean(
            given.passes[both].astype(np.float64), passed[both], passed[alone], scale=SHARE.ends
        ).value,
    }


def _deciding(given: _Given) -> Callable[[Weights], Decisions]:
    """`Decisions` of weights."""
    parts, steps = int(given.fold.max()) + 1, len(given.level.mean)
    shape = (parts, steps, 2)
    cell = (given.fold * steps + given.level.code) * 2 + given.passes
    gather = gathering(np.where(given.both, cell, -1), int(np.prod(shape)))

    @once
    def on(weights: Weights) -> Decisions:
        count = np.asarray(gather @ weights, dtype=np.float64).reshape(*shape, weights.shape[1])
        fails, passes = np.moveaxis(count, 2, 0)
        above_pass, above_fail = (_from_above(of, 1) for of in (passes, fails))
        chosen = np.concatenate(
            [
                _best_cut(above_pass.sum(axis=0) - above_pass, above_fail.sum(axis=0) - above_fail),
                _best_cut(above_pass.sum(axis=0)[None], above_fail.sum(axis=0)[None]),
            ]
        )
        true, false = (
            np.take_along_axis(above, chosen[:-1, None], axis=1).sum(axis=(0, 1))
            for above in (above_pass, above_fail)
        )
        return Decisions(passes.sum(axis=(0, 1)), fails.sum(axis=(0, 1)), true, false, chosen)

    return on


def _from_above(count: Floats, axis: int) -> Floats:
    """What lies at each level or above it."""
    return np.flip(np.cumsum(np.flip(count, axis), axis=axis), axis)


def _best_cut(passes: Floats, fails: Floats) -> Ints:
    """The least cut of greatest J; `passes` and `fails` are how many lie at each level or above, by fold."""
    gained = divide(passes, np.broadcast_to(passes[:, :1], passes.shape))
    lost = divide(fails, np.broadcast_to(fails[:, :1], fails.shape))
    better = np.round(gained - lost, DIGITS)
    return np.asarray(np.where(np.isnan(better), -np.inf, better).argmax(axis=1), dtype=np.int64)
