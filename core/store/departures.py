"""Annotators who left a study, so that their items went to others, until they return."""

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.store import access, acts, studies
from concord.store.actor import actor
from concord.store.database import column, insert, now


def departed(db: Database, name: str) -> set[str]:
    """The annotators who left a study and did not return, by name. Raises NotFound."""
    sql = (
        "SELECT x.name FROM departures d JOIN raters x ON x.id = d.rater_id "
        "WHERE d.study_id = ? AND d.returned IS NULL"
    )
    return {*column(db, sql, [studies.study_id(db, name)])}


def depart(db: Database, name: str, annotator: str, reason: str) -> None:
    """Record that an annotator's items go to others. Raises NotFound, and StudyError without a reason."""
    acts.record(db, name, AuditAct.REASSIGNED, reason, annotator)
    if annotator not in departed(db, name):
        row = {
            "study_id": studies.study_id(db, name),
            "rater_id": access.annotator_id(db, annotator),
            "reason": reason.strip(),
            "decided_by": actor(),
            "departed": now(),
        }
        insert(db, "departures", row)


def come_back(db: Database, name: str, annotator: str, reason: str) -> None:
    """Record that an annotator is dealt items again. Raises NotFound, and StudyError without a reason."""
    acts.record(db, name, AuditAct.RETURNED, reason, annotator)
    db.execute(
        "UPDATE departures SET returned = ? WHERE study_id = ? AND rater_id = ? AND returned IS NULL",
        [now(), studies.study_id(db, name), access.annotator_id(db, annotator)],
    )
