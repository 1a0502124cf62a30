"""What was done about a study while it ran, by whom, when and why: lines of the audit log with a reason.

The view `left_out` says for all who read ratings whom the last decision leaves out: figures of agreement,
people's means in lists and on leaderboards, and exports.
"""

from typing import Literal, get_args

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import access, audit, studies, summaries
from concord.store.audit import AuditLine
from concord.store.database import column, scalar
from concord.store.purposes import RATED

Decision = Literal["left out", "taken in again"]
"""Whether an annotator's answers count in a study's figures; the last decision holds."""
What = Literal[
    "closed",
    "reopened",
    "reassigned",
    "returned",
    "passed",
    "failed",
    "admitted",
    "opened to a crowd",
    "left out",
    "taken in again",
]


def record(db: Database, name: str, what: What, reason: str, annotator: str = "", item: str = "") -> None:
    """Add an act. Raises NotFound for a study, StudyError without a reason or a name."""
    studies.study_id(db, name)
    if not reason.strip():
        raise StudyError("An act on a study needs its reason, such as “missed three of five gold items”.")
    audit.record(db, what, name, annotator, reason.strip(), item)


def every(db: Database, name: str) -> list[AuditLine]:
    """The acts on a study, in the order in which they were done. Raises NotFound."""
    studies.study_id(db, name)
    return audit.of_study(db, name, get_args(What))


def left(db: Database, name: str) -> set[str]:
    """The annotators whose items were given to others, and who did not return."""
    last = {act.about: act.what for act in audit.of_study(db, name, ("reassigned", "returned"))}
    return {annotator for annotator, what in last.items() if what == "reassigned"}


def is_closed(db: Database, name: str) -> bool:
    """Whether a study is closed."""
    return [act.what for act in audit.of_study(db, name, ("closed", "reopened"))][-1:] == ["closed"]


def refuse_closed(db: Database, name: str) -> None:
    """Raise NotAllowed where a study is closed."""
    if is_closed(db, name):
        raise NotAllowed(
            "This study is closed. What you answered is stored. If it is opened again, your items are here."
        )


def excluded(db: Database, study: str) -> dict[str, AuditLine]:
    """The annotators that are left out of a study's figures, with the decision, by name. Raises NotFound."""
    studies.study_id(db, study)
    last = {decision.about: decision for decision in audit.of_study(db, study, get_args(Decision))}
    return {name: last[name] for name in sorted(last) if last[name].what == "left out"}


def left_out(db: Database, study: str) -> list[int]:
    """The raters (ids) that are left out of a study's figures. Raises NotFound."""
    sql = "SELECT rater_id FROM left_out WHERE study_id = ?"
    return column(db, sql, [studies.study_id(db, study)])


def exclude(db: Database, study: str, annotator: str, reason: str) -> None:
    """Leave an annotator out. Raises NotFound, and StudyError without a reason or where they are left out."""
    _decide(db, study, annotator, reason, "left out")


def include(db: Database, study: str, annotator: str, reason: str) -> None:
    """Take an annotator in again. Raises NotFound, and StudyError without a reason or for one who is in."""
    _decide(db, study, annotator, reason, "taken in again")


def _decide(db: Database, study: str, annotator: str, reason: str, what: Decision) -> None:
    of = {"study": studies.study_id(db, study), "rater": access.annotator_id(db, annotator)}
    taking_part = (
        "SELECT EXISTS (SELECT 1 FROM scores WHERE study_id = :study AND rater_id = :rater) OR EXISTS "
        "(SELECT 1 FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE i.study_id = :study AND p.rater_id = :rater AND p.purpose IN {RATED})"
    )
    if not scalar(db, taking_part, of):
        raise StudyError(f"“{annotator}” has no items and no ratings in the study “{study}”.")
    if (annotator in excluded(db, study)) == (what == "left out"):
        now = "left out of" if what == "left out" else "in"
        raise StudyError(f"“{annotator}” is {now} the study “{study}” already.")
    record(db, study, what, reason, annotator)
    rated = "SELECT DISTINCT conversation_id FROM scores WHERE study_id = :study AND rater_id = :rater"
    summaries.refresh(db, column(db, rated, of))
