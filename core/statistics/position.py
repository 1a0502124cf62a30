"""Position bias: how often a judge chooses the first of two, beside people on the same pairs."""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate
from concord.statistics.figures import Drawing, Figure, PointEstimate, estimates
from concord.statistics.intervals import DIFFERENCE
from concord.statistics.ratings import DIGITS, Floats, Ratings, divide, sums
from concord.statistics.resampling import mean

FIRST = ("a", "first", "left", "1")
SECOND = ("b", "second", "right", "2")
"""How answers name the first and the second of two, alone or behind a word such as “model” or “response”."""


TIES = frozenset({"tie", "tied", "equal", "both", "neither", "same", "draw", "none"})
"""Words of answers that choose neither of two."""


class ShareOfFirst(NamedTuple):
    """How often a judge chooses the first of two, how often people do on the same pairs, and the
    difference.
    """

    judge: str
    judged: float
    rated: float
    difference: Estimate


def first_and_second(labels: Sequence[str]) -> tuple[int, int] | None:
    """The places of the labels that name the first and the second of two; None where labels name no pair.

    There may be others beside them, such as a tie.
    """
    words = [label.casefold().replace("_", " ").split()[-1:] for label in labels]
    for one, other in zip(FIRST, SECOND, strict=True):
        if [one] in words and [other] in words:
            return words.index([one]), words.index([other])
    return None


def is_tie(label: str) -> bool:
    """Whether an answer says that two are equal."""
    return bool({*label.casefold().replace("_", " ").split()} & TIES)


def shares_of_first(
    table: Ratings, criterion: str, answers: tuple[float, float], **drawing: Unpack[Drawing]
) -> list[ShareOfFirst]:
    """Each judge's share of the first of two `answers`, less people's on the same pairs (mean of those who
    answered each), with its interval; another answer, such as a tie, counts as half.

    Pairs shown in one order to all say nothing of people's own position bias, which drops out here.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    of_people = divide(
        sums(scores.item, _first(scores.score, answers), scores.items),
        np.bincount(scores.item, minlength=scores.items),
    )
    rows, figures = [], list[Figure]()
    for judge, score in scores.judges.items():
        of_judge = _first(score, answers)
        common = np.isfinite(of_judge + of_people)
        if common.any():
            rows.append((judge, float(of_judge[common].mean()), float(of_people[common].mean())))
            figures.append(PointEstimate(mean(of_judge - of_people), int(common.sum()), kind=DIFFERENCE))
    done = estimates(figures, table, **drawing)
    return [ShareOfFirst(*row, difference) for row, difference in zip(rows, done, strict=True)]


def _first(score: Floats, answers: tuple[float, float]) -> Floats:
    """1 for the first answer, 0 for the second, half for any other; nan where there is none."""
    one, other = (np.abs(score - answer) <= 10**-DIGITS for answer in answers)
    return np.where(np.isnan(score), np.nan, np.where(one, 1.0, np.where(other, 0.0, 0.5)))
