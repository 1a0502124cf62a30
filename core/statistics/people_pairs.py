"""Annotators with each other: Spearman's ρ of every two, and of each with the mean of all and the others."""

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.correlation import correlation
from concord.statistics.ratings import Floats, Ratings
from concord.statistics.resampling import everything
from concord.table import Cell, Column, Table

MOST = 15
"""Annotators of whom every two have a cell; of more only the means are shown."""


def people_pairs(ratings: Ratings, criterion: str) -> Table:
    """A row for each annotator: ρ with each other one, with the mean of all, and with that of the others.

    Each figure is over the items that both rated (n beside it in files). The mean of all includes the
    annotator's own rating, which makes that figure look higher than agreement with others is. Undefined for
    fewer than two common items, and where one of the two never varies.
    """
    scores = ratings[criterion]
    people = [int(person) for person in scores.people]
    given = {person: scores.of(person) for person in people}
    names = {person: ratings.people[person] for person in people}
    shown = people if len(people) <= MOST else []
    rows: list[dict[str, Cell]] = []
    for person in people:
        row: dict[str, Cell] = {"person": names[person]}
        for other in shown:
            if other != person:
                row[f"with {names[other]}"] = rho(given[person], given[other])
        row["others"] = rho(given[person], scores.others(person))
        row["all"] = rho(given[person], scores.target)
        rows.append(row)
    columns = (
        Column("person", "Annotator"),
        *(Column(f"with {names[other]}", names[other], digits=3) for other in shown),
        Column("others", "mean of the others", digits=3, help="Without the annotator's own rating"),
        Column("all", "mean of all", digits=3, help="With the annotator's own rating, so higher"),
    )
    notes = () if shown else (f"Of more than {MOST} annotators every two have no cell.",)
    return Table(
        "people_pairs", "Annotators: Spearman's ρ with each other", columns, tuple(rows), notes=notes
    )


def rho(first: Floats, second: Floats) -> Estimate:
    """Spearman's ρ of two scores of each item (nan: none), over the items that have both."""
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    if n < 2:
        return undefined(too_few(n, 2), n=n)
    value = float(correlation(first[both], second[both])(everything(n))[0])
    return undefined("one of the two never varies", n=n) if np.isnan(value) else estimate(value, n=n)
