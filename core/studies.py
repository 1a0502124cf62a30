"""Studies, end to end: what is drawn and dealt, and the ratings as the figures of agreement want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from sqlite_utils import Database

from core.agreement import default_panels, study_agreement
from core.errors import StudyError
from core.store import studies
from core.store.studies import Study

Runs = Literal["mean", "single"]
REFUSED = "a judge saw a refusal"


@dataclass(frozen=True)
class StudyRatings:
    """A study's ratings ready for `core.agreement`.

    `table` has the columns unit, conversation_id, turn, player, criterion, rater, kind, stand_in, score; one row per unit,
    criterion and rater. `criteria` are shown, `counted` enter *final*; `left_out` maps a unit to the reason it does not count.
    """

    study: Study
    table: pd.DataFrame
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    left_out: Mapping[int, str]
    runs: Runs = "mean"

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, by name."""
        return tuple(sorted(self.table.rater[self.table.kind == "judge"].unique()))

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The raters that are neither people nor language models."""
        return tuple(sorted(self.table.rater[self.table.stand_in.astype(bool)].unique()))


def ratings_for_agreement(
    db: Database, name: str, *, runs: Runs = "mean", exclude_refused: bool = True
) -> StudyRatings:
    """A study's ratings, judges' repeats read as one mean (or each run as a judge of its own, “judge #1” …).

    Final is the mean of the counted criteria that people rated and, where there are judges, a judge too: a criterion nobody is
    compared on has no part in it. With `exclude_refused` the units of conversations in which a judge saw a refusal are left out.
    Raises NotFound for an unknown study, StudyError for one without any rating.
    """
    study = studies.get(db, name)
    table = studies.frame(db, name)
    if table.empty:
        raise StudyError(
            f"The study “{name}” has no ratings yet. Have judges rate its conversations with `concord judge`, "
            "and deal it to annotators with `concord study deal`."
        )
    table = _mean_of_runs(table) if runs == "mean" else _named_runs(table)
    left_out = dict.fromkeys(studies.refused_units(db, name), REFUSED) if exclude_refused else {}
    rated = {kind: set(rows.criterion) for kind, rows in table.groupby("kind")}
    compared = set.intersection(*rated.values())
    counted = tuple(c.name for c in study.criteria if c.counted and c.name in compared)
    return StudyRatings(study, table, tuple(c.name for c in study.criteria), counted, left_out, runs)


def _mean_of_runs(table: pd.DataFrame) -> pd.DataFrame:
    keys = [c for c in table.columns if c not in ("repeat", "score")]
    sums = table.groupby(keys, sort=False, dropna=False).score.agg(["sum", "count"])
    # Divided once and rounded, so that equal averages are ties.
    return (sums["sum"] / sums["count"]).round(9).rename("score").reset_index()


def _named_runs(table: pd.DataFrame) -> pd.DataFrame:
    judges = table[table.kind == "judge"]
    several = judges.groupby("rater").repeat.nunique()
    runs = table.rater.isin(several[several > 1].index) & (table.kind == "judge")
    names = table.rater.where(~runs, table.rater + " #" + (table.repeat + 1).astype(str))
    return table.assign(rater=names, score=table.score.round(9)).drop(columns="repeat")


def agreement(
    ratings: StudyRatings, *, panels: Sequence[Sequence[str]] = (), resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """The figures of `core.agreement.study_agreement` for a study; `panels` are measured beside the mean of all and every pair.

    Single runs of one judge are a test–retest, not a panel: with them only the `panels` asked for are measured.
    """
    usual = [] if ratings.runs == "single" else default_panels(ratings.judges)
    return study_agreement(
        ratings.table,
        criteria=ratings.criteria,
        counted=ratings.counted,
        panels=[*usual, *panels],
        resamples=resamples,
        seed=seed,
        study=ratings.study.name,
        anonymous_people=ratings.study.anonymous,
        exclude_units=ratings.left_out,
    )


def shortcomings(figures: Mapping[str, Any], *, anonymous: bool = False) -> list[str]:
    """What keeps a study from answering how far its judges can be trusted: one sentence each, with the remedy."""
    criteria = figures["criteria"].values()
    people = max((c["humans"]["raters"] for c in criteria), default=0)
    judges = max((len(c["judges"]) for c in criteria), default=0)
    name = figures["study"]
    found = []
    if not people:
        found.append(
            f"Nobody has rated the study “{name}” yet: deal it with `concord study deal {name}` and invite annotators."
        )
    elif people == 1 and not anonymous:
        found.append(
            f"One person alone rated the study “{name}”, so how far people agree is unknown: deal it to a second annotator."
        )
    if not judges:
        found.append(
            f"No judge has rated the study “{name}”: have one rate its conversations with `concord judge`."
        )
    if people and judges and all(j["spearman"] is None for c in criteria for j in c["judges"]):
        reason = next((j["reason"] for c in criteria for j in c["judges"] if "reason" in j), "")
        found.append(
            f"No judge of the study “{name}” can be compared with people ({reason}): "
            "more, and more varied, items have to be rated by both."
        )
    return found
