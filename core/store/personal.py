"""What is stored of an annotator, and the removal of their name: ratings and figures stay."""

import re
import secrets
from typing import Any

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import access, audit
from concord.store.database import now

_OF_RATER = {
    "link": "SELECT invited, revoked, expires FROM annotators WHERE rater_id = :rater",
    "sessions": "SELECT kind, source, browser, begun, used, expires, ended FROM sessions "
    "WHERE rater_id = :rater ORDER BY id",
    "crowd": "SELECT t.name AS study, w.worker, w.submission, w.task, w.came, w.due, w.returned, w.code "
    "FROM crowd_workers w JOIN studies t ON t.id = w.study_id WHERE w.rater_id = :rater ORDER BY w.id",
    "items": "SELECT t.name AS study, p.purpose, c.key, i.turn, p.state, p.reason, p.flag, p.seconds, "
    "p.opened, p.submitted FROM placements p JOIN items i ON i.id = p.item_id "
    "JOIN studies t ON t.id = i.study_id "
    "JOIN conversations c ON c.id = i.conversation_id WHERE p.rater_id = :rater ORDER BY p.position",
    "ratings": "SELECT t.name AS study, c.key, r.turn, r.criterion, r.score, r.explanation, r.created "
    "FROM ratings r JOIN conversations c ON c.id = r.conversation_id LEFT JOIN studies t "
    "ON t.id = r.study_id WHERE r.rater_id = :rater ORDER BY r.id",
    "answers": "SELECT t.name AS study, p.purpose, c.key, i.turn, a.question, a.value, a.reason, a.shown, "
    "a.given, "
    "a.replaced FROM answers a JOIN placements p ON p.id = a.placement_id JOIN items i ON i.id = p.item_id "
    "JOIN studies t ON t.id = i.study_id JOIN conversations c ON c.id = i.conversation_id "
    "WHERE p.rater_id = :rater ORDER BY a.id",
    "comparisons": "SELECT key, verdict, explanation, created FROM comparisons WHERE rater_id = :rater "
    "ORDER BY id",
    "pairs": "SELECT p.study, a.key AS first, b.key AS second, p.skipped, p.flag, p.seconds, p.answered "
    "FROM pairings p JOIN conversations a ON a.id = p.first_id JOIN conversations b ON b.id = p.second_id "
    "WHERE p.rater_id = :rater ORDER BY p.position",
    "decisions": "SELECT t.name AS study, e.what, e.item, e.reason, e.by, e.done FROM study_acts e "
    "JOIN studies t ON t.id = e.study_id WHERE e.rater_id = :rater ORDER BY e.id",
    "exclusions": "SELECT t.name AS study, e.excluded, e.reason, e.by, e.decided FROM exclusions e "
    "JOIN studies t ON t.id = e.study_id WHERE e.rater_id = :rater ORDER BY e.id",
}


_SHOWN = {"annotators", "sessions", "crowd_workers", "placements", "ratings"}
_SHOWN |= {"comparisons", "pairings", "study_acts", "exclusions"}
_SUMS = ("scores", "finals")
"""Tables that are shown above, and tables that are computed from ratings."""


def data(db: Database, name: str) -> dict[str, Any]:
    """Everything that is stored of an annotator, by kind, as plain values. Raises NotFound."""
    rater = access.annotator_id(db, name)
    found = {what: list(db.query(sql, {"rater": rater})) for what, sql in _OF_RATER.items()}
    for table in db.tables:  # those that came later, as they are
        if "rater_id" in table.columns_dict and table.name not in {*_SHOWN, *_SUMS}:
            rows = list(table.rows_where("rater_id = ?", [rater]))
            found |= {table.name: rows} if rows else {}
    return {"name": name, **found}


def forget(db: Database, name: str, reason: str, by: str) -> str:
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
    audit.record(db, by, "name removed", about=pseudonym, detail=reason.strip())
    db.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten in the file
    db.table("raters").update(rater, {"name": pseudonym})
    db.table("sessions").delete_where("rater_id = ?", [rater])
    link = {"rater_id": rater, "token_hash": None, "invited": now(), "revoked": now(), "expires": None}
    db.table("annotators").upsert(link, pk="rater_id")
    db.execute(
        "UPDATE crowd_workers SET worker = ? || '-' || id, submission = '', task = '', code = '' "
        "WHERE rater_id = ?",
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
        said = word.sub(pseudonym, text)
        db.execute(f"UPDATE [{table}] SET {column} = ? WHERE {column} = ?", [said, text])
