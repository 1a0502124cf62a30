"""What was done about a study while it ran, by whom, when and why: lines of the audit log with a reason."""

from typing import Literal, get_args

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import audit, studies
from concord.store.audit import AuditLine

What = Literal[
    "closed",
    "reopened",
    "requeued",
    "reassigned",
    "returned",
    "passed",
    "failed",
    "admitted",
    "opened to a crowd",
    "closed to a crowd",
    "left out",
    "taken in again",
]


def record(db: Database, name: str, what: What, reason: str, annotator: str = "", item: str = "") -> None:
    """Add an act. Raises NotFound for a study, StudyError without a reason or a name."""
    studies.study_id(db, name)
    if not reason.strip():
        raise StudyError("An act on a study needs its reason, and the name of who decides it.")
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
