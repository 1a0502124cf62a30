"""Whether a study is closed: its desks show no item, and nothing is dealt, until it is reopened."""

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import NotAllowed, StudyError
from concord.store import acts, studies
from concord.store.actor import actor
from concord.store.database import insert, now, scalar


def is_closed(db: Database, name: str) -> bool:
    """Whether a study is closed. Raises NotFound."""
    sql = "SELECT 1 FROM study_closings WHERE study_id = ? AND reopened IS NULL"
    return bool(scalar(db, sql, [studies.study_id(db, name)]))


def refuse_closed(db: Database, name: str) -> None:
    """Raise NotAllowed where a study is closed."""
    if is_closed(db, name):
        raise NotAllowed(
            "This study is closed. Your answers are stored. If the study is opened again, you will find "
            "your items here."
        )


def close(db: Database, name: str, reason: str) -> None:
    """Close a study. Raises NotFound, and StudyError without a reason or where it is closed."""
    if is_closed(db, name):
        raise StudyError(f"The study “{name}” is closed already.")
    acts.record(db, name, AuditAct.CLOSED, reason)
    row = {"study_id": studies.study_id(db, name), "reason": reason.strip(), "decided_by": actor()}
    insert(db, "study_closings", {**row, "closed": now()})


def reopen(db: Database, name: str, reason: str) -> None:
    """Open a closed study again. Raises NotFound, and StudyError without a reason or where it is open."""
    if not is_closed(db, name):
        raise StudyError(f"The study “{name}” is open.")
    acts.record(db, name, AuditAct.REOPENED, reason)
    sql = "UPDATE study_closings SET reopened = ? WHERE study_id = ? AND reopened IS NULL"
    db.execute(sql, [now(), studies.study_id(db, name)])
