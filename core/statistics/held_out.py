"""A judge beside another annotator: how far both agree with the people who are not held out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns, sets
from concord.statistics.correlation import (
    EXACT,
    FEWEST,
    Ranked,
    RowRanks,
    correlation,
    correlation_of_ranked,
    point,
    ranked,
    row_points,
    row_ranks,
)
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, estimates, tabulate
from concord.statistics.hidden import weighted_kappa
from concord.statistics.intervals import (
    CORRELATION,
    DIFFERENCE,
    FEWEST_RARER,
    ROUNDING,
    Kind,
    of_kappa,
    rests_on,
    unequal_of_kappa,
    unequal_of_ranks,
)
from concord.statistics.judges import commonest
from concord.statistics.majority import panel_answers, shares
from concord.statistics.nominal import kappa_of_shares
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
    panel_name,
)
from concord.statistics.resampling import (
    Statistic,
    Weights,
    cached_count,
    deferred,
    full_sample,
    mean_defined,
)
from concord.table import Column, Table

MOST_WITHOUT = 12
"""Annotators of whom verdicts are computed without each; of more, none weighs a tenth."""

MOST_IN_ROWS = 5_000
"""Items up to which the agreement of many people is computed at once."""

MOST_RANKED = 20_000
"""People × items up to which ranks in each resample are held, for all judges that are compared with them."""

CELLS_OF_ROWS = 250_000
"""People × items (× answers) that are held at once."""

HeldOutMeasure = Literal["spearman", "kappa", "absolute"]
"""How agreement with people is measured: of scores in order by Spearman's ρ, with their level as well by
kappa with quadratic weights (“absolute”), of answers by kappa."""


def _form(symbol: str, partner_words: str) -> Table:
    return empty(
        "held_out",
        "Held-out annotator",
        columns.RATER,
        Column("people", help="Annotators who could be held out and compared."),
        columns.N,
        Column("judge", f"{symbol} of the judge", digits=3, interval="ends"),
        Column(
            "person",
            f"{symbol} of another annotator",
            digits=3,
            interval="ends",
            help=explain("another annotator"),
        ),
        Column("difference", "Difference", digits=3, interval="ends", signed=True),
        Column("half", f"{symbol} of the judge less half of another annotator's", file_only=True),
        Column("z", "z among annotators", file_only=True),
        Column("par", "At par with", help="Annotators whom the judge equals or passes, of those compared."),
        caption="One annotator is held out at a time. The judge and this annotator are compared with "
        f"{partner_words} on the same items. If the interval of the difference excludes 0, the "
        "judge agrees "
        "better (+) or worse (−) than an annotator.",
    )


HELD_OUT: Mapping[HeldOutMeasure, Table] = {
    "spearman": _form("ρ", "the mean of the others"),
    "kappa": _form("κ", "each of the others"),
    "absolute": _form("weighted κ", "the mean of the others"),
}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """A judge beside each held-out person on the same `items` (people × items).

    `values` has both agreements, judge's and person's (people × 2), `pair_means` makes them as statistics of
    weights.
    """

    items: Bools
    values: Floats
    statistics: Callable[[int], tuple[Statistic, Statistic]]

    @property
    def defined(self) -> Ints:
        """The people with whom both can be compared."""
        enough = self.items.sum(axis=1) >= FEWEST
        return np.flatnonzero(enough & ~np.isnan(self.values).any(axis=1))


def _compared(scores: CriterionScores, measure: HeldOutMeasure) -> Callable[[Contender], _Comparison]:
    """From a judge to it beside every person, on the items that the person, somebody else and the judge
    rated: what does not depend on the judge is computed once.
    """
    people = [] if scores.unlinked else scores.people.tolist()
    if measure == "kappa":
        rated = np.array([scores.scores_of(person) for person in people]).reshape(len(people), scores.items)
        return partial(_by_answers, scores, people, rated)
    if measure == "absolute" or scores.items > MOST_IN_ROWS:
        return partial(_one_by_one, scores, people, measure)
    return _in_rows(scores, people)


def _one_by_one(
    scores: CriterionScores, people: Sequence[int], measure: HeldOutMeasure, judge: Contender
) -> _Comparison:
    items = np.zeros((len(people), scores.items), dtype=bool)
    values: list[tuple[float, float]] = []
    statistics: list[tuple[Statistic, Statistic]] = []
    for row, person in enumerate(people):
        ratings = scores.scores_of(person)
        target = np.where(np.isnan(ratings) | np.isnan(judge.score), np.nan, scores.mean_of_others(person))
        items[row] = ~np.isnan(target)
        if measure == "absolute":
            pair = _absolute(judge.score, target), _absolute(ratings, target)
            weights = full_sample(scores.items)
            values.append((float(pair[0](weights)[0]), float(pair[1](weights)[0])))
        else:
            pair = correlation(judge.score, target), correlation(ratings, target)
            values.append((point(judge.score, target), point(ratings, target)))
        statistics.append(pair)
    return _Comparison(items, np.array(values).reshape(len(people), 2), statistics.__getitem__)


def _in_rows(scores: CriterionScores, people: Sequence[int]) -> Callable[[Contender], _Comparison]:
    """`_one_by_one` by Spearman's ρ, a row a person, as many at once as fit `CELLS_OF_ROWS`."""
    ratings = np.array([scores.scores_of(person) for person in people]).reshape(len(people), scores.items)
    targets = np.array([scores.mean_of_others(person) for person in people]).reshape(ratings.shape)
    rated: Bools = ~np.isnan(ratings) & ~np.isnan(targets)
    rows = max(1, CELLS_OF_ROWS // max(scores.items, 1))
    parts = [slice(start, start + rows) for start in range(0, len(people), rows)]

    def ranks(part: slice, items: Bools) -> tuple[RowRanks, RowRanks]:
        rating_ranks, target_ranks = (
            row_ranks(np.where(items, score[part], np.nan)) for score in (ratings, targets)
        )
        return rating_ranks, target_ranks

    full_ranks = [ranks(part, rated[part]) for part in parts]

    small = ratings.size <= MOST_RANKED

    @cache
    def of_person(row: int) -> Statistic:
        """A person's agreement on all that they and somebody else rated, the same beside most judges."""
        if small:
            return cached_count(
                correlation_of_ranked(ranked(np.where(rated[row], ratings[row], np.nan)), target_of(row))
            )
        return cached_count(correlation(ratings[row], np.where(rated[row], targets[row], np.nan)))

    @cache
    def target_of(row: int) -> Ranked:
        return ranked(np.where(rated[row], targets[row], np.nan))

    def comparison(judge: Contender) -> _Comparison:
        items = rated & ~np.isnan(judge.score)
        values = np.empty((len(people), 2))
        for part, ranks_of_all in zip(parts, full_ranks, strict=True):
            row_items = items[part]
            n = row_items.sum(axis=1)
            rating_ranks, target_ranks = (
                ranks_of_all if (row_items == rated[part]).all() else ranks(part, row_items)
            )
            item_rows = row_items[:1] if (row_items == row_items[:1]).all() else row_items
            of_judge = row_ranks(np.where(item_rows, judge.score, np.nan))
            values[part, 0] = row_points(of_judge, target_ranks, n)
            values[part, 1] = row_points(rating_ranks, target_ranks, n)

        equal_rows = bool((items == items[:1]).all())
        judge_ranked = (
            ranked(np.where(items[0], judge.score, np.nan)) if small and equal_rows and len(items) else None
        )

        def statistics(row: int) -> tuple[Statistic, Statistic]:
            row_items = items[row]
            if (row_items != rated[row]).any():
                target = np.where(row_items, targets[row], np.nan)
                return correlation(judge.score, target), correlation(ratings[row], target)
            if small:
                of_judge = judge_ranked or ranked(np.where(row_items, judge.score, np.nan))
                return correlation_of_ranked(of_judge, target_of(row)), of_person(row)
            return correlation(judge.score, np.where(row_items, targets[row], np.nan)), of_person(row)

        return _Comparison(items, values, statistics)

    return comparison


def _absolute(score: Floats, shared: Floats) -> Statistic:
    """Kappa with quadratic weights (Cohen 1968) on the items that have both."""
    common = np.flatnonzero(np.isfinite(score + shared))
    kappa_of_weights = weighted_kappa(score[common], shared[common])
    return lambda weights: kappa_of_weights(weights[common])


def _by_answers(
    scores: CriterionScores, people: Sequence[int], rated: Floats, judge: Contender
) -> _Comparison:
    """By kappa: a judge's answers, and those of people (people × items), beside those of the others."""
    ratings = np.round(scores.score, DIGITS)
    panel = panel_answers(scores, judge.members)
    answers = np.unique(np.concatenate([ratings, panel.answer]))
    alike = sets.alike(answers) if scores.sets else None
    judge_shares = panel.shares(answers, scores.items)
    total = np.zeros(judge_shares.shape)
    np.add.at(total, (scores.item, np.searchsorted(answers, ratings)), 1.0)
    number = np.where(scores.present > 1, scores.present - 1.0, np.nan)[:, None]
    judged = ~np.isnan(judge_shares[:, 0]) if judge_shares.shape[1] else np.zeros(scores.items, dtype=bool)

    def shares_of(part: slice) -> tuple[Floats, Floats, Bools]:
        """The shares of answers of people, and of the others (people × items × answers), and the items."""
        own_shares = shares(rated[part], answers)
        items: Bools = ~np.isnan(rated[part]) & judged & (scores.present > 1)
        other_shares = (total - own_shares) / number
        other_shares[~items] = np.nan
        return own_shares, other_shares, items

    items = np.zeros((len(people), scores.items), dtype=bool)
    values = np.empty((len(people), 2))
    rows = max(1, CELLS_OF_ROWS // max(judge_shares.size, 1))
    for start in range(0, len(people), rows):
        part = slice(start, start + rows)
        own_shares, other_shares, items[part] = shares_of(part)
        values[part, 0] = _kappas(judge_shares[None], other_shares, alike)
        values[part, 1] = _kappas(own_shares, other_shares, alike)

    def statistics(row: int) -> tuple[Statistic, Statistic]:
        own_shares, other_shares, _ = shares_of(slice(row, row + 1))
        return kappa_of_shares(judge_shares, other_shares[0], alike), kappa_of_shares(
            own_shares[0], other_shares[0], alike
        )

    return _Comparison(items, values, statistics)


def _kappas(first: Floats, second: Floats, alike: Floats | None) -> Floats:
    """Kappa as `kappa_of_shares` has it, one for each row of rows × items × answers; nan where undefined."""
    items: Bools = np.asarray(~np.isnan(second[:, :, :1]))
    shares_1 = np.where(items, first, 0.0)
    shares_2 = np.where(items, second, 0.0)
    if alike is not None:
        shares_2 = shares_2 @ alike
    n = items.sum(axis=(1, 2)).astype(np.float64)
    chance = np.einsum("ra,ra->r", np.einsum("ria->ra", shares_1), np.einsum("ria->ra", shares_2))
    room = n**2 - chance
    equal = np.einsum("ria,ria->r", shares_1, shares_2)
    return np.round(divide(equal * n - chance, np.where(room > 10**-DIGITS, room, 0)), EXACT)


def held_out(
    table: Ratings,
    criterion: str,
    *,
    panels: Panels = None,
    measure: HeldOutMeasure = "spearman",
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge beside a held-out annotator: does it agree with the others as well as that annotator does?

    For every person, the mean of the others is the target, and both the judge's and the person's Spearman
    with it are taken on the items that the person, somebody else and the judge rated. A person compared with
    a mean of which they are part looks up to 0.4 better than they are; here they are not part of it.

    With `measure` “kappa”, for answers that have no mean, it is the kappa of one rater with a group (Schouten
    1982): (p_o − p_e) / (1 − p_e), where p_o is the mean share of the others who gave the rater's answer, and
    p_e that expected from how often each answer was given. A panel's answer is that of
    `concord.statistics.majority.panel_answers`; an answer that nobody else gives is equal to nobody's. Sets
    of labels are equal in part, by how alike they are.

    `judge` and `person` (another annotator, on this judge's items) are means over people, each of whom counts
    once, however many items they rated; `difference` is judge less person. Its interval is paired: both rest
    on the same draws of items. In a resample where somebody's figure is undefined, the mean is over the rest.
    `n` counts the items on which somebody is compared.
    Undefined: no two people on an item; people who are not persons; nobody with three items.
    """
    partner_words = "each of the others" if measure == "kappa" else "the mean of the others"
    return tabulate(
        HELD_OUT[measure],
        table,
        criterion,
        _held_out(table[criterion], panels, measure),
        target=f"compared with {partner_words}, one annotator held out at a time; each annotator has equal "
        "weight",
        recompute=lambda resampled_table: _held_out(resampled_table[criterion], panels, measure),
        **drawing,
    )


def _held_out(scores: CriterionScores, panels: Panels, measure: HeldOutMeasure) -> list[dict[str, Any]]:
    reason = scores.unlinked or (
        "no annotator has three varying items in common with another annotator and the judge"
    )
    rows: list[dict[str, Any]] = []
    rarer = rarer_answers(scores)
    rated = int((scores.present > 0).sum())
    kappa_ = measure == "kappa"
    correlation_ = of_kappa(rarer, rated) if kappa_ else rests_on(CORRELATION, rarer, rated)
    contrast = _contrast(rarer, rated, kappa_)
    compared = _compared(scores, measure)
    for judge in scores.contenders(panels):
        comparison = compared(judge)
        people = comparison.defined
        values = comparison.values[people]
        n = int(comparison.items[people].any(axis=0).sum())
        gaps = values[:, 0] - values[:, 1]
        row: dict[str, Any] = dict.fromkeys(("judge", "person", "difference", "half"), undefined(reason))
        if len(people):
            of_judges, of_people = values.mean(axis=0).tolist()
            judges, persons, differences, halves = _means(comparison, people)
            one, two = (_of_equal(kind, values, rarer, rated, kappa_) for kind in (correlation_, contrast))
            row = {
                "judge": PointEstimate(judges, n, of_judges, kind=one),
                "person": PointEstimate(persons, n, of_people, kind=one),
                "difference": PointEstimate(differences, n, float(np.mean(gaps)), kind=two),
                "half": PointEstimate(halves, n, of_judges - of_people / 2, kind=two),
            }
        at_par = int((gaps >= 0).sum())
        rows.append(
            {"rater": judge.name, "people": len(people), "n": n, **row}
            | {"z": _z(values)}
            | {"par": f"{at_par} of {len(people)}" if len(people) else None}
        )
    return rows


def _z(values: Floats) -> float | None:
    """How many standard deviations of annotators' agreement the judge's mean lies above theirs (Judge's
    Verdict, 2025); None for fewer than three annotators, and where they reach the same.
    """
    judges, people = values.T
    spread = float(people.std(ddof=1)) if len(people) > 2 else 0.0
    return float(judges.mean() - people.mean()) / spread if spread > 1e-9 else None


def _contrast(rarer: int, rated: int, of_kappas: bool) -> Kind:
    """A difference of two agreements. Two kappas have at most half a degree of freedom for each rarer answer,
    however even the answers are: with more, a judge below by the margin was as good in 3.5 of 100 studies of
    100 items in place of 2.5.
    """
    if not of_kappas:
        return rests_on(DIFFERENCE, rarer, rated)
    return replace(rests_on(DIFFERENCE, rarer, rated, fewest=FEWEST_RARER), freedom=max(rarer / 2, 1.0))


def _of_equal(kind: Kind, values: Floats, rarer: int, rated: int, of_kappas: bool) -> Kind:
    """A kind of agreement, or of a difference, which has an exact interval where all answers are equal."""
    if (values < 1 - ROUNDING).any():
        return kind
    unequal = unequal_of_kappa if of_kappas else unequal_of_ranks
    return replace(kind, unequal=unequal(rarer, rated))


class WithoutMember(NamedTuple):
    """A panel's agreement with and without one of its judges, and what is gained without it."""

    judge: str
    agreement: float
    agreement_without: float
    gain: Estimate


def without_members(
    table: Ratings,
    criterion: str,
    members: Sequence[str],
    measure: HeldOutMeasure,
    **drawing: Unpack[Drawing],
) -> list[WithoutMember]:
    """A panel beside itself without each of its judges in turn, on the items that all of them rated.

    Agreement is that with annotators of whom one at a time is held out, as in `held_out`; `gain` is paired. A
    judge is excluded where nothing is defined. Nothing for a single judge.
    """
    scores = table[criterion]
    if len(members) < 2:
        return []
    complete = np.isfinite(scores.panel(members))
    common_scores = replace(
        scores, judges={one: np.where(complete, scores.judges[one], np.nan) for one in members}
    )
    rarer = rarer_answers(scores)
    rated = int((scores.present > 0).sum())
    kind = _contrast(rarer, rated, measure == "kappa")
    compared = _compared(common_scores, measure)
    whole_panel = compared(_panel(common_scores, members))
    of_panel = cache(lambda row: cached_count(whole_panel.statistics(row)[0]))
    values = []
    figures = list[Figure]()
    for judge in members:
        rest = compared(_panel(common_scores, [one for one in members if one != judge]))
        people = np.intersect1d(rest.defined, whole_panel.defined)
        if len(people):
            values_of_both = np.stack([rest.values[people, 0], whole_panel.values[people, 0]], axis=1)
            means = values_of_both.mean(axis=0).tolist()
            values.append((judge, *means))
            gain = _gain(rest, of_panel, people.tolist())
            figures.append(PointEstimate(gain, rated, means[0] - means[1], kind=kind))
    drawing["people"] = "these"
    gains = estimates(figures, table, criterion=criterion, **drawing)
    return [
        WithoutMember(judge, complete, agreement_without, gain)
        for (judge, agreement_without, complete), gain in zip(values, gains, strict=True)
    ]


def _panel(scores: CriterionScores, members: Sequence[str]) -> Contender:
    return Contender(panel_name(members), tuple(members), scores.panel(members))


def _gain(rest: _Comparison, of_panel: Callable[[int], Statistic], people: Sequence[int]) -> Statistic:
    def make() -> Statistic:
        pairs = [(rest.statistics(row)[0], of_panel(row)) for row in people]
        return lambda weights: mean_defined(
            np.array([part(weights) - panel(weights) for part, panel in pairs])
        )

    return deferred(make)


def without_each(
    table: Ratings, criterion: str, panels: Panels, measure: HeldOutMeasure
) -> dict[str, dict[str, tuple[float, float]]]:
    """The agreement of each judge or panel, and of a held-out annotator, without each annotator in turn.

    Judge or panel → annotator → (judge, annotator), points as in `held_out`. Nothing for fewer than three
    annotators, of whom one alone would be left, and for more than `MOST_WITHOUT`, of whom none decides.
    """
    scores = table[criterion]
    people = [] if scores.unlinked else scores.people.tolist()
    if not 3 <= len(people) <= MOST_WITHOUT:
        return {}
    points: dict[str, dict[str, tuple[float, float]]] = {}
    for person in people:
        left = scores.excluding(person)
        compared = _compared(left, measure)
        for judge in left.contenders(panels):
            comparison = compared(judge)
            values = comparison.values[comparison.defined]
            if len(values):
                of_judge, of_person = values.mean(axis=0).tolist()
                points.setdefault(judge.name, {})[table.people[person]] = of_judge, of_person
    return points


def rarer_answers(scores: CriterionScores) -> int:
    """About how many items hold another answer of people than the commonest: what agreement rests on."""
    share = 1 - (commonest(scores.score)[1] or 1.0)
    return round(share * int((scores.present > 0).sum()))


def _means(comparison: _Comparison, people: Ints) -> tuple[Statistic, Statistic, Statistic, Statistic]:
    """Means over people of the judge's and the person's agreement, of their difference, and of the judge's
    less half of the person's.

    A person of whom one is undefined in a resample takes no part in it.
    """
    pairs: list[tuple[Statistic, Statistic]] = []

    @cached_count
    def pair_means(weights: Weights) -> list[Floats]:
        if not pairs:
            pairs.extend(map(comparison.statistics, people.tolist()))
        pair_values = np.array([[statistic(weights) for statistic in pair] for pair in pairs])
        gap = pair_values[:, 0] - pair_values[:, 1]
        parts = (*pair_values.swapaxes(0, 1), gap, pair_values[:, 0] - pair_values[:, 1] / 2)
        return [mean_defined(np.where(np.isnan(gap), np.nan, part)) for part in parts]

    def part(place: int) -> Statistic:
        return lambda weights: pair_means(weights)[place]

    return part(0), part(1), part(2), part(3)
