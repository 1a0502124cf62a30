"""Pre-registrations of studies (of pairs, too): the fixed text, its SHA-256, how many answers were there."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlite_utils import Database

from concord.store import database
from concord.store.database import find, now
from concord.store.studies import study_id


@dataclass(frozen=True)
class Registration:
    """One registration. `ratings` is the number of people's answers that were there when it was made."""

    document: str
    sha256: str
    ratings: int
    by: str
    registered: str

    @property
    def late(self) -> bool:
        """Whether people had begun to rate."""
        return self.ratings > 0

    @cached_property
    def content(self) -> dict[str, Any]:
        """The document, read."""
        content: dict[str, Any] = json.loads(self.document)
        return content

    @property
    def told(self) -> str:
        """The registration in one line."""
        late = f", after people had given {self.ratings} answers" if self.late else ""
        return f"{self.registered[:10]}: registered by {self.by}, SHA-256 {self.sha256}{late}"


def add(db: Database, study: str, document: str, by: str) -> Registration:
    """Keep a registration beside earlier ones. Raises NotFound."""
    made = Registration(
        document, hashlib.sha256(document.encode()).hexdigest(), answers(db, study), by.strip(), now()
    )
    row = {"study_id": _id(db, study), "document": document, "sha256": made.sha256}
    row |= {"ratings": made.ratings, "by": made.by, "registered": made.registered}
    database.insert(db, "registrations", row)
    return made


def every(db: Database, study: str) -> list[Registration]:
    """The registrations of a study, the oldest first. Raises NotFound."""
    rows = db.execute(
        "SELECT document, sha256, ratings, by, registered FROM registrations WHERE study_id = ? ORDER BY id",
        [_id(db, study)],
    )
    return [Registration(*row) for row in rows]


def binding(made: list[Registration]) -> Registration | None:
    """The registration that a study is compared with: the last one that was in time, else the first late one.

    None where there is none.
    """
    in_time = [one for one in made if not one.late]
    return in_time[-1] if in_time else next(iter(made), None)


def answers(db: Database, study: str) -> int:
    """How many answers people gave in a study, to hidden items too, not to training. Raises NotFound."""
    if of_pairs(db, study):
        return _compared(db, study, "human")
    sql = (
        "SELECT (SELECT count(*) FROM ratings WHERE study_id = :study) + (SELECT count(*) FROM items i "
        "JOIN placements p ON p.item_id = i.id JOIN answers a ON a.placement_id = p.id "
        "AND a.replaced IS NULL WHERE i.study_id = :study AND p.purpose IN ('repeat', 'gold'))"
    )
    return int(db.execute(sql, {"study": study_id(db, study)}).fetchone()[0])


def judged(db: Database, study: str) -> int:
    """How many ratings by judges a study's conversations have, or answers its pairs. Raises NotFound."""
    if of_pairs(db, study):
        return _compared(db, study, "judge")
    sql = (
        "SELECT count(*) FROM ratings r JOIN raters x ON x.id = r.rater_id WHERE r.study_id IS NULL AND "
        "x.kind = 'judge' AND r.conversation_id IN (SELECT conversation_id FROM study_units WHERE "
        "study_id = ?)"
    )
    return int(db.execute(sql, [study_id(db, study)]).fetchone()[0])


def of_pairs(db: Database, study: str) -> bool:
    """Whether a name is that of a study of pairs."""
    return find(db, "studies", "id", name=study, pairs=1) is not None


def prompts(db: Database, study: str) -> list[list[str]]:
    """Judge, version and hash of each prompt by which pairs of a study were compared."""
    rows = db.execute(
        f"SELECT DISTINCT r.name, r.variant, x.prompt {_ANSWERS} ORDER BY 1, 2, 3", [study, "judge"]
    )
    return [list(row) for row in rows]


_ANSWERS = (
    "FROM pair_studies t JOIN study_pairs p ON p.study_id = t.id JOIN comparisons x ON x.rubric = t.rubric "
    "AND x.first_id IN (p.first_id, p.second_id) AND x.second_id IN (p.first_id, p.second_id) "
    "JOIN raters r ON r.id = x.rater_id WHERE t.name = ? AND r.kind = ? AND x.failure IS NULL"
)


def _compared(db: Database, study: str, kind: str) -> int:
    return int(db.execute(f"SELECT count(*) {_ANSWERS}", [study, kind]).fetchone()[0])


def _id(db: Database, study: str) -> int:
    found = find(db, "studies", "id", name=study)
    return int(found["id"]) if found else study_id(db, study)
