"""Pass or fail at a cut of the scale: how often a judge decides as people do, and pass rates corrected by it.

An item passes with people where their mean reaches the cut, and with a judge where its score reaches a cut of
the judge's own, which is chosen on other items: a judge that is a point stricter than people can still decide
as they do.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.crossfit import Levels, folds, levels, once
from concord.statistics.figures import Drawing, Figure, PointEstimate, cluster_codes, empty, tabulate
from concord.statistics.intervals import SHARE, Kind
from concord.statistics.ratings import DIGITS, Bools, Contender, Facet, Floats, Ints, Panels, Ratings, divide
from concord.statistics.resampling import Weights, everything, gathering, mean
from concord.table import Column, Table

FEWEST = 4
"""People's passes, and as many fails, below which no cut is chosen for a judge."""

PERMUTED = 2000
"""Permutations behind a p-value."""

ALL = "all players"


def _middle(values: Floats, _n: int) -> Floats:
    """Resamples, the outer twentieth at each end moved to where it begins; nan stays.

    Spread by 1.097, as normal values lose so much of their standard deviation (Dixon and Tukey 1968).
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return values
    low, centre, high = np.quantile(defined, [0.05, 0.5, 0.95])
    return np.asarray(centre + 1.097 * (np.clip(values, low, high) - centre))


CORRECTED = Kind(
    "corrected shares without the outer tenth of resamples", _middle, ends=SHARE.ends, padded=True
)
"""A share over a difference that may come near 0 in some resamples, which would swamp the standard error."""

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
    Column("corrected", "Judge, corrected", percent=True, interval="ends", help=explain("Rogan–Gladen")),
    Column(
        "alike",
        "p of erring alike",
        digits=3,
        least=0.001,
        help="Permutation p of the judge's errors being as frequent with every player; the correction needs "
        "that they are.",
    ),
    caption="The corrected rate is the share that people would pass, if the judge errs alike with every "
    "player. Where the p of that is small, trust people's own rate.",
)

Numbers = dict[str, Figure | float | None]


class Decisions(NamedTuple):
    """Weighted counts of each resample.

    People's `passes` and `fails`; `true` and `false`, how many of either the judge passes at a cut of other
    folds. `passed` is what the judge passes of all it scored, groups × resamples, and `judged` how much that
    is. `cuts` are the levels of its score from which it passes, folds × resamples, that of all items last.
    """

    passes: Floats
    fails: Floats
    true: Floats
    false: Floats
    passed: Floats
    judged: Floats
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

    def corrected(self, group: int) -> Floats:
        """The pass rate of a group, corrected for the judge's errors; between −1 and 2.

        nan where the judge tells passes from fails no better than chance.
        """
        better = self.sensitivity + self.specificity - 1
        raw = divide(self.passed[group], self.judged[group])
        rate = divide(raw + self.specificity - 1, np.where(better > 10.0**-DIGITS, better, 0.0))
        return np.clip(rate, -1.0, 2.0)


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
    `cut` comes from. `meta["curves"]` has sensitivity and specificity of every cut on all items.

    Undefined for fewer than `FEWEST` passes or fails of people, and for a judge with one score.
    """
    rows, curves = [], {}
    for judge in table[criterion].contenders(panels):
        given = _Given.of(table, criterion, judge, cut, drawing)
        rows.append({"rater": judge.name, "n": given.n} | _as_decision(given))
        curves[judge.name] = [] if given.why else _curve(given)
    notes = (_people_pass(cut, note), "the judge's cut chosen on other items, by Youden's J")
    meta = {"cut": cut, "curves": curves}
    return tabulate(THRESHOLDS, table, criterion, rows, notes=notes, meta=meta, **drawing)


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
    """The pass rate of each player: people's on items that the judge scored, the judge's, and the judge's
    corrected for its errors.

    With p the share that the judge passes of all its items of the player, the corrected rate is (p +
    specificity − 1) / (sensitivity + specificity − 1), kept within 0 and 1 (Rogan and Gladen 1978). Both
    error rates are those of all players together, so the judge is assumed to err alike with each. Items of
    people are decided by a cut chosen on other folds (see `thresholds`); of the others p is the mean over the
    cuts of all folds, so that it has the error rates of the same cuts. Intervals draw all items, those
    without people too, and choose the cuts anew.

    `alike` is the p-value of that assumption, in the first row: of the sum of the χ² of the judge's passes by
    player among people's passes and among their fails, when players are permuted within both (`PERMUTED`
    times). Clusters do not enter it.

    Undefined where `thresholds` is, and where the judge tells passes from fails no better than chance.
    """
    codes, names = table.facet(players)
    rows: list[Mapping[str, object]] = []
    for judge in table[criterion].contenders(panels):
        given = _Given.of(table, criterion, judge, cut, drawing)
        counted = None if given.why else _deciding(given, codes, len(names))
        for place, name in enumerate((ALL, *map(str, names)), start=-1):
            member = codes == place if place >= 0 else np.ones(len(codes), dtype=np.bool_)
            # Beside a judge people's rate is of the items that it scored too.
            rated = given.both if given.n else given.rated
            rates = {"people": _people_rate(given, rated & member)}
            rates |= _rates(given, counted, member, place)
            alike = {"alike": _alike(given, counted, codes, drawing)} if place < 0 else {}
            rows.append({"rater": judge.name, "group": name, **rates, **alike})
    notes = (_people_pass(cut, note), "the judge's errors are taken to be alike for all players")
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
    counted = _deciding(given, np.full(len(given.both), -1), 0)
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


def _rates(
    given: _Given, counted: Callable[[Weights], Decisions] | None, member: Bools, place: int
) -> dict[str, Figure]:
    n = int((member & ~np.isnan(given.judge.score)).sum())
    if counted is None or not n:
        why = given.why or f"{given.judge.name} scored nothing here"
        return dict.fromkeys(("judge", "corrected"), undefined(why, n=n))

    def raw(weights: Weights) -> Floats:
        decisions = counted(weights)
        return divide(decisions.passed[place], decisions.judged[place])

    own = float(counted(everything(len(member))).corrected(place)[0])
    why = f"{given.judge.name} tells passes from fails no better than chance"
    return {
        "judge": PointEstimate(raw, n, kind=SHARE),
        "corrected": undefined(why, n=n)
        if np.isnan(own)
        else PointEstimate(
            lambda weights: counted(weights).corrected(place), n, min(max(own, 0.0), 1.0), kind=CORRECTED
        ),
    }


def _alike(
    given: _Given, counted: Callable[[Weights], Decisions] | None, codes: Ints, drawing: Drawing
) -> Estimate:
    """The p-value of errors that are alike with every player; see `pass_rates`."""
    decided = given.both & (codes >= 0)
    n = int(decided.sum())
    if counted is None or len(np.unique(codes[decided])) < 2:
        return undefined(given.why or "fewer than two players", n=n)
    cuts = counted(everything(len(codes))).cuts[:, 0]
    passed = given.level.code >= cuts[given.fold]
    rng = np.random.default_rng([drawing.get("seed", 0), n])
    own, permuted = 0.0, np.zeros(PERMUTED)
    for of in (given.passes, ~given.passes):
        size = np.bincount(codes[decided & of])
        size, chosen = (
            size[size > 0],
            np.bincount(codes[decided & of & passed], minlength=len(size))[size > 0],
        )
        share = chosen.sum() / size.sum() if len(size) else 0.0
        if 0 < share < 1 and len(size) > 1:
            drawn = rng.multivariate_hypergeometric(size, int(chosen.sum()), PERMUTED, method="marginals")
            chi_square = [
                ((some - share * size) ** 2 / size).sum(axis=-1) / (share * (1 - share))
                for some in (chosen, drawn)
            ]
            own, permuted = own + float(chi_square[0]), permuted + chi_square[1]
    least = (1 + int((permuted >= own - 1e-9).sum())) / (1 + PERMUTED)
    return Estimate(least, n=n, method=f"{PERMUTED} permutations of players")


def _deciding(given: _Given, groups: Ints, number: int) -> Callable[[Weights], Decisions]:
    """`Decisions` of weights; `groups` numbers the items' players below `number` (−1: none).

    The last group of the result is everything, so that group −1 is it.
    """
    parts, steps = int(given.fold.max()) + 1, len(given.level.mean)
    shape = (parts + 1, steps, number + 1, 2)
    part = np.where(given.fold < 0, parts, given.fold)
    group = np.where(groups < 0, number, groups)
    cell = ((part * steps + given.level.code) * (number + 1) + group) * 2
    cell = np.where(given.level.code < 0, -1, cell + (given.passes & given.both))
    gather = gathering(cell, int(np.prod(shape)))

    @once
    def on(weights: Weights) -> Decisions:
        count = np.asarray(gather @ weights, dtype=np.float64).reshape(*shape, weights.shape[1])
        fails, passes = np.moveaxis(count[:-1].sum(axis=2), 2, 0)
        above_pass, above_fail = (_from_above(count, 1) for count in (passes, fails))
        all_passes, all_fails = passes.sum(axis=(0, 1)), fails.sum(axis=(0, 1))
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
        scored = count.sum(axis=3)
        above, folds_ = _from_above(scored, 1), chosen[:-1, None, None]
        passed = np.take_along_axis(above[:-1], folds_, axis=1).sum(axis=(0, 1))
        others = np.broadcast_to(above[-1:], above[:-1].shape)
        passed += np.take_along_axis(others, folds_, axis=1).mean(axis=(0, 1))
        judged = scored.sum(axis=(0, 1))
        passed, judged = (np.concatenate([of[:-1], of.sum(axis=0)[None]]) for of in (passed, judged))
        return Decisions(all_passes, all_fails, true, false, passed, judged, chosen)

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


def _curve(given: _Given) -> list[dict[str, float]]:
    """Sensitivity and specificity of each cut on all items: the points of a ROC curve."""
    code = given.level.code[given.both]
    passes = given.passes[given.both]
    steps = len(given.level.mean)
    yes, no = (_from_above(np.bincount(code[of], minlength=steps) / of.sum(), 0) for of in (passes, ~passes))
    return [
        {"cut": float(cut), "sensitivity": float(s), "specificity": float(1 - f)}
        for cut, s, f in zip(given.level.least, yes, no, strict=True)
    ]
