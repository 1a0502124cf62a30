"""How far people agree with each other, and repeated runs of a judge, by more than one coefficient.

Alpha as Krippendorff (2011); shares of agreement over all pairs of ratings; AC2 with quadratic weights as
Gwet (2014), which stays informative where most ratings fall in one category; the reliability of a mean as
Spearman and Brown (1910); ICC(2,1) and ICC(2,k) as Shrout and Fleiss (1979).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy import sparse

from concord.estimate import Estimate, too_few, undefined
from concord.statistics import columns
from concord.statistics.alpha import people_alpha
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import CORRELATION, SHARE
from concord.statistics.ratings import DIGITS, CriterionScores, Floats, Ints, Ratings, divide, sums
from concord.statistics.resampling import Statistic, Weights, cached_count, full_sample, mean, ratio
from concord.table import Column, Table

COEFFICIENTS = {
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "exact": "Share of pairs of annotators with the same answer",
    "within_one": "Share of pairs of annotators within one point",
    "mean_of_people": "Reliability of annotators' mean (Spearman–Brown)",
    "attainable": "Attainable correlation: its square root",
    "ac2": "Gwet's AC2, quadratic weights",
    "icc_single": "ICC(2,1) of one annotator, absolute agreement",
    "icc_mean": "ICC(2,k) of annotators' mean, absolute agreement",
}
EQUAL = "all ratings are equal"

RELIABILITY = empty(
    "people",
    "Agreement between annotators",
    Column("measure", "Coefficient"),
    Column("value", digits=3, interval="ends"),
    caption="Alpha is low if ratings hardly vary; the shares are not corrected for chance.",
)
RETEST = empty(
    "retest",
    "Test–retest of judges",
    Column("judge"),
    Column("runs"),
    columns.N,
    Column("icc", "ICC(1,1), one run", digits=3, interval="ends"),
    Column("exact", "Pairs of runs with the same answer", percent=True, interval="ends"),
    caption="Share of the variance of a judge's scores that comes from the items and not from chance, over "
    "repeated runs.",
)


def reliability(table: Ratings, criterion: str, **drawing: Unpack[Drawing]) -> Table:
    """People's agreement on one criterion, one row per coefficient of COEFFICIENTS.

    exact and within_one are shares of all pairs of ratings of one item, so an item of many people counts
    more; mean_of_people, from alpha_interval, and icc_mean are for the harmonic mean of people per item;
    attainable, its square root, is what a judge who knew the truth would reach: a description, no evidence.
    AC2's weights are over the answers that occur; ICC is of the variances of `components`. Undefined: fewer
    than two people on every item; all ratings equal; ICC of people whom no item brings together.
    """
    scores = table[criterion]
    people = people_per_item(scores)
    pairs = int(pair_gaps(scores).pairs.sum())
    notes = (
        [f"the mean of {people:.3g} annotators (harmonic mean)", f"{pairs} pairs of ratings"]
        if people
        else []
    )
    return tabulate(
        RELIABILITY,
        table,
        criterion,
        _rows(scores),
        target="",
        notes=notes,
        recompute=lambda resampled_table: _rows(resampled_table[criterion]),
        **drawing,
    )


def _rows(scores: CriterionScores) -> list[dict[str, Any]]:
    people = people_per_item(scores)
    gaps = pair_gaps(scores)
    n = int((gaps.pairs > 0).sum())
    single = people_alpha(scores, "interval")
    no_pair = "" if n else single.reason
    reliability_of_mean, attainable = _of_the_mean(single, people)
    exact, within_one = (ratio(gaps.near(points), gaps.pairs) for points in (0, 1))
    figures = {
        "alpha_ordinal": people_alpha(scores, "ordinal"),
        "alpha_interval": single,
        "exact": PointEstimate(exact, n, reason=no_pair, kind=SHARE),
        "within_one": PointEstimate(within_one, n, reason=no_pair, kind=SHARE),
        "mean_of_people": reliability_of_mean,
        "attainable": attainable,
        "ac2": PointEstimate(gwet(scores), n, reason=single.reason or EQUAL, kind=CORRELATION),
        "icc_single": _icc(scores, 1),
        "icc_mean": _icc(scores, people),
    }
    return [
        {"coefficient": name, "measure": measure, "value": figures[name]}
        for name, measure in COEFFICIENTS.items()
    ]


def _of_the_mean(single: Figure, people: float) -> tuple[Figure, Figure]:
    """The reliability of people's mean from interval alpha, and its root, the attainable correlation."""
    if isinstance(single, Estimate):
        return single, single
    statistic = single.statistic
    value = float(spearman_brown(single.value, people))
    reliability = PointEstimate(
        lambda weights: spearman_brown(statistic(weights), people),
        single.n,
        value,
        "alpha is below 0",
        single.kind,
    )
    attainable = replace(
        reliability,
        statistic=lambda weights: np.sqrt(spearman_brown(statistic(weights), people)),
        value=float(np.sqrt(value)),
        kind=replace(single.kind, ends=(0.0, 1.0)),
    )
    return reliability, attainable


def people_per_item(scores: CriterionScores) -> float:
    """The harmonic mean of the number of people on the items that somebody rated; 0 without any.

    A mean of k ratings has error variance σ²/k, so over items of different k the variance is that of the
    harmonic mean of k. The median would claim more.
    """
    present = scores.present[scores.present > 0]
    return float(len(present) / (1 / present).sum()) if len(present) else 0.0


class PairGaps(NamedTuple):
    """Pairs of ratings of one item: for each lag in the sorted ratings, the items and the distances.

    `pairs` counts them per item.
    """

    item: Sequence[Ints]
    gap: Sequence[Floats]
    pairs: Floats

    def near(self, distance: float) -> Floats:
        """Per item, how many pairs are at most `distance` apart."""
        return self._summed(lambda gap: (gap <= distance + 10**-DIGITS).astype(np.float64))

    def squares(self) -> Floats:
        """Per item, the sum of squared distances."""
        return self._summed(np.square)

    def _summed(self, measure: Callable[[Floats], Floats]) -> Floats:
        total = np.zeros(len(self.pairs))
        for item, gap in zip(self.item, self.gap, strict=True):
            total += sums(item, measure(gap), len(total))
        return total


def pair_gaps(scores: CriterionScores) -> PairGaps:
    """All pairs of people's ratings of one item."""
    order = np.argsort(scores.item, kind="stable")
    item = scores.item[order]
    score = scores.score[order]
    most_raters = int(scores.present.max(initial=0)) if len(item) else 0
    items = []
    gaps = []
    for lag in range(1, most_raters):
        same_item = np.flatnonzero(item[lag:] == item[:-lag])
        items.append(item[same_item])
        gaps.append(np.abs(score[same_item + lag] - score[same_item]))
    number = np.bincount(item, minlength=scores.items).astype(np.float64)
    return PairGaps(items, gaps, number * (number - 1) / 2)


def spearman_brown(single: Any, raters: float) -> Any:
    """The reliability of the mean of several raters from that of one; nan where that is below 0."""
    single = np.where(np.asarray(single) >= 0, single, np.nan)
    return raters * single / (1 + (raters - 1) * single)


def gwet(scores: CriterionScores) -> Statistic:
    """Gwet's AC2 of people's ratings; nan without two values or a pair.

    Weights are 1 − ((v − w) / range)² over the answers that occur, of means (*final*) too. Chance
    agreement is T / (q (q − 1)) · Σ π (1 − π) over the q answers, T being the sum of all weights and π the
    mean share of an answer on an item (Gwet 2014, chapter 5). Answers that a resample lacks stay answers.
    """
    values, code = np.unique(np.round(scores.score, DIGITS), return_inverse=True)
    gaps = pair_gaps(scores)
    kinds = len(values)
    total = float(len(values))
    alike = gaps.near(0)
    if kinds > 1:
        width = float(values[-1] - values[0]) ** 2
        total = kinds**2 - 2 * (kinds * float((values**2).sum()) - float(values.sum()) ** 2) / width
        alike = gaps.pairs - gaps.squares() / width
    agreeing = mean(divide(alike, gaps.pairs))
    number = np.bincount(scores.item, minlength=scores.items)
    size = (kinds, scores.items)
    share_of = sparse.csr_array((1 / number[scores.item], (code, scores.item)), shape=size)

    def statistic(weights: Weights) -> Floats:
        weight = weights.astype(np.float64)
        if kinds < 2:
            return np.full(weight.shape[1], np.nan)
        share = divide(
            np.asarray(share_of @ weight), np.broadcast_to((number > 0) @ weight, (kinds, weight.shape[1]))
        )
        chance = total / (kinds * (kinds - 1)) * (share * (1 - share)).sum(axis=0)
        return divide(agreeing(weight) - chance, 1 - chance)

    return statistic


class Components(NamedTuple):
    """Variances of people's ratings between items, between raters, and left over, one for each resample.

    They are unbiased, so that one of nothing is below 0 half of the time.
    """

    item: Floats
    rater: Floats
    rest: Floats

    def icc(self, raters: float) -> Floats:
        """ICC(2,k) of a mean of so many raters, each item's by others; nan without variance."""
        total = self.item + (self.rater + self.rest) / raters
        return divide(self.item, np.where(total > 10.0**-DIGITS, total, 0))


def components(scores: CriterionScores) -> Callable[[Weights], Components]:
    """Components of variance of items crossed with raters, as a function of weights.

    Of a rating y = item + rater + rest, where anybody may lack any item, by Henderson's (1953) method 1:
    Σy², Σ (an item's sum)²/its ratings, Σ (a rater's sum)²/its ratings and (Σy)²/N are set equal to their
    expectations. Where everybody rated everything it is the analysis of variance. nan where the three are not
    distinguished, as without items of two ratings, or with one rater.
    """
    people, rater = np.unique(scores.person, return_inverse=True)
    score = scores.score - (scores.score.mean() if len(scores.score) else 0)
    size = (len(people), scores.items)
    presence, total = (
        sparse.csr_array((values, (rater, scores.item)), shape=size)
        for values in (np.ones(len(score)), score)
    )
    number = scores.present.astype(np.float64)
    of_item = np.nan_to_num(divide(sums(scores.item, score, scores.items) ** 2, number))
    squares = sums(scores.item, score**2, scores.items)

    @cached_count
    def statistic(weights: Weights) -> Components:
        weight = weights.astype(np.float64)
        count = presence @ weight
        by_rater = total @ weight
        n = number @ weight
        items = (number > 0) @ weight
        raters = (count > 0).sum(axis=0)
        grand = divide(by_rater.sum(axis=0) ** 2, n)
        between = of_item @ weight - grand
        of_raters = np.nan_to_num(divide(by_rater**2, count)).sum(axis=0) - grand
        p = divide(number**2 @ weight, n)
        q = divide((count**2).sum(axis=0), n)
        left = squares @ weight - grand - between - of_raters
        expected = np.array(
            [
                [n - p, items - q, items - 1],
                [raters - p, n - q, raters - 1],
                [p - raters, q - items, n - items - raters + 1],
            ]
        ).transpose(2, 0, 1)
        solvable = np.abs(np.linalg.det(np.nan_to_num(expected))) > 1e-6
        solution = np.linalg.solve(
            np.where(solvable[:, None, None], expected, np.eye(3)),
            np.stack([between, of_raters, left], axis=1)[:, :, None],
        )[:, :, 0]
        return Components(*np.where(solvable, solution.T, np.nan))

    return statistic


def _icc(scores: CriterionScores, people: float) -> Figure:
    n = int((scores.present > 0).sum())
    reason = no_components(scores)
    if reason:
        return undefined(reason, n=n)
    components_of = components(scores)
    return PointEstimate(lambda weights: components_of(weights).icc(people), n, kind=CORRELATION)


def no_components(scores: CriterionScores) -> str:
    """Why people's ratings have no components of variance; empty where they have."""
    if scores.unlinked or len(scores.people) < 2:
        return scores.unlinked or "fewer than two annotators"
    if np.ptp(scores.score) == 0:
        return EQUAL
    estimated = components(scores)(full_sample(scores.items))
    return "items, annotators and chance cannot be separated" if np.isnan(estimated.item[0]) else ""


def retest(
    table: Ratings, criterion: str, runs: Mapping[str, Sequence[Floats]], **drawing: Unpack[Drawing]
) -> Table:
    """The reliability of one run from repeated runs, one row a judge.

    `runs` has the score of every item (nan: none) in each run of a judge. `icc` is ICC(1,1) of Shrout and
    Fleiss (1979): the share of variance that is the items' own; `exact` the share of pairs of runs with the
    same answer. Only items that every run rated count. Undefined for fewer than two runs or two such items,
    and where all answers are equal.
    """
    rows = [
        {"judge": judge, "runs": len(run_scores)} | _of_runs(np.array(run_scores))
        for judge, run_scores in runs.items()
    ]
    target = "runs of one judge among themselves"
    return tabulate(RETEST, table, criterion, rows, target=target, all_items=True, **drawing)


def _of_runs(runs: Floats) -> dict[str, Any]:
    items = np.flatnonzero(~np.isnan(runs).any(axis=0))
    n = len(items)
    if len(runs) < 2 or n < 2:
        reason = "fewer than two runs" if len(runs) < 2 else too_few(n, of="rated in every run")
        return {"n": n} | dict.fromkeys(("icc", "exact"), undefined(reason, n=n))
    equal = np.full(runs.shape[1], np.nan)
    pairs = combinations(runs[:, items], 2)
    equal[items] = np.mean([np.round(a - b, DIGITS) == 0 for a, b in pairs], axis=0)
    icc = PointEstimate(_icc_of_runs(runs, items), n, reason="all answers are equal", kind=CORRELATION)
    return {"n": n, "icc": icc, "exact": PointEstimate(mean(equal), n, kind=SHARE)}


def _icc_of_runs(stacked: Floats, items: Ints) -> Statistic:
    table = stacked[:, items]
    k = len(table)
    centre = table.mean(axis=0)
    within_items = ((table - centre) ** 2).sum(axis=0)
    centre = centre - centre.mean()

    def statistic(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        n = weight.sum(axis=0)
        spread = np.maximum((centre**2) @ weight - divide((centre @ weight) ** 2, n), 0)
        between = divide(k * spread, n - 1)
        error = divide(within_items @ weight, n * (k - 1))
        total = between + (k - 1) * error
        return divide(between - error, np.where(total > 10**-DIGITS, total, 0))

    return statistic
