"""Annotators with each other: Spearman's ρ of every two, and of each with the mean of all and the others."""

import numpy as np

from concord.estimate import Estimate, estimate, too_few, undefined
from concord.statistics.correlation import correlation
from concord.statistics.ratings import Floats, Ratings
from concord.statistics.resampling import full_sample
from concord.table import Cell, Column, Table

MOST_COLUMNS = 15
"""Annotators of whom readers see a column each; of more files have them, and pages a picture."""
MOST_COMPARED = 100
"""Annotators of whom every two are compared: those with the most ratings."""


def people_pairs(ratings: Ratings, criterion: str) -> Table:
    """A row for each annotator: ρ with each other one, with the mean of all, and with that of the others.

    Each figure is over the items that both rated (n beside it in files). The mean of all includes the
    annotator's own rating, which makes that figure look higher than agreement with others is. Undefined for
    fewer than two common items, and where one of the two never varies.
    """
    scores = ratings[criterion]
    people = [int(person) for person in scores.people]
    ratings_of = {person: scores.scores_of(person) for person in people}
    names = {person: ratings.people[person] for person in people}
    number = {person: int((~np.isnan(ratings_of[person])).sum()) for person in people}
    raters = set(sorted(people, key=lambda person: -number[person])[:MOST_COMPARED])
    compared = [person for person in people if person in raters]
    figures = {
        (one, second): rho(ratings_of[one], ratings_of[second])
        for place, one in enumerate(compared)
        for second in compared[place + 1 :]
    }
    figures |= {(second, one): figure for (one, second), figure in figures.items()}
    rows: list[dict[str, Cell]] = []
    for person in people:
        pairs = {f"with {names[second]}": figures.get((person, second)) for second in compared}
        row: dict[str, Cell] = {"person": names[person]}
        row |= {name: figure for name, figure in pairs.items() if figure is not None}
        row["others"] = rho(ratings_of[person], scores.mean_of_others(person))
        row["all"] = rho(ratings_of[person], scores.target)
        rows.append(row)
    crowded = len(people) > MOST_COLUMNS
    columns = (
        Column("person", "Annotator"),
        *(Column(f"with {names[second]}", names[second], digits=3, file_only=crowded) for second in compared),
        Column("others", "mean of the others", digits=3, help="Excludes the annotator's own rating"),
        Column("all", "mean of all", digits=3, help="Includes the annotator's own rating, so it is higher"),
    )
    notes = []
    if crowded:
        notes.append(
            "Exported files have ρ of each pair of annotators; the page Agreement shows it as a picture."
        )
    if len(people) > MOST_COMPARED:
        notes.append(f"Compares all pairs of the {MOST_COMPARED} annotators with the most ratings.")
    return Table(
        "people_pairs", "Annotators: Spearman's ρ with each other", columns, tuple(rows), notes=tuple(notes)
    )


def every_two(table: Table) -> list[tuple[str, str, Estimate]]:
    """The pairs of annotators in a table of `people_pairs`, each in both orders, with their ρ."""
    return [
        (str(row["person"]), name.removeprefix("with "), cell)
        for row in table.rows
        for name, cell in row.items()
        if name.startswith("with ") and isinstance(cell, Estimate)
    ]


def rho(first: Floats, second: Floats) -> Estimate:
    """Spearman's ρ of two scores of each item (nan: none), over the items that have both."""
    common = ~np.isnan(first) & ~np.isnan(second)
    n = int(common.sum())
    if n < 2:
        return undefined(too_few(n, 2), n=n)
    value = float(correlation(first[common], second[common])(full_sample(n))[0])
    return undefined("one of the two never varies", n=n) if np.isnan(value) else estimate(value, n=n)
