"""Decisions to leave an annotator out of a study's figures, or to take them in again: lines of the audit log.

The view `left_out` says for all who read ratings whom the last decision leaves out: figures of agreement,
people's means in lists and on leaderboards, and exports.
"""

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import access, audit, summaries
from concord.store.audit import AuditLine
from concord.store.purposes import RATED
from concord.store.studies import study_id

OUT, IN = "left out", "taken in again"
"""What the audit log says of such decisions."""


def excluded(db: Database, study: str) -> dict[str, AuditLine]:
    """The annotators that are left out of a study's figures, with the decision, by name. Raises NotFound."""
    study_id(db, study)
    last = {decision.about: decision for decision in audit.of_study(db, study, (OUT, IN))}
    return {name: last[name] for name in sorted(last) if last[name].what == OUT}


def raters(db: Database, study: str) -> list[int]:
    """The raters (ids) that are left out of a study's figures. Raises NotFound."""
    rows = db.execute("SELECT rater_id FROM left_out WHERE study_id = ?", [study_id(db, study)])
    return [number for (number,) in rows]


def exclude(db: Database, study: str, annotator: str, reason: str) -> None:
    """Leave an annotator out. Raises NotFound, and StudyError without a reason or where they are left out."""
    _decide(db, study, annotator, reason, OUT)


def include(db: Database, study: str, annotator: str, reason: str) -> None:
    """Take an annotator in again. Raises NotFound, and StudyError without a reason or for one who is in."""
    _decide(db, study, annotator, reason, IN)


def _decide(db: Database, study: str, annotator: str, reason: str, what: str) -> None:
    of = {"study": study_id(db, study), "rater": access.annotator_id(db, annotator)}
    taking_part = (
        "SELECT EXISTS (SELECT 1 FROM scores WHERE study_id = :study AND rater_id = :rater) OR EXISTS "
        "(SELECT 1 FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE i.study_id = :study AND p.rater_id = :rater AND p.purpose IN {RATED})"
    )
    if not db.execute(taking_part, of).fetchone()[0]:
        raise StudyError(f"“{annotator}” has no items and no ratings in the study “{study}”.")
    if not reason.strip():
        raise StudyError("A decision needs its reason, such as “missed three of five gold items”.")
    if (annotator in excluded(db, study)) == (what == OUT):
        now = "left out of" if what == OUT else "in"
        raise StudyError(f"“{annotator}” is {now} the study “{study}” already.")
    audit.record(db, what, study, annotator, reason.strip())
    rated = db.execute(
        "SELECT DISTINCT conversation_id FROM scores WHERE study_id = :study AND rater_id = :rater", of
    )
    summaries.refresh(db, [conversation for (conversation,) in rated])
