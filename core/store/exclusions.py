"""Decisions to leave an annotator out of a study's figures, or to take them in again, with their reasons.

The view `left_out` says for all who read ratings whom the last decision leaves out: figures of agreement,
people's means in lists and on leaderboards, and exports.
"""

from dataclasses import dataclass

from sqlite_utils import Database

from concord.errors import StudyError
from concord.store import access, database, summaries
from concord.store.database import now
from concord.store.studies import study_id


@dataclass(frozen=True)
class Decision:
    """One decision about an annotator. The last one holds."""

    annotator: str
    rater: int
    excluded: bool
    reason: str
    decided: str


def decisions(db: Database, study: str) -> list[Decision]:
    """Every decision of a study, in the order in which they were made. Raises NotFound."""
    rows = db.execute(
        "SELECT x.name, x.id, e.excluded, e.reason, e.decided FROM exclusions e "
        "JOIN raters x ON x.id = e.rater_id WHERE e.study_id = ? ORDER BY e.id",
        [study_id(db, study)],
    )
    return [Decision(name, rater, bool(out), *rest) for name, rater, out, *rest in rows]


def excluded(db: Database, study: str) -> dict[str, Decision]:
    """The annotators that are left out of a study's figures, with the decision, by name."""
    last = {decision.annotator: decision for decision in decisions(db, study)}
    out = db.execute("SELECT rater_id FROM left_out WHERE study_id = ?", [study_id(db, study)])
    raters = {rater for (rater,) in out}
    return {name: last[name] for name in sorted(last) if last[name].rater in raters}


def exclude(db: Database, study: str, annotator: str, reason: str, by: str = "researcher") -> None:
    """Leave an annotator out. Raises NotFound, and StudyError without a reason or where they are left out."""
    _decide(db, study, annotator, reason, by, excluded=True)


def include(db: Database, study: str, annotator: str, reason: str, by: str = "researcher") -> None:
    """Take an annotator in again. Raises NotFound, and StudyError without a reason or for one who is in."""
    _decide(db, study, annotator, reason, by, excluded=False)


def _decide(db: Database, study: str, annotator: str, reason: str, by: str, *, excluded: bool) -> None:
    rater, found = access.annotator_id(db, annotator), study_id(db, study)
    taking_part = (
        "SELECT EXISTS (SELECT 1 FROM scores WHERE study_id = :study AND rater_id = :rater) OR EXISTS "
    )
    taking_part += "(SELECT 1 FROM assignments a JOIN study_units u ON u.id = a.unit_id "
    taking_part += "WHERE u.study_id = :study AND a.rater_id = :rater)"
    if not db.execute(taking_part, {"study": found, "rater": rater}).fetchone()[0]:
        raise StudyError(f"“{annotator}” has no items and no ratings in the study “{study}”.")
    if not reason.strip():
        raise StudyError("A decision needs its reason, such as “missed three of five gold items”.")
    out = {decision.rater: decision.excluded for decision in decisions(db, study)}.get(rater, False)
    if out == excluded:
        raise StudyError(f"“{annotator}” is {'left out of' if out else 'in'} the study “{study}” already.")
    row = {"study_id": found, "rater_id": rater, "excluded": int(excluded)}
    database.insert(db, "exclusions", {**row, "reason": reason.strip(), "by": by.strip(), "decided": now()})
    rated = db.execute(
        "SELECT DISTINCT conversation_id FROM scores WHERE study_id = ? AND rater_id = ?", [found, rater]
    )
    summaries.refresh(db, [conversation for (conversation,) in rated])
