"""Spot-checks in the store: judgements, what people found of them, and samples to audit."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from sqlite_utils import Database

from concord.errors import StudyError, not_found
from concord.rating import Rating, Verification
from concord.store import ratings, summaries
from concord.store.database import find, insert, now
from concord.store.filters import Where, condition

LOOKED = "(v.finding = 'seen') = (j.failure IS NOT NULL)"
"""That a finding v is one of the judgement j as it stands: a verdict that was unreadable when it was seen may
have been asked for again."""


@dataclass(frozen=True)
class Seen:
    """A judgement, and what one person found of it (`finding`, `comment`, `corrected`)."""

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
    """The judgements of a conversation with their mean score on a criterion and a rater's findings."""
    rows = db.query(
        "SELECT j.id, j.key, x.name AS judge, x.variant, x.simulated, j.repeat, j.failure, j.raw, "
        "(SELECT avg(r.score) FROM ratings r WHERE r.judgement_id = j.id "
        "AND r.criterion = :criterion) AS score, ifnull((SELECT group_concat(r.explanation, char(10)) "
        "FROM ratings r WHERE r.judgement_id = j.id AND r.criterion = :criterion), '') AS explanation, "
        "v.finding, ifnull(v.comment, '') AS comment, v.corrected FROM judgements j JOIN raters x "
        "ON x.id = j.rater_id LEFT JOIN verifications v ON v.judgement_id = j.id AND v.rater_id = :rater "
        f"AND {LOOKED} WHERE j.conversation_id = :conversation ORDER BY x.name, x.variant, j.repeat",
        {"criterion": criterion, "rater": rater, "conversation": conversation_id},
    )
    return [Seen(**{**row, "simulated": bool(row["simulated"])}) for row in rows]


def about(db: Database, judgement_id: int) -> tuple[int, str, str]:
    """What a judgement is about: (conversation id, its key, its benchmark). Raises NotFound."""
    row = db.execute(
        "SELECT c.id, c.key, c.benchmark FROM judgements j JOIN conversations c ON c.id = j.conversation_id "
        "WHERE j.id = ?",
        [judgement_id],
    ).fetchone()
    if row is None:
        raise not_found("judgement", str(judgement_id), ())
    return row[0], row[1], row[2]


def save(db: Database, verification: Verification, rater: int, audit: str = "") -> None:
    """Store what a person found of a judgement; it replaces their earlier finding. Raises NotFound.

    `audit` names the audit in which it was found, "" for triage; a later finding does not change that.
    """
    judgement = find(db, "judgements", "id", key=verification.judgement)
    if judgement is None:
        raise not_found("judgement", verification.judgement, ())
    findings = db.table("verifications")
    said = {name: getattr(verification, name) for name in ("finding", "comment", "corrected")}
    said["created"] = now()
    known = find(db, "verifications", "id", judgement_id=judgement["id"], rater_id=rater)
    if known is not None:
        findings.update(known["id"], said)
    else:
        number = _number(db, audit) if audit else None
        findings.insert({"judgement_id": judgement["id"], "rater_id": rater, "audit_id": number, **said})


def withdraw(db: Database, judgement_id: int, rater: int, study: str) -> None:
    """Delete a person's finding, and its corrected score from the study; the score stays as a revision."""
    uncorrect(db, judgement_id, rater, study)
    db.table("verifications").delete_where("judgement_id = ? AND rater_id = ?", [judgement_id, rater])


def uncorrect(db: Database, judgement_id: int, rater: int, study: str) -> None:
    """Delete the corrected score of a finding from the study; it stays as a revision."""
    row = db.execute(
        "SELECT j.conversation_id, v.corrected FROM verifications v JOIN judgements j "
        "ON j.id = v.judgement_id WHERE v.judgement_id = ? AND v.rater_id = ? AND v.corrected IS NOT NULL",
        [judgement_id, rater],
    ).fetchone()
    if row is not None:
        which = (
            "conversation_id = ? AND score = ? AND rater_id = ? AND study_id = (SELECT id FROM studies "
            "WHERE name = ?)"
        )
        ratings.withdraw(db, which, [*row, rater, study])
        summaries.refresh(db, [row[0]])


def correct(db: Database, study_id: int, conversation_id: int, rater: int, given: Rating) -> None:
    """Store a corrected score in a study and add the conversation to it; an earlier one is a revision."""
    if not find(db, "items", "id", study_id=study_id, conversation_id=conversation_id, turn=None):
        db.table("items").insert({"study_id": study_id, "conversation_id": conversation_id})
    ratings.withdraw(
        db,
        "conversation_id = ? AND turn IS NULL AND criterion = ? AND rater_id = ? AND study_id = ?",
        [conversation_id, given.criterion, rater, study_id],
    )
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
    db: Database, benchmark: str, *, judges: Sequence[str] = (), where: Where | None = None
) -> list[tuple[str, int]]:
    """The judgements with a score, from which an audit is drawn: (key, id), ordered by key."""
    wanted, args = condition(where)
    rows = db.execute(
        "SELECT j.key, j.id FROM judgements j JOIN conversations c ON c.id = j.conversation_id JOIN raters x "
        "ON x.id = j.rater_id WHERE c.benchmark = :benchmark AND j.failure IS NULL AND (:judges = '[]' "
        f"OR x.name IN (SELECT value FROM json_each(:judges))) AND {wanted} ORDER BY j.key",
        args | {"benchmark": benchmark, "judges": json.dumps(list(judges))},
    )
    return list(rows.fetchall())


def create_audit(
    db: Database, name: str, benchmark: str, seed: int, drawn_from: int, judgement_ids: Sequence[int]
) -> None:
    """Store a sample. Raises StudyError where the name is taken."""
    if find(db, "audits", "id", name=name):
        raise StudyError(f"There is an audit “{name}” already. Give this one another name.")
    drawn = {"name": name, "benchmark": benchmark, "seed": seed, "drawn_from": drawn_from, "created": now()}
    number = insert(db, "audits", drawn)
    db.table("audit_items").insert_all(
        {"audit_id": number, "position": position, "judgement_id": judgement}
        for position, judgement in enumerate(judgement_ids, 1)
    )


def audits(db: Database, benchmark: str = "") -> list[Audit]:
    """The samples that were drawn, newest first."""
    rows = db.query(
        "SELECT a.name, a.benchmark, a.seed, a.drawn_from, count(i.judgement_id) AS items, a.created "
        "FROM audits a LEFT JOIN audit_items i ON i.audit_id = a.id WHERE ? = '' OR a.benchmark = ? "
        "GROUP BY a.id ORDER BY a.id DESC",
        [benchmark, benchmark],
    )
    return [Audit(**row) for row in rows]


def audit_items(db: Database, name: str, rater: int | None = None) -> list[tuple[int, int, bool]]:
    """An audit in its order: (judgement, conversation, whether the rater has a finding). Raises NotFound."""
    return [
        (judgement, conversation, bool(done))
        for judgement, conversation, done in db.execute(
            "SELECT j.id, j.conversation_id, EXISTS (SELECT 1 FROM verifications v "
            f"WHERE v.judgement_id = j.id AND v.rater_id = ? AND {LOOKED}) FROM audit_items i "
            "JOIN judgements j ON j.id = i.judgement_id WHERE i.audit_id = ? ORDER BY i.position",
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
    known = {row["name"]: int(row["id"]) for row in db.table("audits").rows}
    if name not in known:
        raise not_found("audit", name, known)
    return known[name]


def findings(db: Database, benchmark: str, facets: Sequence[str], where: Where | None = None) -> pd.DataFrame:
    """What people found of conversations of the benchmark, one row a person and judgement.

    Columns: judgement, judge, player, person, simulated (of the person), finding, audits (with the judgement,
    joined by line breaks), desk (the audit in which it was found, "" for triage), and each facet.
    """
    wanted, args = condition(where)
    each = "".join(
        f", (SELECT value FROM facets WHERE conversation_id = c.id AND name = :by{i}) AS by{i}"
        for i in range(len(facets))
    )
    found = pd.read_sql_query(
        "SELECT j.id AS judgement, x.name AS judge, c.player, p.name AS person, p.simulated, v.finding, "
        "ifnull((SELECT group_concat(a.name, char(10)) FROM audit_items i JOIN audits a ON a.id = i.audit_id "
        "WHERE i.judgement_id = j.id), '') AS audits, ifnull((SELECT a.name FROM audits a WHERE a.id = "
        f"v.audit_id), '') AS desk{each} FROM verifications v JOIN judgements j ON j.id = v.judgement_id "
        "JOIN conversations c ON c.id = j.conversation_id JOIN raters x ON x.id = j.rater_id JOIN raters p "
        f"ON p.id = v.rater_id WHERE c.benchmark = :benchmark AND {LOOKED} AND {wanted} ORDER BY v.id",
        db.conn,
        params=args | {"benchmark": benchmark} | {f"by{i}": name for i, name in enumerate(facets)},
    )
    return found.rename(columns={f"by{i}": name for i, name in enumerate(facets)})
