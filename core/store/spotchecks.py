"""Spot-checks in the store: judgements as items, what people found of them, and samples to audit.

A judgement to check is an item of a study of checks: of the triage of its benchmark, or of an audit, whose
items are a random sample in the order drawn. A person has one finding of a judgement, wherever it was made.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
from sqlite_utils import Database

from concord.errors import not_found
from concord.rating import Finding
from concord.store.database import find, insert, now, records, scalar
from concord.store.studies import StudySample, add_sample, refuse_taken


@dataclass(frozen=True)
class JudgementWithFinding:
    """A judgement with a score, and what one person found of it (`finding`, `comment`)."""

    id: int
    judge: str
    variant: str
    simulated: bool
    repeat: int
    score: float | None
    explanation: str
    finding: Finding | None = None
    comment: str = ""


def judgements(
    db: Database, conversation_id: int, criterion: str, rater: int | None = None, *, nominal: bool = False
) -> list[JudgementWithFinding]:
    """The judgements of a conversation with their score on a criterion and a rater's findings; failed ones,
    which have none, are excluded.

    Over turns the score is the mean; of categories (`nominal`) the most frequent one, the first of several.
    """
    rows = db.query(
        """
        SELECT j.id, x.name AS judge, x.variant, x.simulated, j.repeat,
            CASE WHEN :nominal THEN
                (SELECT r.score FROM ratings r WHERE r.judgement_id = j.id AND r.criterion = :criterion
                    GROUP BY r.score ORDER BY count(*) DESC, r.score LIMIT 1)
            ELSE
                (SELECT avg(r.score) FROM ratings r WHERE r.judgement_id = j.id AND r.criterion = :criterion)
            END AS score,
            ifnull((SELECT group_concat(r.explanation, char(10)) FROM ratings r
                WHERE r.judgement_id = j.id AND r.criterion = :criterion), '') AS explanation
        FROM judgements j JOIN raters x ON x.id = j.rater_id
        WHERE j.conversation_id = :conversation AND j.failure IS NULL
        ORDER BY x.name, x.variant, j.repeat""",
        {"criterion": criterion, "conversation": conversation_id, "nominal": nominal},
    )
    # By itself: joined to the judgements, all that the person ever found would be read.
    findings_of_rater = db.query(
        "SELECT judgement_id, finding, comment FROM findings WHERE conversation_id = ? AND rater_id = ?",
        [conversation_id, rater],
    )
    findings = {finding.pop("judgement_id"): finding for finding in findings_of_rater}
    judgements: list[JudgementWithFinding] = []
    for row in rows:
        row["simulated"] = bool(row["simulated"])
        judgements.append(JudgementWithFinding(**row, **findings.get(row["id"], {})))
    return judgements


def subject(db: Database, judgement_id: int) -> tuple[int, str]:
    """What a judgement with a score is about: (conversation id, its benchmark). Raises NotFound."""
    row = db.execute(
        "SELECT c.id, c.benchmark FROM judgements j JOIN conversations c ON c.id = j.conversation_id "
        "WHERE j.id = ? AND j.failure IS NULL",
        [judgement_id],
    ).fetchone()
    if row is None:
        raise not_found("judgement with a score", str(judgement_id), ())
    return row[0], row[1]


def triage(benchmark: str) -> str:
    """The name of the study that holds what is found in a benchmark's triage."""
    return f"spot-check-{benchmark}"


def _create(db: Database, name: str, source: str, benchmark: str, seed: int = 0) -> int:
    refuse_taken(db, name)
    row = {"name": name, "title": name, "source": source, "kind": "checks", "benchmark": benchmark}
    return insert(db, "studies", {**row, "seed": seed, "created": now()})


def item(db: Database, judgement_id: int, rater: int, audit: str = "") -> int:
    """The item to which a person's finding of a judgement belongs; without one, the judgement's in an audit.

    Without an audit it is that of triage, whose study is made when it is first needed. Raises NotFound for an
    unknown audit.
    """
    present = scalar(
        db,
        "SELECT i.id FROM items i JOIN placements p ON p.item_id = i.id AND p.purpose = 'spot-check' "
        "WHERE i.judgement_id = ? AND p.rater_id = ? AND p.state = 'done'",
        [judgement_id, rater],
    )
    if present:
        return int(present)
    conversation, benchmark = subject(db, judgement_id)
    name = triage(benchmark)
    if audit:
        study = _audit(db, audit)
    elif triage_row := find(db, "studies", "id", name=name, kind="checks"):
        study = int(triage_row["id"])
    else:
        study = _create(db, name, "triage", benchmark)
    row = {"study_id": study, "judgement_id": judgement_id, "conversation_id": conversation}
    if item_row := find(db, "items", "id", **row):
        return int(item_row["id"])
    return insert(db, "items", row)


@dataclass(frozen=True)
class Audit:
    """A random sample of judgements: how it was drawn, from how many, and how many items it has."""

    name: str
    benchmark: str
    seed: int
    drawn_from: int
    items: int
    created: str


class SampledJudgement(NamedTuple):
    """A judgement of an audit, and the study in which a person found something of it; None: nothing yet."""

    judgement: int
    conversation: int
    found_in: str | None


def auditable(db: Database, benchmark: str, judges: Sequence[str] = ()) -> list[tuple[str, int]]:
    """The judgements with a score, from which an audit is drawn: (key, id), ordered by key."""
    rows = db.execute(
        "SELECT j.key, j.id FROM judgements j JOIN conversations c ON c.id = j.conversation_id JOIN raters x "
        "ON x.id = j.rater_id WHERE c.benchmark = :benchmark AND j.failure IS NULL AND (:judges = '[]' "
        "OR x.name IN (SELECT value FROM json_each(:judges))) ORDER BY j.key",
        {"benchmark": benchmark, "judges": json.dumps(list(judges))},
    )
    return list(rows.fetchall())


def create_audit(
    db: Database, name: str, benchmark: str, seed: int, drawn_from: int, judgement_ids: Sequence[int]
) -> None:
    """Store a sample. Raises StudyError where the name is taken."""
    number = _create(db, name, "audit", benchmark, seed)
    add_sample(db, number, StudySample(drawn_from, len(judgement_ids)))
    db.conn.executemany(
        "INSERT INTO items (study_id, judgement_id, conversation_id) "
        "SELECT ?, id, conversation_id FROM judgements WHERE id = ?",
        [(number, judgement) for judgement in judgement_ids],
    )


def audits(db: Database, benchmark: str = "") -> list[Audit]:
    """The samples that were drawn, newest first."""
    return records(
        db,
        Audit,
        "SELECT t.name, t.benchmark, t.seed, m.candidates, count(i.id), t.created FROM studies t "
        "JOIN samples m ON m.study_id = t.id LEFT JOIN items i ON i.study_id = t.id "
        "WHERE t.kind = 'checks' AND t.source = 'audit' AND ? IN ('', t.benchmark) GROUP BY t.id "
        "ORDER BY t.id DESC",
        [benchmark],
    )


def _audit(db: Database, name: str) -> int:
    if (row := find(db, "studies", "id", name=name, source="audit")) is None:
        raise not_found("audit", name, [one.name for one in audits(db)])
    return int(row["id"])


def drawn(db: Database, audit: str, rater: int | None = None) -> list[SampledJudgement]:
    """An audit in its order, with what the rater found. Raises NotFound."""
    return records(
        db,
        SampledJudgement,
        "SELECT i.judgement_id, i.conversation_id, (SELECT t.name FROM findings f JOIN studies t "
        "ON t.id = f.study_id WHERE f.judgement_id = i.judgement_id AND f.rater_id = ?) "
        "FROM items i JOIN judgements j ON j.id = i.judgement_id AND j.failure IS NULL "
        "WHERE i.study_id = ? ORDER BY i.id",
        [rater, _audit(db, audit)],
    )


def findings(db: Database, benchmark: str, facets: Sequence[str]) -> pd.DataFrame:
    """What people found of conversations of the benchmark, one row a person and judgement, the first first.

    Columns: judgement, judge, player, person, simulated (of the person), finding, desk (the audit in which it
    was found, "" for triage), and each facet.
    """
    facet_names = {f"by{number}": facet for number, facet in enumerate(facets)}
    facet_columns = ""
    for column in facet_names:
        facet_columns += (
            f", (SELECT value FROM facets WHERE conversation_id = c.id AND name = :{column}) AS {column}"
        )
    rows = pd.read_sql_query(
        "SELECT f.judgement_id AS judgement, x.name AS judge, c.player, p.name AS person, p.simulated, "
        f"f.finding, iif(t.source = 'audit', t.name, '') AS desk{facet_columns} FROM findings f "
        "JOIN studies t ON t.id = f.study_id JOIN conversations c ON c.id = f.conversation_id "
        "JOIN judgements j ON j.id = f.judgement_id AND j.failure IS NULL "
        "JOIN raters x ON x.id = j.rater_id JOIN raters p ON p.id = f.rater_id WHERE "
        "c.benchmark = :benchmark ORDER BY f.submitted, f.placement_id",
        db.conn,
        params={"benchmark": benchmark, **facet_names},
    )
    return rows.rename(columns=facet_names)


def checked(db: Database, conversations: Sequence[int], rater: int | None) -> dict[int, bool]:
    """Those of the conversations that have scores of judges, in this order, and whether this rater has a
    finding of each.
    """
    rows = db.execute(
        "SELECT j.conversation_id, count(v.placement_id) = count(*) FROM json_each(:conversations) o "
        "JOIN judgements j ON j.conversation_id = o.value AND j.failure IS NULL "
        "LEFT JOIN findings v ON v.judgement_id = j.id AND v.rater_id = :rater GROUP BY o.key ORDER BY o.key",
        {"conversations": json.dumps(list(conversations)), "rater": rater},
    )
    return {number: bool(all_found) for number, all_found in rows}
