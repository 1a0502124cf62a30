"""What was done about a study while it ran, by whom, when and why: lines of the audit log with a reason."""

from sqlite_utils import Database

from concord.codes import STUDY_ACTS, AuditAct
from concord.errors import StudyError
from concord.store import audit, studies
from concord.store.audit import AuditLine


def record(db: Database, name: str, act: AuditAct, reason: str, annotator: str = "", item: str = "") -> None:
    """Add an act. Raises NotFound for a study, StudyError without a reason or a name."""
    studies.study_id(db, name)
    if not reason.strip():
        raise StudyError("An act on a study needs its reason, such as “missed three of five gold items”.")
    audit.record(db, act, name, annotator, reason.strip(), item)


def of_study(db: Database, name: str) -> list[AuditLine]:
    """The acts on a study, in the order in which they were done. Raises NotFound."""
    studies.study_id(db, name)
    return audit.of_study(db, name, STUDY_ACTS)
