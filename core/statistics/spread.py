"""How far a judge spreads its scores beside people, and what it likes once that is allowed for.

A judge that gives 2 to 4 where people give 1 to 5 gives less than they do to whatever they like: that is its
scale, and no taste of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate
from concord.statistics.figures import Drawing, Figure, PointEstimate, estimates
from concord.statistics.ratings import CriterionScores, Floats, Ratings
from concord.statistics.resampling import Statistic, Weights, full_sample

FEWEST = 8
"""Items of judge and people, with the feature, below which nothing is said."""


class Taste(NamedTuple):
    """A judge on a feature of items, each for a standard deviation of the feature, in points.

    `slope` is that of the judge's score, `people` that of their mean, `beyond` that of the score less
    people's on the judge's scale, for each way to find the scale.
    """

    judge: str
    slope: Estimate
    people: Estimate
    beyond: tuple[Estimate, ...]


class Spread(NamedTuple):
    """How far a judge spreads its scores.

    `slope` is how far it moves for a point of people: the most that it may be, where noise cannot be told
    apart. `alike` is the same among items that are alike in a feature, None without one. `ratio` is the
    standard deviation of its scores over that of an annotator's.
    """

    judge: str
    slope: Estimate
    alike: Estimate | None
    ratio: Estimate


def spreads(scores: CriterionScores, judge: Floats, feature: Floats | None = None) -> tuple[Statistic, ...]:
    """How far a judge moves for a point of people's quality, as statistics of weights: the ways to find it.

    With several people who have names it is the covariance of the judge with the others over that of a
    person with the others, on the items of both, the mean over people: noise drops out of both (an
    instrumental variable, Wald 1940). Of one person's answers, or unnamed people's means, noise cannot be
    told from quality: the truth lies between the slope of judge on people and the inverse of that of people
    on the judge (Frisch 1934), which are given both. With a `feature` covariances are among items that are
    alike in it, on the items that have it: partial covariances.
    """

    def cov(x: Floats, y: Floats, partner: Floats | None = None) -> Statistic:
        return covariance(x, y, partner) if feature is None else partial_covariance(x, y, feature, partner)

    people = [] if scores.unlinked else scores.people.tolist()
    pairs = []
    for person in people:
        answers = scores.scores_of(person)
        reference = scores.mean_of_others(person)
        items = np.isfinite(answers + reference + judge)
        if items.sum() >= FEWEST:
            pairs.append((np.where(items, answers, np.nan), np.where(items, reference, np.nan)))
    if pairs:

        def by_others(weights: Weights) -> Floats:
            parts = [
                [cov(judge, reference)(weights), cov(answers, reference)(weights)]
                for answers, reference in pairs
            ]
            numerator, denominator = np.nanmean(np.array(parts), axis=0)
            return np.where(
                denominator > 1e-9, numerator / np.where(denominator > 1e-9, denominator, 1), np.nan
            )

        return (by_others,)
    target = scores.target

    def of_judge(weights: Weights) -> Floats:
        return _defined_ratio(cov(judge, target), cov(target, target, judge), weights)

    def of_people(weights: Weights) -> Floats:
        return _defined_ratio(cov(judge, judge, target), cov(judge, target), weights)

    return of_judge, of_people


def tastes(
    table: Ratings, criterion: str, feature: Floats, judges: Sequence[str], **drawing: Unpack[Drawing]
) -> list[Taste]:
    """Each judge on a feature of items: a number for each of `table.units`, nan where unknown.

    A judge is excluded with fewer than `FEWEST` items, where the feature does not vary, and where judge and
    people answer on different scales.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    rows = []
    for judge in judges:
        answers = scores.judges[judge]
        items = np.isfinite(answers + scores.target + feature)
        values = feature[items]
        if table.no_level(criterion, (judge,)) or items.sum() < FEWEST or np.ptp(values) < 1e-12:
            continue
        step = np.where(items, (feature - values.mean()) / values.std(ddof=1), np.nan)
        ways = spreads(scores, answers)
        judge_slope = _slope(answers, step)
        people_slope = _slope(scores.target, step, partner=answers)
        n = int(items.sum())
        kind = "answers do not vary"
        slopes = [judge_slope, people_slope, *(_beyond(judge_slope, people_slope, way) for way in ways)]
        figures: list[Figure] = [PointEstimate(slope, n, reason=kind) for slope in slopes]
        slope, people, *beyond = estimates(figures, table, criterion=criterion, **drawing)
        rows.append(Taste(judge, slope, people, tuple(beyond)))
    return rows


def spread_estimates(
    table: Ratings,
    criterion: str,
    judges: Sequence[str],
    feature: Floats | None = None,
    **drawing: Unpack[Drawing],
) -> list[Spread]:
    """How far each judge spreads its scores, with a `feature` (nan where unknown) also among items alike in
    it.

    Judges on another scale than people are excluded.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    if feature is not None and not np.nanstd(feature) > 0:
        feature = None
    rows = []
    for judge in judges:
        if table.no_level(criterion, (judge,)):
            continue
        answers = scores.judges[judge]
        ways = [spreads(scores, answers)[-1], _ratio_of_deviations(scores, answers)]
        ways += [] if feature is None else [spreads(scores, answers, feature)[-1]]
        n = int(np.isfinite(answers + scores.target).sum())
        reason = "answers do not vary"
        figures: list[Figure] = [PointEstimate(way, n, reason=reason) for way in ways]
        slope, ratio, *alike = estimates(figures, table, criterion=criterion, **drawing)
        rows.append(Spread(judge, slope, next(iter(alike), None), ratio))
    return rows


def on_scale(scores: CriterionScores, judge: Floats) -> list[Floats]:
    """Judge less people's mean on the judge's scale (nan: none), for each way to find the scale."""
    target = scores.target
    full_weights = full_sample(scores.items)
    gaps = []
    for way in spreads(scores, judge):
        spread = float(way(full_weights)[0])
        if np.isfinite(spread):
            gap = judge - spread * target
            gaps.append(gap - np.nanmean(gap))
    return gaps or [judge - target]


def covariance(x: Floats, y: Floats, partner: Floats | None = None) -> Statistic:
    """The covariance of two scores on the items that have both (and `also`), as a statistic of weights."""
    items = np.flatnonzero(np.isfinite(x + y if partner is None else x + y + partner))
    one = x[items]
    other_score = y[items]
    one = one - (one.mean() if len(items) else 0)
    other_score = other_score - (other_score.mean() if len(items) else 0)

    def statistic(weights: Weights) -> Floats:
        weight = weights[items].astype(np.float64)
        n = np.maximum(weight.sum(axis=0), 1e-12)
        return np.asarray((one * other_score) @ weight / n - (one @ weight / n) * (other_score @ weight / n))

    return statistic


def partial_covariance(x: Floats, y: Floats, feature: Floats, partner: Floats | None = None) -> Statistic:
    """The covariance of two scores among items that are alike in a feature: s_xy − s_xz s_zy / s_zz."""
    combined = x + y + feature if partner is None else x + y + feature + partner
    one, other_score, third = (np.where(np.isfinite(combined), score, np.nan) for score in (x, y, feature))
    plain = covariance(one, other_score)
    with_first = covariance(one, third)
    second = covariance(third, other_score)
    spread = covariance(third, third)

    def statistic(weights: Weights) -> Floats:
        variance = spread(weights)
        explained = with_first(weights) * second(weights) / np.where(variance > 1e-12, variance, 1)
        return plain(weights) - np.where(variance > 1e-12, explained, 0.0)

    return statistic


def _ratio_of_deviations(scores: CriterionScores, judge: Floats) -> Statistic:
    """The standard deviation of a judge's scores over that of an annotator's on the same items: the root of
    the means, over annotators, of both variances. Of unnamed annotators it is over that of their mean.
    """
    people = [] if scores.unlinked else [scores.scores_of(person) for person in scores.people.tolist()]
    pairs = [
        (covariance(judge, judge, partner=answers), covariance(answers, answers, partner=judge))
        for answers in people or [scores.target]
        if np.isfinite(answers + judge).sum() >= FEWEST
    ]

    def statistic(weights: Weights) -> Floats:
        if not pairs:
            return np.full(weights.shape[1], np.nan)
        terms = np.array([[numerator(weights), denominator(weights)] for numerator, denominator in pairs])
        numerator, denominator = np.maximum(np.nanmean(terms, axis=0), 0.0)
        return np.where(
            denominator > 1e-9, np.sqrt(numerator / np.where(denominator > 1e-9, denominator, 1)), np.nan
        )

    return statistic


def _slope(score: Floats, step: Floats, partner: Floats | None = None) -> Statistic:
    defined = score if partner is None else np.where(np.isfinite(partner), score, np.nan)
    return lambda weights: _defined_ratio(
        covariance(defined, step), covariance(step, step, partner=defined), weights
    )


def _beyond(judge_slope: Statistic, people_slope: Statistic, way: Statistic) -> Statistic:
    return lambda weights: judge_slope(weights) - way(weights) * people_slope(weights)


def _defined_ratio(numerator: Statistic, denominator: Statistic, weights: Weights) -> Floats:
    variance = denominator(weights)
    return np.where(variance > 1e-9, numerator(weights) / np.where(variance > 1e-9, variance, 1), np.nan)
