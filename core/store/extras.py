"""Extra ratings: an item that one more annotator is given because the first ones differ on it.

They are ratings, but chosen by what others answered: figures of agreement leave them out.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlite_utils import Database

from concord.store.studies import BEGUN, study_id


class Extra(NamedTuple):
    """An extra item on an annotator's desk."""

    unit: int
    person: str
    begun: bool


class Range(NamedTuple):
    """How far the first ratings of a unit are apart on a criterion."""

    unit: int
    criterion: str
    apart: float


def dealt(db: Database, name: str) -> list[Extra]:
    """The extra items of a study, by unit. Raises NotFound."""
    rows = db.execute(
        f"SELECT a.unit_id, x.name, {BEGUN.format(a='a')} FROM study_units u "
        "JOIN assignments a ON a.unit_id = u.id AND a.extra JOIN raters x ON x.id = a.rater_id "
        "WHERE u.study_id = ? ORDER BY a.unit_id, x.name",
        [study_id(db, name)],
    )
    return [Extra(unit, person, bool(begun)) for unit, person, begun in rows]


def has(db: Database, unit: int) -> bool:
    """Whether a unit lies on a desk as an extra item."""
    row = db.execute("SELECT 1 FROM assignments WHERE unit_id = ? AND extra LIMIT 1", [unit]).fetchone()
    return row is not None


def ranges(db: Database, name: str, overlap: int, unit: int | None = None) -> Iterator[Range]:
    """The range of the first ratings of each unit (or of one) on each criterion, once all of them are given.

    A unit is there when it lies on `overlap` desks, none of these is open, and two people or more rated it
    whom no decision leaves out.
    """
    one = "" if unit is None else "AND u.id = :unit "
    rows = db.execute(
        "SELECT u.id, r.criterion, max(r.score) - min(r.score) FROM study_units u "
        "JOIN assignments a ON a.unit_id = u.id AND NOT a.extra AND a.state = 'done' "
        "JOIN ratings r ON r.conversation_id = u.conversation_id AND r.study_id = u.study_id "
        "AND ifnull(r.turn, 0) = ifnull(u.turn, 0) AND r.rater_id = a.rater_id "
        f"WHERE u.study_id = :study {one}"
        "AND (SELECT count(*) >= :overlap AND NOT sum(f.state = 'open') FROM assignments f "
        "WHERE f.unit_id = u.id AND NOT f.extra) AND NOT EXISTS (SELECT 1 FROM left_out o "
        "WHERE o.study_id = u.study_id AND o.rater_id = a.rater_id) "
        "GROUP BY u.id, r.criterion HAVING count(*) > 1 ORDER BY u.id, r.criterion",
        {"study": study_id(db, name), "unit": unit, "overlap": overlap},
    )
    yield from (Range(*row) for row in rows.fetchall())


def rated(db: Database, name: str) -> set[tuple[int, int]]:
    """The extra items of a study as (unit, rater), whether rated or not."""
    rows = db.execute(
        "SELECT u.id, a.rater_id FROM study_units u JOIN assignments a ON a.unit_id = u.id AND a.extra "
        "WHERE u.study_id = ?",
        [study_id(db, name)],
    )
    return set(rows.fetchall())


def count_as_first(db: Database, name: str) -> None:
    """Let the extra ratings of a study be like all others: every unit is to have as many raters now."""
    db.execute(
        "UPDATE placements SET purpose = 'first' WHERE purpose = 'extra' AND item_id IN "
        "(SELECT id FROM study_units WHERE study_id = ?)",
        [study_id(db, name)],
    )


def others(db: Database, name: str, unit: int) -> list[tuple[str, int, bool]]:
    """The annotators of a study without this unit: (name, items in all, whether they have another extra item
    of its conversation).
    """
    rows = db.execute(
        "SELECT x.name, count(*), max(a.extra AND u.conversation_id = "
        "(SELECT conversation_id FROM study_units WHERE id = :unit)) FROM study_units u "
        "JOIN assignments a ON a.unit_id = u.id JOIN raters x ON x.id = a.rater_id "
        "WHERE u.study_id = :study GROUP BY a.rater_id HAVING NOT max(a.unit_id = :unit) ORDER BY x.name",
        {"study": study_id(db, name), "unit": unit},
    )
    return [(person, items, bool(same)) for person, items, same in rows.fetchall()]
