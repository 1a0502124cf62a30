"""What annotators said about items beside their answers: comments, and why they skipped."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from concord.store.purposes import RATED
from concord.store.studies import KEPT, KEY, study_id


@dataclass(frozen=True, slots=True)
class Remark:
    """What an annotator said of an item: a comment, the reason why they skipped it, or both.

    `kind` is “item”, or the purpose of an item that is not rated. `state` is open, done or skipped.
    """

    study: str
    kind: str
    conversation_id: int
    item_id: str
    turn: int | None
    rater: str
    state: str
    reason: str
    text: str


def of_study(db: Database, name: str, *, with_excluded: bool = False) -> list[Remark]:
    """The comments of a study, by item, turn and annotator; those of annotators who are left out only on
    request. Raises NotFound.
    """
    return _comments(db, "s.study_id = ? AND (? OR l.rater_id IS NULL)", [study_id(db, name), with_excluded])


def of_conversation(db: Database, conversation: int) -> list[Remark]:
    """The comments on a conversation in all studies."""
    return _comments(db, "s.conversation_id = ?", [conversation])


def exported(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[dict[str, Any]]:
    """The comments of a study, and why items were skipped, as rows of a file. Raises NotFound."""
    for one in of_study(db, study, with_excluded=with_excluded):
        yield {
            **{name: getattr(one, name) for name in ("kind", "item_id", "turn", "rater", "state")},
            "rater_type": "human",
            "skipped_because": one.reason,
            "comment": one.text,
        }


def _comments(db: Database, where: str, values: list[object]) -> list[Remark]:
    rows = db.execute(
        f"SELECT t.name, s.kind, s.conversation_id, {KEY} AS key, s.turn, x.name, s.state, "
        "CASE s.state WHEN 'skipped' THEN s.reason ELSE '' END, s.flag FROM ("
        f"SELECT iif(p.purpose IN {RATED}, 'item', p.purpose) AS kind, i.study_id, i.conversation_id, "
        "i.other_id, i.turn, p.rater_id, p.state, p.reason, p.flag FROM placements p JOIN items i "
        f"ON i.id = p.item_id WHERE {KEPT}) s "
        "JOIN studies t ON t.id = s.study_id JOIN conversations c ON c.id = s.conversation_id "
        "LEFT JOIN conversations d ON d.id = s.other_id "
        "JOIN raters x ON x.id = s.rater_id "
        "LEFT JOIN left_out l ON l.study_id = s.study_id AND l.rater_id = s.rater_id "
        f"WHERE (s.flag <> '' OR s.state = 'skipped') AND {where} "
        "ORDER BY t.id, key, ifnull(s.turn, 0), x.name, s.kind",
        values,
    )
    return [Remark(*row) for row in rows]
