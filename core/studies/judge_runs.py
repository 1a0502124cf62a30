"""Judges who rated a unit several times: one mean of their runs, or each run as a judge of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from concord.arrays import Columns, Names, coded, combined, first_rows, taken
from concord.scores import run_label


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


def single_runs(rows: Columns) -> tuple[Columns, dict[str, tuple[str, ...]]]:
    """Each run of a judge with several runs as a judge of its own, and the names of such a judge's runs."""
    rows = dict(rows)
    repeat = rows.pop("repeat").tolist()
    del rows["total"], rows["n"]
    given: list[Any] = list(zip(rows["rater"].tolist(), rows["kind"].tolist(), repeat, strict=True))
    runs: dict[str, set[int]] = {}
    for rater, kind, run in given:
        if kind == "judge":
            runs.setdefault(rater, set()).add(run)
    runs_of = {
        judge: {run: run_label(judge, run) for run in sorted(runs[judge])}
        for judge in sorted(runs)
        if len(runs[judge]) > 1
    }
    names = [
        runs_of[rater][run] if kind == "judge" and rater in runs_of else rater for rater, kind, run in given
    ]
    of_runs = rows | {"rater": Names(range(len(names)), names)}
    return of_runs, {judge: tuple(of.values()) for judge, of in runs_of.items()}
