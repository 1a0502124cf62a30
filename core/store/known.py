"""Items whose answers are known (gold and training), and what people answered to these and to repeats."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.store import database, studies
from concord.store.database import find
from concord.store.purposes import RATED


class UnitKey(NamedTuple):
    """A conversation, one turn of it, or a pair: two conversations, the second with the greater number."""

    conversation_id: int
    turn: int | None
    other_id: int | None = None


class Gold(NamedTuple):
    """The known answer of a unit on a criterion: hit by an answer at most `tolerance` away."""

    unit: UnitKey
    criterion: str
    answer: float
    tolerance: float = 0.0
    explanation: str = ""
    attention: bool = False


class Pair(NamedTuple):
    """Two answers of an annotator to one unit: the rating, and the answer when it came again.

    `shown` is the judge's score that stood beside the second one; None where none did.
    """

    annotator: str
    unit: int
    criterion: str
    first: float
    second: float
    shown: float | None = None


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
_GOLD = (
    "i.conversation_id, i.turn, i.other_id, g.criterion, g.answer, g.tolerance, g.explanation, g.attention"
)


def _gold(row: Sequence[Any]) -> Gold:
    of, turn, other, criterion, answer, tolerance, explanation, attention = row
    return Gold(UnitKey(of, turn, other), criterion, answer, tolerance, explanation, bool(attention))


def set_gold(db: Database, name: str, golds: Iterable[Gold], kind: Known = "gold") -> None:
    """Replace the known answers of a study, or of its training."""
    study = studies.study_id(db, name)
    db.execute("UPDATE items SET answers = '[]' WHERE study_id = ? AND known = ?", [study, kind])
    of: dict[UnitKey, list[Gold]] = {}
    for gold in golds:
        of.setdefault(gold.unit, []).append(gold)
    for unit, answers in of.items():
        which = {"study_id": study, "known": kind, **unit._asdict()}
        item = find(db, "items", "id", **which)
        number = item["id"] if item else database.insert(db, "items", which)
        kept = json.dumps([answer[1:] for answer in answers], ensure_ascii=False)
        database.update(db, "items", number, answers=kept)


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
    """The known answers of an item as it is shown, by criterion, once its annotator may see them."""
    rows = db.execute(
        f"SELECT {_GOLD.replace('g.answer', 'g.answer * iif(p.swapped, -1, 1)')} FROM placements p JOIN "
        "items i ON i.id = p.item_id "
        "JOIN known_answers g ON g.item_id = i.id WHERE p.id = ? AND p.opened IS NOT NULL",
        [placement],
    )
    return {answer.criterion: answer for answer in (_gold(row) for row in rows)}


def pairs(db: Database, name: str, purpose: str = "repeat") -> list[Pair]:
    """The two answers to each unit that an annotator submitted again for this purpose, by annotator, unit and
    criterion. A second one that was given after others' answers to the unit were shown is left out.
    """
    study = studies.study_id(db, name)
    # SQLite computes the view of answers for the whole study, which takes a second of a large one.
    again = (
        "SELECT 1 FROM items i JOIN placements p ON p.item_id = i.id WHERE i.study_id = ? AND p.purpose = ?"
    )
    if db.execute(again, [study, purpose]).fetchone() is None:
        return []
    rows = db.execute(
        "SELECT x.name, i.id, s.question, g.score, s.value, s.shown FROM items i "
        "JOIN placements p ON p.item_id = i.id AND p.purpose = ? AND p.state = 'done' "
        "JOIN raters x ON x.id = p.rater_id JOIN placements f ON f.item_id = i.id "
        f"AND f.rater_id = p.rater_id AND f.purpose IN {RATED} AND f.state = 'done' "
        "JOIN answers s ON s.placement_id = p.id AND s.replaced IS NULL "
        "JOIN given g ON g.item_id = i.id AND g.rater_id = p.rater_id AND g.criterion = s.question "
        "WHERE i.study_id = ? AND g.study_id = ? AND NOT EXISTS (SELECT 1 FROM placements d WHERE "
        "d.item_id = i.id AND d.rater_id = p.rater_id AND d.purpose = 'discuss' AND d.opened <= s.given) "
        "ORDER BY 1, 2, 3",
        [purpose, study, study],
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
