"""Annotators whose answers count in no figure, mean or export of a study until they are included again.

The view `excluded_raters` says to all who read ratings who they are.
"""

from typing import NamedTuple

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import StudyError
from concord.store import access, acts, studies, summaries
from concord.store.actor import actor
from concord.store.database import column, insert, now, records, scalar
from concord.store.purposes import RATED


class ExcludedAnnotator(NamedTuple):
    """An annotator who is excluded from a study: who decided it, when and why."""

    annotator: str
    reason: str
    decided_by: str
    excluded: str

    @property
    def sentence(self) -> str:
        """The decision, in one line."""
        return f"{self.excluded[:10]}: {self.decided_by} excluded {self.annotator}: {self.reason}"


def excluded(db: Database, study: str) -> dict[str, ExcludedAnnotator]:
    """The annotators who are excluded from a study's figures, by name. Raises NotFound."""
    sql = (
        "SELECT x.name AS annotator, e.reason, e.decided_by, e.excluded FROM exclusions e "
        "JOIN raters x ON x.id = e.rater_id WHERE e.study_id = ? AND e.included IS NULL ORDER BY x.name"
    )
    return {one.annotator: one for one in records(db, ExcludedAnnotator, sql, [studies.study_id(db, study)])}


def raters(db: Database, study: str) -> list[int]:
    """The raters (ids) who are excluded from a study's figures. Raises NotFound."""
    sql = "SELECT rater_id FROM excluded_raters WHERE study_id = ?"
    return column(db, sql, [studies.study_id(db, study)])


def exclude(db: Database, study: str, annotator: str, reason: str) -> None:
    """Exclude an annotator. Raises NotFound, and StudyError without a reason or where they are excluded."""
    study_id, rater_id = _taking_part(db, study, annotator)
    if annotator in excluded(db, study):
        raise StudyError(f"“{annotator}” is excluded from the study “{study}” already.")
    acts.record(db, study, AuditAct.EXCLUDED, reason, annotator)
    row = {"study_id": study_id, "rater_id": rater_id, "reason": reason.strip(), "decided_by": actor()}
    insert(db, "exclusions", {**row, "excluded": now()})
    _refresh(db, study_id, rater_id)


def include(db: Database, study: str, annotator: str, reason: str) -> None:
    """Include an excluded annotator again. Raises NotFound, and StudyError without a reason or for one who is
    not excluded.
    """
    study_id, rater_id = _taking_part(db, study, annotator)
    if annotator not in excluded(db, study):
        raise StudyError(f"“{annotator}” is not excluded from the study “{study}”.")
    acts.record(db, study, AuditAct.INCLUDED, reason, annotator)
    db.execute(
        "UPDATE exclusions SET included = ? WHERE study_id = ? AND rater_id = ? AND included IS NULL",
        [now(), study_id, rater_id],
    )
    _refresh(db, study_id, rater_id)


def _taking_part(db: Database, study: str, annotator: str) -> tuple[int, int]:
    """The ids of a study and of an annotator with items or ratings in it. Raises NotFound, StudyError."""
    ids = {"study": studies.study_id(db, study), "rater": access.annotator_id(db, annotator)}
    sql = (
        "SELECT EXISTS (SELECT 1 FROM scores WHERE study_id = :study AND rater_id = :rater) OR EXISTS "
        "(SELECT 1 FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE i.study_id = :study AND p.rater_id = :rater AND p.purpose IN {RATED})"
    )
    if not scalar(db, sql, ids):
        raise StudyError(f"“{annotator}” has no items and no ratings in the study “{study}”.")
    return ids["study"], ids["rater"]


def _refresh(db: Database, study_id: int, rater_id: int) -> None:
    sql = "SELECT DISTINCT conversation_id FROM scores WHERE study_id = ? AND rater_id = ?"
    summaries.refresh(db, column(db, sql, [study_id, rater_id]))
