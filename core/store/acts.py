"""What was done about a study while it ran, by whom, when and why: lines of the audit log with a reason."""

from typing import Literal, NamedTuple, get_args

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import audit, studies

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


class Act(NamedTuple):
    """One act. `annotator` and `item` (a conversation's key, with the turn) are “” where it is about none."""

    what: What
    annotator: str
    item: str
    reason: str
    by: str
    done: str

    @property
    def line(self) -> str:
        """The act in one line."""
        about = " ".join(filter(None, (self.annotator, self.item)))
        return f"{self.done[:10]}: {self.what}{f' {about}' if about else ''} by {self.by}: {self.reason}"


def record(db: Database, name: str, what: What, reason: str, annotator: str = "", item: str = "") -> None:
    """Add an act. Raises NotFound for a study, StudyError without a reason or a name."""
    studies.study_id(db, name)
    if not reason.strip():
        raise StudyError("An act on a study needs its reason, and the name of who decides it.")
    audit.record(db, what, name, annotator, reason.strip(), item)


def every(db: Database, name: str) -> list[Act]:
    """The acts on a study, in the order in which they were done. Raises NotFound."""
    studies.study_id(db, name)
    marks = ", ".join("?" * len(get_args(What)))
    rows = db.execute(
        "SELECT what, about, item, detail, by, done FROM audit_log "
        f"WHERE study = ? AND what IN ({marks}) ORDER BY id",
        [name, *get_args(What)],
    )
    return [Act(*row) for row in rows]


def left(db: Database, name: str) -> set[str]:
    """The annotators whose items were given to others, and who did not return."""
    last = {act.annotator: act.what for act in every(db, name) if act.what in ("reassigned", "returned")}
    return {annotator for annotator, what in last.items() if what == "reassigned"}


def is_closed(db: Database, name: str) -> bool:
    """Whether a study is closed."""
    return [act.what for act in every(db, name) if act.what in ("closed", "reopened")][-1:] == ["closed"]


def refuse_closed(db: Database, name: str) -> None:
    """Raise NotAllowed where a study is closed."""
    if is_closed(db, name):
        raise NotAllowed(
            "This study is closed. What you answered is stored. If it is opened again, your items are here."
        )
