"""Score distribution: how often each rater gives which answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.agreement.figures import basis
from core.agreement.judges import NEAR_CONSTANT
from core.agreement.ratings import DIGITS, CriterionScores, Floats, Ratings, read_ratings
from core.glossary import explain
from core.table import Column, Table

ALL_PEOPLE = "All people"


def score_distribution(
    ratings: pd.DataFrame | Ratings, criterion: str, answers: Floats | None = None
) -> Table:
    """How often each rater gives which answer; `kind` is “people”, “person” or “judge”.

    `answers` are the possible ones; a score between two of them (a mean over turns or criteria) is counted
    with the nearer one, the upper of two equally near. Without `answers` each value counts by itself. All
    people together come first, then each of them unless they are unnamed, then the judges. `near_constant`
    marks a rater who gives one answer to more than nine items in ten.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    given = [(ALL_PEOPLE, "people", of_people(scores))]
    if not scores.unlinked:
        given += [(table.people[p], "person", scores.by(p)[1]) for p in scores.people.tolist()]
    given += [(name, "judge", score[~np.isnan(score)]) for name, score in scores.judges.items()]
    rows = []
    for rater, kind, score in given:
        values = np.unique(np.round(score, DIGITS)) if answers is None else answers
        if not len(score):
            continue
        nearest = len(values) - 1 - np.abs(score[:, None] - values[None, ::-1]).argmin(axis=1)
        count = np.bincount(nearest, minlength=len(values))
        near_constant = bool(count.max() / len(score) > NEAR_CONSTANT)
        rows += [
            {"rater": rater, "kind": kind, "score": value, "count": times, "share": times / len(score)}
            | {"n": len(score), "near_constant": near_constant}
            for value, times in zip(values.tolist(), count.tolist(), strict=True)
        ]
    return Table(
        "score_distribution",
        "Score distribution by rater",
        (
            Column("rater"),
            Column("kind"),
            Column("score", digits=2),
            Column("count"),
            Column("share", percent=True),
            Column("n", help="Answers of the rater."),
            Column("near_constant", help=explain("near-constant judge")),
        ),
        tuple(rows),
        "A mean over turns, runs or criteria is counted with the nearest answer.",
        (basis(table, scores)["text"],),
    )


def of_people(scores: CriterionScores) -> Floats:
    """Every answer of a person; for unnamed people's *final*, which has none, the items' means."""
    return scores.score if len(scores.score) else scores.target[~np.isnan(scores.target)]
