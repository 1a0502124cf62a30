"""Which of two answers is better: how often judges prefer what people prefer, with ties and without.

Agreement with ties takes a tie as an answer of its own, that without counts pairs on which both decide: the
two setups of Zheng et al. (2023), “Judging LLM-as-a-judge with MT-Bench and Chatbot Arena”. A judge that was
asked in both orders has a preference where both agree, else a tie, as theirs.
"""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from concord.statistics import columns
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import SHARE
from concord.statistics.majority import panel_answers
from concord.statistics.position import PairOrders, first_share, shares_of_first
from concord.statistics.ratings import DIGITS, Floats, Panels, Ratings, divide, sums
from concord.statistics.resampling import mean, ratio
from concord.table import Column, Table

PREFERENCES = empty(
    "preferences",
    "Preferences of judges and annotators",
    columns.RATER,
    columns.N,
    Column(
        "equal",
        "Same preference",
        percent=True,
        interval="ends",
        help="The share of annotators' answers that the judge gives, on average over the pairs; a tie is "
        "an answer.",
    ),
    Column(
        "equal_decided",
        "Without ties",
        percent=True,
        interval="ends",
        n=True,
        help="The same where judge and annotator both prefer one of the two; n: pairs.",
    ),
    Column("ties", "Ties: judge", percent=True, help="Of the pairs that annotators answered too."),
    Column("ties_of_people", "Ties: annotators", percent=True, help="Of the same pairs."),
    Column(
        "position",
        "Position bias",
        percent=True,
        signed=True,
        interval="ends",
        help="The judge's share of the one shown first (a tie is half), less annotators' on the same pairs.",
    ),
    Column(
        "changed",
        "Changes with the order",
        percent=True,
        interval="ends",
        n=True,
        help="n: pairs in both orders.",
    ),
    Column("to_first", file_only=True),
    Column("to_second", file_only=True),
)
SIDES = (1.0, 0.0, 0.5)
"""The share of the first in a preference for the first, for the second, and in a tie."""


def preferences(
    ratings: Ratings,
    criterion: str,
    answers: Mapping[float, float],
    *,
    orders: Mapping[str, PairOrders] | None = None,
    panels: Panels = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Judges and panels beside people on pairs, one row each.

    `answers` has the share of the first in each answer (½: a tie), `orders` a judge's answers by order where
    it is known which was shown first. Undefined where nobody answered a pair that a judge answered.
    """
    drawing["people"] = "these"
    position = {
        one.judge: one.difference for one in shares_of_first(ratings, criterion, answers, orders, **drawing)
    }

    def rows(table_of: Ratings) -> list[dict[str, Any]]:
        scores = table_of[criterion]
        people = _by_side(first_share(scores.score, answers), scores.item, scores.items)
        table: list[dict[str, Any]] = []
        for one in scores.contenders(panels):
            answered_by = panel_answers(scores, one.members)
            judge = _by_side(
                first_share(answered_by.answer, answers), answered_by.item, scores.items, answered_by.part
            )
            row: dict[str, Any] = {"rater": one.name} | _agreement(judge, people)
            row["position"] = position.get(one.name)
            if orders and one.name in orders:
                row |= _changes(orders[one.name], answers)
            table.append(row)
        return table

    return tabulate(PREFERENCES, ratings, criterion, rows(ratings), recompute=rows, **drawing)


def _by_side(share: Floats, item: Any, items: int, part: Floats | None = None) -> Floats:
    """The part of each side in the answers to each item (items × sides); nan where there is none."""
    part = np.ones(len(share)) if part is None else part
    total = sums(item, part, items)
    of_side = [sums(item, part * (np.abs(share - side) < 10**-DIGITS), items) for side in SIDES]
    return np.array([divide(sides_of, total) for sides_of in of_side]).T


def _agreement(judge: Floats, people: Floats) -> dict[str, Any]:
    """How often a judge and people prefer the same, with ties and without, and how often each sees a tie."""
    common = np.isfinite(judge[:, 0] + people[:, 0])
    n = int(common.sum())
    agreement = judge * people
    one, second = (1 - sides_of[:, 2] for sides_of in (judge, people))
    decisions = np.where(common, one * second, np.nan)
    number = int((decisions > 0).sum())
    reason = "" if n else "no pair has both answers"
    ties, ties_of_people = (np.where(common, sides_of[:, 2], np.nan) for sides_of in (judge, people))
    return {
        "n": n,
        "equal": PointEstimate(mean(agreement.sum(axis=1)), n, reason=reason, kind=SHARE, items=common),
        "equal_decided": PointEstimate(
            ratio(np.where(common, agreement[:, 0] + agreement[:, 1], np.nan), decisions),
            number,
            reason=reason or "only ties",
            kind=SHARE,
            items=decisions > 0,
        ),
        "ties": PointEstimate(mean(ties), n, reason=reason, kind=SHARE, items=common),
        "ties_of_people": PointEstimate(mean(ties_of_people), n, reason=reason, kind=SHARE, items=common),
    }


def _changes(orders: PairOrders, answers: Mapping[float, float]) -> dict[str, Any]:
    """Of the pairs asked in both orders the share whose preference changes, and to which place."""
    straight, swapped = (first_share(order, answers) for order in orders)
    common = np.isfinite(straight + swapped)
    n = int(common.sum())
    changed = np.where(common, np.abs(straight - swapped) > 10**-DIGITS, np.nan)
    reason = "" if n else "no pair was asked in both orders"
    figure = PointEstimate(mean(changed), n, reason=reason, kind=SHARE, items=common)
    lean = straight - swapped
    return {"changed": figure, "to_first": int((lean > 0).sum()), "to_second": int((lean < 0).sum())}
