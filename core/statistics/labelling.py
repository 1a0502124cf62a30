"""How wide intervals would be with so many rows labelled by a person, before any label exists."""

from collections.abc import Sequence

import numpy as np

from concord.statistics.corrected import corrected_mean
from concord.statistics.hidden import share
from concord.statistics.intervals import of_ranks
from concord.statistics.ratings import Floats
from concord.table import Cell, Column, Table

RIGHT = 0.85
"""The share of a judge's passes, and of its fails, that a person is supposed to share."""
RHO = 0.7
"""Spearman's ρ of a judge with a person that is supposed."""
COUNTS = (25, 50, 100, 200, 400, 800)


def expected(judge: Floats, counts: Sequence[int] = COUNTS) -> Table:
    """Half the width of 95% intervals with so many of a judge's rows labelled at random, one row a number.

    For a judge that passes (1) and fails (0): of sensitivity, specificity and the corrected pass rate, where
    a person shares `RIGHT` of its passes and fails. For scores: of ρ, where it is `RHO`. Numbers beyond the
    rows there are have no row; no rows without scores.
    """
    scores = judge[~np.isnan(judge)]
    named = set(scores.tolist()) <= {0.0, 1.0}
    rows: list[dict[str, Cell]] = []
    for n in (n for n in counts if n <= len(scores)):
        if not named:
            low, high, _ = of_ranks(RHO, n)
            rows.append({"n": n, "rho": None if low is None or high is None else (high - low) / 2})
            continue
        passes = round(float(scores.mean()) * n)
        right = round(RIGHT * passes), round(RIGHT * (n - passes))
        judged = np.repeat([1.0, 0.0], [passes, n - passes])
        people = np.repeat(
            [1.0, 0.0, 0.0, 1.0], [right[0], passes - right[0], right[1], n - passes - right[1]]
        )
        others = np.repeat(
            [1.0, 0.0], [round(float(scores.sum())) - passes, round(float((1 - scores).sum())) - (n - passes)]
        )
        theirs = int(people.sum())
        figures = {
            "sensitivity": share(right[0], theirs, "people pass no item"),
            "specificity": share(right[1], n - theirs, "people fail no item"),
            "corrected": corrected_mean(people, judged, others, scale=(0.0, 1.0)).value,
        }
        rows.append({"n": n, **{name: figure.half_width for name, figure in figures.items()}})
    names = ("sensitivity", "specificity", "corrected") if named else ("rho",)
    titles = {"corrected": "corrected pass rate", "rho": "ρ with people"}
    shown = (Column(name, f"± {titles.get(name, name)}", percent=named) for name in names)
    supposed = f"a person shares {RIGHT:.0%} of its passes and of its fails" if named else f"ρ is {RHO:g}"
    return Table(
        "labelling",
        "What labels would give",
        (Column("n", "Rows labelled"), *shown),
        tuple(rows),
        notes=(
            f"Half the width of 95% intervals, supposed that {supposed}, and rows are labelled at random.",
        ),
    )
