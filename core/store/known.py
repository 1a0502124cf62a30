"""Items whose answers are known (gold and training), and what people answered to these and to repeats."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.store import database, studies
from concord.store.database import find


class UnitKey(NamedTuple):
    """A conversation, or one turn of it."""

    conversation_id: int
    turn: int | None


class Gold(NamedTuple):
    """The known answer of a unit on a criterion: hit by an answer at most `tolerance` away."""

    unit: UnitKey
    criterion: str
    answer: float
    tolerance: float = 0.0
    explanation: str = ""
    attention: bool = False


class Pair(NamedTuple):
    """Two answers of an annotator to one unit: the rating, and the answer when it came again."""

    annotator: str
    unit: int
    criterion: str
    first: float
    second: float


class Check(NamedTuple):
    """The answer of an annotator to a gold item, None where they submitted without one."""

    annotator: str
    item: int
    criterion: str
    answer: float | None
    gold: float
    tolerance: float
    attention: bool
    attempt: int = 0

    @property
    def hit(self) -> bool:
        """Whether the answer lies within the tolerance."""
        return self.answer is not None and abs(self.answer - self.gold) <= self.tolerance + 1e-9


Known = Literal["gold", "training"]
_GOLD = "i.conversation_id, i.turn, g.criterion, g.answer, g.tolerance, g.explanation, g.attention"


def _gold(row: Sequence[Any]) -> Gold:
    of, turn, criterion, answer, tolerance, explanation, attention = row
    return Gold(UnitKey(of, turn), criterion, answer, tolerance, explanation, bool(attention))


def set_gold(db: Database, name: str, golds: Iterable[Gold], kind: Known = "gold") -> None:
    """Replace the known answers of a study, or of its training."""
    study = studies.study_id(db, name)
    db.execute(
        "DELETE FROM known_answers WHERE item_id IN (SELECT id FROM items WHERE study_id = ? AND known = ?)",
        [study, kind],
    )
    for gold in golds:
        which = {"study_id": study, "known": kind, **gold.unit._asdict()}
        item = find(db, "items", "id", **which)
        row = {"item_id": item["id"] if item else database.insert(db, "items", which), **gold._asdict()}
        del row["unit"]
        db.table("known_answers").insert(row | {"attention": int(gold.attention)})


def gold(db: Database, name: str, kind: Known = "gold") -> list[Gold]:
    """The known answers of a study, or of its training, by unit and criterion."""
    rows = db.execute(
        f"SELECT {_GOLD} FROM items i JOIN known_answers g ON g.item_id = i.id "
        "WHERE i.study_id = ? AND i.known = ? ORDER BY i.conversation_id, i.turn, g.criterion",
        [studies.study_id(db, name), kind],
    )
    return [_gold(row) for row in rows]


def items(db: Database, name: str, kind: Known = "gold") -> list[int]:
    """The items of a study, or of its training, that have known answers, by unit."""
    rows = db.execute(
        "SELECT i.id FROM items i WHERE i.study_id = ? AND i.known = ? AND EXISTS (SELECT 1 "
        "FROM known_answers g WHERE g.item_id = i.id) ORDER BY i.conversation_id, i.turn",
        [studies.study_id(db, name), kind],
    )
    return [item for (item,) in rows]


def shown(db: Database, placement: int) -> Mapping[str, Gold]:
    """The known answers of an item that its annotator may see, by criterion; empty before they submitted."""
    rows = db.execute(
        f"SELECT {_GOLD} FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN known_answers g ON g.item_id = i.id WHERE p.id = ? AND p.opened IS NOT NULL",
        [placement],
    )
    return {answer.criterion: answer for answer in (_gold(row) for row in rows)}


def pairs(db: Database, name: str) -> list[Pair]:
    """The two answers to each unit that an annotator submitted twice, by annotator, unit and criterion."""
    rows = db.execute(
        "SELECT x.name, u.id, s.question, r.score, s.value FROM study_units u "
        "JOIN placements p ON p.item_id = u.id AND p.purpose = 'repeat' AND p.state = 'done' "
        "JOIN raters x ON x.id = p.rater_id "
        "JOIN assignments a ON a.unit_id = u.id AND a.rater_id = p.rater_id AND a.state = 'done' "
        "JOIN answers s ON s.placement_id = p.id AND s.replaced IS NULL "
        "JOIN ratings r ON r.study_id = u.study_id AND r.rater_id = p.rater_id "
        "AND r.conversation_id = u.conversation_id AND ifnull(r.turn, 0) = ifnull(u.turn, 0) "
        "AND r.criterion = s.question WHERE u.study_id = ? ORDER BY 1, 2, 3",
        [studies.study_id(db, name)],
    )
    return [Pair(*row) for row in rows]


def checks(db: Database, name: str, kind: Known = "gold") -> list[Check]:
    """Every known answer that a submitted gold or training item was to have, by annotator, item and
    criterion.
    """
    rows = db.execute(
        "SELECT x.name, p.id, g.criterion, s.value, g.answer, g.tolerance, g.attention, p.attempt "
        "FROM items i JOIN placements p ON p.item_id = i.id AND p.purpose = i.known AND p.state = 'done' "
        "JOIN raters x ON x.id = p.rater_id JOIN known_answers g ON g.item_id = i.id LEFT JOIN answers s "
        "ON s.placement_id = p.id AND s.question = g.criterion AND s.replaced IS NULL "
        "WHERE i.study_id = ? AND i.known = ? ORDER BY 1, 2, 3",
        [studies.study_id(db, name), kind],
    )
    return [Check(*(*row[:6], bool(row[6]), row[7])) for row in rows]
