"""Hidden items: repeats and gold items that lie on an annotator's desk like any other item, and training.

Their answers are stored apart from ratings, so that they enter no mean and no figure of agreement. Training
items are gold items that lie before all others, in numbered attempts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed
from concord.store import database, studies
from concord.store.database import find, now
from concord.store.studies import Task

Kind = Literal["repeat", "gold", "training"]

FIRST = 2**40
"""Numbers of hidden items are above this, those of units below."""

TAKEN_BACK = "This item is not on your desk any more, and your answer was not taken."
LOCKED = "The known answer was shown, so yours is locked: nothing was changed."


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


@dataclass(frozen=True, slots=True)
class HiddenItem:
    """A hidden item on a desk. `begun` says whether anything was done about it."""

    id: int
    kind: Kind
    unit: UnitKey
    position: float
    begun: bool
    attempt: int = 0
    """The number of the attempt at training, from 1; 0 outside training."""
    state: str = "open"


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


def is_hidden(item: int) -> bool:
    """Whether the number of an item is that of a hidden one."""
    return item > FIRST


def placed(db: Database, name: str, rater: int) -> list[HiddenItem]:
    """The hidden items of a study on an annotator's desk, in their order."""
    rows = db.execute(
        "SELECT h.id, h.kind, h.conversation_id, h.turn, h.position, h.state <> 'open' OR h.flag <> '' "
        "OR EXISTS (SELECT 1 FROM hidden_answers x WHERE x.item_id = h.id), h.attempt, h.state "
        "FROM hidden_items h WHERE h.study_id = ? AND h.rater_id = ? ORDER BY h.position",
        [studies.study_id(db, name), rater],
    )
    return [
        HiddenItem(id, kind, UnitKey(of, turn), at, bool(begun), *rest)
        for id, kind, of, turn, at, begun, *rest in rows
    ]


def people(db: Database, name: str) -> list[str]:
    """The annotators with hidden items of a study, by name."""
    rows = db.execute(
        "SELECT DISTINCT x.name FROM hidden_items h JOIN raters x ON x.id = h.rater_id "
        "WHERE h.study_id = ? ORDER BY x.name",
        [studies.study_id(db, name)],
    )
    return [person for (person,) in rows]


def place(
    db: Database,
    name: str,
    rater: int,
    kind: Kind,
    items: Iterable[tuple[UnitKey, float]],
    attempt: int = 0,
) -> None:
    """Put (unit, position) on an annotator's desk; a position lies between those of two assignments."""
    study = studies.study_id(db, name)
    db.conn.executemany(
        "INSERT INTO hidden_items (study_id, rater_id, kind, conversation_id, turn, position, attempt) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(study, rater, kind, *unit, position, attempt) for unit, position in items],
    )


def remove(db: Database, items: Sequence[int]) -> None:
    """Take hidden items, with what was answered, from desks."""
    db.conn.executemany("DELETE FROM hidden_items WHERE id = ?", [(item,) for item in items])


def task(db: Database, rater: int, item: int) -> Task:
    """A hidden item with its answers. Raises NotAllowed for one that is not on this annotator's desk."""
    row = db.execute(
        "SELECT h.id, t.name, h.conversation_id, h.turn, h.state, h.reason, h.flag, h.seconds "
        "FROM hidden_items h JOIN studies t ON t.id = h.study_id WHERE h.id = ? AND h.rater_id = ?",
        [item, rater],
    ).fetchone()
    if row is None:
        raise NotAllowed(TAKEN_BACK)
    answers = list(db.table("hidden_answers").rows_where("item_id = ?", [item]))
    scores = {given["criterion"]: given["score"] for given in answers}
    reasons = {given["criterion"]: given["explanation"] for given in answers if given["explanation"]}
    return Task(*(*row, scores, reasons))


def answer(
    db: Database, rater: int, item: int, criterion: str, score: float | None, reason: str = ""
) -> None:
    """Store one answer, or take it back (None). Raises what `concord.store.studies.answer` raises, and
    NotAllowed where the known answer was shown.
    """
    now_there = task(db, rater, item)
    _refuse_told(db, item)
    reason = studies.kept_reason(db, now_there, criterion, score, reason)
    if score is None:
        db.table("hidden_answers").delete_where("item_id = ? AND criterion = ?", [item, criterion])
        if now_there.state == "done":
            database.update(db, "hidden_items", item, state="open")
        return
    given = {"item_id": item, "criterion": criterion, "score": score, "explanation": reason}
    if (now_there.answers.get(criterion), now_there.reasons.get(criterion, "")) != (score, reason):
        db.table("hidden_answers").upsert(given | {"created": now()}, pk=("item_id", "criterion"))


def submit(db: Database, rater: int, item: int) -> None:
    """Close an item; one whose known answer is shown afterwards is locked. Twice is as good as once.

    Raises StudyError where a required answer or reason is missing.
    """
    studies.refuse_incomplete(db, task(db, rater, item))
    if is_told(db, item):
        return
    _set_state(db, rater, item, "done")
    db.execute(
        "UPDATE hidden_items SET told = ? WHERE id = ? AND (kind = 'training' OR (kind = 'gold' AND "
        "(SELECT json_extract(t.meta, '$.feedback') FROM studies t WHERE t.id = study_id)))",
        [now(), item],
    )


def skip(db: Database, rater: int, item: int, reason: str) -> None:
    """Leave an item unrated, with the reason. Raises NotAllowed for a training item."""
    _refuse_told(db, item)
    found = find(db, "hidden_items", "kind", id=item)
    if found and found["kind"] == "training":
        raise NotAllowed("A training item cannot be skipped: answer as you would in the study.")
    _set_state(db, rater, item, "skipped", reason)


def reopen(db: Database, rater: int, item: int) -> None:
    """Take an item up again."""
    _refuse_told(db, item)
    _set_state(db, rater, item, "open")


def is_told(db: Database, item: int) -> bool:
    """Whether the known answer of a hidden item was shown to its annotator."""
    found = find(db, "hidden_items", "told", id=item)
    return found is not None and found["told"] is not None


def _refuse_told(db: Database, item: int) -> None:
    if is_told(db, item):
        raise NotAllowed(LOCKED)


def told(db: Database, item: int) -> Mapping[str, Gold]:
    """The known answers of an item that its annotator may see, by criterion; empty before they submitted."""
    rows = db.execute(
        "SELECT g.conversation_id, g.turn, g.criterion, g.answer, g.tolerance, g.explanation, g.attention "
        "FROM hidden_items h JOIN gold_answers g ON g.study_id = h.study_id "
        "AND g.conversation_id = h.conversation_id AND ifnull(g.turn, 0) = ifnull(h.turn, 0) "
        "WHERE h.id = ? AND h.told IS NOT NULL",
        [item],
    )
    return {
        name: Gold(UnitKey(of, turn), name, *(known, tolerance, why, bool(attention)))
        for of, turn, name, known, tolerance, why, attention in rows
    }


def untrained(db: Database, name: str, rater: int) -> bool:
    """Whether a study's training is still to be passed by an annotator, who sees nothing else of it then."""
    row = db.execute(
        "SELECT 1 FROM studies t WHERE t.name = ? AND json_extract(t.meta, '$.training') IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM study_acts e WHERE e.study_id = t.id AND e.rater_id = ? "
        "AND e.what IN ('passed', 'admitted'))",
        [name, rater],
    ).fetchone()
    return row is not None


def refuse_untrained(db: Database, rater: int, item: int) -> None:
    """Raise NotAllowed for a unit or hidden item that is not open before its study's training is passed."""
    row = db.execute(
        "SELECT t.name FROM studies t WHERE t.id = ifnull("
        "(SELECT study_id FROM study_units WHERE id = :item), "
        "(SELECT study_id FROM hidden_items WHERE id = :item AND kind <> 'training'))",
        {"item": item},
    ).fetchone()
    if row and untrained(db, row[0], rater):
        raise NotAllowed("This item opens when you have passed the training: nothing was changed.")


def flag(db: Database, rater: int, item: int, comment: str) -> None:
    """Mark an item with a comment for the researcher; an empty comment takes the mark away."""
    database.update(db, "hidden_items", task(db, rater, item).id, flag=comment)


def add_seconds(db: Database, rater: int, item: int, seconds: float) -> None:
    """Add time at work on an item. Raises NotAllowed for somebody else's item."""
    found = find(db, "hidden_items", "seconds", id=item, rater_id=rater)
    if found is None:
        raise NotAllowed(TAKEN_BACK)
    database.update(db, "hidden_items", item, seconds=found["seconds"] + max(0.0, seconds))


def _set_state(db: Database, rater: int, item: int, state: str, reason: str = "") -> None:
    submitted = None if state == "open" else now()
    found = task(db, rater, item).id
    database.update(db, "hidden_items", found, state=state, reason=reason, submitted=submitted)


def set_gold(db: Database, name: str, golds: Iterable[Gold], *, training: bool = False) -> None:
    """Replace the known answers of a study, or of its training."""
    study = studies.study_id(db, name)
    db.table("gold_answers").delete_where("study_id = ? AND training = ?", [study, int(training)])
    db.table("gold_answers").insert_all(
        {
            **{"study_id": study, "conversation_id": gold.unit.conversation_id, "turn": gold.unit.turn},
            **{"criterion": gold.criterion, "answer": gold.answer, "tolerance": gold.tolerance},
            **{"explanation": gold.explanation, "attention": int(gold.attention)},
            "training": int(training),
        }
        for gold in golds
    )


def gold(db: Database, name: str, *, training: bool = False) -> list[Gold]:
    """The known answers of a study, or of its training, by unit and criterion."""
    rows = db.execute(
        "SELECT conversation_id, turn, criterion, answer, tolerance, explanation, attention "
        "FROM gold_answers WHERE study_id = ? AND training = ? ORDER BY conversation_id, turn, criterion",
        [studies.study_id(db, name), int(training)],
    )
    return [Gold(*(UnitKey(of, turn), *rest, bool(attention))) for of, turn, *rest, attention in rows]


def pairs(db: Database, name: str) -> list[Pair]:
    """The two answers to each unit that an annotator submitted twice, by annotator, unit and criterion."""
    rows = db.execute(
        "SELECT x.name, u.id, s.criterion, r.score, s.score FROM hidden_items h "
        "JOIN raters x ON x.id = h.rater_id JOIN study_units u ON u.study_id = h.study_id "
        "AND u.conversation_id = h.conversation_id AND ifnull(u.turn, 0) = ifnull(h.turn, 0) "
        "JOIN assignments a ON a.unit_id = u.id AND a.rater_id = h.rater_id AND a.state = 'done' "
        "JOIN hidden_answers s ON s.item_id = h.id "
        "JOIN ratings r ON r.study_id = u.study_id AND r.rater_id = h.rater_id "
        "AND r.conversation_id = u.conversation_id AND ifnull(r.turn, 0) = ifnull(u.turn, 0) "
        "AND r.criterion = s.criterion "
        "WHERE h.study_id = ? AND h.kind = 'repeat' AND h.state = 'done' ORDER BY 1, 2, 3",
        [studies.study_id(db, name)],
    )
    return [Pair(*row) for row in rows]


def checks(db: Database, name: str, kind: Kind = "gold") -> list[Check]:
    """Every known answer that a submitted gold or training item was to have, by annotator, item and
    criterion.
    """
    rows = db.execute(
        "SELECT x.name, h.id, g.criterion, s.score, g.answer, g.tolerance, g.attention, h.attempt "
        "FROM hidden_items h "
        "JOIN raters x ON x.id = h.rater_id JOIN gold_answers g ON g.study_id = h.study_id "
        "AND g.conversation_id = h.conversation_id AND ifnull(g.turn, 0) = ifnull(h.turn, 0) "
        "LEFT JOIN hidden_answers s ON s.item_id = h.id AND s.criterion = g.criterion "
        "WHERE h.study_id = ? AND h.kind = ? AND h.state = 'done' ORDER BY 1, 2, 3",
        [studies.study_id(db, name), kind],
    )
    return [Check(*(*row[:6], bool(row[6]), row[7])) for row in rows]
