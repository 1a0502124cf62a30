"""What the judge lab keeps of a study (in its `meta`, and as lines of the audit log), and what it reads."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.store import answers, audit, studies
from concord.store.answers import ItemAnswer
from concord.store.audit import AuditLine
from concord.store.database import update

OPENED = "test part opened"


class Asked(NamedTuple):
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


class Worded(NamedTuple):
    """One answer with its words: a judge's by `variant`, or a person's (“”)."""

    conversation: int
    turn: int | None
    criterion: str
    rater: str
    variant: str
    score: float
    words: str


def kept(db: Database, study: str) -> dict[str, Any]:
    """What the lab keeps of a study: parts, rubric, variants, causes; empty where it is not divided yet."""
    return dict(studies.get(db, study).meta.get("lab", {}))


def keep(db: Database, study: str, what: str, detail: str = "", **values: Any) -> None:
    """Keep values of the lab by their names; `what` and `detail` are the line of the audit log."""
    meta = dict(studies.get(db, study).meta)
    meta["lab"] = dict(meta.get("lab", {})) | values
    update(db, "studies", studies.study_id(db, study), meta=json.dumps(meta, ensure_ascii=False))
    audit.record(db, what, study, detail=detail)


def open_test(db: Database, study: str, about: str, reason: str) -> int:
    """Record that somebody looks at the sealed part; returns how many looks there were before."""
    before = len(openings(db, study))
    audit.record(db, OPENED, study, about, reason)
    return before


def openings(db: Database, study: str) -> list[AuditLine]:
    """The looks at a study's sealed part, the first first: who, when, of which judge, and why."""
    return audit.of_study(db, study, [OPENED])


def asked(db: Database, conversations: Sequence[int]) -> list[Asked]:
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
    return [Asked(*row) for row in rows]


def said(
    db: Database,
    conversations: Sequence[int],
    *,
    judge: str = "",
    variant: str = "",
    study: str = "",
    repeat: int = 0,
) -> list[Worded]:
    """What a judge by a version, or the people of a study, answered about these conversations, with words."""
    whose = "x.kind = 'judge' AND x.name = :judge AND x.variant = :variant"
    if study:
        whose = "x.kind = 'human' AND r.study_id = (SELECT id FROM studies WHERE name = :study)"
    rows = db.execute(
        "SELECT r.conversation_id, r.turn, r.criterion, x.name, x.variant, r.score, r.explanation "
        f"FROM ratings r JOIN raters x ON x.id = r.rater_id WHERE {whose} AND r.repeat = :repeat "
        "AND NOT r.extra AND r.conversation_id IN (SELECT value FROM json_each(:ids)) ORDER BY r.id",
        {"judge": judge, "variant": variant, "study": study, "repeat": repeat}
        | {"ids": json.dumps(list(conversations))},
    )
    return [Worded(*row) for row in rows]


def tags(db: Database, study: str, judge: str) -> list[ItemAnswer]:
    """The causes that people tagged for a judge (“MODEL by VERSION”), in the order in which they did."""
    given = answers.answers(db, study, "diagnose")
    return sorted((one for one in given if one.criterion == judge), key=lambda one: one.given)
