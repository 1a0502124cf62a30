"""How far each judge and panel can be trusted, at a glance: beside a held-out annotator, with a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from concord.codes import GOOD, Verdict
from concord.estimate import Estimate, undefined, value_of
from concord.glossary import explain
from concord.messages import GLANCE_RULE, JOINT_VERDICTS, VERDICTS
from concord.statistics import columns
from concord.statistics.claims import MARGIN, Contrasts, adjusted, decided_by, verdicts
from concord.statistics.correlation import correlation, point
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.held_out import HeldOutMeasure
from concord.statistics.intervals import CORRELATION
from concord.statistics.oddities import FEWEST
from concord.statistics.ratings import Ratings, panel_name
from concord.statistics.resampling import Statistic
from concord.table import Cell, Column, Table

GLANCE = empty(
    "glance",
    "Judges and panels at a glance",
    Column("rater", file_only=True),
    Column("name", "Judge or panel"),
    columns.N,
    Column("verdict", "Verdict", words=VERDICTS),
    Column(
        "judge",
        "{symbol} with annotators",
        interval="ends",
        help="With the other annotators, averaged over held-out annotators.",
    ),
    Column("person", "Another annotator", help=explain("another annotator")),
    Column("difference", "Difference", interval="ends", signed=True, help="Judge less annotator, paired."),
    Column("bias", "Bias (points)", signed=True, help=explain("bias")),
    Column("mae", "MAE (points)", help=explain("MAE")),
    caption="The judge and a held-out annotator are compared with the same other annotators on the same "
    "items.",
)
PLAIN_HEADINGS = {"spearman": "ρ with annotators' mean", "kappa": "κ with most annotators"}
"""What the table shows where no annotator can be held out."""

SYMBOLS: Mapping[HeldOutMeasure, str] = {"spearman": "ρ", "kappa": "κ", "absolute": "weighted κ"}
"""How agreement is written."""

SAME_ANSWER = "gives every item the same answer; agreement is undefined"
"""Of a judge without any order; that its kappa is 0 by construction would say that it was compared."""

DIFFERENCE_OF_TWO = empty(
    "panel_difference",
    "Two judges or panels",
    Column("rater", "One"),
    Column("other", "The other"),
    columns.N,
    Column("rho", "ρ of the first", interval="ends"),
    Column("other_rho", "ρ of the second", interval="ends"),
    Column("difference", "Difference", digits=3, interval="ends", signed=True),
    caption="Against annotators' mean, on the items that both rated.",
)


def glance(
    judges: Table,
    held_out: Table,
    names: Mapping[str, str],
    *,
    first: str = "",
    measure: HeldOutMeasure = "spearman",
    margin: float = MARGIN,
    look: int = 0,
    without_each: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
    without_lone: tuple[str, Table | None] = ("", None),
    copies: Mapping[str, str] | None = None,
) -> Table:
    """One row a judge and panel, joined from the tables `judges` and `held_out` of one criterion.

    `names` are what readers see for those of the tables. `first` is the judge or panel that the verdict is
    about, at a `look` of several: see `concord.statistics.claims.verdicts`. A verdict that would fall
    `without_each` (judge or panel → annotator → both agreements) of the annotators is inconclusive, and
    `decided_by` names the one; so is a good one that is not shown `without_lone`, the annotators who agree
    with nobody (their names, and `held_out` without them), and one of `copies` (judge or panel → the
    annotator whose answers it repeats, `copy_of` in its row). Where no annotator can be held out
    (`held_out` is undefined throughout) the figure is that with all people, and there is no verdict.
    `measure` says how agreement is measured.
    """
    symbol = SYMBOLS[measure]
    measure = "kappa" if measure == "kappa" else "spearman"
    form = tuple(replace(c, heading=c.title.format(symbol=symbol)) for c in GLANCE.columns)
    held_out_rows = {row["rater"]: row for row in held_out.rows}
    compared = any(figure.defined for figure in held_out.estimates("difference"))
    rows: list[dict[str, Cell]] = []
    for row in judges.rows:
        cells = {name: row.get(name) for name in ("rater", "n", measure, "p", "bias", "mae")}
        cells["name"] = names.get(str(row["rater"]), str(row["rater"]))
        held_out_row = held_out_rows.get(row["rater"], {})
        if compared:
            cells |= {name: held_out_row.get(name) for name in ("judge", "person", "difference", "half", "z")}
            cells["n"] = held_out_row.get("n", cells["n"])
        if row.get("commonest_share") == 1 and isinstance(n := row.get("n"), int) and n >= FEWEST:
            cells |= dict.fromkeys(("judge", "difference", "half", measure), undefined(SAME_ANSWER, n=n)) | {
                "n": n
            }
        rows.append(cells)
    if compared:
        files = ("half", "z", "decided_by", "difference_without", "copy_of")
        file_columns = [Column(name, file_only=True) for name in files]
        file_columns.append(Column(measure, PLAIN_HEADINGS[measure], file_only=True))
        file_columns += [Column("p", file_only=True)] * (measure == "spearman")
        place = next((index for index, row in enumerate(rows) if row["rater"] == first), -1)
        codes = verdicts([_compared(row) for row in rows], place, margin=margin, look=look)
        joint = _joint(rows, codes, margin, look)
        lone, left = without_lone
        copied = copies or {}
        rows_left = {row["rater"]: row for row in left.rows} if left else {}
        compared_left = [rows_left.get(row["rater"], {}) for row in rows]
        codes_left = verdicts([_compared(row) for row in compared_left], place, margin=margin, look=look)
        judged_rows: list[dict[str, Cell]] = []
        for row, code, row_left, code_left in zip(rows, codes, compared_left, codes_left, strict=True):
            name = str(row["rater"])
            if code in GOOD and name in copied:
                judged: dict[str, Cell] = {"verdict": Verdict.INCONCLUSIVE, "copy_of": copied[name]}
            elif left and code in GOOD and code_left not in GOOD:
                judged = _robustness(lone, value_of(row_left.get("difference")))
            else:
                judged = _standing(code, (without_each or {}).get(name, {}), margin)
            judged_rows.append({**row, **judged})
        return replace(
            GLANCE,
            columns=(*form, *file_columns),
            rows=tuple(judged_rows),
            caption=" ".join(filter(None, [GLANCE.caption, GLANCE_RULE.format(margin=margin), joint])),
            notes=held_out.notes,
            meta={"basis": held_out.meta.get("basis")} | ({"joint": joint} if joint else {}),
        )
    reasons = dict.fromkeys(figure.reason for figure in held_out.estimates("difference"))
    reason = f" ({'; '.join(reasons)})" if reasons else ""
    term = "Spearman correlation" if measure == "spearman" else "Cohen's kappa"
    agreement = Column(measure, PLAIN_HEADINGS[measure], interval="ends", help=explain(term))
    level = (column for column in GLANCE.columns if column.name in ("bias", "mae"))
    note = f"No annotator can be held out{reason}, so no judge can be compared with another annotator."
    return replace(
        GLANCE,
        columns=(*form[:3], agreement, *level),
        rows=tuple(rows),
        caption="",
        notes=(note, *judges.notes),
        meta={"basis": judges.meta.get("basis")},
    )


def _compared(row: Mapping[str, Cell]) -> Contrasts:
    cells = (row.get(name) for name in ("judge", "difference", "half"))
    judge, difference, half = (cell if isinstance(cell, Estimate) else None for cell in cells)
    n = row.get("n")
    return Contrasts(judge, difference, half, n if isinstance(n, int) else 0)


def _joint(rows: Sequence[Mapping[str, Cell]], codes: Sequence[Verdict], margin: float, look: int) -> str:
    """That verdicts of several judges are adjusted for their number, where that changes one; “” else."""
    contrasts = [_compared(row) for row in rows]
    places, level = ([], 0.0) if look else adjusted(contrasts, codes, margin=margin)
    if not places:
        return ""
    tested = sum(bool(one.difference and one.difference.interval) for one in contrasts) - 1
    names = ", ".join(str(rows[place]["name"]) for place in places)
    return JOINT_VERDICTS.format(n=tested, level=level, judges=names)


def _standing(
    code: Verdict, without_each: Mapping[str, tuple[float, float]], margin: float
) -> dict[str, Cell]:
    """The verdict of a row, and the annotator who decides it alone, by which it is inconclusive."""
    name = decided_by(code, without_each, margin=margin)
    if not name:
        return {"verdict": code}
    judge, person = without_each[name]
    return _robustness(name, judge - person)


def _robustness(annotator: str, difference: float) -> dict[str, Cell]:
    """Cells of a row whose verdict falls without some annotator; None for a difference that is undefined."""
    left = difference if np.isfinite(difference) else None
    return {"verdict": Verdict.INCONCLUSIVE, "decided_by": annotator, "difference_without": left}


def agreement_column(table: Table) -> str:
    """The column of the glance that holds the agreement: with the other people, else with all of them."""
    return next(c.name for c in table.columns if c.name in ("judge", "spearman", "kappa"))


def panel_difference(
    table: Ratings, criterion: str, one: Sequence[str], second: Sequence[str], **drawing: Unpack[Drawing]
) -> Table:
    """Two judges or panels beside people's mean on the items that both rated, in one row.

    `difference` is the ρ of the first less that of the second, paired: both rest on the same draws. Undefined
    where a correlation is.
    """
    scores = table[criterion]
    panel_scores = [scores.panel(members) for members in (one, second)]
    target = np.where(np.isnan(panel_scores).any(axis=0), np.nan, scores.target)
    n = int((~np.isnan(target)).sum())
    figures = [correlation(score, target) for score in panel_scores]
    row: dict[str, Any] = {"rater": panel_name(one), "other": panel_name(second), "n": n}
    for name, score, figure in zip(("rho", "other_rho"), panel_scores, figures, strict=True):
        rho = point(score, target)
        row[name] = PointEstimate(figure, n, rho, "a correlation is undefined", CORRELATION)
    row["difference"] = PointEstimate(_difference_of(*figures), n, None, "a correlation is undefined")
    return tabulate(DIFFERENCE_OF_TWO, table, criterion, [row], **drawing)


def _difference_of(one: Statistic, second: Statistic) -> Statistic:
    return lambda weights: one(weights) - second(weights)
