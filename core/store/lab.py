"""What the judge lab keeps of a study (and writes into the audit log), and what it reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.store import answers, audit, studies
from concord.store.answers import ItemAnswer
from concord.store.audit import AuditLine
from concord.store.database import now, scalar


class JudgeUse(NamedTuple):
    """What one judge by one version of the prompt made of some conversations; `cost` and `seconds` in all.

    `conversations` have a usable judgement, `failed` judgements none; `unpriced` calls have no price.
    """

    judge: str
    variant: str
    judgements: int
    failed: int
    conversations: int
    cost: float
    seconds: float
    unpriced: int
    simulated: int


class AnswerWithWords(NamedTuple):
    """One answer with its words: a judge's by `variant`, or a person's (“”)."""

    conversation: int
    turn: int | None
    criterion: str
    rater: str
    variant: str
    score: float
    words: str


@dataclass(frozen=True)
class Division:
    """How a study is divided: the rubric of its judges, the seed, and each conversation's part by key."""

    rubric: str
    seed: int
    parts: Mapping[str, str]


class Origin(NamedTuple):
    """Where a version of a rubric comes from: the version it was made of (“”: its file), by whom, and why."""

    parent: str
    decided_by: str
    note: str
    created: str


def division(db: Database, study: str) -> Division | None:
    """How a study is divided; None where it is not yet. Raises NotFound."""
    number = studies.study_id(db, study)
    head = db.execute("SELECT rubric, seed FROM lab_divisions WHERE study_id = ?", [number]).fetchone()
    parts = db.execute(
        "SELECT c.key, p.part FROM lab_parts p JOIN conversations c ON c.id = p.conversation_id "
        "WHERE p.study_id = ?",
        [number],
    )
    part_of = dict(parts.fetchall())
    return Division(head[0], head[1], part_of) if part_of else None


def divide(db: Database, study: str, divided: Division, detail: str) -> None:
    """Keep how a study is divided, in place of what was kept; `detail` is for the audit log."""
    _put_division(db, studies.study_id(db, study), divided)
    audit.record(db, AuditAct.PARTS_DIVIDED, study, detail=detail)


def _put_division(db: Database, study: int, divided: Division) -> None:
    db.execute("DELETE FROM lab_parts WHERE study_id = ?", [study])
    db.execute(
        "INSERT OR REPLACE INTO lab_divisions (study_id, rubric, seed) VALUES (?, ?, ?)",
        [study, divided.rubric, divided.seed],
    )
    db.conn.executemany(
        "INSERT INTO lab_parts (study_id, conversation_id, part) "
        "SELECT ?, id, ? FROM conversations WHERE key = ?",
        [(study, part, key) for key, part in divided.parts.items()],
    )


def origins(db: Database, study: str) -> dict[str, Origin]:
    """Where the versions of a study's rubric come from, the first first. Raises NotFound."""
    rows = db.execute(
        "SELECT variant, parent, decided_by, note, created FROM lab_variants WHERE study_id = ? "
        "ORDER BY created, variant",
        [studies.study_id(db, study)],
    )
    return {variant: Origin(*origin) for variant, *origin in rows}


def keep_variant(db: Database, study: str, variant: str, parent: str, author: str, note: str) -> None:
    """Keep where a version of a study's rubric comes from; it is recorded."""
    _put_origin(db, studies.study_id(db, study), variant, Origin(parent, author, note, now()))
    audit.record(db, AuditAct.VARIANT_KEPT, study, detail=f"{variant} from {parent or 'its file'}: {note}")


def _put_origin(db: Database, study: int, variant: str, origin: Origin) -> None:
    db.execute(
        "INSERT OR REPLACE INTO lab_variants (study_id, variant, parent, decided_by, note, created) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [study, variant, *origin],
    )


def proposal(db: Database, study: str, request_hash: str) -> dict[str, Any] | None:
    """What a model proposed when it was asked this before; None where it was not. Raises NotFound."""
    reply = scalar(
        db,
        "SELECT reply FROM lab_proposals WHERE (study_id, request_hash) = (?, ?)",
        [studies.study_id(db, study), request_hash],
    )
    return None if reply is None else dict(json.loads(reply))


def keep_proposal(
    db: Database, study: str, request_hash: str, reply: Mapping[str, Any], optimiser: str
) -> None:
    """Keep what a model (`optimiser`) proposed; it is recorded."""
    _put_proposal(db, studies.study_id(db, study), request_hash, reply)
    audit.record(db, AuditAct.INSTRUCTIONS_PROPOSED, study, detail=optimiser)


def _put_proposal(db: Database, study: int, request_hash: str, reply: Mapping[str, Any]) -> None:
    db.execute(
        "INSERT OR REPLACE INTO lab_proposals (study_id, request_hash, reply) VALUES (?, ?, ?)",
        [study, request_hash, json.dumps(dict(reply), ensure_ascii=False)],
    )


def exported(db: Database, study: str) -> dict[str, Any]:
    """What the lab keeps of a study, as an export has it; empty where it keeps nothing."""
    number = studies.study_id(db, study)
    variants: dict[str, dict[str, str]] = {}
    for variant, origin in origins(db, study).items():
        variants[variant] = {
            "parent": origin.parent,
            "by": origin.decided_by,
            "note": origin.note,
            "made": origin.created,
        }
    proposals: dict[str, Any] = {}
    for request, reply in db.execute(
        "SELECT request_hash, reply FROM lab_proposals WHERE study_id = ?", [number]
    ):
        proposals[request] = json.loads(reply)
    values: dict[str, Any] = {"variants": variants, "proposals": proposals}
    divided = division(db, study)
    if divided is not None:
        values |= {"rubric": divided.rubric, "seed": divided.seed, "parts": dict(divided.parts)}
    return {name: value for name, value in values.items() if value not in ("", {})}


def restore(db: Database, study: str, values: Mapping[str, Any]) -> None:
    """Store what `exported` wrote, for a study whose conversations are here."""
    number = studies.study_id(db, study)
    if parts := values.get("parts"):
        _put_division(db, number, Division(values["rubric"], values.get("seed", 0), parts))
    for variant, one in values.get("variants", {}).items():
        _put_origin(db, number, variant, Origin(one["parent"], one["by"], one["note"], one["made"]))
    for request, reply in values.get("proposals", {}).items():
        _put_proposal(db, number, request, reply)


def open_test(db: Database, study: str, about: str, reason: str) -> int:
    """Record that somebody looks at the sealed part; returns how many looks there were before."""
    before = len(openings(db, study))
    audit.record(db, AuditAct.TEST_PART_OPENED, study, about, reason)
    return before


def openings(db: Database, study: str) -> list[AuditLine]:
    """The looks at a study's sealed part, the first first: who, when, of which judge, and why."""
    return audit.of_study(db, study, [AuditAct.TEST_PART_OPENED])


def judge_uses(db: Database, conversations: Sequence[int]) -> list[JudgeUse]:
    """Every judge who was asked about these conversations (ids), by version of the prompt."""
    rows = db.execute(
        "SELECT x.name, x.variant, count(*), sum(j.failure IS NOT NULL), "
        "count(DISTINCT iif(j.failure IS NULL, j.conversation_id, NULL)), sum(j.cost), sum(j.seconds), "
        "sum(j.unpriced), max(x.simulated) "
        "FROM judgements j JOIN raters x ON x.id = j.rater_id "
        "WHERE j.conversation_id IN (SELECT value FROM json_each(?)) GROUP BY x.id "
        "ORDER BY x.name, x.variant",
        [json.dumps(list(conversations))],
    )
    return [JudgeUse(*row) for row in rows]


def answers_with_words(
    db: Database,
    conversations: Sequence[int],
    *,
    judge: str = "",
    variant: str = "",
    study: str = "",
    repeat: int = 0,
) -> list[AnswerWithWords]:
    """What a judge by a version, or the people of a study, answered about these conversations, with words."""
    rows = db.execute(
        """
        SELECT r.conversation_id, r.turn, r.criterion, x.name, x.variant, r.score, r.explanation
        FROM ratings r JOIN raters x ON x.id = r.rater_id
        WHERE r.conversation_id IN (SELECT value FROM json_each(:ids)) AND r.repeat = :repeat AND NOT r.extra
            AND CASE WHEN :study = ''
                THEN x.kind = 'judge' AND x.name = :judge AND x.variant = :variant
                ELSE x.kind = 'human' AND r.study_id = (SELECT id FROM studies WHERE name = :study) END
        ORDER BY r.id""",
        {
            "ids": json.dumps(list(conversations)),
            "judge": judge,
            "variant": variant,
            "study": study,
            "repeat": repeat,
        },
    )
    return [AnswerWithWords(*row) for row in rows]


def tags(db: Database, study: str, judge: str) -> list[ItemAnswer]:
    """The causes that people tagged for a judge (“MODEL by VERSION”), in the order in which they did."""
    causes = [cause for cause in answers.answers(db, study, "diagnose") if cause.criterion == judge]
    return sorted(causes, key=lambda cause: cause.answered_at)
