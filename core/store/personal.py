"""What is stored of an annotator, and the removal of their name: ratings and figures stay."""

import re
import secrets
from typing import Any

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import access, audit, links, studies
from concord.store.database import now

_PLACED = (
    "placements p JOIN items i ON i.id = p.item_id JOIN studies t ON t.id = i.study_id "
    "JOIN conversations c ON c.id = i.conversation_id LEFT JOIN conversations d ON d.id = i.other_id"
)
_OF_RATER = {
    "items": f"SELECT t.name AS study, p.purpose, {studies.KEY} AS key, i.turn, p.state, p.reason, p.flag, "
    f"p.seconds, p.opened, p.submitted FROM {_PLACED} WHERE p.rater_id = :rater ORDER BY p.position",
    "ratings": "SELECT t.name AS study, c.key, r.turn, r.criterion, r.score, r.explanation, r.created "
    "FROM ratings r JOIN conversations c ON c.id = r.conversation_id LEFT JOIN studies t "
    "ON t.id = r.study_id WHERE r.rater_id = :rater ORDER BY r.id",
    "answers": f"SELECT t.name AS study, p.purpose, {studies.KEY} AS key, i.turn, a.question, a.value, "
    f"a.reason, a.shown, a.given, a.replaced FROM {_PLACED} JOIN answers a ON a.placement_id = p.id "
    "WHERE p.rater_id = :rater ORDER BY a.id",
    "decisions": "SELECT e.study, e.what, e.item, e.detail AS reason, e.by, e.done FROM audit_log e "
    "JOIN raters x ON x.name = e.about WHERE x.id = :rater ORDER BY e.id",
}
_SHOWN = {"placements", "ratings", "scores", "finals", "rater_counts"}
"""Tables that are shown so, and tables that are computed from ratings."""


def data(db: Database, name: str) -> dict[str, Any]:
    """Everything that is stored of an annotator, by kind, as plain values. Raises NotFound."""
    rater = access.annotator_id(db, name)
    stored = {what: list(db.query(sql, {"rater": rater})) for what, sql in _OF_RATER.items()}
    for table in db.tables:  # all others as they are
        if "rater_id" in table.columns_dict and table.name not in _SHOWN:
            rows = list(table.rows_where("rater_id = ?", [rater]))
            stored |= {table.name: rows} if rows else {}
    return {"name": name, **stored}


def forget(db: Database, name: str, reason: str) -> str:
    """Replace an annotator's name by a pseudonym, which is returned, and remove what else tells who they are.

    Gone are their link, their sessions with addresses and browsers, and the numbers of a crowd platform.
    Their answers, comments included, stay under the pseudonym, and so does every figure. They are signed out
    and get nothing more. The log keeps the pseudonym, not the name. SQLite's own log of changes still has it:
    `Workspace.empty_log` is to follow. Raises NotFound, and StudyError without a
    reason.
    """
    if not reason.strip():
        raise StudyError("The removal of a name needs its reason, such as “asked for by e-mail”.")
    rater = access.annotator_id(db, name)
    pseudonym = f"annotator-{secrets.token_hex(4)}"
    audit.record(db, "name removed", about=pseudonym, detail=reason.strip())
    db.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten in the file
    db.table("raters").update(rater, {"name": pseudonym})
    db.table("sessions").delete_where("rater_id = ?", [rater])
    links.put(db, "annotator", None, rater=rater, ended=now())
    db.execute(
        "UPDATE links SET name = ? || '-' || id, "
        "terms = json_set(terms, '$.submission', '', '$.task', '', '$.code', '') "
        "WHERE rater_id = ? AND opens = 'worker'",
        [pseudonym, rater],
    )
    for table in db.tables:
        for column in _NAMES & table.columns_dict.keys():
            db.execute(f"UPDATE [{table.name}] SET {column} = ? WHERE {column} = ?", [pseudonym, name])
        for column in _TEXTS & table.columns_dict.keys():
            _replace(db, table.name, column, name, pseudonym)
    return pseudonym


_NAMES = {"by", "decided_by", "about"}
_TEXTS = {"reason", "detail"}
"""Columns with somebody's name, and with sentences that may name somebody."""


def _replace(db: Database, table: str, column: str, name: str, pseudonym: str) -> None:
    """Replace a name where it stands as words of its own: “Ann” neither in “Annabel” nor in “Ann-Marie”."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    named = f"SELECT DISTINCT {column} FROM [{table}] WHERE instr({column}, ?)"
    for (text,) in db.execute(named, [name]).fetchall():
        replaced = word.sub(pseudonym, text)
        db.execute(f"UPDATE [{table}] SET {column} = ? WHERE {column} = ?", [replaced, text])
