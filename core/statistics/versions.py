"""Judges and panels by the version of their prompt, over all criteria: Spearman's ρ with a star, and its p.

As papers print it: rows are models and panels, columns are criteria and versions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from concord.estimate import Estimate
from concord.statistics.correlation import rank_correlation, spearman_p
from concord.statistics.ratings import Bools, Ratings, default_panels, panel_name
from concord.table import Cell, Column, Table

LEAST_P = 0.0001
"""A correlation whose p is not below this has a star."""


class VersionedJudge(NamedTuple):
    """A judge by its `name` in the ratings: its model, and the version of its prompt, “” where unknown."""

    name: str
    model: str
    version: str


def by_version(
    ratings: Ratings,
    judges: Sequence[VersionedJudge],
    criteria: Mapping[str, str],
    items: Bools | None = None,
    part: str = "",
) -> tuple[Table, Table]:
    """Spearman's ρ of every model and panel with people's mean by criterion and version, and the p of each.

    A panel is the mean of judges of one version: of all of them, and of every two. `criteria` gives each
    criterion its heading. `items` narrows both tables to some items, which `part` names. A cell is empty
    where the model did not answer that version; a figure is undefined for fewer than three common items and
    for equal scores. p is that of `spearman_p`.
    """
    versions = sorted({judge.version for judge in judges})
    by_place = {(judge.version, judge.model): judge.name for judge in judges}
    rows: dict[str, dict[str, Cell]] = {}
    for version in versions:
        models = [judge.model for judge in judges if judge.version == version]
        for members in (*((model,) for model in models), *default_panels(models)):
            row = rows.setdefault(panel_name(members), {"rater": panel_name(members)})
            names = [by_place[version, model] for model in members]
            for criterion in criteria:
                row[f"{criterion} {version}".strip()] = _rho(ratings, criterion, names, items)
    ordered = sorted(rows.values(), key=lambda row: str(row["rater"]).startswith("Avg("))
    places = [(criterion, version) for criterion in criteria for version in versions]
    several = len(versions) > 1
    headings = {
        f"{criterion} {version}".strip(): " ".join([criteria[criterion], *([version] if several else [])])
        for criterion, version in places
    }
    figures = [Column(name, heading, digits=3) for name, heading in headings.items()]
    part_title, suffix = (f", {part}", f"_{part}") if part else ("", "")
    rated = len(ratings.rated) if items is None else int(items[ratings.rated].sum())
    notes = (
        f"{rated:,} items. *: p is not below {LEAST_P:g}, by Student's t approximation. "
        "Section criteria has the intervals.",
        *(["A panel averages the judges of one version."] if several else []),
    )
    rho = Table(
        f"by_version{suffix}",
        f"Judges and panels by version of the prompt: Spearman's ρ with the mean of annotators{part_title}",
        (Column("rater", "Judge or panel"), *figures),
        tuple(ordered),
        notes=notes,
    )
    p = replace(
        rho,
        name=f"p_by_version{suffix}",
        title=f"Judges and panels by version of the prompt: p of Spearman's ρ{part_title}",
        columns=tuple(
            replace(column, digits=4, least=LEAST_P) if column.name in headings else column
            for column in rho.columns
        ),
        rows=tuple({name: _p(cell) for name, cell in row.items()} for row in ordered),
        notes=notes[1:],
    )
    return rho, p


def _rho(ratings: Ratings, criterion: str, members: Sequence[str], items: Bools | None) -> Estimate:
    """The correlation of a judge or panel with people's mean, starred unless its p is small."""
    scores = ratings[criterion]
    panel = scores.panel(members)
    if items is not None:
        panel = np.where(items, panel, np.nan)
    name = members[0] if len(members) == 1 else "the panel"
    rho = rank_correlation(panel, scores.target, name, "people's mean")
    if not rho.defined:
        return rho
    p = spearman_p(rho).value
    significant = p is not None and p < LEAST_P
    return replace(rho, mark="" if significant else "*")


def _p(cell: Cell) -> Cell:
    return spearman_p(cell) if isinstance(cell, Estimate) else cell
