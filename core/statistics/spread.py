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
from concord.statistics.resampling import Statistic, Weights, everything

FEWEST = 8
"""Items of judge and people, with the feature, below which nothing is said."""


class Taste(NamedTuple):
    """A judge on a feature of items, each for a standard deviation of the feature, in points.

    `own` is the slope of the judge's score, `beyond` that of the score less people's on the judge's scale,
    for each way to find the scale. `spread` is how far the judge moves for a point of people.
    """

    judge: str
    own: Estimate
    beyond: tuple[Estimate, ...]
    spread: Estimate


def spreads(scores: CriterionScores, judge: Floats) -> tuple[Statistic, ...]:
    """How far a judge moves for a point of people's quality, as statistics of weights: the ways to find it.

    With several people who can be told apart it is the covariance of the judge with the others over that of a
    person with the others, on the items of both, the mean over people: noise drops out of both (an
    instrumental variable, Wald 1940). Of one person's answers, or unnamed people's means, noise cannot be
    told from quality: the truth lies between the slope of judge on people and the inverse of that of people
    on the judge (Frisch 1934), which are given both.
    """
    people = [] if scores.unlinked else scores.people.tolist()
    pairs = []
    for person in people:
        own, others = scores.of(person), scores.others(person)
        both = np.isfinite(own + others + judge)
        if both.sum() >= FEWEST:
            pairs.append((np.where(both, own, np.nan), np.where(both, others, np.nan)))
    if pairs:

        def by_others(weights: Weights) -> Floats:
            parts = [
                [covariance(judge, others)(weights), covariance(own, others)(weights)]
                for own, others in pairs
            ]
            over, under = np.nanmean(np.array(parts), axis=0)
            return np.where(under > 1e-9, over / np.where(under > 1e-9, under, 1), np.nan)

        return (by_others,)
    target = scores.target

    def of_judge(weights: Weights) -> Floats:
        return _over(covariance(judge, target), covariance(target, target, also=judge), weights)

    def of_people(weights: Weights) -> Floats:
        return _over(covariance(judge, judge, also=target), covariance(judge, target), weights)

    return of_judge, of_people


def tastes(
    table: Ratings, criterion: str, feature: Floats, judges: Sequence[str], **drawing: Unpack[Drawing]
) -> list[Taste]:
    """Each judge on a feature of items: a number for each of `table.units`, nan where unknown.

    A judge is left out with fewer than `FEWEST` items, where the feature does not vary, and where judge and
    people answer on different scales.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    rows = []
    for judge in judges:
        own = scores.judges[judge]
        both = np.isfinite(own + scores.target + feature)
        seen = feature[both]
        if table.no_level(criterion, (judge,)) or both.sum() < FEWEST or np.ptp(seen) < 1e-12:
            continue
        step = np.where(both, (feature - seen.mean()) / seen.std(ddof=1), np.nan)
        ways = spreads(scores, own)
        mine, theirs = _slope(own, step), _slope(scores.target, step, also=own)
        n, kind = int(both.sum()), "answers do not vary"
        figures: list[Figure] = [PointEstimate(mine, n, reason=kind)]
        figures += [PointEstimate(_beyond(mine, theirs, way), n, reason=kind) for way in ways]
        figures.append(PointEstimate(ways[-1], n, reason=kind))
        first, *beyond, spread = estimates(figures, table, **drawing)
        rows.append(Taste(judge, first, tuple(beyond), spread))
    return rows


def spread_estimates(
    table: Ratings, criterion: str, judges: Sequence[str], **drawing: Unpack[Drawing]
) -> list[tuple[str, Estimate]]:
    """How far each judge moves for a point of people: the most that it may be, where noise cannot be told
    apart.

    Judges on another scale than people are left out.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    chosen = [judge for judge in judges if not table.no_level(criterion, (judge,))]
    figures: list[Figure] = [
        PointEstimate(
            spreads(scores, scores.judges[judge])[-1],
            int(np.isfinite(scores.judges[judge] + scores.target).sum()),
            reason="answers do not vary",
        )
        for judge in chosen
    ]
    return list(zip(chosen, estimates(figures, table, **drawing), strict=True))


def on_scale(scores: CriterionScores, judge: Floats) -> list[Floats]:
    """Judge less people's mean on the judge's scale (nan: none), for each way to find the scale."""
    target = scores.target
    whole = everything(scores.items)
    gaps = []
    for way in spreads(scores, judge):
        spread = float(way(whole)[0])
        if np.isfinite(spread):
            gap = judge - spread * target
            gaps.append(gap - np.nanmean(gap))
    return gaps or [judge - target]


def covariance(x: Floats, y: Floats, also: Floats | None = None) -> Statistic:
    """The covariance of two scores on the items that have both (and `also`), as a statistic of weights."""
    both = np.flatnonzero(np.isfinite(x + y if also is None else x + y + also))
    one, other = x[both], y[both]
    one, other = one - (one.mean() if len(both) else 0), other - (other.mean() if len(both) else 0)

    def on(weights: Weights) -> Floats:
        weight = np.asarray(weights[both], dtype=np.float64)
        n = np.maximum(weight.sum(axis=0), 1e-12)
        return np.asarray((one * other) @ weight / n - (one @ weight / n) * (other @ weight / n))

    return on


def _slope(score: Floats, step: Floats, also: Floats | None = None) -> Statistic:
    known = score if also is None else np.where(np.isfinite(also), score, np.nan)
    return lambda weights: _over(covariance(known, step), covariance(step, step, also=known), weights)


def _beyond(mine: Statistic, theirs: Statistic, way: Statistic) -> Statistic:
    return lambda weights: mine(weights) - way(weights) * theirs(weights)


def _over(over: Statistic, under: Statistic, weights: Weights) -> Floats:
    below = under(weights)
    return np.where(below > 1e-9, over(weights) / np.where(below > 1e-9, below, 1), np.nan)
