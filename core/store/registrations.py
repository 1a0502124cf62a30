"""Pre-registrations of studies (of pairs, too): the fixed text, its SHA-256, how many answers were there."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlite_utils import Database

from concord.store import database
from concord.store.actor import actor
from concord.store.database import now
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
    entry = Registration(document, digest(document), answers(db, study), actor(), now())
    row = {"kind": "registration", "scope": study, "hash": entry.sha256, "version": entry.ratings}
    about = {"body": document, "by": entry.by, "created": entry.registered}
    database.insert(db, "documents", row | about)
    return entry


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
    """How many ratings judges gave the conversations of a study, and verdicts its pairs. Raises NotFound."""
    sql = (
        "SELECT (SELECT count(*) FROM ratings r JOIN raters x ON x.id = r.rater_id AND x.kind = 'judge' "
        "WHERE ifnull(r.study_id, :study) = :study AND r.conversation_id IN (SELECT conversation_id "
        "FROM items WHERE study_id = :study AND known = '' AND other_id IS NULL)) + (SELECT count(*) "
        "FROM items i JOIN comparisons c ON c.first_id IN (i.conversation_id, i.other_id) AND c.second_id "
        "IN (i.conversation_id, i.other_id) AND c.failure IS NULL JOIN raters x ON x.id = c.rater_id "
        "AND x.kind = 'judge' WHERE i.study_id = :study AND i.known = '' AND i.other_id IS NOT NULL)"
    )
    return int(db.execute(sql, {"study": study_id(db, study)}).fetchone()[0])


def judges(db: Database) -> set[str]:
    """Every judge that has answered, by its name, and by its name and version of the prompt."""
    rows = db.execute("SELECT name, variant FROM raters WHERE kind = 'judge'").fetchall()
    return {called for name, variant in rows for called in (name, f"{name} {variant}".strip())}


def canonical(content: Any) -> str:
    """JSON with sorted keys and no spaces: equal contents are equal texts."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """The SHA-256 of a text, as hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
