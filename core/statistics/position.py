"""Position bias: how often a judge chooses the first of two, beside people on the same pairs."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate
from concord.statistics.figures import Drawing, Figure, PointEstimate, estimates
from concord.statistics.intervals import DIFFERENCE
from concord.statistics.ratings import DIGITS, Floats, Ratings, divide, sums
from concord.statistics.resampling import mean

FIRST = ("a", "first", "left", "1")
SECOND = ("b", "second", "right", "2")
"""How answers name the first and the second of two, alone or beside a word such as “model” or “response”."""
TIES = frozenset(
    [
        "tie",
        "tied",
        "ties",
        "equal",
        "equally",
        "both",
        "bothbad",
        "bothgood",
        "neither",
        "same",
        "draw",
        "drawn",
        "none",
        "similar",
        "equivalent",
        "indifferent",
        "neutral",
    ]
)
"""Words of answers that choose neither of two."""
FILLERS = frozenset(
    [
        "model",
        "models",
        "response",
        "responses",
        "answer",
        "assistant",
        "output",
        "system",
        "option",
        "choice",
        "candidate",
        "completion",
        "reply",
        "text",
        "summary",
        "translation",
        "story",
        "dialogue",
        "conversation",
        "bot",
        "agent",
        "item",
        "is",
        "was",
        "the",
        "slightly",
        "much",
        "significantly",
        "marginally",
        "strongly",
        "clearly",
        "somewhat",
        "far",
        "by",
        "very",
        "better",
        "best",
        "wins",
        "win",
        "won",
        "winner",
        "winning",
        "preferred",
        "prefer",
        "prefers",
        "preference",
        "strong",
        "weak",
        "over",
        "than",
        "good",
        "bad",
    ]
)
"""Words beside the side that an answer names."""
_ARTICLE = re.compile(r"\ba (?=(?:bit|little|lot|tie|draw)\b)")
_COMPARED = re.compile(r"([ab12])\s*(>+|<+|=+|≈|~)\s*([ab12])")


class ShareOfFirst(NamedTuple):
    """How often a judge chooses the first of two, people on the same pairs, and the difference."""

    judge: str
    judged: float
    rated: float
    difference: Estimate


class Sides(NamedTuple):
    """What the answers of a question about pairs choose: the share of the first in each, 1, 0 or ½ for a tie,
    and the places of the labels of the first and the second.
    """

    shares: tuple[float, ...]
    first: int
    second: int


def side_of(label: str) -> float | None:
    """What an answer chooses of two: 1 the first, 0 the second, ½ neither; None where it names no side.

    “A”, “model_b”, “Response 1 is better”, “A>>B”, “B slightly better”, “tie (both bad)”.
    """
    text = " ".join(re.sub(r"[_.,!()\[\]\-]+", " ", label.casefold()).split())
    if compared := _COMPARED.fullmatch(text):
        return _of_signs(*compared.groups())
    words = re.findall(r"\w+", _ARTICLE.sub("", text))
    if {*words} & TIES:
        return 0.5
    worse = "worse" in words
    sides = [word for word in words if word not in FILLERS and word not in ("worse", "bit", "little", "lot")]
    if len(sides) != 1:
        return None
    if sides[0] in FIRST:
        return 0.0 if worse else 1.0
    if sides[0] in SECOND:
        return 1.0 if worse else 0.0
    return None


def _of_signs(one: str, sign: str, two: str) -> float | None:
    """What “A>B” chooses."""
    places = [1.0 if side in FIRST else 0.0 for side in (one, two)]
    if places[0] == places[1]:
        return None
    if sign[0] == ">":
        return places[0]
    if sign[0] == "<":
        return places[1]
    return 0.5


def sides(labels: Sequence[str]) -> Sides | None:
    """What labels choose of two, where all of them name the first, the second or a tie; else None.

    The C of A, B and C is a tie, as judges are often told to write.
    """
    shares = [side_of(label) for label in labels]
    unknown = [label.casefold() for label, share in zip(labels, shares, strict=True) if share is None]
    if unknown == ["c"] and len(labels) == 3:
        shares = [0.5 if share is None else share for share in shares]
    defined = tuple(share for share in shares if share is not None)
    if len(defined) < len(labels) or not {0.0, 1.0} <= {*defined}:
        return None
    return Sides(defined, defined.index(1.0), defined.index(0.0))


class PairOrders(NamedTuple):
    """A judge's answer to each item where the first of two was shown first, and where the second was (nan:
    not asked so).
    """

    straight: Floats
    swapped: Floats


def shares_of_first(
    table: Ratings,
    criterion: str,
    answers: Mapping[float, float],
    orders: Mapping[str, PairOrders] | None = None,
    **drawing: Unpack[Drawing],
) -> list[ShareOfFirst]:
    """Each judge's share of the one shown first, less people's on the same pairs (mean of those who answered
    each), with its interval; `answers` has the share of the first in each answer, ½ in a tie.

    Where the `orders` of a judge are known, people's preferences are taken as if they had seen the same. Else
    the first of the answers is the one shown first. Pairs shown in one order to all say nothing of people's
    own position bias, which drops out here.
    """
    scores = table[criterion]
    drawing["people"] = "these"
    of_people = share_of_people(table, criterion, answers)
    rows = []
    figures = list[Figure]()
    for judge, score in scores.judges.items():
        of_judge = first_share(score, answers)
        annotators = of_people
        if orders and judge in orders:
            straight, swapped = (first_share(order, answers) for order in orders[judge])
            of_judge = _mean(straight, 1 - swapped)
            annotators = _mean(_masked(straight, of_people), _masked(swapped, 1 - of_people))
        common = np.isfinite(of_judge + annotators)
        if common.any():
            rows.append((judge, float(of_judge[common].mean()), float(annotators[common].mean())))
            figures.append(PointEstimate(mean(of_judge - annotators), int(common.sum()), kind=DIFFERENCE))
    differences = estimates(figures, table, **drawing)
    return [ShareOfFirst(*row, difference) for row, difference in zip(rows, differences, strict=True)]


def share_of_people(table: Ratings, criterion: str, answers: Mapping[float, float]) -> Floats:
    """People's share of the first on each item, the mean of those who answered it; nan where nobody did."""
    scores = table[criterion]
    return divide(
        sums(scores.item, first_share(scores.score, answers), scores.items),
        np.bincount(scores.item, minlength=scores.items),
    )


def _mean(one: Floats, two: Floats) -> Floats:
    """The mean of two values of each item, or the one that is there."""
    finite = np.isfinite([one, two])
    return divide(np.where(finite, [one, two], 0.0).sum(axis=0), finite.sum(axis=0))


def _masked(order: Floats, values: Floats) -> Floats:
    return np.where(np.isnan(order), np.nan, values)


def first_share(score: Floats, answers: Mapping[float, float]) -> Floats:
    """The share of the first in each score: 1, 0, ½ for any other answer; nan where there is none."""
    share = np.full(len(score), 0.5)
    for answer, of_first in answers.items():
        share[np.abs(score - answer) <= 10**-DIGITS] = of_first
    return np.where(np.isnan(score), np.nan, share)
