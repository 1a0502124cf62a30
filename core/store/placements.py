"""Placements: items on people's desks, each for a purpose, with state, time at work, and answers.

Answers of rated purposes (`concord.store.purposes`) count as ratings while their item is submitted, or as
comparisons where it is a pair, which ends with its last answer; those of others never do. An answer that was
replaced is kept.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from hashlib import sha256
from statistics import median
from typing import NamedTuple

from sqlite_utils import Database

from concord.codes import ItemContext
from concord.errors import NotAllowed, StudyError, check_known
from concord.rating import Criterion, asked, criteria_by_name
from concord.store import conversations, database, studies, summaries
from concord.store.database import column, find, now, records, scalar
from concord.store.purposes import LOCKING, PURPOSES, QUEUED, RATED, UNRATED

TAKEN_BACK = "You no longer have this item, so your answer was not stored."
REASON = 4000
"""The most characters of a reason beside an answer."""
LOCKED = "You have seen the known answer, so yours is locked. Your change was not stored."


@dataclass(frozen=True)
class Placement:
    """One item on somebody's desk. Nothing here tells who wrote the dialogue or how others rated it.

    Of a pair the answers are those to its conversations as they are `shown`. Of a group, whose conversations
    are `grouped`, an answer has a digit for each: its rank, 1 the best.
    """

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
    other_id: int | None = None
    swapped: bool = False
    grouped: tuple[int, ...] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """The conversations in the order in which they are shown."""
        if self.grouped:
            return self.grouped
        if self.other_id is None:
            return (self.conversation_id,)
        if self.swapped:
            return (self.other_id, self.conversation_id)
        return (self.conversation_id, self.other_id)

    @property
    def direction(self) -> int:
        """What turns an answer as shown into one to the item, and back."""
        return -1 if self.swapped else 1


class QueueEntry(NamedTuple):
    """An item on somebody's desk. `begun`: something was done about it; `attempt`: at training, from 1.

    `opened` is when what belongs beside it was shown.
    """

    item: int
    person: str
    begun: bool
    state: str
    position: float
    purpose: str
    id: int
    rater: int
    attempt: int
    opened: str | None

    @property
    def closed(self) -> bool:
        """Whether it is done or skipped."""
        return self.state != "open"


def place(
    db: Database, rater: int, purpose: str, items: Iterable[tuple[int, float]], attempt: int = 0
) -> None:
    """Put (item, position) on somebody's desk, without those that lie there for the purpose.

    Which conversation of a pair is shown first follows the study's seed, person, pair and purpose. Those of a
    group have one order, which follows seed, person, conversation and purpose.
    """
    positions = dict(items)
    swapped = _swapped(db, rater, purpose, positions)
    db.conn.executemany(
        "INSERT OR IGNORE INTO placements (item_id, rater_id, purpose, position, attempt, swapped) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(item, rater, purpose, position, attempt, item in swapped) for item, position in positions.items()],
    )


def _swapped(db: Database, rater: int, purpose: str, items: Iterable[int]) -> set[int]:
    """The pairs among these items of which the second conversation is shown first, by chance."""
    pairs = db.execute(
        """
        SELECT i.id, t.seed || '|' || (SELECT name FROM raters WHERE id = ?) || '|',
            n.key, i.ranked, c.key, d.key
        FROM study_items i JOIN item_contents n ON n.item_id = i.id JOIN studies t ON t.id = i.study_id
            JOIN conversations c ON c.id = i.conversation_id JOIN conversations d ON d.id = i.other_id
        WHERE i.id IN (SELECT value FROM json_each(?))""",
        [rater, json.dumps(list(items))],
    ).fetchall()
    suffix = "" if PURPOSES[purpose].rated else f"|{purpose}"

    def chance(text: str) -> bytes:
        return sha256(f"{text}{suffix}".encode()).digest()

    swapped: set[int] = set()
    for item, seed, pair, ranked, first, second in pairs:
        if ranked:
            second_is_first = chance(seed + second) < chance(seed + first)
        else:
            second_is_first = chance(seed + pair)[0] % 2 == 1
        if second_is_first:
            swapped.add(item)
    return swapped


def assign(db: Database, rater: int, units: Sequence[int], *, extra: bool = False) -> None:
    """Append units to an annotator's desk, without those they have; `extra`: because others differ there."""
    sql = f"SELECT ifnull(max(position), 0) FROM placements WHERE rater_id = ? AND purpose IN {RATED}"
    last = int(scalar(db, sql, [rater]))
    purpose = "extra" if extra else "first"
    place(db, rater, purpose, [(unit, position) for position, unit in enumerate(units, last + 1)])


def reclaim(db: Database, name: str, rater: int, units: Sequence[int] | None = None) -> list[int]:
    """Take back the units (of these) that an annotator of a study has not begun; returns their ids."""
    rows = db.execute(
        f"""
        DELETE FROM placements WHERE id IN (
            SELECT p.id FROM placed_items p
            WHERE p.rater_id = :rater AND p.study_id = :study AND p.purpose IN {RATED} AND NOT p.begun
                AND (:units IS NULL OR p.item_id IN (SELECT value FROM json_each(:units))))
        RETURNING item_id""",
        {
            "rater": rater,
            "study": studies.study_id(db, name),
            "units": None if units is None else json.dumps(list(units)),
        },
    )
    return [row[0] for row in rows.fetchall()]


def remove(db: Database, placements: Iterable[int]) -> None:
    """Take placements, with what was answered, from desks."""
    db.conn.executemany("DELETE FROM placements WHERE id = ?", [(number,) for number in placements])


def placed(db: Database, name: str, purposes: Collection[str], rater: int | None = None) -> list[QueueEntry]:
    """What lies on the desks of a study (or on one person's) for these purposes, in their order."""
    return records(
        db,
        QueueEntry,
        f"SELECT p.item_id, x.name, iif(p.purpose IN {RATED}, p.begun, p.state <> 'open' "
        "OR p.flag <> '' OR EXISTS (SELECT 1 FROM answers a WHERE a.placement_id = p.id "
        "AND a.superseded_at IS NULL)), "
        "p.state, p.position, p.purpose, p.id, p.rater_id, p.attempt, p.opened "
        "FROM placed_items p JOIN raters x ON x.id = p.rater_id "
        "WHERE p.study_id = :study AND p.purpose IN (SELECT value FROM json_each(:purposes)) "
        "AND (:rater IS NULL OR p.rater_id = :rater) ORDER BY p.position",
        {"study": studies.study_id(db, name), "purposes": json.dumps([*purposes]), "rater": rater},
    )


def queues(db: Database, name: str) -> list[QueueEntry]:
    """Who has what to rate, in their order."""
    return placed(db, name, RATED)


def desks(db: Database, name: str) -> dict[str, list[QueueEntry]]:
    """Everybody's rated items of a study in their order; none of people who have other items of it alone."""
    items: dict[str, list[QueueEntry]] = {}
    for person in sorted({entry.person for entry in placed(db, name, UNRATED)}):
        items[person] = []
    for entry in queues(db, name):
        items.setdefault(entry.person, []).append(entry)
    return items


def reached(queue: Sequence[QueueEntry]) -> int:
    """How many items lie up to the last one begun: nothing is put before it any more."""
    last = 0
    for place, entry in enumerate(queue, 1):
        if entry.begun:
            last = place
    return last


def ranges(db: Database, name: str, overlap: int, unit: int | None = None) -> list[tuple[int, str, float]]:
    """(unit, criterion, range) of the first ratings of each unit (or of one), once all of them are given.

    A unit is there when it lies on `overlap` desks, none of these is open, and two people or more rated it
    whom no decision excludes.
    """
    # Of one unit the index is used, for which a condition that may be NULL is no help.
    of_unit = "" if unit is None else "AND u.id = :unit AND g.item_id = :unit"
    rows = db.execute(
        f"""
        SELECT u.id, g.criterion, max(g.score) - min(g.score)
        FROM items u
            JOIN placements a ON a.item_id = u.id AND a.purpose = 'first' AND a.state = 'done'
            JOIN human_scores g ON g.item_id = u.id AND g.rater_id = a.rater_id
        WHERE u.study_id = :study AND g.study_id = :study {of_unit}
            AND (SELECT count(*) >= :overlap AND NOT sum(f.state = 'open') FROM placements f
                WHERE f.item_id = u.id AND f.purpose = 'first')
            AND NOT EXISTS (SELECT 1 FROM excluded_raters o
                WHERE o.study_id = u.study_id AND o.rater_id = a.rater_id)
        GROUP BY u.id, g.criterion HAVING count(*) > 1 ORDER BY u.id, g.criterion""",
        {"study": studies.study_id(db, name), "unit": unit, "overlap": overlap},
    )
    return list(rows.fetchall())


def count_as_first(db: Database, name: str) -> None:
    """Let the extra ratings of a study be like all others: every unit is to have as many raters now."""
    study = studies.study_id(db, name)
    db.execute(
        "UPDATE placements SET purpose = 'first' WHERE purpose = 'extra' AND item_id IN "
        "(SELECT id FROM items WHERE study_id = ?)",
        [study],
    )
    for table in ("ratings", "scores"):
        db.execute(f"UPDATE {table} SET extra = 0 WHERE study_id = ?", [study])


def studies_of(db: Database, rater: int) -> list[tuple[str, str, int, int]]:
    """The studies on an annotator's desk: (name, title, items done or skipped, items in all)."""
    rows = db.execute(
        "SELECT t.name, t.title, count(DISTINCT iif(p.state = 'open', p.entry, NULL)), "
        "count(DISTINCT p.entry) FROM placed_items p JOIN studies t ON t.id = p.study_id "
        f"WHERE p.rater_id = ? AND p.purpose IN {QUEUED} AND p.asked GROUP BY t.id ORDER BY t.id DESC",
        [rater],
    )
    return [(name, title, items - open_items, items) for name, title, open_items, items in rows.fetchall()]


def left(db: Database, rater: int, study: str) -> int:
    """How many items of a study an annotator has still to rate or skip."""
    for name, _, closed, items in studies_of(db, rater):
        if name == study:
            return items - closed
    return 0


def on_desk(db: Database, rater: int, study: str) -> list[tuple[int, str, bool]]:
    """The items of a study on an annotator's desk, in their order: (number, state, flagged).

    Before the study's training is passed only its items are there.
    """
    rows = db.execute(
        "SELECT min(p.number), iif(max(p.state = 'open'), 'open', min(p.state)), max(p.flag <> '') "
        "FROM placed_items p JOIN studies t ON t.id = p.study_id WHERE p.rater_id = :rater "
        f"AND t.name = :study AND p.purpose IN {QUEUED} AND p.asked "
        "AND (p.purpose = 'training' OR NOT :training) AND (p.purpose <> 'training' "
        "OR (t.id, 'training') IN (SELECT study_id, purpose FROM study_rules)) "
        "GROUP BY p.entry ORDER BY min(p.position), min(p.id)",
        {"rater": rater, "study": study, "training": untrained(db, study, rater)},
    )
    return [(number, state, bool(flagged)) for number, state, flagged in rows.fetchall()]


def notes(db: Database, rater: int, study: str) -> dict[int, tuple[str, str]]:
    """Why an annotator skipped items of a study, and their flags: number → (reason, comment), "" where there
    is none.
    """
    rows = db.execute(
        "SELECT p.number, p.reason, p.flag FROM placed_items p "
        "JOIN studies t ON t.id = p.study_id WHERE p.rater_id = ? AND t.name = ? "
        f"AND p.purpose IN {QUEUED} AND p.asked AND (p.state = 'skipped' OR p.flag <> '')",
        [rater, study],
    )
    return {number: (reason, comment) for number, reason, comment in rows.fetchall()}


def pace(db: Database, rater: int, study: str) -> float | None:
    """The median of the seconds that an annotator needed for an item of a study; None with fewer than three
    that are submitted.
    """
    seconds = column(
        db,
        "SELECT p.seconds FROM placements p JOIN items i ON i.id = p.item_id JOIN studies t "
        f"ON t.id = i.study_id WHERE p.rater_id = ? AND t.name = ? AND p.purpose IN {QUEUED} "
        "AND p.state = 'done' AND p.seconds > 0",
        [rater, study],
    )
    return median(seconds) if len(seconds) >= 3 else None


def find_id(db: Database, rater: int, number: int) -> int:
    """The placement that a desk knows by this number. Raises NotAllowed where it does not lie there."""
    sql = (
        "SELECT p.id FROM placed_items p WHERE p.id IN (SELECT id FROM placements WHERE id = :number "
        "UNION ALL SELECT id FROM placements WHERE item_id = :number AND rater_id = :rater) "
        f"AND +p.rater_id = :rater AND p.number = :number AND p.purpose IN {QUEUED} AND p.asked"
    )
    if (placement := scalar(db, sql, {"rater": rater, "number": number})) is None:
        raise NotAllowed(TAKEN_BACK)
    return int(placement)


def items_of(db: Database, numbers: Iterable[int]) -> list[int]:
    """The items that desks know by these numbers: of a placement, or of its group; a number of nothing has
    none.
    """
    items: list[int] = []
    for number in numbers:
        entry = [item for _, item in parts(db, number)]
        items += entry or column(db, "SELECT id FROM items WHERE id = ?", [number])
    return items


def parts(db: Database, placement: int) -> list[tuple[int, int]]:
    """The placements, with their items, that are one item on a desk with this one: itself, or its group's."""
    rows = db.execute(
        "SELECT item_id, ranked FROM placed_items WHERE id = ?",
        [placement],
    ).fetchall()
    if not any(ranked for _, ranked in rows):
        return [(placement, item) for item, _ in rows]
    rows = db.execute(
        "SELECT p.id, p.item_id FROM placements q JOIN items h ON h.id = q.item_id "
        "JOIN items i ON i.study_id = h.study_id AND i.stratum = h.stratum JOIN placements p "
        "ON p.item_id = i.id AND p.rater_id = q.rater_id AND p.purpose = q.purpose "
        "AND p.attempt = q.attempt WHERE q.id = ? ORDER BY p.id",
        [placement],
    ).fetchall()
    return [(part, item) for part, item in rows]


_PLACEMENT_FIELDS = (
    "id",
    "study",
    "conversation_id",
    "turn",
    "state",
    "reason",
    "flag",
    "seconds",
    "purpose",
    "opened",
    "other_id",
    "swapped",
)


def get(db: Database, rater: int, placement: int) -> Placement:
    """A placement with its answers. Raises NotAllowed for somebody else's."""
    row = db.execute(
        "SELECT p.id, t.name, i.conversation_id, i.turn, p.state, p.reason, p.flag, p.seconds, p.purpose, "
        "p.opened, i.other_id, p.swapped FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id WHERE p.id = ? AND p.rater_id = ?",
        [placement, rater],
    ).fetchone()
    if row is None:
        raise NotAllowed(TAKEN_BACK)
    values = dict(zip(_PLACEMENT_FIELDS, row, strict=True))
    swapped = bool(values.pop("swapped"))
    direction = -1 if swapped else 1
    answers: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for question, value, reason in db.execute(
        "SELECT question, value, reason FROM answers "
        "WHERE placement_id = ? AND superseded_at IS NULL ORDER BY id",
        [placement],
    ).fetchall():
        if value is not None:
            answers[question] = value * direction
        if reason:
            reasons[question] = reason
    return Placement(**values, swapped=swapped, answers=answers, reasons=reasons)


def numbered(db: Database, rater: int, number: int) -> Placement:
    """What lies on a desk under this number. Raises NotAllowed where nothing does."""
    group = [get(db, rater, part) for part, _ in parts(db, find_id(db, rater, number))]
    if not studies.get(db, group[0].study).ranks:
        return group[0]
    order = _order(group)
    ranks: dict[str, float] = {}
    for question in set.intersection(*(set(pair.answers) for pair in group)):
        ranks[question] = _digits(group, order, question)
    return replace(group[0], grouped=order, answers=ranks)


def _digits(group: Iterable[Placement], order: Sequence[int], question: str) -> float:
    """The ranks of a group's conversations as they are shown, a digit for each, from answers to its pairs."""
    losses: Counter[int] = Counter()
    for pair in group:
        score = pair.answers[question]
        first, second = pair.shown
        if score:
            losses[first if score < 0 else second] += 1
    return float("".join(str(1 + losses[conversation]) for conversation in order))


def _order(parts: Iterable[Placement]) -> tuple[int, ...]:
    """The conversations of a group as they are shown: every pair of them says which of two comes first."""
    order: TopologicalSorter[int] = TopologicalSorter()
    for part in parts:
        order.add(part.shown[1], part.shown[0])
    return tuple(order.static_order())


def rank(
    db: Database, rater: int, placement: int, question: str, ranks: float | None, reason: str = ""
) -> None:
    """Store the order of a group as answers to its pairs, or take it back (None): each conversation as shown
    has a digit, its rank. Raises StudyError for what is no such order.
    """
    group = [get(db, rater, part) for part, _ in parts(db, placement)]
    if ranks is None:
        for pair in group:
            answer(db, rater, pair.id, question, None)
        return
    order = _order(group)
    digits = f"{ranks:.0f}"
    possible_ranks = "12345678"[: len(order)]
    if len(digits) != len(order) or not set(digits) <= set(possible_ranks):
        raise StudyError(f"A ranking needs a rank for each reply, from 1 to {len(order)}.")
    rank_of = dict(zip(order, digits, strict=True))
    scores: dict[int, float] = {}
    for pair in group:
        first, second = pair.shown
        if rank_of[first] < rank_of[second]:
            scores[pair.id] = 1.0
        elif rank_of[first] > rank_of[second]:
            scores[pair.id] = -1.0
        else:
            scores[pair.id] = 0.0
    criteria = criteria_by_name(studies.get(db, group[0].study).criteria)
    check_known("criterion", question, criteria)
    if not set(scores.values()) <= set(criteria[question].scale.values):
        raise StudyError("Two replies have the same rank, but this question allows no ties.")
    for part, score in scores.items():
        answer(db, rater, part, question, score, reason)


def answer(
    db: Database, rater: int, placement: int, criterion: str, score: float | None, reason: str = ""
) -> None:
    """Store one answer, or take it back (None); the answer before it is kept.

    `reason` is kept where the criterion asks for words beside the answer, or where the answer is made of
    words, which give the score. Raises NotAllowed for somebody else's item and where the known answer was
    shown, NotFound for a criterion, and StudyError for a score that the study does not have.
    """
    item = get(db, rater, placement)
    _refuse_locked(item)
    criteria = criteria_by_name(studies.criteria_of(db, item.study, item.conversation_id, item.turn))
    check_known("criterion", criterion, criteria)
    if score is not None and (content := criteria[criterion].scale.kind.content):
        text = conversations.load(db, item.conversation_id).reply(item.turn)
        try:
            reason = content.kept(reason, text)
            score = content.score(reason, text)
        except ValueError as error:
            raise StudyError(f"This cannot be stored: {error}.") from error
    elif len(reason) > REASON:
        raise StudyError(f"A reason has at most {REASON:,} characters.")
    if score is not None and score not in criteria[criterion].scale:
        raise StudyError(f"{score} is not on the scale of “{criterion}”.")
    takes_words = criteria[criterion].reason or criteria[criterion].scale.kind.content
    reason = reason.strip() if takes_words and score is not None else ""
    if (item.answers.get(criterion), item.reasons.get(criterion, "")) == (score, reason):
        return
    _replace(db, placement, criterion)
    if score is not None:
        _keep(db, placement, criterion, score * item.direction, reason)
    if item.other_id is not None:
        _end_pair(db, rater, placement)
    elif item.state == "done":
        changed_item = get(db, rater, placement)
        _drop_unasked(db, changed_item, list(criteria.values()))
        if score is None or _missing(changed_item, list(criteria.values())):
            database.update(db, "placements", placement, state="open", submitted=None)
        _rate(db, item)


def _end_pair(db: Database, rater: int, placement: int) -> None:
    """Submit a pair of which everything is answered, and open one of which it is not."""
    item = get(db, rater, placement)
    criteria = studies.criteria_of(db, item.study, item.conversation_id, item.turn)
    required = {criterion.name for criterion in criteria if criterion.required}
    if not required <= item.answers.keys():
        _set_state(db, item, "open")
    elif item.state != "done":
        _close(db, item)
    else:
        _rate(db, item)


def own_placement(db: Database, rater: int, purpose: str, item: int) -> int:
    """The placement of an item for a purpose that has a desk of its own; a new one, where there is none."""
    place(db, rater, purpose, [(item, 0.0)])
    row = find(db, "placements", "id", rater_id=rater, purpose=purpose, item_id=item)
    assert row is not None
    return int(row["id"])


def give(
    db: Database,
    purpose: str,
    rater: int,
    item: int,
    question: str,
    value: float | None,
    reason: str = "",
    shown: float | None = None,
    questions: Collection[str] = (),
) -> None:
    """Store an answer on a desk of its own, where nothing is submitted: with it the item is done, or with the
    last one of `questions`. The answer before it is kept.

    Words alone have no value; `shown` is the judge's score that stood beside the item. Raises StudyError for
    too many words, and where one person answers an item for all, as long as an answer of another one holds.
    """
    if len(reason) > REASON:
        raise StudyError(f"A reason has at most {REASON:,} characters.")
    if PURPOSES[purpose].alone:
        decider = scalar(
            db,
            "SELECT x.name FROM placements p JOIN answers a ON a.placement_id = p.id JOIN raters x "
            "ON x.id = p.rater_id WHERE p.item_id = ? AND p.purpose = ? AND p.rater_id <> ? "
            "AND a.superseded_at IS NULL",
            [item, purpose, rater],
        )
        if decider:
            raise StudyError(
                f"{decider} has decided this item already, so your answer was not stored. "
                "Continue with the next."
            )
    placement = own_placement(db, rater, purpose, item)
    answer_now = find(
        db, "answers", "value, reason", placement_id=placement, question=question, superseded_at=None
    )
    if answer_now == {"value": value, "reason": reason}:
        return
    _replace(db, placement, question)
    _keep(db, placement, question, value, reason, shown)
    with_answer = column(
        db, "SELECT question FROM answers WHERE placement_id = ? AND superseded_at IS NULL", [placement]
    )
    if set(questions) <= set(with_answer):
        db.execute(
            "UPDATE placements SET state = 'done', submitted = ifnull(submitted, ?) WHERE id = ?",
            [now(), placement],
        )


def take_back(
    db: Database, purpose: str, rater: int, item: int, question: str, questions: Collection[str] = ()
) -> None:
    """Take back an answer at such a desk; it is kept as replaced. Without any answer, or without one of
    `questions`, the item is open.
    """
    if row := find(db, "placements", "id", rater_id=rater, purpose=purpose, item_id=item):
        _replace(db, row["id"], question)
        db.execute(
            "UPDATE placements SET state = 'open', submitted = NULL WHERE id = :id AND (:required "
            "OR NOT EXISTS (SELECT 1 FROM answers WHERE placement_id = :id AND superseded_at IS NULL))",
            {**row, "required": question in questions},
        )


def show(db: Database, rater: int, purpose: str, items: Iterable[int]) -> None:
    """Record that an annotator begins to see what stands beside these items, which locks their answers."""
    for item in items:
        placement = own_placement(db, rater, purpose, item)
        db.execute("UPDATE placements SET opened = ifnull(opened, ?) WHERE id = ?", [now(), placement])


def revealed(db: Database, name: str) -> list[str]:
    """The annotators who have begun to see a judge's scores or others' answers, by name."""
    return sorted({entry.person for entry in placed(db, name, LOCKING) if entry.opened})


def has_seen(db: Database, rater: int, study: str, purposes: Collection[str] = LOCKING) -> bool:
    """Whether an annotator has begun to see a judge's scores, or others' answers, of a study."""
    sql = (
        "SELECT 1 FROM placements p JOIN items i ON i.id = p.item_id JOIN studies t ON t.id = i.study_id "
        "WHERE p.rater_id = ? AND p.opened IS NOT NULL AND p.purpose IN (SELECT value FROM json_each(?)) "
        "AND t.name = ? LIMIT 1"
    )
    return bool(scalar(db, sql, [rater, json.dumps([*purposes]), study]))


def _keep(
    db: Database,
    placement: int,
    question: str,
    value: float | None,
    reason: str = "",
    shown: float | None = None,
) -> None:
    row = {"placement_id": placement, "question": question, "value": value, "reason": reason}
    database.insert(db, "answers", {**row, "shown": shown, "answered_at": now()})


def _replace(db: Database, placement: int, question: str) -> None:
    db.execute(
        "UPDATE answers SET superseded_at = ? "
        "WHERE placement_id = ? AND question = ? AND superseded_at IS NULL",
        [now(), placement, question],
    )


def submit(db: Database, rater: int, placement: int) -> None:
    """Close an item whose required criteria are answered, with reasons where they must have them. Answers to
    questions that depend on another answer than was given are taken back.

    Where the known answer is shown now, the item is locked. Twice is as good as once. Raises StudyError where
    something is missing.
    """
    item = get(db, rater, placement)
    criteria = studies.criteria_of(db, item.study, item.conversation_id, item.turn)
    if missing := _missing(item, criteria):
        raise StudyError(missing)
    if not item.opened:
        _drop_unasked(db, item, criteria)
        _close(db, item)


def _missing(item: Placement, criteria: Sequence[Criterion]) -> str:
    """What an item still lacks of the questions that are asked after its answers, as a sentence; “” if
    nothing.
    """
    without_answer: list[str] = []
    without_reason: list[str] = []
    for criterion in asked(criteria, item.answers):
        score = item.answers.get(criterion.name)
        if score is None:
            if criterion.required:
                without_answer.append(criterion.label)
        elif criterion.explained(score) and criterion.name not in item.reasons:
            without_reason.append(criterion.label)
    if without_answer:
        return f"Still to answer: {', '.join(without_answer)}."
    if without_reason:
        return f"Still to give a reason for: {', '.join(without_reason)}."
    return ""


def _drop_unasked(db: Database, item: Placement, criteria: Sequence[Criterion]) -> None:
    """Take back answers to questions that are not asked after the others; they are kept as replaced."""
    asked_criteria = asked(criteria, item.answers)
    for criterion in criteria:
        if criterion.when and criterion not in asked_criteria and criterion.name in item.answers:
            _replace(db, item.id, criterion.name)


def _close(db: Database, item: Placement) -> None:
    """Submit an item; where the known answer is shown now, it is locked."""
    _set_state(db, item, "done")
    if PURPOSES[item.purpose].context == ItemContext.KNOWN_ANSWER:
        database.update(db, "placements", item.id, opened=now())


def skip(db: Database, rater: int, placement: int, reason: str) -> None:
    """Leave an item without answers that count, with the reason. Raises NotAllowed for a training item."""
    item = get(db, rater, placement)
    _refuse_locked(item)
    if not PURPOSES[item.purpose].skippable:
        raise NotAllowed(f"A {item.purpose} item cannot be skipped. Answer as you would in the study.")
    _set_state(db, item, "skipped", reason)


def reopen(db: Database, rater: int, placement: int) -> None:
    """Take an item up again; its answers count once it is submitted anew."""
    item = get(db, rater, placement)
    _refuse_locked(item)
    _set_state(db, item, "open")
    if item.other_id is not None:
        _end_pair(db, rater, placement)


def flag(db: Database, rater: int, placement: int, comment: str) -> None:
    """Mark an item with a comment for the researcher; an empty comment takes the mark away."""
    database.update(db, "placements", get(db, rater, placement).id, flag=comment)


def add_seconds(db: Database, rater: int, placement: int, seconds: float) -> None:
    """Add time at work on an item. Raises NotAllowed for somebody else's item."""
    sql = "UPDATE placements SET seconds = seconds + max(0.0, ?) WHERE id = ? AND rater_id = ?"
    if not db.execute(sql, [seconds, placement, rater]).rowcount:
        raise NotAllowed(TAKEN_BACK)


def add_seconds_beside(db: Database, rater: int, purpose: str, item: int, seconds: float) -> None:
    """Add time at work on an item that lies on a desk of its own, if it does."""
    row = find(db, "placements", "id", rater_id=rater, purpose=purpose, item_id=item)
    if row and seconds:
        add_seconds(db, rater, row["id"], seconds)


def _refuse_locked(item: Placement) -> None:
    if item.opened:
        raise NotAllowed(LOCKED)


def _set_state(db: Database, item: Placement, state: str, reason: str = "") -> None:
    submitted = None if state == "open" else now()
    database.update(db, "placements", item.id, state=state, reason=reason, submitted=submitted)
    if "done" in (state, item.state):
        _rate(db, item)


_RATE = (
    "INSERT OR IGNORE INTO ratings (conversation_id, turn, criterion, rater_id, study_id, score, "
    "explanation, extra, created) SELECT i.conversation_id, i.turn, a.question, p.rater_id, i.study_id, "
    "a.value, a.reason, p.purpose = 'extra', a.answered_at "
    "FROM placements p JOIN items i ON i.id = p.item_id "
    "JOIN answers a ON a.placement_id = p.id AND a.superseded_at IS NULL WHERE p.id = ? AND p.state = 'done' "
    "ORDER BY a.id"
)


# The answers of a submitted pair as comparisons: the one shown first is the first.
_COMPARE = (
    "INSERT INTO comparisons (key, first_id, second_id, rater_id, study_id, rubric, criterion, verdict, "
    "strong, explanation, created) SELECT c.key || '|' || d.key || '|' || x.name || '|desk|' || t.name "
    "|| '|' || a.question, c.id, d.id, x.id, t.id, t.rubric, a.question, "
    "iif(a.value = 0, 'C', iif((a.value > 0) <> p.swapped, 'A', 'B')), abs(a.value) > 1, "
    "a.reason, a.answered_at "
    "FROM placements p JOIN items i ON i.id = p.item_id "
    "JOIN studies t ON t.id = i.study_id JOIN raters x ON x.id = p.rater_id "
    "JOIN conversations c ON c.id = iif(p.swapped, i.other_id, i.conversation_id) "
    "JOIN conversations d ON d.id = iif(p.swapped, i.conversation_id, i.other_id) "
    "JOIN answers a ON a.placement_id = p.id AND a.superseded_at IS NULL WHERE p.id = ? AND p.state = 'done' "
    "ORDER BY a.id"
)
_COMPARED = (
    "DELETE FROM comparisons WHERE id IN (SELECT x.id FROM placements p JOIN items i ON i.id = p.item_id "
    "JOIN comparisons x ON x.first_id IN (i.conversation_id, i.other_id) AND x.second_id IN "
    "(i.conversation_id, i.other_id) AND +x.study_id = i.study_id AND +x.rater_id = p.rater_id "
    "WHERE p.id = ?)"
)


def _rate(db: Database, item: Placement) -> None:
    """Let the answers of a rated item be ratings, or comparisons, while it is submitted, and only then."""
    if not PURPOSES[item.purpose].rated:
        return
    if item.other_id is not None:
        db.execute(_COMPARED, [item.id])
        db.execute(_COMPARE, [item.id])
        return
    db.execute(
        "DELETE FROM ratings WHERE id IN (SELECT r.id FROM placements p JOIN items i ON i.id = p.item_id "
        "JOIN ratings r ON r.conversation_id = i.conversation_id AND r.rater_id = p.rater_id "
        "AND r.study_id = i.study_id AND ifnull(r.turn, 0) = ifnull(i.turn, 0) WHERE p.id = ?)",
        [item.id],
    )
    db.execute(_RATE, [item.id])
    summaries.refresh(db, [item.conversation_id])


def untrained(db: Database, name: str, rater: int) -> bool:
    """Whether a study's training is still to be passed by an annotator, who sees nothing else of it then."""
    sql = (
        "SELECT 1 FROM studies t JOIN study_rules q ON q.study_id = t.id AND q.purpose = 'training' "
        "WHERE t.name = ? AND NOT EXISTS (SELECT 1 FROM training_results r WHERE r.study_id = t.id "
        "AND r.rater_id = ? AND r.outcome IN ('passed', 'admitted'))"
    )
    return bool(scalar(db, sql, [name, rater]))


def close_imported(db: Database, study: int, raters: Collection[int], start: str) -> None:
    """Close the open items of these people for which answers were stored from `start` on: these count."""
    rows = db.execute(
        "SELECT p.id, i.conversation_id FROM placements p JOIN items i ON i.id = p.item_id "
        f"WHERE p.purpose IN {RATED} AND p.state = 'open' AND i.study_id = :study "
        "AND p.rater_id IN (SELECT value FROM json_each(:raters)) AND EXISTS (SELECT 1 FROM ratings r "
        "WHERE r.study_id = i.study_id AND r.conversation_id = i.conversation_id "
        "AND r.turn IS i.turn AND r.rater_id = p.rater_id AND r.created >= :start)",
        {"study": study, "raters": json.dumps(list(raters)), "start": start},
    ).fetchall()
    for placement, _ in rows:
        _take_over(db, placement)
    summaries.refresh(db, list({conversation for _, conversation in rows}))


def _take_over(db: Database, placement: int) -> None:
    """Submit an item to which answers came as ratings: these replace the ones given at the desk."""
    rows = db.execute(
        """
        SELECT r.id, r.criterion FROM placements p JOIN items i ON i.id = p.item_id
            JOIN ratings r ON r.conversation_id = i.conversation_id AND r.rater_id = p.rater_id
                AND r.study_id = i.study_id AND r.turn IS i.turn
        WHERE p.id = ? ORDER BY r.id""",
        [placement],
    ).fetchall()
    database.update(db, "placements", placement, state="done", submitted=now())
    for rating, criterion in rows:
        _replace(db, placement, criterion)
        db.execute(
            "INSERT INTO answers (placement_id, question, value, reason, answered_at) "
            "SELECT ?, criterion, score, explanation, created FROM ratings WHERE id = ?",
            [placement, rating],
        )
        db.execute(
            "UPDATE ratings SET extra = (SELECT purpose = 'extra' FROM placements WHERE id = ?) WHERE id = ?",
            [placement, rating],
        )
    db.execute(_RATE, [placement])
