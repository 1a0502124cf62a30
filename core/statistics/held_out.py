"""A judge beside another annotator: how far both agree with the people who are not held out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns, sets
from concord.statistics.correlation import FEWEST, correlation, point
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
    Panels,
    Ratings,
    divide,
    panel_name,
)
from concord.statistics.resampling import Statistic, Weights, everything, mean_defined, once
from concord.table import Column, Table

MOST_WITHOUT = 12
"""Annotators of whom verdicts are computed without each; of more, none weighs a tenth."""

By = Literal["spearman", "kappa", "absolute"]
"""How agreement with people is measured: of scores in order by Spearman's ρ, with their level as well by
kappa with quadratic weights (“absolute”), of answers by kappa."""


def _form(symbol: str, others: str) -> Table:
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
        caption=f"One annotator at a time is held out, and judge and annotator are compared with {others} on "
        "the same items. Where the paired interval of the difference leaves out 0, the judge agrees better "
        "(+) or worse (−) than an annotator.",
    )


HELD_OUT: Mapping[By, Table] = {
    "spearman": _form("ρ", "the mean of the others"),
    "kappa": _form("κ", "each of the others"),
    "absolute": _form("weighted κ", "the mean of the others"),
}


@dataclass(frozen=True, eq=False)
class _Pair:
    """A judge beside one held-out person on the same `items`: both agreements, and as statistics."""

    items: Bools
    values: tuple[float, float]
    on: tuple[Statistic, Statistic]

    @property
    def defined(self) -> bool:
        """Whether both can be compared."""
        return int(self.items.sum()) >= FEWEST and not np.isnan(self.values).any()


def _pairs(scores: CriterionScores, judge: Contender, by: By) -> Iterator[_Pair]:
    """A judge beside every person, on the items that the person, somebody else and the judge rated."""
    people = [] if scores.unlinked else scores.people.tolist()
    if by == "kappa":
        yield from _by_answers(scores, judge, people)
        return
    for person in people:
        own = scores.of(person)
        shared = np.where(np.isnan(own) | np.isnan(judge.score), np.nan, scores.others(person))
        if by == "absolute":
            on = _absolute(judge.score, shared), _absolute(own, shared)
            each = everything(scores.items)
            both = float(on[0](each)[0]), float(on[1](each)[0])
        else:
            on = correlation(judge.score, shared), correlation(own, shared)
            both = point(judge.score, shared), point(own, shared)
        yield _Pair(~np.isnan(shared), both, on)


def _absolute(score: Floats, shared: Floats) -> Statistic:
    """Kappa with quadratic weights (Cohen 1968) on the items that have both."""
    both = np.flatnonzero(np.isfinite(score + shared))
    weighed = weighted_kappa(score[both], shared[both])
    return lambda weights: weighed(weights[both])


def _by_answers(scores: CriterionScores, judge: Contender, people: Sequence[int]) -> Iterator[_Pair]:
    panel = panel_answers(scores, judge.members)
    answers = np.unique(np.concatenate([np.round(scores.score, DIGITS), panel.answer]))
    alike = sets.alike(answers) if scores.sets else None
    its = panel.shares(answers, scores.items)
    total = np.zeros(its.shape)
    np.add.at(total, (scores.item, np.searchsorted(answers, np.round(scores.score, DIGITS))), 1.0)
    each = everything(len(its))
    for person in people:
        own = shares(scores.of(person), answers)
        others = divide(total - own, np.broadcast_to((scores.present - 1)[:, None], total.shape))
        items: Bools = ~np.isnan((own + its + others).sum(axis=1))
        others[~items] = np.nan
        on = kappa_of_shares(its, others, alike), kappa_of_shares(own, others, alike)
        yield _Pair(items, (float(on[0](each)[0]), float(on[1](each)[0])), on)


def held_out(
    table: Ratings, criterion: str, *, panels: Panels = None, by: By = "spearman", **drawing: Unpack[Drawing]
) -> Table:
    """Each judge beside a held-out annotator: does it agree with the others as well as that annotator does?

    For every person, the mean of the others is the target, and both the judge's and the person's Spearman
    with it are taken on the items that the person, somebody else and the judge rated. A person compared with
    a mean of which they are part looks up to 0.4 better than they are; here they are not part of it.

    With `by` “kappa”, for answers that have no mean, it is the kappa of one rater with a group (Schouten
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
    others = "each of the others" if by == "kappa" else "the mean of the others"
    return tabulate(
        HELD_OUT[by],
        table,
        criterion,
        _held_out(table[criterion], panels, by),
        target=f"against {others}, one person held out at a time; each person counts once",
        again=lambda other: _held_out(other[criterion], panels, by),
        **drawing,
    )


def _held_out(scores: CriterionScores, panels: Panels, by: By) -> list[dict[str, Any]]:
    why = scores.unlinked or (
        "nobody has three items to compare, rated by somebody else and the judge, that vary"
    )
    rows: list[dict[str, Any]] = []
    rarer, rated = rarer_answers(scores), int((scores.present > 0).sum())
    kappa_ = by == "kappa"
    correlation_ = of_kappa(rarer, rated) if kappa_ else rests_on(CORRELATION, rarer, rated)
    contrast = _contrast(rarer, rated, kappa_)
    for judge in scores.contenders(panels):
        pairs = [pair for pair in _pairs(scores, judge, by) if pair.defined]
        n = int(np.any([pair.items for pair in pairs], axis=0).sum()) if pairs else 0
        gaps = [of_judge - of_person for of_judge, of_person in (pair.values for pair in pairs)]
        row: dict[str, Any] = dict.fromkeys(("judge", "person", "difference", "half"), undefined(why))
        if pairs:
            of_judges, of_people = np.mean([pair.values for pair in pairs], axis=0).tolist()
            judges, people, differences, halves = _means(pairs)
            one, two = (_of_equal(kind, pairs, rarer, rated, kappa_) for kind in (correlation_, contrast))
            row = {
                "judge": PointEstimate(judges, n, of_judges, kind=one),
                "person": PointEstimate(people, n, of_people, kind=one),
                "difference": PointEstimate(differences, n, float(np.mean(gaps)), kind=two),
                "half": PointEstimate(halves, n, of_judges - of_people / 2, kind=two),
            }
        at_par = sum(gap >= 0 for gap in gaps)
        rows.append(
            {"rater": judge.name, "people": len(pairs), "n": n, **row}
            | {"z": _z([pair.values for pair in pairs])}
            | {"par": f"{at_par} of {len(pairs)}" if pairs else None}
        )
    return rows


def _z(values: Sequence[tuple[float, float]]) -> float | None:
    """How many standard deviations of annotators' agreement the judge's mean lies above theirs (Judge's
    Verdict, 2025); None for fewer than three annotators, and where they reach the same.
    """
    judges, people = np.array(values).reshape(-1, 2).T
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


def _of_equal(kind: Kind, pairs: Sequence[_Pair], rarer: int, rated: int, of_kappas: bool) -> Kind:
    """A kind of agreement, or of a difference, which has an exact interval where all answers are equal."""
    if any(value < 1 - ROUNDING for pair in pairs for value in pair.values):
        return kind
    by = unequal_of_kappa if of_kappas else unequal_of_ranks
    return replace(kind, unequal=by(rarer, rated))


class WithoutMember(NamedTuple):
    """A panel's agreement with and without one of its judges, and what is gained without it."""

    judge: str
    together: float
    without: float
    gain: Estimate


def without_members(
    table: Ratings, criterion: str, members: Sequence[str], by: By, **drawing: Unpack[Drawing]
) -> list[WithoutMember]:
    """A panel beside itself without each of its judges in turn, on the items that all of them rated.

    Agreement is that with annotators of whom one at a time is held out, as in `held_out`; `gain` is paired. A
    judge is left out where nothing is defined. Nothing for a single judge.
    """
    scores = table[criterion]
    if len(members) < 2:
        return []
    whole = np.isfinite(scores.panel(members))
    same = replace(scores, judges={one: np.where(whole, scores.judges[one], np.nan) for one in members})
    rarer, rated = rarer_answers(scores), int((scores.present > 0).sum())
    kind = _contrast(rarer, rated, by == "kappa")
    together = _by_panel(same, members, by)
    values, figures = [], list[Figure]()
    for judge in members:
        rest = _by_panel(same, [one for one in members if one != judge], by)
        both = [
            (one, other) for one, other in zip(rest, together, strict=True) if one.defined and other.defined
        ]
        if both:
            means = np.mean([(one.values[0], other.values[0]) for one, other in both], axis=0).tolist()
            values.append((judge, *means))
            figures.append(PointEstimate(_gain(both), rated, means[0] - means[1], kind=kind))
    drawing["people"] = "these"
    gains = estimates(figures, table, **drawing)
    return [
        WithoutMember(judge, all_, without, gain)
        for (judge, without, all_), gain in zip(values, gains, strict=True)
    ]


def _by_panel(scores: CriterionScores, members: Sequence[str], by: By) -> list[_Pair]:
    return [*_pairs(scores, Contender(panel_name(members), tuple(members), scores.panel(members)), by)]


def _gain(both: Sequence[tuple[_Pair, _Pair]]) -> Statistic:
    def on(weights: Weights) -> Floats:
        return mean_defined(np.array([one.on[0](weights) - other.on[0](weights) for one, other in both]))

    return on


def without_each(
    table: Ratings, criterion: str, panels: Panels, by: By
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
        left = scores.without(person)
        for judge in left.contenders(panels):
            pairs = [pair.values for pair in _pairs(left, judge, by) if pair.defined]
            if pairs:
                of_judge, of_person = np.mean(pairs, axis=0).tolist()
                points.setdefault(judge.name, {})[table.people[person]] = of_judge, of_person
    return points


def rarer_answers(scores: CriterionScores) -> int:
    """About how many items hold another answer of people than the commonest: what agreement rests on."""
    share = 1 - (commonest(scores.score)[1] or 1.0)
    return round(share * int((scores.present > 0).sum()))


def _means(pairs: Sequence[_Pair]) -> tuple[Statistic, Statistic, Statistic, Statistic]:
    """Means over people of the judge's and the person's agreement, of their difference, and of the judge's
    less half of the person's.

    A person of whom one is undefined in a resample takes no part in it.
    """

    @once
    def on(weights: Weights) -> list[Floats]:
        drawn = np.array([[statistic(weights) for statistic in pair.on] for pair in pairs])
        gap = drawn[:, 0] - drawn[:, 1]
        parts = (*drawn.swapaxes(0, 1), gap, drawn[:, 0] - drawn[:, 1] / 2)
        return [mean_defined(np.where(np.isnan(gap), np.nan, part)) for part in parts]

    def part(place: int) -> Statistic:
        return lambda weights: on(weights)[place]

    return part(0), part(1), part(2), part(3)
