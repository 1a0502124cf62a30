"""Pairs of replies dealt to people to compare.

The answers are stored as comparisons. Pairs of a discarded scenario are left out everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from concord.errors import NotAllowed
from concord.rating import Verdict
from concord.store import comparisons
from concord.store.database import now

# A pair is compared whichever of the two was shown first, be it at this desk or elsewhere. The plus has
# SQLite look up the few comparisons of the conversation, not the many of the person.
_ITS = (
    "+x.rater_id = p.rater_id AND x.first_id IN (p.first_id, p.second_id) "
    "AND x.second_id IN (p.first_id, p.second_id) AND x.failure IS NULL"
)
_DONE = f"EXISTS (SELECT 1 FROM comparisons x WHERE {_ITS})"
_KEPT = "p.scenario NOT IN (SELECT key FROM scenarios WHERE state = 'discarded')"


@dataclass(frozen=True)
class Pairing:
    """Two conversations as shown to a person (`first` as A), and the answer so far. It names no player."""

    id: int
    benchmark: str
    first: int
    second: int
    verdict: Verdict | None
    comment: str


@dataclass(frozen=True)
class Standing:
    """How many of the pairs of a benchmark dealt to a person are done."""

    person: str
    rater: int
    benchmark: str
    done: int
    dealt: int


def assign(db: Database, rater: int, benchmark: str, pairs: Sequence[tuple[str, int, int]]) -> None:
    """Append pairs (scenario, first, second) to a person's desk, without those the person has either way."""
    sql = "SELECT ifnull(max(position), 0) FROM pairings WHERE rater_id = ?"
    last = db.execute(sql, [rater]).fetchone()[0]
    db.conn.executemany(
        "INSERT OR IGNORE INTO pairings (rater_id, benchmark, scenario, first_id, second_id, position, "
        "created) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(rater, benchmark, *pair, last + i, now()) for i, pair in enumerate(pairs, 1)],
    )


def reclaim(db: Database, rater: int, benchmark: str) -> int:
    """Take back the pairs that a person has not compared; returns how many."""
    sql = f"DELETE FROM pairings AS p WHERE p.rater_id = ? AND p.benchmark = ? AND NOT {_DONE}"
    return db.execute(sql, [rater, benchmark]).rowcount


def held(db: Database, benchmark: str) -> list[tuple[int, int, str]]:
    """The pairs dealt: (the smaller id, the larger id, person)."""
    rows = db.execute(
        "SELECT min(p.first_id, p.second_id), max(p.first_id, p.second_id), r.name FROM pairings p "
        "JOIN raters r ON r.id = p.rater_id WHERE p.benchmark = ? ORDER BY p.id",
        [benchmark],
    )
    return list(rows.fetchall())


def desk(db: Database, rater: int, benchmark: str) -> list[tuple[int, bool]]:
    """A person's pairs in their order: (number, whether compared)."""
    rows = db.execute(
        f"SELECT p.id, {_DONE} FROM pairings p WHERE p.rater_id = ? AND p.benchmark = ? AND {_KEPT} "
        "ORDER BY p.position",
        [rater, benchmark],
    )
    return [(number, bool(done)) for number, done in rows]


def get(db: Database, rater: int, number: int) -> Pairing:
    """A pair on a person's desk with the answer so far. Raises NotAllowed for a pair that is not there."""
    row = db.execute(
        "SELECT p.benchmark, p.first_id, p.second_id FROM pairings p "
        f"WHERE p.rater_id = ? AND p.id = ? AND {_KEPT}",
        [rater, number],
    ).fetchone()
    if row is None:
        raise NotAllowed("This pair is not on your desk any more, and your answer was not taken.")
    benchmark, first, second = row
    return Pairing(number, benchmark, first, second, *comparisons.given(db, rater, first, second))


def standings(db: Database, *, rater: int | None = None, benchmark: str = "") -> list[Standing]:
    """The standing of everybody who has pairs, or of one person or benchmark, ordered by name."""
    rows = db.execute(
        f"SELECT r.name, r.id, p.benchmark, sum({_DONE}), count(*) FROM pairings p "
        "JOIN raters r ON r.id = p.rater_id WHERE (? IS NULL OR p.rater_id = ?) AND (? = '' "
        f"OR p.benchmark = ?) AND {_KEPT} GROUP BY r.id, p.benchmark ORDER BY r.name, p.benchmark",
        [rater, rater, benchmark, benchmark],
    )
    return [Standing(*row) for row in rows.fetchall()]
