"""Extra ratings: an item that one more annotator is given because the first ones differ on it.

They are ratings, but chosen by what others answered: figures of agreement leave them out.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlite_utils import Database

from concord.store.placements import Placed, placed
from concord.store.studies import study_id


class Range(NamedTuple):
    """How far the first ratings of a unit are apart on a criterion."""

    unit: int
    criterion: str
    apart: float


def dealt(db: Database, name: str) -> list[Placed]:
    """The extra items of a study, by unit. Raises NotFound."""
    return sorted(placed(db, name, ["extra"]))


def ranges(db: Database, name: str, overlap: int, unit: int | None = None) -> Iterator[Range]:
    """The range of the first ratings of each unit (or of one) on each criterion, once all of them are given.

    A unit is there when it lies on `overlap` desks, none of these is open, and two people or more rated it
    whom no decision leaves out.
    """
    one = "" if unit is None else "AND u.id = :unit AND g.item_id = :unit "
    rows = db.execute(
        "SELECT u.id, g.criterion, max(g.score) - min(g.score) FROM items u "
        "JOIN placements a ON a.item_id = u.id AND a.purpose = 'first' AND a.state = 'done' "
        "JOIN given g ON g.item_id = u.id AND g.rater_id = a.rater_id "
        f"WHERE u.study_id = :study AND g.study_id = :study {one}"
        "AND (SELECT count(*) >= :overlap AND NOT sum(f.state = 'open') FROM placements f "
        "WHERE f.item_id = u.id AND f.purpose = 'first') AND NOT EXISTS (SELECT 1 FROM left_out o "
        "WHERE o.study_id = u.study_id AND o.rater_id = a.rater_id) "
        "GROUP BY u.id, g.criterion HAVING count(*) > 1 ORDER BY u.id, g.criterion",
        {"study": study_id(db, name), "unit": unit, "overlap": overlap},
    )
    yield from (Range(*row) for row in rows.fetchall())


def count_as_first(db: Database, name: str) -> None:
    """Let the extra ratings of a study be like all others: every unit is to have as many raters now."""
    db.execute(
        "UPDATE placements SET purpose = 'first' WHERE purpose = 'extra' AND item_id IN "
        "(SELECT id FROM items WHERE study_id = ?)",
        [study_id(db, name)],
    )
    for table in ("ratings", "scores"):
        db.execute(f"UPDATE {table} SET extra = 0 WHERE study_id = ?", [study_id(db, name)])
