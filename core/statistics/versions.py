"""Judges by version of their prompt: Spearman's ρ with the mean of people, the versions side by side.

A row a judge or panel, a column a criterion and version; a note names where p is not below 0.0001.
"""

from collections.abc import Callable, Mapping
from typing import Unpack

from concord.statistics.figures import Drawing
from concord.statistics.ratings import Ratings, default_panels
from concord.statistics.study import study_agreement
from concord.table import Cell, Column, Table

SMALL_P = 0.0001
"""The paper marks correlations whose p is not below this."""


def judges_by_version(
    ratings: Ratings,
    models: Mapping[str, str],
    versions: Mapping[str, str],
    label: Callable[[str], str],
    **drawing: Unpack[Drawing],
) -> Table:
    """A row a judge's model, and one for each panel; a column a criterion and version.

    `models` and `versions` say which model and which version of the prompt each judge of `ratings` is. Panels
    are the mean of all judges of a version, and each pair of them; a row holds a panel of the same models in
    every version that has it. A cell without such a judge is empty.
    """
    every = sorted({versions[judge] for judge in ratings.judges})
    panels = [
        panel
        for version in every
        for panel in default_panels([judge for judge in ratings.judges if versions[judge] == version])
    ]
    study = study_agreement(ratings, panels=panels, **drawing)
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    large: list[str] = []
    for criterion, part in study.criteria.items():
        for row in part.raters:
            version = versions[row.members[0]]
            who = tuple(models[judge] for judge in row.members)
            name = who[0] if len(who) == 1 else f"Avg({', '.join(who)})"
            cells = rows.setdefault(who, {"judge": name})
            cells[f"{criterion} {version}"] = row.spearman
            cells[f"p of {criterion} {version}"] = row.p
            if row.spearman.defined and not (row.p.value is not None and row.p.value < SMALL_P):
                large.append(f"{name}, {label(criterion)} {version}")
    columns = [Column("judge", "Judge or panel")]
    for criterion in study.criteria:
        columns += [Column(f"{criterion} {v}", f"{label(criterion)} {v}", digits=3) for v in every]
    columns += [
        Column(f"p of {criterion} {v}", file_only=True) for criterion in study.criteria for v in every
    ]
    notes = [
        f"p is below {SMALL_P} except for: {'; '.join(large)}." if large else f"Every p is below {SMALL_P}."
    ]
    return Table(
        "by_version",
        "Judges by version of their prompt: Spearman's ρ with the mean of people",
        tuple(columns),
        tuple(sorted(rows.values(), key=lambda row: str(row["judge"]).startswith("Avg("))),
        "A version that rates while it plays cannot rate stored conversations; the others can, so that their "
        "columns rest on the same ones.",
        (*notes, f"{study.items} items"),
    )
