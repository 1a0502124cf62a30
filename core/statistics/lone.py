"""Annotators who agree with no other annotator, compared with the others' agreement."""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate
from concord.statistics.correlation import correlation
from concord.statistics.figures import Drawing, Figure, PointEstimate, estimates
from concord.statistics.held_out import HeldOutMeasure, rarer_answers
from concord.statistics.intervals import DIFFERENCE, FEWEST_RARER, rests_on
from concord.statistics.nominal import kappa
from concord.statistics.ratings import CriterionScores, Floats, Ratings
from concord.statistics.resampling import Statistic, Weights, full_sample, mean_defined

MOST_ANNOTATORS = 8
"""Annotators of whom every two are compared; of more none is looked at."""

FEWEST = 10
"""Items that two annotators share, below which they are not compared."""


class Lone(NamedTuple):
    """An annotator, their agreement with the others, and that of the others with each other, each the mean
    over pairs; `contrast` is half of the others' less their own.
    """

    person: str
    with_annotator: float
    between_others: float
    contrast: Estimate


def lone(table: Ratings, criterion: str, measure: HeldOutMeasure, **drawing: Unpack[Drawing]) -> list[Lone]:
    """Each annotator beside the others, by the agreement (ρ or κ) of every two of them.

    Who agrees with nobody reaches less than half of what the others reach among themselves: `contrast` lies
    above 0. On rare answers all agree less, the others too, and below 20 items with a rarer answer kappa has
    no interval. Nothing for fewer than three annotators, more than `MOST`, and people who are not persons; an
    annotator without ten items in common with two others, who have as many, is excluded.
    """
    scores = table[criterion]
    people = [] if scores.unlinked else scores.people.tolist()
    if not 3 <= len(people) <= MOST_ANNOTATORS:
        return []
    pairs = _pairs(scores, people, measure)
    rated = int((scores.present > 1).sum())
    kind = rests_on(
        DIFFERENCE, rarer_answers(scores), rated, fewest=FEWEST_RARER if measure == "kappa" else 0
    )
    rows: list[tuple[int, float, float]] = []
    figures: list[Figure] = []
    full_weights = full_sample(scores.items)
    for person in people:
        with_annotator = [statistic for two, statistic in pairs.items() if person in two]
        between_others = [statistic for two, statistic in pairs.items() if person not in two]
        if not with_annotator or not between_others:
            continue
        values = [float(_mean(statistic)(full_weights)[0]) for statistic in (with_annotator, between_others)]
        rows.append((person, *values))
        figures.append(
            PointEstimate(
                _contrast(with_annotator, between_others), rated, kind=kind, reason="answers do not vary"
            )
        )
    drawing["people"] = "these"
    computed = estimates(figures, table, criterion=criterion, **drawing)
    return [
        Lone(table.people[person], with_annotator, between_others, contrast)
        for (person, with_annotator, between_others), contrast in zip(rows, computed, strict=True)
        if contrast.defined
    ]


def _pairs(
    scores: CriterionScores, people: Sequence[int], measure: HeldOutMeasure
) -> dict[tuple[int, int], Statistic]:
    """The agreement of every two who share enough items."""
    scores_of: dict[int, Floats] = {person: scores.scores_of(person) for person in people}
    pairs = {}
    for place, one in enumerate(people):
        for second in people[place + 1 :]:
            x = scores_of[one]
            y = scores_of[second]
            if np.isfinite(x + y).sum() >= FEWEST:
                statistic = kappa(x, y, of_sets=scores.sets) if measure == "kappa" else correlation(x, y)
                pairs[one, second] = statistic
    return pairs


def _mean(statistics: Sequence[Statistic]) -> Statistic:
    return lambda weights: mean_defined(np.array([statistic(weights) for statistic in statistics]))


def _contrast(with_annotator: Sequence[Statistic], between_others: Sequence[Statistic]) -> Statistic:
    def statistic(weights: Weights) -> Floats:
        return _mean(between_others)(weights) / 2 - _mean(with_annotator)(weights)

    return statistic
