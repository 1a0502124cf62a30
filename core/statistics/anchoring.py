"""Anchoring: how far annotators' second answers move towards the judge's score that they were shown."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from concord.estimate import undefined
from concord.statistics.figures import Drawing, Figure, PointEstimate, empty, tabulate
from concord.statistics.intervals import DIFFERENCE, SHARE, Kind
from concord.statistics.ratings import DIGITS, Floats, Ratings, divide
from concord.statistics.resampling import Weights
from concord.table import Column, Table

EVERYBODY = "all annotators"

ANCHORING = empty(
    "anchoring",
    "Second answers after the judge's score",
    Column("annotator"),
    Column("n", "answers"),
    Column("changed", percent=True, interval="ends", help="Share of answers that were changed."),
    Column("apart", "with another score", help="Answers to which the judge gave another score."),
    Column(
        "toward",
        "towards the judge",
        interval="ends",
        signed=True,
        help="Mean change towards the judge's score, in points, over the answers with another score.",
    ),
    Column(
        "share",
        "share of the distance",
        interval="ends",
        digits=2,
        help="Change over distance to the judge's score: 0 where nobody moves, 1 where everybody adopts it.",
    ),
    caption="How far annotators move when they are shown the judge's score. Second answers are in no other "
    "figure; an answer may also change without a judge, as test–retest shows.",
)


class Move(NamedTuple):
    """An annotator's answers to a unit: the blind one, the judge's score that was shown, the second one."""

    annotator: str
    unit: Hashable
    blind: float
    judge: float
    second: float


def anchoring(table: Ratings, criterion: str, moves: Sequence[Move], **drawing: Unpack[Drawing]) -> Table:
    """All annotators, then each, one row: how many answers changed, and how far towards the judge's score.

    With b the blind answer, j the judge's score and v the second answer, `changed` is the share of v ≠ b,
    `apart` counts the answers with j ≠ b, `toward` is the mean of (v − b) · sign(j − b) over these, and
    `share` is Σ(v − b)(j − b) / Σ(j − b)², the slope through the origin of the change on the distance: the
    weight of advice (Yaniv 2004) of answers weighted by their squared distance, which no small distance makes
    large. Units are resampled, with all their answers; `n` of a figure counts units. `toward` and `share` are
    undefined where the judge gave every answer's score.
    """
    place = {unit: at for at, unit in enumerate(table.units)}
    here = [move for move in moves if move.unit in place]
    people = sorted({move.annotator for move in here})
    rows = [_row(EVERYBODY, here, place)] if len(people) != 1 else []
    rows += [_row(name, [move for move in here if move.annotator == name], place) for name in people]
    return tabulate(
        ANCHORING,
        table,
        criterion,
        rows,
        target="second answers beside the same person's first",
        **drawing,
    )


def _row(name: str, moves: Sequence[Move], place: dict[Hashable, int]) -> dict[str, Any]:
    at = np.array([place[move.unit] for move in moves], dtype=np.int64)
    blind, judge, second = (
        np.array([getattr(move, field) for move in moves]) for field in ("blind", "judge", "second")
    )
    change, distance = np.round(second - blind, DIGITS), np.round(judge - blind, DIGITS)
    apart = distance != 0

    def ratio(over: Floats, under: Floats, kind: Kind) -> Figure:
        top, below = (np.bincount(at, values, minlength=len(place)) for values in (over, under))
        if not below.any():
            return undefined("the judge's score was the answer every time", n=0)

        def on(weights: Weights) -> Floats:
            weight = weights.astype(np.float64)
            return divide(top @ weight, below @ weight)

        return PointEstimate(on, int((below > 0).sum()), kind=kind, items=below > 0)

    return {
        "annotator": name,
        "n": len(moves),
        "apart": int(apart.sum()),
        "changed": ratio((change != 0).astype(float), np.ones(len(moves)), SHARE),
        "toward": ratio(change * np.sign(distance), apart.astype(float), DIFFERENCE),
        "share": ratio(change * distance, distance**2, DIFFERENCE),
    }
