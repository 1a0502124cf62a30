"""Placements: items on people's desks, each for a purpose, with state, time at work, and answers.

Answers of rated purposes (`concord.store.purposes`) are ratings; those of others are kept apart. What is
replaced stays: a rating as a revision, another answer as a replaced one.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from sqlite_utils import Database

from concord.conversation import Unit
from concord.errors import NotAllowed, NotFound, StudyError, not_found
from concord.rating import Annotation
from concord.store import database, ratings, studies, summaries
from concord.store.database import find, now
from concord.store.purposes import PURPOSES, QUEUED, RATED, UNRATED

FIRST = 2**40
"""Numbers of placements are above this, those of items below."""
TAKEN_BACK = "This item is not on your desk any more, and your answer was not taken."
LOCKED = "The known answer was shown, so yours is locked: nothing was changed."
NUMBER = f"iif(p.purpose IN {RATED}, p.item_id, p.id)"
"""By what a desk knows a placement p.

One whose answers are ratings has the number of its item: taken back and dealt anew, it is the same item.
"""
FEWEST_TIMED = 8


@dataclass(frozen=True)
class Placement:
    """One item on somebody's desk. Nothing here tells who wrote the dialogue or how others rated it."""

    id: int
    study: str
    conversation_id: int
    turn: int | None
    state: str
    reason: str
    flag: str
    seconds: float
    answers: Mapping[str, float]
    reasons: Mapping[str, str] = field(default_factory=dict)
    purpose: str = "first"
    opened: str | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an item lies that is not rated. `begun` says whether anything was done about it."""

    id: int
    purpose: str
    item: int
    position: float
    begun: bool
    attempt: int = 0
    """The number of the attempt at training, from 1; 0 outside training."""
    state: str = "open"


class DeskPace(NamedTuple):
    """How many items somebody submitted since a moment, and the median seconds of an item, all days.

    `seconds` is None below FEWEST_TIMED items with a time.
    """

    items: int
    seconds: float | None


def place(
    db: Database, rater: int, purpose: str, items: Iterable[tuple[int, float]], attempt: int = 0
) -> None:
    """Put (item, position) on somebody's desk, without those that lie there for the purpose."""
    db.conn.executemany(
        "INSERT OR IGNORE INTO placements (item_id, rater_id, purpose, position, attempt) "
        "VALUES (?, ?, ?, ?, ?)",
        [(item, rater, purpose, position, attempt) for item, position in items],
    )


def assign(db: Database, rater: int, units: Sequence[int], *, extra: bool = False) -> None:
    """Append units to an annotator's desk, without those they have; `extra`: because others differ there."""
    sql = "SELECT ifnull(max(position), 0) FROM assignments WHERE rater_id = ?"
    last = int(db.execute(sql, [rater]).fetchone()[0])
    place(db, rater, "extra" if extra else "first", [(unit, last + i) for i, unit in enumerate(units, 1)])


def reclaim(db: Database, name: str, rater: int, units: Sequence[int] | None = None) -> list[int]:
    """Take back the units (of these) that an annotator of a study has not begun; returns their ids."""
    rows = db.execute(
        f"DELETE FROM placements WHERE id IN (SELECT a.id FROM assignments a JOIN study_units u "
        "ON u.id = a.unit_id WHERE a.rater_id = ? AND u.study_id = ? AND (? IS NULL OR u.id IN (SELECT value "
        f"FROM json_each(?))) AND NOT {studies.BEGUN.format(a='a')}) RETURNING item_id",
        [rater, studies.study_id(db, name), *[None if units is None else json.dumps(list(units))] * 2],
    )
    return [row[0] for row in rows.fetchall()]


def remove(db: Database, placements: Iterable[int]) -> None:
    """Take placements, with what was answered, from desks."""
    db.conn.executemany("DELETE FROM placements WHERE id = ?", [(one,) for one in placements])


def unrated(db: Database, name: str, rater: int) -> list[Placed]:
    """What lies on an annotator's desk of a study beside rated items, in its order."""
    rows = db.execute(
        "SELECT p.id, p.purpose, p.item_id, p.position, p.state <> 'open' OR p.flag <> '' OR EXISTS "
        "(SELECT 1 FROM answers x WHERE x.placement_id = p.id AND x.replaced IS NULL), p.attempt, p.state "
        "FROM placements p JOIN items i ON i.id = p.item_id WHERE i.study_id = ? AND p.rater_id = ? "
        f"AND p.purpose IN {UNRATED} ORDER BY p.position",
        [studies.study_id(db, name), rater],
    )
    return [
        Placed(number, purpose, item, position, bool(begun), attempt, state)
        for number, purpose, item, position, begun, attempt, state in rows
    ]


def people(db: Database, name: str) -> list[str]:
    """The annotators with items of a study that are not rated, by name."""
    rows = db.execute(
        "SELECT DISTINCT x.name FROM items i JOIN placements p ON p.item_id = i.id JOIN raters x "
        f"ON x.id = p.rater_id WHERE i.study_id = ? AND p.purpose IN {UNRATED} ORDER BY x.name",
        [studies.study_id(db, name)],
    )
    return [person for (person,) in rows]


def queues(db: Database, name: str) -> list[tuple[int, str, bool, bool]]:
    """Who has what to rate, in their order: (unit id, annotator, whether begun, whether done or skipped)."""
    rows = db.execute(
        f"SELECT a.unit_id, x.name, {studies.BEGUN.format(a='a')}, a.state <> 'open' FROM assignments a "
        "JOIN study_units u ON u.id = a.unit_id JOIN raters x ON x.id = a.rater_id WHERE u.study_id = ? "
        "ORDER BY a.position",
        [studies.study_id(db, name)],
    )
    return [(unit, person, bool(begun), bool(closed)) for unit, person, begun, closed in rows.fetchall()]


def positions(db: Database, name: str) -> dict[tuple[int, str], float]:
    """The position of each rated item on its desk, by unit id and annotator."""
    rows = db.execute(
        "SELECT a.unit_id, x.name, a.position FROM assignments a JOIN study_units u ON u.id = a.unit_id "
        "JOIN raters x ON x.id = a.rater_id WHERE u.study_id = ?",
        [studies.study_id(db, name)],
    )
    return {(unit, person): position for unit, person, position in rows}


def studies_of(db: Database, rater: int) -> list[tuple[str, str, int, int]]:
    """The studies on an annotator's desk: (name, title, items done or skipped, items in all)."""
    rows = db.execute(
        "SELECT t.name, t.title, sum(p.state <> 'open'), count(*) FROM placements p "
        "JOIN items i ON i.id = p.item_id JOIN studies t ON t.id = i.study_id "
        f"WHERE p.rater_id = ? AND p.purpose IN {QUEUED} GROUP BY t.id ORDER BY t.id DESC",
        [rater],
    )
    return list(rows.fetchall())


def left(db: Database, rater: int, study: str) -> int:
    """How many items of a study an annotator has still to rate or skip."""
    return sum(items - done for name, _, done, items in studies_of(db, rater) if name == study)


def on_desk(db: Database, rater: int, study: str) -> list[tuple[int, str, bool]]:
    """The items of a study on an annotator's desk, in their order: (number, state, flagged).

    Before the study's training is passed only its items are there.
    """
    rows = db.execute(
        f"SELECT {NUMBER}, p.state, p.flag <> '' FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id WHERE p.rater_id = :rater AND t.name = :study "
        f"AND p.purpose IN {QUEUED} AND (p.purpose = 'training' OR NOT :training) "
        "AND (p.purpose <> 'training' OR json_extract(t.meta, '$.training') IS NOT NULL) ORDER BY p.position",
        {"rater": rater, "study": study, "training": untrained(db, study, rater)},
    )
    return [(number, state, bool(flagged)) for number, state, flagged in rows.fetchall()]


def pace(db: Database, rater: int, study: str, since: str) -> DeskPace:
    """An annotator's pace in a study; training does not count, because it is before the study."""
    rows = db.execute(
        "SELECT p.submitted >= ?, p.seconds FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id WHERE p.rater_id = ? AND t.name = ? AND p.state = 'done' "
        f"AND p.purpose IN {QUEUED} AND p.purpose <> 'training'",
        [since, rater, study],
    )
    return paced(rows.fetchall())


def paced(times: Iterable[tuple[object, float | None]]) -> DeskPace:
    """The pace of somebody whose items are (submitted since that moment, seconds)."""
    rows = [*times]
    timed = [seconds for _, seconds in rows if seconds]
    enough = len(timed) >= FEWEST_TIMED
    return DeskPace(sum(bool(recent) for recent, _ in rows), median(timed) if enough else None)


def find_id(db: Database, rater: int, number: int) -> int:
    """The placement that a desk knows by this number. Raises NotAllowed where it does not lie there."""
    row = db.execute(
        "SELECT p.id FROM placements p WHERE p.rater_id = :rater AND "
        + (
            f"p.id = :number AND p.purpose IN {UNRATED}"
            if number > FIRST
            else f"p.item_id = :number AND p.purpose IN {RATED}"
        ),
        {"rater": rater, "number": number},
    ).fetchone()
    if row is None:
        raise NotAllowed(TAKEN_BACK)
    return int(row[0])


def study_of(db: Database, placement: int) -> tuple[str, str]:
    """The name of the study that a placement belongs to, and its purpose."""
    row = db.execute(
        "SELECT t.name, p.purpose FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id WHERE p.id = ?",
        [placement],
    ).fetchone()
    return row[0], row[1]


def get(db: Database, rater: int, placement: int) -> Placement:
    """A placement with its answers. Raises NotAllowed for somebody else's."""
    row = db.execute(
        "SELECT p.id, t.name, i.conversation_id, i.turn, p.state, p.reason, p.flag, p.seconds, p.purpose, "
        "p.opened, i.study_id FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id WHERE p.id = ? AND p.rater_id = ?",
        [placement, rater],
    ).fetchone()
    if row is None:
        raise NotAllowed(TAKEN_BACK)
    number, name, conversation, turn, state, reason, flag, seconds, purpose, opened, study = row
    if PURPOSES[purpose].rated:
        given = db.execute(
            "SELECT criterion, score, explanation FROM ratings WHERE conversation_id = ? "
            "AND ifnull(turn, 0) = ifnull(?, 0) AND rater_id = ? AND study_id = ?",
            [conversation, turn, rater, study],
        ).fetchall()
    else:
        given = db.execute(
            "SELECT question, value, reason FROM answers WHERE placement_id = ? AND replaced IS NULL",
            [placement],
        ).fetchall()
    answers = {question: value for question, value, _ in given if value is not None}
    reasons = {question: words for question, _, words in given if words}
    place = number, name, conversation, turn
    return Placement(*place, state, reason, flag, seconds, answers, reasons, purpose, opened)


def numbered(db: Database, rater: int, number: int) -> Placement:
    """What lies on a desk under this number. Raises NotAllowed where nothing does."""
    return get(db, rater, find_id(db, rater, number))


def answer(
    db: Database, rater: int, placement: int, criterion: str, score: float | None, reason: str = ""
) -> None:
    """Store one answer, or take it back (None); the answer before it is kept.

    `reason` is kept where the criterion asks for words beside the answer. Raises NotAllowed for somebody
    else's item and where the known answer was shown, NotFound for a criterion and StudyError for a score that
    the study does not have.
    """
    item = get(db, rater, placement)
    _refuse_locked(item)
    known = {c.name: c for c in studies.asked(db, item.study, item.conversation_id)}
    if criterion not in known:
        raise not_found("criterion", criterion, known)
    if score is not None and score not in known[criterion].scale:
        raise StudyError(f"{score} is not on the scale of “{criterion}”.")
    reason = reason.strip() if known[criterion].reason and score is not None else ""
    if (item.answers.get(criterion), item.reasons.get(criterion, "")) == (score, reason):
        return
    if PURPOSES[item.purpose].rated:
        which = {"conversation_id": item.conversation_id, "turn": item.turn, "criterion": criterion}
        which |= {"rater_id": rater, "study_id": studies.study_id(db, item.study)}
        if criterion in item.answers:
            ratings.withdraw(db, " AND ".join(f"{name} IS ?" for name in which), list(which.values()))
        if score is not None:
            database.insert(db, "ratings", {**which, "score": score, "explanation": reason, "created": now()})
    else:
        withdraw(db, placement, criterion)
        if score is not None:
            keep(db, placement, criterion, score, reason)
    if item.state == "done":
        if score is None:
            database.update(db, "placements", placement, state="open")
        _refresh(db, item)


def beside(db: Database, rater: int, purpose: str, item: int) -> int:
    """The placement of an item for a purpose that has a desk of its own; a new one, where there is none."""
    place(db, rater, purpose, [(item, 0.0)])
    found = find(db, "placements", "id", rater_id=rater, purpose=purpose, item_id=item)
    assert found is not None
    return int(found["id"])


def keep(
    db: Database,
    placement: int,
    question: str,
    value: float | None,
    reason: str = "",
    shown: float | None = None,
) -> None:
    """Store an answer that is no rating; words alone have no value. `withdraw` the one before it first."""
    row = {"placement_id": placement, "question": question, "value": value, "reason": reason}
    database.insert(db, "answers", {**row, "shown": shown, "given": now()})


def withdraw(db: Database, placement: int, question: str) -> None:
    """Take back an answer that is no rating; it is kept as replaced."""
    db.execute(
        "UPDATE answers SET replaced = ? WHERE placement_id = ? AND question = ? AND replaced IS NULL",
        [now(), placement, question],
    )


def submit(db: Database, rater: int, placement: int) -> None:
    """Close an item whose required criteria are answered, with reasons where they must have them.

    Where the known answer is shown now, the item is locked. Twice is as good as once. Raises StudyError where
    something is missing.
    """
    item = get(db, rater, placement)
    asked = studies.asked(db, item.study, item.conversation_id)
    missing = [c.label for c in asked if c.required and c.name not in item.answers]
    if missing:
        raise StudyError(f"Still to answer: {', '.join(missing)}.")
    unsaid = [
        c.label
        for c in asked
        if c.reason == "required" and c.name in item.answers and c.name not in item.reasons
    ]
    if unsaid:
        raise StudyError(f"Still to give a reason for: {', '.join(unsaid)}.")
    if item.opened:
        return
    _set_state(db, item, "done")
    shown = PURPOSES[item.purpose].beside
    if shown == "the known answer, once submitted" or (
        shown == "the known answer, where the study says so"
        and studies.get(db, item.study).meta.get("feedback")
    ):
        database.update(db, "placements", placement, opened=now())


def skip(db: Database, rater: int, placement: int, reason: str) -> None:
    """Leave an item without answers that count, with the reason. Raises NotAllowed for a training item."""
    item = get(db, rater, placement)
    _refuse_locked(item)
    if not PURPOSES[item.purpose].skippable:
        raise NotAllowed(f"A {item.purpose} item cannot be skipped: answer as you would in the study.")
    _set_state(db, item, "skipped", reason)


def reopen(db: Database, rater: int, placement: int) -> None:
    """Take an item up again; its answers count once it is submitted anew."""
    item = get(db, rater, placement)
    _refuse_locked(item)
    _set_state(db, item, "open")


def flag(db: Database, rater: int, placement: int, comment: str) -> None:
    """Mark an item with a comment for the researcher; an empty comment takes the mark away."""
    database.update(db, "placements", get(db, rater, placement).id, flag=comment)


def add_seconds(db: Database, rater: int, placement: int, seconds: float) -> None:
    """Add time at work on an item. Raises NotAllowed for somebody else's item."""
    found = find(db, "placements", "seconds", id=placement, rater_id=rater)
    if found is None:
        raise NotAllowed(TAKEN_BACK)
    database.update(db, "placements", placement, seconds=found["seconds"] + max(0.0, seconds))


def _refuse_locked(item: Placement) -> None:
    if item.opened:
        raise NotAllowed(LOCKED)


def _set_state(db: Database, item: Placement, state: str, reason: str = "") -> None:
    submitted = None if state == "open" else now()
    database.update(db, "placements", item.id, state=state, reason=reason, submitted=submitted)
    _refresh(db, item)


def _refresh(db: Database, item: Placement) -> None:
    if PURPOSES[item.purpose].rated:
        summaries.refresh(db, [item.conversation_id])


def untrained(db: Database, name: str, rater: int) -> bool:
    """Whether a study's training is still to be passed by an annotator, who sees nothing else of it then."""
    row = db.execute(
        "SELECT 1 FROM studies t WHERE t.name = ? AND json_extract(t.meta, '$.training') IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM study_acts e WHERE e.study_id = t.id AND e.rater_id = ? "
        "AND e.what IN ('passed', 'admitted'))",
        [name, rater],
    ).fetchone()
    return row is not None


def close_imported(db: Database, study: int, raters: Collection[int], since: str) -> None:
    """Close the open items of these people for which answers were stored since then: these count."""
    open_items = (
        "FROM assignments a JOIN study_units u ON u.id = a.unit_id WHERE a.state = 'open' AND "
        "u.study_id = :study AND a.rater_id IN (SELECT value FROM json_each(:raters)) AND EXISTS "
        "(SELECT 1 FROM ratings r WHERE r.study_id = u.study_id AND r.conversation_id = u.conversation_id "
        "AND r.turn IS u.turn AND r.rater_id = a.rater_id AND r.created >= :since)"
    )
    given = {"study": study, "raters": json.dumps(list(raters)), "since": since}
    rows = db.execute(f"SELECT a.id, u.conversation_id {open_items}", given).fetchall()
    for placement, _ in rows:
        database.update(db, "placements", placement, state="done", submitted=now())
    summaries.refresh(db, list({conversation for _, conversation in rows}))


def import_annotations(db: Database, study: str, given: Iterable[Annotation]) -> None:
    """Store answers given elsewhere for units dealt at the desk, and close their items. Raises NotFound."""
    number = studies.study_id(db, study)
    raters = dict(db.execute("SELECT name, id FROM raters WHERE kind = 'human'").fetchall())
    by_unit: dict[tuple[str, Unit], list[Annotation]] = {}
    for annotation in given:
        by_unit.setdefault((annotation.annotator, annotation.rating.unit), []).append(annotation)
    touched = []
    for (annotator, unit), answers in by_unit.items():
        stored = find(db, "conversations", "id", key=unit.conversation)
        if stored is None or annotator not in raters:
            raise NotFound(
                f"The conversation “{unit.conversation}” or the annotator “{annotator}” is not stored."
            )
        conversation, rater = stored["id"], raters[annotator]
        ratings.insert(db, conversation, rater, [a.rating for a in answers], study_id=number)
        db.execute(
            "UPDATE placements SET state = 'done', submitted = ?, seconds = ? WHERE id = (SELECT a.id "
            "FROM assignments a JOIN study_units u ON u.id = a.unit_id WHERE a.rater_id = ? "
            "AND u.study_id = ? AND u.conversation_id = ? AND u.turn IS ?)",
            [now(), sum(a.seconds for a in answers), rater, number, conversation, unit.turn],
        )
        touched.append(conversation)
    summaries.refresh(db, touched)
