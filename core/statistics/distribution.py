"""Score distribution: how often each rater gives which answer."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from concord.statistics.figures import empty, tabulate
from concord.statistics.ratings import DIGITS, CriterionScores, Floats, Ratings
from concord.table import Column, Table

ALL_PEOPLE = "All annotators"

DISTRIBUTION = empty(
    "score_distribution",
    "Score distribution by rater",
    Column("rater"),
    Column("kind"),
    Column("score"),
    Column("count"),
    Column("share", percent=True),
    Column("n", help="Answers of the rater."),
    caption="A mean over turns, runs or criteria counts as the nearest answer.",
)


def score_distribution(
    table: Ratings,
    criterion: str,
    answers: Floats | None = None,
    word: Callable[[float], str] | None = None,
) -> Table:
    """How often each rater gives which answer; `kind` is “people”, “person” or “judge”.

    `answers` are the possible ones; a score between two of them (a mean over turns or criteria) is counted
    with the nearer one, the upper of two equally near. Without `answers` each value counts by itself. All
    people together come first, then each of them unless they are unnamed, then the judges. `word` names an
    answer: the column `answer` is there with it alone.
    """
    scores = table[criterion]
    raters = [(ALL_PEOPLE, "people", of_people(scores))]
    if not scores.unlinked:
        raters += [(table.people[p], "person", scores.ratings_of(p)[1]) for p in scores.people.tolist()]
    raters += [(name, "judge", score[~np.isnan(score)]) for name, score in scores.judges.items()]
    rows = []
    for rater, kind, score in raters:
        if not len(score):
            continue
        values = np.unique(np.round(score, DIGITS)) if answers is None else answers
        nearest = len(values) - 1 - np.abs(score[:, None] - values[None, ::-1]).argmin(axis=1)
        count = np.bincount(nearest, minlength=len(values))
        rows += [
            {"rater": rater, "kind": kind, "score": value, "count": times, "share": times / len(score)}
            | {"n": len(score)}
            | ({"answer": word(value)} if word else {})
            for value, times in zip(values.tolist(), count.tolist(), strict=True)
        ]
    form = replace(DISTRIBUTION, columns=(*DISTRIBUTION.columns, Column("answer"))) if word else DISTRIBUTION
    return tabulate(form, table, criterion, rows, target="")


def of_people(scores: CriterionScores) -> Floats:
    """Every answer of a person; for unnamed people's *final*, which has none, the items' means."""
    return scores.score if len(scores.score) else scores.target[~np.isnan(scores.target)]
