"""How far each judge and panel can be trusted, at a glance: beside a held-out annotator, with a verdict."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.correlation import correlation, point
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import FEWEST
from concord.statistics.ratings import Panels, Ratings, called
from concord.statistics.resampling import Statistic
from concord.table import Cell, Column, Table

Verdict = Literal["at or above", "below", "undecided", "too few", "undefined"]
"""Of a judge beside a held-out annotator."""

GLANCE = empty(
    "glance",
    "Judges and panels at a glance",
    Column("rater", file_only=True),
    Column("name", "Judge or panel"),
    columns.N,
    Column("verdict", help="Judge or panel beside a held-out annotator."),
    Column(
        "judge",
        "ρ with the other people",
        interval="ends",
        help="Spearman's ρ with the mean of the people who are not held out, on average over those held out.",
    ),
    Column("person", "Held-out annotator", help=explain("human ceiling")),
    Column("difference", "Difference", interval="ends", signed=True, help="Judge less annotator, paired."),
    Column("bias", "Bias (points)", signed=True, help=explain("bias")),
    Column("mae", "MAE (points)", help=explain("MAE")),
    caption="Judge and held-out annotator are compared with the same other people on the same items. “At or "
    "above”: the interval of the difference does not reach below 0; “below”: it ends below 0.",
)
WITHOUT = "ρ with people's mean"
"""What the table shows where no annotator can be held out."""

GAIN = empty(
    "panel_gain",
    "Panels beside their best judge",
    Column("rater", file_only=True),
    Column("name", "Panel"),
    Column("best", "Its best judge"),
    columns.N,
    Column("panel", "ρ of the panel"),
    Column("judge", "ρ of that judge"),
    Column("difference", "Difference", interval="ends", signed=True, help="Panel less judge, paired."),
    caption="Against people's mean, on the items that every member rated. The judge is chosen as the best on "
    "these very items. That choice flatters the single judge: the difference, of either sign, leans against "
    "the panel.",
)


def glance(judges: Table, held_out: Table, names: Mapping[str, str]) -> Table:
    """One row a judge and panel, joined from the tables `judges` and `held_out` of one criterion.

    `names` are what readers see for those of the tables. Where no annotator can be held out (`held_out` is
    undefined throughout) the correlation is that with the mean of all people, and there is neither a ceiling
    nor a verdict.
    """
    beside = {row["rater"]: row for row in held_out.rows}
    compared = any(figure.defined for figure in held_out.estimates("difference"))
    rows: list[dict[str, Cell]] = []
    for row in judges.rows:
        own = {name: row.get(name) for name in ("rater", "n", "spearman", "p", "bias", "mae")}
        own["name"] = names.get(str(row["rater"]), str(row["rater"]))
        other = beside.get(row["rater"], {})
        if compared:
            own |= {name: other.get(name) for name in ("judge", "person", "difference")}
            own["n"] = other.get("n", own["n"])
            own["verdict"] = verdict(other.get("difference"), own["n"])
        rows.append(own)
    if compared:
        more = Column("spearman", WITHOUT, file_only=True), Column("p", file_only=True)
        basis = {"basis": held_out.meta.get("basis")}
        return replace(
            GLANCE, columns=(*GLANCE.columns, *more), rows=tuple(rows), notes=held_out.notes, meta=basis
        )
    reasons = dict.fromkeys(figure.reason for figure in held_out.estimates("difference"))
    why = f" ({'; '.join(reasons)})" if reasons else ""
    shown = Column("spearman", WITHOUT, interval="ends", help=explain("Spearman correlation"))
    level = (column for column in GLANCE.columns if column.name in ("bias", "mae"))
    said = f"Nobody can be held out{why}, so there is no human ceiling to set beside a judge."
    return replace(
        GLANCE,
        columns=(*GLANCE.columns[:3], shown, *level),
        rows=tuple(rows),
        caption="",
        notes=(said, *judges.notes),
        meta={"basis": judges.meta.get("basis")},
    )


def measured(table: Table) -> str:
    """The column of the glance that holds the correlation: with the other people, or with people's mean."""
    return "judge" if any(column.name == "judge" for column in table.columns) else "spearman"


def verdict(difference: Cell, n: Cell = None) -> Verdict:
    """What the interval of judge less annotator on `n` items says; “too few” where there is none.

    “undefined” where the items are enough and scores do not vary.
    """
    if not isinstance(difference, Estimate):
        return "undefined"
    if difference.interval is None:
        enough = not difference.defined and isinstance(n, int) and n >= FEWEST
        return "undefined" if enough else "too few"
    low, high = difference.interval
    return "at or above" if low >= 0 else "below" if high < 0 else "undecided"


def panel_gain(
    table: Ratings,
    criterion: str,
    names: Mapping[str, str],
    *,
    panels: Panels = (),
    **drawing: Unpack[Drawing],
) -> Table:
    """Each panel less the judge of it that agrees best with people's mean, one row a panel of two or more.

    `names` are what readers see for judges and panels. Both are compared on the items that every member and a
    person rated. The interval is paired: both correlations rest on the same draws, and the judge is taken as
    it was chosen. Undefined where a correlation is.
    """
    scores = table[criterion]
    rows: list[dict[str, Any]] = []
    for members in panels or ():
        if len(members) < 2:
            continue
        panel = scores.panel(members)
        target = np.where(np.isnan(panel), np.nan, scores.target)
        each: Mapping[str, float] = {name: point(scores.judges[name], target) for name in members}
        known = {name: rho for name, rho in each.items() if not np.isnan(rho)}
        of_panel, n = point(panel, target), int((~np.isnan(target)).sum())
        whole = called(members)
        row: dict[str, Any] = {"rater": whole, "name": names.get(whole, whole), "n": n}
        if not known or np.isnan(of_panel):
            why = undefined("no correlation with people's mean is defined", n=n)
            rows.append(row | {"best": ""} | dict.fromkeys(("panel", "judge", "difference"), why))
            continue
        best = max(known, key=lambda name: known[name])
        difference = PointEstimate(
            _less(correlation(panel, target), correlation(scores.judges[best], target)),
            n,
            of_panel - known[best],
            "a correlation is undefined",
        )
        rows.append(
            row
            | {"best": best, "panel": Estimate(of_panel, n=n), "judge": Estimate(known[best], n=n)}
            | {"difference": difference}
        )
    return tabulate(GAIN, table, criterion, rows, **drawing)


def _less(one: Statistic, other: Statistic) -> Statistic:
    return lambda weights: one(weights) - other(weights)
