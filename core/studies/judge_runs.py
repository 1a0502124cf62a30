"""Judges who rated a unit several times: the mean of their runs, and each run for test–retest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from concord.arrays import Columns, coded, combined, first_rows, taken


def mean_of_runs(rows: Columns, categories: Sequence[str]) -> Columns:
    """One score for each unit, criterion and rater: the sum over turns and repeats, divided once.

    Of `categories`, the answer given most often: a mean of their numbers is another category, or none.
    """
    rows = dict(rows)
    repeat, total, n = rows.pop("repeat"), rows.pop("total"), rows.pop("n")
    if repeat.max() == 0:
        return rows
    of, first = _alike(rows, "unit", "criterion", "rater", "kind")
    mean = np.bincount(of, total) / np.bincount(of, n)
    usual = _most_given(of, total / n, repeat)
    kept = taken(rows, first)
    return kept | {"score": np.where(np.isin(kept["criterion"].tolist(), categories), usual, mean)}


def _most_given(
    of: npt.NDArray[np.int64], score: npt.NDArray[np.float64], repeat: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The score given most often in each group `of` rows; of several, that of the earliest run.

    Leaving groups without one such score out would keep those of which a judge is sure.
    """
    same = combined(of, coded(score)[0])
    order = np.lexsort((repeat, -np.bincount(same)[same], of))
    _, begin = np.unique(of[order], return_index=True)
    return score[order][begin]


def _alike(rows: Columns, *columns: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows numbered by what they hold in these columns, in the order in which it first appears, and where."""
    of, distinct = coded(combined(*(coded(rows[column])[0] for column in columns)))
    return of, first_rows(of, len(distinct))


def repeated(rows: Columns) -> Columns:
    """The ratings of judges with several runs, run by run; no columns where there are none."""
    code, judges = coded(rows["rater"])
    judged = rows["kind"] == "judge"
    last = np.zeros(len(judges), dtype=np.int64)
    np.maximum.at(last, code[judged], rows["repeat"][judged])
    several = judged & (last[code] > 0)
    names = ("unit", "criterion", "rater", "repeat", "score")
    return taken({name: rows[name] for name in names}, several) if several.any() else {}
