"""Spot-checks in the store: judgements as a person sees them, what people found of them, and samples to be audited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from sqlite_utils import Database

from core.errors import StudyError, not_found
from core.rating import Rating, Verification
from core.store import ratings, summaries
from core.store.database import now

LOOKED = "(v.finding = 'seen') = (j.failure IS NOT NULL)"
"""That a finding v is one of the judgement j as it stands: a verdict that was unreadable when it was seen may have been asked for again."""


@dataclass(frozen=True)
class Seen:
    """A judgement as a spot-check shows it. `finding`, `comment` and `corrected` are what the person asked for has said of it, if anything."""

    id: int
    key: str
    judge: str
    variant: str
    simulated: bool
    repeat: int
    score: float | None
    explanation: str
    failure: str | None
    raw: str
    finding: str | None
    comment: str
    corrected: float | None


def judgements(db: Database, conversation_id: int, criterion: str, rater: int | None = None) -> list[Seen]:
    """The judgements of a conversation with their mean score on a criterion and its explanation, and what a rater found of each."""
    rows = db.query(
        "SELECT j.id, j.key, x.name AS judge, x.variant, x.simulated, j.repeat, j.failure, j.raw, "
        "(SELECT avg(r.score) FROM ratings r WHERE r.judgement_id = j.id AND r.criterion = :criterion) AS score, "
        "ifnull((SELECT group_concat(r.explanation, char(10)) FROM ratings r WHERE r.judgement_id = j.id AND r.criterion = :criterion), '') "
        "AS explanation, v.finding, ifnull(v.comment, '') AS comment, v.corrected FROM judgements j JOIN raters x ON x.id = j.rater_id "
        f"LEFT JOIN verifications v ON v.judgement_id = j.id AND v.rater_id = :rater AND {LOOKED} WHERE j.conversation_id = :conversation "
        "ORDER BY x.name, x.variant, j.repeat",
        {"criterion": criterion, "rater": rater, "conversation": conversation_id},
    )
    return [Seen(**{**row, "simulated": bool(row["simulated"])}) for row in rows]


def about(db: Database, judgement_id: int) -> tuple[int, str, str]:
    """What a judgement is about: (conversation id, the conversation's key, its benchmark). Raises NotFound."""
    row = db.execute(
        "SELECT c.id, c.key, c.benchmark FROM judgements j JOIN conversations c ON c.id = j.conversation_id WHERE j.id = ?",
        [judgement_id],
    ).fetchone()
    if row is None:
        raise not_found("judgement", str(judgement_id), ())
    return row[0], row[1], row[2]


def save(db: Database, verification: Verification, rater: int, audit: str = "") -> int:
    """Keep what a person found of a judgement; a later finding of the same person replaces it. Returns the judgement's id; raises NotFound.

    `audit` names the audit at whose desk it was found, "" the hunt. Where it was found first stays: saying it anew does not move it.
    """
    row = db.execute("SELECT id FROM judgements WHERE key = ?", [verification.judgement]).fetchone()
    if row is None:
        raise not_found("judgement", verification.judgement, ())
    db.execute(
        "INSERT INTO verifications (judgement_id, rater_id, finding, comment, corrected, created, audit_id) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (judgement_id, rater_id) DO UPDATE SET finding = excluded.finding, comment = excluded.comment, "
        "corrected = excluded.corrected, created = excluded.created",
        [
            row[0],
            rater,
            verification.finding,
            verification.comment,
            verification.corrected,
            now(),
            _number(db, audit) if audit else None,
        ],
    )
    found: int = row[0]
    return found


def withdraw(db: Database, judgement_id: int, rater: int, study: str) -> None:
    """Take a person's finding back; the score they corrected with it leaves the study's ratings and stays as a revision."""
    uncorrect(db, judgement_id, rater, study)
    db.execute("DELETE FROM verifications WHERE judgement_id = ? AND rater_id = ?", [judgement_id, rater])


def uncorrect(db: Database, judgement_id: int, rater: int, study: str) -> None:
    """Take the corrected score of a person's finding out of the study's ratings, if there is one; it stays as a revision."""
    row = db.execute(
        "SELECT j.conversation_id, v.corrected FROM verifications v JOIN judgements j ON j.id = v.judgement_id "
        "WHERE v.judgement_id = ? AND v.rater_id = ? AND v.corrected IS NOT NULL",
        [judgement_id, rater],
    ).fetchone()
    if row is None:
        return
    conversation, corrected = row
    where = "conversation_id = ? AND rater_id = ? AND score = ? AND study_id = (SELECT id FROM studies WHERE name = ?)"
    which = [conversation, rater, corrected, study]
    db.execute(
        "INSERT INTO revisions (conversation_id, turn, criterion, rater_id, study_id, score, given, replaced) "
        f"SELECT conversation_id, turn, criterion, rater_id, study_id, score, created, ? FROM ratings WHERE {where}",
        [now(), *which],
    )
    db.execute(f"DELETE FROM ratings WHERE {where}", which)
    summaries.refresh(db, [conversation])


def correct(db: Database, study_id: int, conversation_id: int, rater: int, given: Rating) -> None:
    """Keep a corrected score as a rating of a study; the person's earlier one stays as a revision. The conversation becomes a unit of the study."""
    db.execute(
        "INSERT INTO study_units (study_id, conversation_id, turn) SELECT ?, ?, NULL WHERE NOT EXISTS "
        "(SELECT 1 FROM study_units WHERE study_id = ? AND conversation_id = ? AND turn IS NULL)",
        [study_id, conversation_id] * 2,
    )
    where = "conversation_id = ? AND turn IS NULL AND criterion = ? AND rater_id = ? AND study_id = ?"
    which = [conversation_id, given.criterion, rater, study_id]
    db.execute(
        "INSERT INTO revisions (conversation_id, turn, criterion, rater_id, study_id, score, given, replaced) "
        f"SELECT conversation_id, turn, criterion, rater_id, study_id, score, created, ? FROM ratings WHERE {where}",
        [now(), *which],
    )
    db.execute(f"DELETE FROM ratings WHERE {where}", which)
    ratings.insert(db, conversation_id, rater, [given], study_id=study_id)
    summaries.refresh(db, [conversation_id])


@dataclass(frozen=True)
class Audit:
    """A random sample of judgements: how it was drawn, from how many, and how many items it has."""

    name: str
    benchmark: str
    seed: int
    drawn_from: int
    items: int
    created: str


def auditable(
    db: Database, benchmark: str, *, judges: Sequence[str] = (), facets: Mapping[str, Sequence[str]] | None = None
) -> list[tuple[str, int]]:  # fmt: skip
    """The judgements a sample can be drawn from: (key, id) of those with a score, in the order of their keys, which no rerun changes."""
    where, args = "", {"benchmark": benchmark, "judges": json.dumps(list(judges))}
    for i, (name, allowed) in enumerate((facets or {}).items()):
        if allowed:
            where += f" AND c.id IN (SELECT conversation_id FROM facets WHERE name = :f{i} AND value IN (SELECT value FROM json_each(:v{i})))"
            args |= {f"f{i}": name, f"v{i}": json.dumps(list(allowed))}
    return list(
        db.execute(
            "SELECT j.key, j.id FROM judgements j JOIN conversations c ON c.id = j.conversation_id JOIN raters x ON x.id = j.rater_id "
            "WHERE c.benchmark = :benchmark AND j.failure IS NULL "
            f"AND (:judges = '[]' OR x.name IN (SELECT value FROM json_each(:judges))){where} ORDER BY j.key",
            args,
        ).fetchall()
    )


def create_audit(
    db: Database, name: str, benchmark: str, seed: int, drawn_from: int, judgement_ids: Sequence[int]
) -> None:
    """Keep a sample. Raises StudyError where the name is taken."""
    if db.execute("SELECT 1 FROM audits WHERE name = ?", [name]).fetchone():
        raise StudyError(f"There is an audit “{name}” already. Give this one another name.")
    row = db.execute(
        "INSERT INTO audits (name, benchmark, seed, drawn_from, created) VALUES (?, ?, ?, ?, ?) RETURNING id",
        [name, benchmark, seed, drawn_from, now()],
    ).fetchone()
    db.conn.executemany(
        "INSERT INTO audit_items (audit_id, position, judgement_id) VALUES (?, ?, ?)",
        [(row[0], position, judgement) for position, judgement in enumerate(judgement_ids, 1)],
    )


def audits(db: Database, benchmark: str = "") -> list[Audit]:
    """The samples that were drawn, newest first."""
    rows = db.query(
        "SELECT a.name, a.benchmark, a.seed, a.drawn_from, count(i.judgement_id) AS items, a.created FROM audits a "
        "LEFT JOIN audit_items i ON i.audit_id = a.id WHERE ? = '' OR a.benchmark = ? GROUP BY a.id ORDER BY a.id DESC",
        [benchmark, benchmark],
    )
    return [Audit(**row) for row in rows]


def audit_items(db: Database, name: str, rater: int | None = None) -> list[tuple[int, int, bool]]:
    """A sample in its order: (judgement id, conversation id, whether the rater has found something of it). Raises NotFound."""
    return [
        (judgement, conversation, bool(done))
        for judgement, conversation, done in db.execute(
            f"SELECT j.id, j.conversation_id, EXISTS (SELECT 1 FROM verifications v WHERE v.judgement_id = j.id AND v.rater_id = ? AND {LOOKED}) "
            "FROM audit_items i JOIN judgements j ON j.id = i.judgement_id WHERE i.audit_id = ? ORDER BY i.position",
            [rater, _number(db, name)],
        )
    ]


def found_at(db: Database, name: str, rater: int | None) -> int:
    """How many of an audit's judgements the rater found something of at its own desk. Raises NotFound."""
    found: int = db.execute(
        "SELECT count(*) FROM verifications v JOIN judgements j ON j.id = v.judgement_id "
        f"WHERE v.audit_id = ? AND v.rater_id = ? AND {LOOKED}",
        [_number(db, name), rater],
    ).fetchone()[0]
    return found


def _number(db: Database, name: str) -> int:
    row = db.execute("SELECT id FROM audits WHERE name = ?", [name]).fetchone()
    if row is None:
        raise not_found("audit", name, (a.name for a in audits(db)))
    found: int = row[0]
    return found


def findings(db: Database, benchmark: str, facets: Sequence[str]) -> pd.DataFrame:
    """Everything people found, one row a person and judgement.

    Columns: judgement, conversation, judge, player, person, simulated (of the person), finding, comment, corrected, score (the judge's mean
    over the counted criteria), audits (names of the samples it is in, joined by line breaks), desk (the audit at whose desk it was found, ""
    in the hunt), and one column for each facet.
    """
    cursor = db.execute(
        "SELECT j.id AS judgement, c.id AS conversation, x.name AS judge, c.player, p.name AS person, p.simulated, v.finding, v.comment, "
        "v.corrected, (SELECT avg(r.score) FROM ratings r LEFT JOIN criteria k ON k.scope = c.benchmark AND k.name = r.criterion "
        "WHERE r.judgement_id = j.id AND ifnull(k.counted, 1)) AS score, "
        "ifnull((SELECT group_concat(a.name, char(10)) FROM audit_items i JOIN audits a ON a.id = i.audit_id WHERE i.judgement_id = j.id), '') "
        "AS audits, ifnull((SELECT a.name FROM audits a WHERE a.id = v.audit_id), '') AS desk FROM verifications v JOIN judgements j ON j.id = v.judgement_id JOIN conversations c ON c.id = j.conversation_id "
        f"JOIN raters x ON x.id = j.rater_id JOIN raters p ON p.id = v.rater_id WHERE c.benchmark = ? AND {LOOKED} ORDER BY v.id",
        [benchmark],
    )
    table = pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
    for name in facets:
        values = dict(
            db.execute(
                "SELECT conversation_id, value FROM facets WHERE name = ? AND conversation_id IN (SELECT value FROM json_each(?))",
                [name, json.dumps([int(i) for i in table.conversation.unique()])],
            ).fetchall()
        )
        table[name] = table.conversation.map(values)
    return table
