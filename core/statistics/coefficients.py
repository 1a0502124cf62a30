"""Coefficients of one judge or panel with people: order, agreement beyond chance, agreement of categories.

Alpha after Krippendorff (2011) of two raters, the judge and people; kappa after Cohen (1960), weighted kappa
with quadratic weights after Cohen (1968).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast, get_args

import numpy as np

from concord.estimate import undefined
from concord.statistics import sets
from concord.statistics.alpha import Metric, alpha_figure, value_counts
from concord.statistics.correlation import FEWEST, Coefficient, why_undefined
from concord.statistics.figures import Figure, PointEstimate
from concord.statistics.hidden import weighted_kappa
from concord.statistics.intervals import CORRELATION
from concord.statistics.judges import against_people
from concord.statistics.nominal import MAJORITY, kappa, most_frequent, usual_answer, why_no_kappa
from concord.statistics.ratings import Contender, CriterionScores, Floats, Ratings, called
from concord.statistics.resampling import Weights

Name = Literal["spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa"]

COEFFICIENTS: dict[Name, str] = {
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "pearson": "Pearson's r",
    "alpha": "Krippendorff's α",
    "weighted-kappa": "quadratic weighted κ",
    "kappa": "Cohen's κ",
}
"""What readers call them."""
UNORDERED = ("nominal", "masi")
"""The metrics of answers that have no mean."""


def target_of(name: Name, metric: Metric) -> str:
    """What a judge is compared with, in words: categories have no mean."""
    return MAJORITY if name == "kappa" or (name == "alpha" and metric in UNORDERED) else "mean of people"


def coefficient(
    table: Ratings, criterion: str, members: Sequence[str], name: Name, metric: Metric = "ordinal"
) -> Figure:
    """A coefficient of a judge or a panel with people on one criterion.

    Correlations, weighted kappa and alpha compare with the mean of people, a panel by its mean; kappa, and
    alpha of a `metric` without order, with the majority of people, a panel by its majority (ties are left out
    on either side; of sets the majority gives what more than half do). Undefined on fewer than three common
    items, where a score does not vary, and, but for correlations, where judge and people answer on different
    scales. Raises StudyError for an unknown judge.
    """
    scores = table[criterion]
    judge = Contender(called(members), tuple(members), scores.panel(members))
    if name in get_args(Coefficient):
        return against_people(scores, judge, cast(Coefficient, name))
    if reason := table.no_level(criterion, members):
        return undefined(reason, n=0)
    score, target = judge.score, scores.target
    if target_of(name, metric) == MAJORITY:
        score, target = _majorities(scores, members)
    both = np.flatnonzero(~np.isnan(score) & ~np.isnan(target))
    x, y, n = score[both], target[both], len(both)
    if n < FEWEST:
        return undefined(why_undefined(x, y), n=n)
    if name == "alpha":
        counts, values = value_counts(np.concatenate([both, both]), np.concatenate([x, y]), scores.items)
        figure = alpha_figure(counts, values, metric)
        return figure if isinstance(figure, PointEstimate) else replace(figure, n=n)
    items = np.isin(np.arange(scores.items), both)
    if name == "kappa":
        why, _ = why_no_kappa(judge.name, MAJORITY, x, y)
        on_items = kappa(score, target, of_sets=scores.sets)
        return PointEstimate(on_items, n, reason=why, kind=CORRELATION, items=items)
    weighed = weighted_kappa(x, y)

    def on(weights: Weights) -> Floats:
        return weighed(weights[both])

    why = "judge and people gave one answer throughout"
    return PointEstimate(on, n, reason=why, kind=CORRELATION, items=items)


def _majorities(scores: CriterionScores, members: Sequence[str]) -> tuple[Floats, Floats]:
    """The commonest answer of the judges, and of people, to every item; nan where it is shared or missing."""
    usual = sets.most_said if scores.sets else most_frequent
    answers = np.array([scores.judges[name] for name in members])
    given = np.flatnonzero(~np.isnan(answers).any(axis=0))
    item, score = np.tile(given, len(members)), answers[:, given].ravel()
    counts, values = value_counts(item, score, scores.items)
    return usual(counts.toarray(), values), usual_answer(scores)
