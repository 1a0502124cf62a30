"""Answers of people that were given elsewhere to units dealt at the desk."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlite_utils import Database

from concord.rating import Rater, Rating
from concord.store import conversations, placements, ratings, studies, summaries
from concord.store.database import now


@dataclass(frozen=True, slots=True)
class Annotation:
    """One answer of a person, with the seconds they were at work on the item."""

    rating: Rating
    annotator: str
    seconds: float = 0.0


def import_annotations(db: Database, study: str, given: Iterable[Annotation]) -> None:
    """Store the answers of each annotator to each unit, and close its item."""
    number, since = studies.study_id(db, study), now()
    by_item: dict[tuple[str, str, int], list[Annotation]] = {}
    for one in given:
        unit = one.rating.unit
        by_item.setdefault((one.annotator, unit.conversation, unit.turn or 0), []).append(one)
    raters, rated = set(), set()
    for (annotator, key, turn), answers in by_item.items():
        conversation = conversations.find_id(db, key)
        assert conversation is not None, f"{key} is not stored"
        rater = ratings.find_rater(db, Rater(annotator, "human"))
        assert rater is not None, f"{annotator} is not stored"
        ratings.insert(db, conversation, rater, [a.rating for a in answers], study_id=number)
        db.execute(
            "UPDATE placements SET seconds = ? WHERE rater_id = ? AND item_id IN (SELECT id FROM items "
            "WHERE study_id = ? AND conversation_id = ? AND ifnull(turn, 0) = ?)",
            [sum(a.seconds for a in answers), rater, number, conversation, turn],
        )
        raters.add(rater)
        rated.add(conversation)
    placements.close_imported(db, number, raters, since)
    summaries.refresh(db, [*rated])
