"""The judges of a study: which prompts they were asked with, how many of their answers can be used."""

from __future__ import annotations

from dataclasses import dataclass

from sqlite_utils import Database

from core.store.studies import study_id


@dataclass(frozen=True)
class Origin:
    """A judge of a study. `prompt` is the hash of its prompt, empty for judgements that were imported."""

    judge: str
    variant: str
    simulated: bool
    prompt: str
    judgements: int
    failed: int
    first: str
    last: str


def of_judges(db: Database, study: str) -> list[Origin]:
    """The judges of a study's conversations, one row a judge and prompt. Raises NotFound."""
    rows = db.execute(
        "SELECT x.name, x.variant, x.simulated, j.prompt, count(*), count(j.failure), "
        "min(j.created), max(j.created) FROM judgements j JOIN raters x ON x.id = j.rater_id "
        "WHERE j.conversation_id IN (SELECT conversation_id FROM study_units WHERE study_id = ?) "
        "GROUP BY x.id, j.prompt ORDER BY x.name, x.variant, j.prompt",
        [study_id(db, study)],
    ).fetchall()
    return [Origin(name, variant, bool(simulated), *rest) for name, variant, simulated, *rest in rows]
