"""Which answer most judges of a panel, or most people, gave to each item: the one definition of both.

Only answers that have no mean are decided so (pass or fail, categories, sets of labels). A panel's score on a
scale is the mean of its judges: `CriterionScores.panel`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from concord.statistics import sets
from concord.statistics.alpha import value_counts
from concord.statistics.ratings import DIGITS, CriterionScores, Floats, Ints


@dataclass(frozen=True, eq=False)
class PanelAnswers:
    """The answers of a panel, one row for each answer in first place on an item.

    `part` is 1 for the answer that most judges gave, and 1/k for each of k answers that share the first
    place. An item that a judge of the panel did not answer has no row.
    """

    item: Ints
    answer: Floats
    part: Floats

    def shares(self, answers: Floats, items: int) -> Floats:
        """The part of each of `answers` (ascending) on each of so many items; nan where there is no row."""
        parts = np.full((items, len(answers)), np.nan)
        parts[self.item] = 0.0
        parts[self.item, np.searchsorted(answers, self.answer)] = self.part
        return parts


def panel_answers(scores: CriterionScores, members: Sequence[str]) -> PanelAnswers:
    """The answers of a judge or a panel on one criterion.

    A panel gives the answer that most of its judges gave. Where k answers share the first place the item
    stays, and each of them counts for 1/k of it: agreement is what a fair draw among them reaches on average.
    Without these items two judges that err apart would look as if they never erred, for they agree where both
    are right. Of sets of labels the panel's set has what more than half of its judges gave, so that a label
    which just half of them gave is not in it. Raises StudyError for an unknown judge.
    """
    items = np.flatnonzero(~np.isnan(scores.panel(members)))
    answers = np.array([scores.judges[name] for name in members])[:, items]
    rows = np.tile(np.arange(len(items)), len(members))
    counts, values = value_counts(rows, answers.ravel(), len(items))
    number = counts.toarray()
    if scores.sets:
        return PanelAnswers(items, sets.most_said(number, values), np.ones(len(items)))
    first = number == number.max(axis=1, keepdims=True, initial=0)
    row, place = np.nonzero(first)
    return PanelAnswers(items[row], values[place], 1 / first.sum(axis=1)[row])


def most_frequent(dense: Floats, values: Floats) -> Floats:
    """The answer most people gave to each item; nan without an answer or with a shared first place."""
    if not dense.size:
        return np.full(len(dense), np.nan)
    maximum = dense.max(axis=1)
    alone = (dense == maximum[:, None]).sum(axis=1) == 1
    return np.where((maximum > 0) & alone, values[dense.argmax(axis=1)], np.nan)


def answer_of_people(scores: CriterionScores) -> Floats:
    """The answer of most people to each item; of sets the labels that more than half of them gave.

    nan where nobody answered, and where answers share the first place: there is nothing to compare with, for
    any judge. `ties_of_people` counts these items.
    """
    if scores.unlinked and not len(scores.score):
        return scores.target
    counts, values = value_counts(scores.item, scores.score, scores.items)
    return (sets.most_said if scores.sets else most_frequent)(counts.toarray(), values)


def ties_of_people(scores: CriterionScores) -> int:
    """On how many items people's answers share the first place."""
    return int(((scores.present > 0) & np.isnan(answer_of_people(scores))).sum())


def shares(score: Floats, answers: Floats) -> Floats:
    """Which of the answers each item has (items × answers), as 1 and 0; nan where it has none."""
    equal: Floats = np.equal.outer(np.round(score, DIGITS), np.round(answers, DIGITS)).astype(np.float64)
    equal[np.isnan(score)] = np.nan
    return equal
