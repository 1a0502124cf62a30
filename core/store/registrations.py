"""Pre-registrations of studies (of pairs, too): the fixed text, its SHA-256, how many answers were there."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlite_utils import Database

from concord.store import database
from concord.store.actor import actor
from concord.store.database import find, now
from concord.store.purposes import HIDDEN, RATED
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
    def line(self) -> str:
        """The registration in one line."""
        late = f", after people had given {self.ratings} answers" if self.late else ""
        return f"{self.registered[:10]}: registered by {self.by}, SHA-256 {self.sha256}{late}"


def add(db: Database, study: str, document: str) -> Registration:
    """Keep a registration beside earlier ones. Raises NotFound."""
    registration = Registration(
        document, hashlib.sha256(document.encode()).hexdigest(), answers(db, study), actor(), now()
    )
    study_id(db, study)
    row = {
        "kind": "registration",
        "scope": study,
        "hash": registration.sha256,
        "version": registration.ratings,
    }
    about = {"body": document, "by": registration.by, "created": registration.registered}
    database.insert(db, "documents", {**row, **about})
    return registration


def every(db: Database, study: str) -> list[Registration]:
    """The registrations of a study, the oldest first. Raises NotFound."""
    study_id(db, study)
    rows = db.execute(
        "SELECT document, sha256, ratings, by, registered FROM registrations WHERE study = ? ORDER BY id",
        [study],
    )
    return [Registration(*row) for row in rows]


def binding(registrations: list[Registration]) -> Registration | None:
    """The registration that a study is compared with: the last one that was in time, else the first late one.

    None where there is none.
    """
    in_time = [one for one in registrations if not one.late]
    return in_time[-1] if in_time else next(iter(registrations), None)


def answers(db: Database, study: str) -> int:
    """How many answers people gave in a study, to hidden items too, not to training. Raises NotFound."""
    sql = (
        "SELECT (SELECT count(*) FROM given WHERE study_id = :study) + (SELECT count(*) FROM items i "
        "JOIN placements p ON p.item_id = i.id JOIN answers a ON a.placement_id = p.id "
        f"AND a.replaced IS NULL WHERE i.study_id = :study AND (p.purpose IN {HIDDEN} "
        f"OR p.purpose IN {RATED} AND p.state <> 'done'))"
    )
    return int(db.execute(sql, {"study": study_id(db, study)}).fetchone()[0])


def judged(db: Database, study: str) -> int:
    """How many ratings by judges a study's conversations have, or answers its pairs. Raises NotFound."""
    if find(db, "studies", "id", name=study, kind="pairs"):
        return int(db.execute(f"SELECT count(*) {_ANSWERS}", [study, "judge"]).fetchone()[0])
    sql = (
        "SELECT count(*) FROM ratings r JOIN raters x ON x.id = r.rater_id WHERE r.study_id IS NULL AND "
        "x.kind = 'judge' AND r.conversation_id IN (SELECT conversation_id FROM items WHERE "
        "study_id = ? AND known = '')"
    )
    return int(db.execute(sql, [study_id(db, study)]).fetchone()[0])


def prompts(db: Database, study: str) -> list[list[str]]:
    """Judge, version and hash of each prompt by which pairs of a study were compared."""
    rows = db.execute(
        f"SELECT DISTINCT r.name, r.variant, x.prompt {_ANSWERS} ORDER BY 1, 2, 3", [study, "judge"]
    )
    return [list(row) for row in rows]


_ANSWERS = (
    "FROM studies t JOIN items i ON i.study_id = t.id AND i.known = '' JOIN comparisons x "
    "ON x.rubric = ifnull(json_extract(t.meta, '$.rubric.name'), '') "
    "AND x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN (i.conversation_id, i.other_id) "
    "JOIN raters r ON r.id = x.rater_id WHERE t.name = ? AND r.kind = ? AND x.failure IS NULL"
)
