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
    repeat = rows.pop("repeat")
    total = rows.pop("total")
    n = rows.pop("n")
    if repeat.max() == 0:
        return rows
    group, first = _alike(rows, "unit", "criterion", "rater", "kind")
    mean = np.bincount(group, total) / np.bincount(group, n)
    commonest = _most_given(group, total / n, repeat)
    rows_of_first = taken(rows, first)
    return rows_of_first | {
        "score": np.where(np.isin(rows_of_first["criterion"].tolist(), categories), commonest, mean)
    }


def _most_given(
    group: npt.NDArray[np.int64], score: npt.NDArray[np.float64], repeat: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The score given most often in each group `group` rows; of several, that of the earliest run.

    Leaving groups without one such score out would keep those of which a judge is sure.
    """
    answer_code = combined(group, coded(score)[0])
    order = np.lexsort((repeat, -np.bincount(answer_code)[answer_code], group))
    _, begin = np.unique(group[order], return_index=True)
    return score[order][begin]


def _alike(rows: Columns, *columns: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows numbered by what they hold in these columns, in the order in which it first appears, and where."""
    group, distinct = coded(combined(*(coded(rows[column])[0] for column in columns)))
    return group, first_rows(group, len(distinct))


def repeated(rows: Columns) -> Columns:
    """The ratings of judges with several runs, run by run; no columns where there are none."""
    code, judges = coded(rows["rater"])
    judged = rows["kind"] == "judge"
    last = np.zeros(len(judges), dtype=np.int64)
    np.maximum.at(last, code[judged], rows["repeat"][judged])
    several = judged & (last[code] > 0)
    names = ("unit", "criterion", "rater", "repeat", "score")
    return taken({name: rows[name] for name in names}, several) if several.any() else {}
