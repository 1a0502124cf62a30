"""The audit log: who did what, when, and about which study. Rows are never changed.

The function of the store that carries an act out records it, in the same transaction: there is no act without
its line.
"""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord import messages
from concord.codes import AuditAct
from concord.errors import StudyError, not_found
from concord.store import database
from concord.store.actor import actor
from concord.store.database import column, find, now, records
from concord.table import Column, Table


class AuditLine(NamedTuple):
    """One line of the log: `about` an annotator or a researcher and, of a study, an `item` (a conversation's
    key, with the turn); each “” where it is about none. `act` is a code (an `AuditAct`, unless another
    version wrote it), `target` a role or what was exported; `detail` says why, or how.
    """

    done: str
    by: str
    act: str
    study: str
    about: str
    item: str
    detail: str
    target: str = ""

    @property
    def words(self) -> str:
        """What was done, in words."""
        return messages.audit_act(self.act, self.target)

    @property
    def sentence(self) -> str:
        """What was done about a study, in one line."""
        parts = [part for part in (self.words, self.about, self.item) if part]
        return f"{self.done[:10]}: {' '.join(parts)} by {self.by}: {self.detail}"


def record(
    db: Database,
    act: AuditAct,
    study: str = "",
    about: str = "",
    detail: str = "",
    item: str = "",
    target: str = "",
) -> None:
    """Add a line about what `actor` does: why, or how. Raises StudyError where nobody is named."""
    if not actor():
        raise StudyError("An entry of the audit log needs the name of its author.")
    row = {"done": now(), "by": actor(), "act": act, "study": study, "about": about, "item": item}
    database.insert(db, "audit_log", {**row, "detail": detail, "target": target})


def facts(**values: Any) -> str:
    """What was chosen, in one line; nothing of what was excluded."""
    parts: list[str] = []
    for name, value in values.items():
        if value not in (None, "", (), [], {}):
            parts.append(f"{name.replace('_', ' ')} {words(value)}")
    return "; ".join(parts)


def words(value: Any) -> str:
    """A value as the log has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}={words(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ",".join(map(words, value))
    return str(value)


def of_study(db: Database, study: str, acts: Collection[AuditAct]) -> list[AuditLine]:
    """The lines about a study with one of these acts, in the order in which it was done."""
    sql = (
        f"SELECT {', '.join(AuditLine._fields)} FROM audit_log WHERE study = ? "
        "AND act IN (SELECT value FROM json_each(?)) ORDER BY id"
    )
    return records(db, AuditLine, sql, [study, json.dumps([*acts])])


def lines(db: Database, study: str = "") -> list[AuditLine]:
    """The lines (about one study), the newest first. Raises NotFound for an unknown study."""
    if study and not find(db, "studies", "id", name=study):
        raise not_found("study", study, column(db, "SELECT name FROM studies"))
    sql = f"SELECT {', '.join(AuditLine._fields)} FROM audit_log WHERE ? IN ('', study) ORDER BY done DESC"
    return records(db, AuditLine, sql, [study])


def moment(stored: str | None) -> str:
    """A stored moment to the minute, as tables show it; “” for none."""
    return (stored or "")[:16].replace("T", " ")


def table(db: Database, study: str = "") -> Table:
    """The log as a table. Raises NotFound."""
    columns = (
        Column("done", "when (UTC)"),
        Column("by", "who"),
        Column("what"),
        Column("study"),
        Column("about"),
        Column("detail"),
    )
    rows = tuple(_row(line) for line in lines(db, study))
    notes = () if rows else ("No decisions or exports yet.",)
    return Table("audit", "Audit log", columns, rows, notes=notes)


def _row(line: AuditLine) -> dict[str, str]:
    return {
        **line._asdict(),
        "what": line.words,
        "done": line.done[:19].replace("T", " "),
        "detail": f"{line.item} {line.detail}".strip(),
    }
