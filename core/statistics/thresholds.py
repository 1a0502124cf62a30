"""Pass or fail at a cut of the scale: scores become two answers, which are compared like any others.

An item passes with people where their mean reaches the cut, and with a judge where its score reaches a cut of
the judge's own, which is chosen on other items: a judge that is a point stricter than people can still decide
as they do.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.statistics.confusion import answer_columns, two_answers
from concord.statistics.figures import Drawing, Figure, PointEstimate, cluster_codes, tabulate
from concord.statistics.intervals import CORRELATION, SHARE, held
from concord.statistics.ratings import DIGITS, Bools, Contender, Facet, Floats, Ints, Panels, Ratings, divide
from concord.statistics.resampling import Weights, everything, gathering, once, own_clusters
from concord.table import Cell, Column, Table

FOLDS = 5
"""Parts of the items: each is decided by the cut that is chosen on the others."""

FEWEST = 4
"""People's passes, and as many fails, below which no cut is chosen for a judge."""

FEWEST_SURE = 8
"""Passes, and as many fails, below which the interval of a corrected rate is too narrow."""

WORDS = ("fail", "pass")
OF_PLAYERS = ("rater", "people", "judge", "corrected")


def thresholds(
    table: Ratings,
    criterion: str,
    cut: float,
    players: Facet,
    *,
    panels: Panels = None,
    note: str = "",
    **drawing: Unpack[Drawing],
) -> list[Table]:
    """Judges and panels as two answers, pass and fail, beside people's mean ≥ `cut`; and each player's rates.

    The figures are those of `concord.statistics.confusion.decisions`, with intervals in which the cut is
    chosen anew in every resample; those of a player take the cuts as they are. The judge's cut is the least
    that maximises Youden's J = sensitivity + specificity − 1 (Youden 1950). Items of people are dealt to
    `FOLDS` folds by the seed, and each is decided by the cut of the other folds; an item without people
    counts with the share of these cuts that it reaches. The column `cut` is that of all items. Scales need
    not match. `note` says where `cut` comes from.

    Undefined for fewer than `FEWEST` passes or fails of people, and for a judge with one score.
    """
    target = table[criterion].target
    people = np.where(np.isnan(target), np.nan, np.round(target, DIGITS) >= round(cut, DIGITS))
    clusters, seed = cluster_codes(table, drawing.get("clusters")), drawing.get("seed", 0)
    codes, names = table.facet(players)
    rows: list[Mapping[str, Any]] = []
    by_player: list[Mapping[str, Cell]] = []
    few = False
    for judge in table[criterion].contenders(panels):
        own = _decide(people, judge, seed, clusters)
        rows.append({"rater": judge.name, "cut": own.cut, **_row(people, own), **own.shares})
        few = few or (not own.why and own.least < FEWEST_SURE)
        for code, name in enumerate(names):
            mine = own._replace(passed=np.where(codes == code, own.passed, np.nan))
            row = _row(np.where(codes == code, people, np.nan), mine)
            by_player.append({"rater": judge.name, "group": str(name), **row})
    columns = answer_columns(WORDS, unrated=True)
    shown = Column("cut", "Judge's cut", help="From this score a judge passes; chosen to decide like people.")
    form = Table(
        "thresholds",
        "Pass or fail: judges and panels beside people",
        (columns[0], shown, *columns[1:]),
        (),
        "A judge with a κ about 0 decides nothing. All figures are of items on which the judge's cut was not "
        "chosen.",
    )
    notes = [f"people pass an item with a mean of {cut:g} or more" + (f" ({note})" if note else "")]
    notes += ["the judge's cut chosen on other items, by Youden's J"]
    notes += ["PPI++ with one more item at each end, items taken for independent"]
    notes += [held("the corrected rate of few passes or fails", 89)] if few else []
    whole = tabulate(form, table, criterion, rows, notes=notes, meta={"cut": cut}, **drawing)
    if len(names) < 2:
        return [whole]
    rates = [column for column in columns if column.name in OF_PLAYERS]
    return [
        whole,
        replace(
            whole,
            name="pass_rates",
            title="Pass rate of each player, corrected for the judge's errors",
            columns=(rates[0], Column("group", "Player"), *rates[1:]),
            rows=tuple(by_player),
            caption="The last column is the share that people would pass of all items that the judge scored, "
            "by the player's own items of people.",
        ),
    ]


class _Decided(NamedTuple):
    """A judge's decision of each item (1: pass), by a cut of its own; `why` says why it has none.

    `shares` are kappa and the shares of items, with the cut chosen anew in every resample, `least` the number
    of people's passes or fails, whichever is less.
    """

    passed: Floats
    cut: float | Estimate
    shares: Mapping[str, Figure]
    least: int
    why: str = ""


def _decide(people: Floats, judge: Contender, seed: int, clusters: Ints | None) -> _Decided:
    score = np.round(judge.score, DIGITS)
    both = ~np.isnan(people) & ~np.isnan(score)
    n, passes = int(both.sum()), int((people[both] == 1).sum())
    fails = n - passes
    fold = folds(both, seed=seed, clusters=clusters)
    why = ""
    if not n:
        why = f"{judge.name} and people have no item in common"
    elif min(passes, fails) < FEWEST:
        why = f"people pass {passes} and fail {fails} of {n} items, {FEWEST} of each are needed"
    elif len(np.unique(score[both])) < 2:
        why = f"{judge.name} gives all of them the same score"
    elif fold.max() < 1:
        why = "all items are of one cluster, so none is left to choose the judge's cut on"
    if why:
        none = undefined(why, n=n)
        return _Decided(np.full(len(score), np.nan), none, dict.fromkeys(SHARES, none), 0, why)
    values = np.unique(score[~np.isnan(score)])
    counted = _counting(people, score, values, fold)
    own = counted(everything(len(score)))
    *cuts, cut = values[own.cuts[:, 0]]
    by_cut = np.array([score >= of for of in cuts], dtype=np.float64)
    passed = np.where(fold < 0, by_cut.mean(axis=0), by_cut[fold, np.arange(len(score))])
    sizes = {
        "sensitivity": passes,
        "specificity": fails,
        "precision": round(float((own.right + own.wrong)[0])),
    }
    shares: dict[str, Figure] = {
        name: PointEstimate(
            lambda weights, of=of: of(counted(weights)),  # type: ignore[misc]
            sizes.get(name, n),
            reason=f"{judge.name} passes nothing"
            if name == "precision"
            else "both gave one answer throughout",
            kind=CORRELATION if name == "kappa" else SHARE,
        )
        for name, of in SHARES.items()
    }
    return _Decided(np.where(np.isnan(score), np.nan, passed), float(cut), shares, min(passes, fails))


class _Counts(NamedTuple):
    """Weighted counts of each resample: people's passes and fails, and how many of either the judge passes.

    `cuts` are the places of its cuts among its scores, folds × resamples, that of all items last.
    """

    passes: Floats
    fails: Floats
    right: Floats
    wrong: Floats
    cuts: Ints

    @property
    def equal(self) -> Floats:
        """Decisions that are alike."""
        return self.right + self.fails - self.wrong

    @property
    def kappa(self) -> Floats:
        """Cohen's."""
        n, judge = self.passes + self.fails, self.right + self.wrong
        chance = judge * self.passes + (n - judge) * self.fails
        return divide(self.equal * n - chance, np.where(n**2 - chance > 10.0**-DIGITS, n**2 - chance, 0))


SHARES: Mapping[str, Callable[[_Counts], Floats]] = {
    "kappa": lambda of: of.kappa,
    "accuracy": lambda of: divide(of.equal, of.passes + of.fails),
    "sensitivity": lambda of: divide(of.right, of.passes),
    "specificity": lambda of: divide(of.fails - of.wrong, of.fails),
    "precision": lambda of: divide(of.right, of.right + of.wrong),
}


def _counting(people: Floats, score: Floats, values: Floats, fold: Ints) -> Callable[[Weights], _Counts]:
    """`_Counts` of weights: each fold is decided by the cut that is best on the others."""
    parts, steps = int(fold.max()) + 1, len(values)
    cell = (fold * steps + np.searchsorted(values, score)) * 2 + np.nan_to_num(people).astype(np.int64)
    gather = gathering(np.where(fold < 0, -1, cell), parts * steps * 2)

    @once
    def on(weights: Weights) -> _Counts:
        count = np.asarray(gather @ weights, dtype=np.float64).reshape(parts, steps, 2, -1)
        reached = np.flip(np.cumsum(np.flip(count, 1), axis=1), 1)  # at each score or above it
        whole = reached.sum(axis=0)[None]
        others = np.concatenate([whole - reached, whole])
        share = divide(others, np.broadcast_to(others[:, :1], others.shape))
        better = np.round(share[:, :, 1] - share[:, :, 0], DIGITS)
        cuts = np.nan_to_num(better, nan=-np.inf).argmax(axis=1)
        wrong, right = np.take_along_axis(reached, cuts[:-1, None, None], axis=1).sum(axis=(0, 1))
        fails, passes = count.sum(axis=(0, 1))
        return _Counts(passes, fails, right, wrong, cuts)

    return on


def _row(people: Floats, judge: _Decided) -> dict[str, Cell]:
    row = two_answers(people, judge.passed, WORDS)
    if not judge.why:
        return row
    return {
        name: undefined(judge.why, n=cell.n) if isinstance(cell, Estimate) else cell
        for name, cell in row.items()
    }


def folds(chosen: Bools, *, seed: int = 0, clusters: Ints | None = None) -> Ints:
    """A fold for each chosen item, −1 for the others; sizes differ by one at most, and the seed draws them.

    Items of one cluster (a number per item, −1: stands alone) share a fold. There are fewer folds where there
    are fewer items or clusters.
    """
    items = np.flatnonzero(chosen)
    units = np.arange(len(items)) if clusters is None else own_clusters(clusters[items])
    count = int(units.max(initial=-1)) + 1
    order = np.random.default_rng([seed, count]).permutation(count)
    fold = np.full(len(chosen), -1, dtype=np.int64)
    fold[items] = (order % min(FOLDS, max(count, 1)))[units]
    return fold
