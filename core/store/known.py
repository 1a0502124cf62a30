"""Items whose answers are known (gold and training), and what people answered to these and to repeats."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.store import answers, database, placements, studies
from concord.store.database import find


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
    """Whether an annotator's answer to a gold item hit the known one; none is no hit."""

    annotator: str
    item: int
    criterion: str
    hit: bool
    attention: bool
    attempt: int = 0


KnownKind = Literal["gold", "training"]


def _gold(row: Sequence[Any], direction: int = 1) -> Gold:
    conversation, turn, second_conversation, criterion, answer, tolerance, explanation, attention = row
    unit = UnitKey(conversation, turn, second_conversation)
    return Gold(unit, criterion, answer * direction, tolerance, explanation, bool(attention))


def set_gold(db: Database, name: str, golds: Iterable[Gold], kind: KnownKind = "gold") -> None:
    """Replace the known answers of a study, or of its training."""
    study = studies.study_id(db, name)
    db.execute(
        "DELETE FROM known_answers WHERE item_id IN (SELECT id FROM items WHERE study_id = ? AND known = ?)",
        [study, kind],
    )
    for gold in golds:
        row = {"study_id": study, "known": kind, **gold.unit._asdict()}
        item = find(db, "items", "id", **row)
        number = item["id"] if item else database.insert(db, "items", row)
        db.table("known_answers").insert(
            {
                "item_id": number,
                "criterion": gold.criterion,
                "answer": gold.answer,
                "tolerance": gold.tolerance,
                "explanation": gold.explanation,
                "attention": gold.attention,
            },
            replace=True,
        )


def by_item(db: Database, name: str, kind: KnownKind = "gold") -> dict[int, list[Gold]]:
    """The items of a study, or of its training, by unit, each with its known answers by criterion."""
    rows = db.execute(
        "SELECT i.id, i.conversation_id, i.turn, i.other_id, g.criterion, g.answer, g.tolerance, "
        "g.explanation, g.attention FROM items i JOIN known_answers g ON g.item_id = i.id "
        "WHERE i.study_id = ? AND i.known = ? ORDER BY i.conversation_id, i.turn, i.id, g.criterion",
        [studies.study_id(db, name), kind],
    )
    items: dict[int, list[Gold]] = {}
    for item, *row in rows:
        items.setdefault(item, []).append(_gold(row))
    return items


def gold(db: Database, name: str, kind: KnownKind = "gold") -> list[Gold]:
    """The known answers of a study, or of its training, by unit and criterion."""
    golds: list[Gold] = []
    for golds_of_item in by_item(db, name, kind).values():
        golds += golds_of_item
    return golds


def shown(db: Database, placement: int) -> Mapping[str, Gold]:
    """The known answers of an item as it is shown, by criterion, once its annotator may see them."""
    rows = db.execute(
        "SELECT iif(p.swapped, -1, 1), i.conversation_id, i.turn, i.other_id, g.criterion, g.answer, "
        "g.tolerance, g.explanation, g.attention FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN known_answers g ON g.item_id = i.id WHERE p.id = ? AND p.opened IS NOT NULL",
        [placement],
    )
    golds: dict[str, Gold] = {}
    for direction, *row in rows:
        gold = _gold(row, direction)
        golds[gold.criterion] = gold
    return golds


def pairs(db: Database, name: str, purpose: str = "repeat") -> list[Pair]:
    """The two answers to each unit that an annotator submitted again for this purpose, by annotator, unit and
    criterion. A second one that was given after others' answers to the unit were shown is excluded.
    """
    second_answers = answers.answers(db, name, purpose)
    if not second_answers:  # all blind answers take a second of a large study
        return []
    first_scores: dict[tuple[int, int, str], float] = {}
    for answer in answers.blind(db, name):
        first_scores[answer.rater, answer.item, answer.criterion] = answer.score
    discussed_at: dict[tuple[int, int], str | None] = {}
    for entry in placements.placed(db, name, ["discuss"]):
        discussed_at[entry.rater, entry.item] = entry.opened
    pairs: list[Pair] = []
    for answer in second_answers:
        first = first_scores.get((answer.rater, answer.item, answer.criterion))
        moment = discussed_at.get((answer.rater, answer.item))
        after_discussion = bool(moment) and answer.answered_at >= str(moment)
        if first is not None and not after_discussion:
            pairs.append(
                Pair(answer.person, answer.item, answer.criterion, first, answer.score, answer.shown)
            )
    return sorted(pairs)


def checks(db: Database, name: str, kind: KnownKind = "gold") -> list[Check]:
    """Every known answer that a submitted gold or training item was to have, by annotator, item and
    criterion.
    """
    golds = by_item(db, name, kind)
    scores: dict[tuple[int, str], float] = {}
    for answer in answers.answers(db, name, kind):
        scores[answer.placement, answer.criterion] = answer.score
    entries = sorted(placements.placed(db, name, [kind]), key=lambda entry: (entry.person, entry.id))
    checks: list[Check] = []
    for entry in entries:
        if entry.state != "done":
            continue
        for gold in golds.get(entry.item, ()):
            score = scores.get((entry.id, gold.criterion), inf)
            right = abs(score - gold.answer) <= gold.tolerance + 1e-9
            checks.append(Check(entry.person, entry.id, gold.criterion, right, gold.attention, entry.attempt))
    return checks
