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
from concord.statistics.alpha import Metric, alpha, alpha_figure, value_counts
from concord.statistics.correlation import FEWEST, Coefficient, why_undefined
from concord.statistics.figures import Figure, PointEstimate
from concord.statistics.hidden import weighted_kappa
from concord.statistics.intervals import CORRELATION, of_kappa
from concord.statistics.judges import against_people
from concord.statistics.majority import answer_of_people, panel_answers, shares
from concord.statistics.nominal import MAJORITY, kappa_of_shares, rarer, why_no_kappa
from concord.statistics.ratings import DIGITS, Contender, CriterionScores, Floats, Ratings, panel_name
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
    alpha of a `metric` without order, with the majority of people, a panel by the answers of
    `concord.statistics.majority.panel_answers`: items on which people tie are excluded, those on which the
    panel ties are not. Undefined on fewer than three common items, where a score does not vary, and, but for
    correlations, where judge and people answer on different scales. Raises StudyError for an unknown judge.
    """
    scores = table[criterion]
    judge = Contender(panel_name(members), tuple(members), scores.panel(members))
    if name in get_args(Coefficient):
        return against_people(scores, judge, cast(Coefficient, name))
    if reason := table.no_level(criterion, members):
        return undefined(reason, n=0)
    if target_of(name, metric) == MAJORITY:
        return of_answers(scores, judge, name, metric)
    score = judge.score
    target = scores.target
    common = np.flatnonzero(~np.isnan(score) & ~np.isnan(target))
    x = score[common]
    y = target[common]
    n = len(common)
    if n < FEWEST:
        return undefined(why_undefined(x, y), n=n)
    if name == "alpha":
        counts, values = value_counts(np.concatenate([common, common]), np.concatenate([x, y]), scores.items)
        figure = alpha_figure(counts, values, metric)
        return figure if isinstance(figure, PointEstimate) else replace(figure, n=n)
    items = np.isin(np.arange(scores.items), common)
    kappa_of_weights = weighted_kappa(x, y)

    def statistic(weights: Weights) -> Floats:
        return kappa_of_weights(weights[common])

    constant_reason = "judge and annotators gave one answer to all items"
    return PointEstimate(statistic, n, reason=constant_reason, kind=CORRELATION, items=items)


def of_answers(scores: CriterionScores, judge: Contender, name: Name, metric: Metric) -> Figure:
    """Kappa, or alpha of a metric without order, of a judge or a panel with the majority of people."""
    panel = panel_answers(scores, judge.members)
    target = answer_of_people(scores)
    rows = np.flatnonzero(~np.isnan(target[panel.item]))
    item = panel.item[rows]
    part = panel.part[rows]
    x = panel.answer[rows]
    y = np.round(target[item], DIGITS)
    common = np.unique(item)
    n = len(common)
    items = np.isin(np.arange(scores.items), common)
    if n < FEWEST:
        return undefined(why_undefined(judge.score[common], target[common]), n=n)
    if name == "kappa":
        answers = np.unique(np.concatenate([panel.answer, y]))
        reason, _ = why_no_kappa(judge.name, MAJORITY, x, y)
        alike = sets.alike(answers) if scores.sets else None
        on_items = kappa_of_shares(panel.shares(answers, scores.items), shares(target, answers), alike)
        kind = of_kappa(rarer(x, y), n)
        return PointEstimate(on_items, n, reason=reason, kind=kind, items=items)
    answers_of_both = np.concatenate([x, y])
    pooled = alpha_figure(*value_counts(np.concatenate([item, item]), answers_of_both, scores.items), metric)
    if len(rows) == n or not isinstance(pooled, PointEstimate):
        return replace(pooled, n=n)
    # An item on which the panel splits is several items with a part of its weight, one for each answer.
    row = np.arange(len(rows))
    counts, values = value_counts(np.concatenate([row, row]), answers_of_both, len(rows))
    of_parts = alpha(counts, values, metric)

    def statistic(weights: Weights) -> Floats:
        return of_parts(weights[item] * part[:, None])

    return replace(pooled, statistic=statistic, n=n, value=None)
