"""What a study's training decided of each annotator: passed, failed, or admitted without passing."""

from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.store import access, acts, studies
from concord.store.actor import actor
from concord.store.database import insert, now, records, scalar

Outcome = Literal["passed", "failed", "admitted"]


class TrainingResult(NamedTuple):
    """What was decided of an annotator after an attempt; `attempt` is None for who was admitted."""

    annotator: str
    attempt: int | None
    outcome: Outcome
    reason: str
    decided_by: str
    decided: str


def results(db: Database, name: str) -> list[TrainingResult]:
    """What a study's training decided, in the order in which it was. Raises NotFound."""
    sql = (
        "SELECT x.name AS annotator, r.attempt, r.outcome, r.reason, r.decided_by, r.decided "
        "FROM training_results r JOIN raters x ON x.id = r.rater_id WHERE r.study_id = ? ORDER BY r.id"
    )
    return records(db, TrainingResult, sql, [studies.study_id(db, name)])


def decide(
    db: Database, name: str, annotator: str, outcome: Outcome, reason: str, attempt: int | None = None
) -> None:
    """Record what an attempt, or a researcher, decided. Raises NotFound, and StudyError without a reason."""
    acts.record(db, name, AuditAct(outcome), reason, annotator)
    row = {
        "study_id": studies.study_id(db, name),
        "rater_id": access.annotator_id(db, annotator),
        "attempt": attempt,
        "outcome": outcome,
        "reason": reason.strip(),
        "decided_by": actor(),
        "decided": now(),
    }
    insert(db, "training_results", row)


def is_open(db: Database, name: str, rater: int) -> bool:
    """Whether a study's own items are open to an annotator (id): passed, or admitted. Raises NotFound."""
    sql = (
        "SELECT 1 FROM training_results WHERE study_id = ? AND rater_id = ? "
        "AND outcome IN ('passed', 'admitted')"
    )
    return bool(scalar(db, sql, [studies.study_id(db, name), rater]))
