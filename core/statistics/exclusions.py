"""Which items that people rated do not enter a figure of a judge or a panel, counted by reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from concord.codes import Exclusion
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import Bools, Ratings


def exclusions(
    table: Ratings, criterion: str, members: Sequence[str], n: int, *, held_out: bool, majority: bool
) -> dict[Exclusion, int]:
    """The rated items that a figure of `n` items excludes, by the first reason that holds of each.

    `held_out`: the figure holds one annotator out at a time, so that another one has to have rated the item.
    `majority`: it compares with the answer of most annotators, which a tie does not give. The counts add up
    to the rated items less n; a reason that holds of no item is excluded. Raises StudyError for an unknown
    judge.
    """
    scores = table[criterion]
    requirements: list[tuple[Exclusion, Bools]] = [
        (Exclusion.CLOSED, table.open(criterion)),
        (Exclusion.NO_ANSWER, ~np.isnan(scores.panel(members))),
    ]
    if held_out:
        requirements.append((Exclusion.ONE_ANNOTATOR, scores.present > 1))
    elif majority:
        requirements.append((Exclusion.ANNOTATORS_TIE, ~np.isnan(answer_of_people(scores))))
    left = scores.present > 0
    counts: dict[Exclusion, int] = {}
    for code, holds in requirements:
        if number := int((left & ~holds).sum()):
            counts[code] = number
        left = left & holds
    rest = int(left.sum()) - n
    if rest > 0:
        counts[Exclusion.FEW_IN_COMMON] = rest
    return counts
