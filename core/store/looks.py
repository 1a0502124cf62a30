"""Looks at the verdict of a study, which grows: at how many items it was read, criterion by criterion.

A verdict that is read again once more items are rated has another chance to be wrong, so that each such
reading is counted (`concord.statistics.claims.look_at`). While assigned items are still open nothing is: the
sample is whole once they are rated, skipped, or the study is closed.
"""

from collections.abc import Mapping

from sqlite_utils import Database

from concord.store import access, closings, exclusions
from concord.store.access import Annotator
from concord.store.database import now, scalar
from concord.store.purposes import RATED
from concord.store.studies import study_id


def items_at_looks(db: Database, study: str) -> Mapping[str, tuple[int, ...]]:
    """At how many items the verdict on each criterion was read, fewest first. Raises NotFound."""
    sql = "SELECT criterion, items FROM looks WHERE study_id = ? ORDER BY items"
    sizes: dict[str, tuple[int, ...]] = {}
    for criterion, items in db.execute(sql, [study_id(db, study)]):
        sizes[criterion] = (*sizes.get(criterion, ()), items)
    return sizes


def unfinished(db: Database, study: str) -> int:
    """How many ratings are assigned and open, but those of excluded annotators; 0 of a closed study. Raises
    NotFound.
    """
    if closings.is_closed(db, study):
        return 0
    sql = (
        "SELECT count(*) FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE i.study_id = ? AND p.state = 'open' AND p.purpose IN {RATED} AND p.rater_id NOT IN "
        "(SELECT rater_id FROM excluded_raters e WHERE e.study_id = i.study_id)"
    )
    return int(scalar(db, sql, [study_id(db, study)]))


def annotators(db: Database, study: str) -> list[Annotator]:
    """The annotators with open items that keep a verdict preliminary: of a study that is open, neither
    excluded nor simulated. Raises NotFound.
    """
    if closings.is_closed(db, study):
        return []
    excluded = exclusions.excluded(db, study)
    return [
        one
        for one in access.annotators(db, study)
        if one.done + one.skipped < one.items and not one.simulated and one.name not in excluded
    ]


def is_new(db: Database, study: str, criterion: str, items: int) -> bool:
    """Whether a verdict that is read at so many items counts as a look: once for each number, and not while
    ratings are open. Raises NotFound.
    """
    return (
        bool(items)
        and items not in items_at_looks(db, study).get(criterion, ())
        and not unfinished(db, study)
    )


def record(db: Database, study: str, criterion: str, items: int, verdict: str) -> None:
    """Keep that a verdict was read at so many items. Raises NotFound."""
    sql = "INSERT OR IGNORE INTO looks (study_id, criterion, items, verdict, looked) VALUES (?, ?, ?, ?, ?)"
    db.execute(sql, [study_id(db, study), criterion, items, verdict, now()])
