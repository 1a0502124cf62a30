"""The audit log: who decided or exported what, when, and about which study. Rows are never changed.

Decisions that figures rest on have tables of their own (acts, exclusions, registrations, settled scores); the
log reads these too, so that each is stored once.
"""

from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import database, studies
from concord.store.database import find, now
from concord.table import Column, Table

COMMAND = "command line"
"""Who does something by a command that takes no name."""


class AuditLine(NamedTuple):
    """One line of the log; `about` is an annotator or a researcher, `study` “” for what is about none."""

    done: str
    by: str
    what: str
    study: str
    about: str
    detail: str


def record(db: Database, by: str, what: str, study: str = "", about: str = "", detail: str = "") -> None:
    """Add a line. Raises StudyError without a name."""
    if not by.strip():
        raise StudyError("A line of the audit log needs the name of who did it.")
    row = {"done": now(), "by": by.strip(), "what": what, "study": study, "about": about, "detail": detail}
    database.insert(db, "audit_log", row)


def every(db: Database, study: str = "") -> list[AuditLine]:
    """The lines (about one study), the newest first. Raises NotFound for an unknown study."""
    if study and not find(db, "studies", "id", name=study):
        studies.study_id(db, study)
    rows = db.execute(
        """
        SELECT done, by, what, study, about, detail FROM (
            SELECT done, by, what, study, about, detail FROM audit_log
            UNION ALL SELECT e.done, e.by, e.what, t.name, ifnull(x.name, ''), trim(e.item || ' ' || e.reason)
                FROM study_acts e JOIN studies t ON t.id = e.study_id LEFT JOIN raters x ON x.id = e.rater_id
            UNION ALL SELECT e.decided, e.by, iif(e.excluded, 'left out', 'taken in again'), t.name, x.name,
                e.reason FROM exclusions e JOIN studies t ON t.id = e.study_id
                JOIN raters x ON x.id = e.rater_id
            UNION ALL SELECT r.registered, r.by, 'registered', t.name, '', 'SHA-256 ' || r.sha256
                || iif(r.ratings > 0, ', after people had given ' || r.ratings || ' answers', '')
                FROM registrations r JOIN studies t ON t.id = r.study_id
            UNION ALL SELECT a.given, x.name, 'settled', t.name, '',
                c.key || ifnull(' turn ' || u.turn, '') || ' ' || a.question || ' '
                || printf('%g', a.value) || ': ' || a.reason
                FROM answers a JOIN placements p ON p.id = a.placement_id AND p.purpose = 'adjudicate'
                JOIN study_units u ON u.id = p.item_id JOIN studies t ON t.id = u.study_id
                JOIN conversations c ON c.id = u.conversation_id JOIN raters x ON x.id = p.rater_id
        ) WHERE :study = '' OR study = :study ORDER BY done DESC
        """,
        {"study": study},
    )
    return [AuditLine(*row) for row in rows]


def table(db: Database, study: str = "") -> Table:
    """The log as a table. Raises NotFound."""
    columns = (
        Column("done", "when"),
        Column("by", "who"),
        *map(Column, ("what", "study", "about", "detail")),
    )
    rows = tuple(entry._asdict() | {"by": entry.by or "not recorded"} for entry in every(db, study))
    notes = () if rows else ("Nothing was decided or exported yet.",)
    return Table("audit", "Audit log", columns, rows, notes=notes)
