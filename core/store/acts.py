"""What was done about a study while it ran, by whom, when and why: rows are added and never changed."""

from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import database, studies
from concord.store.database import now

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
    def told(self) -> str:
        """The act in one line."""
        about = " ".join(filter(None, (self.annotator, self.item)))
        return f"{self.done[:10]}: {self.what}{f' {about}' if about else ''} by {self.by}: {self.reason}"


def record(
    db: Database, name: str, what: What, reason: str, by: str, *, rater: int | None = None, item: str = ""
) -> None:
    """Add an act. Raises NotFound for a study, StudyError without a reason or a name."""
    if not reason.strip() or not by.strip():
        raise StudyError("An act on a study needs its reason, and the name of who decides it.")
    row = {"study_id": studies.study_id(db, name), "rater_id": rater, "what": what, "item": item}
    database.insert(db, "study_acts", {**row, "reason": reason.strip(), "by": by.strip(), "done": now()})


def every(db: Database, name: str) -> list[Act]:
    """The acts on a study, in the order in which they were done. Raises NotFound."""
    rows = db.execute(
        "SELECT e.what, ifnull(x.name, ''), e.item, e.reason, e.by, e.done FROM study_acts e "
        "LEFT JOIN raters x ON x.id = e.rater_id WHERE e.study_id = ? ORDER BY e.id",
        [studies.study_id(db, name)],
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
