"""Answers that are not blind: an adjudicator's, and an annotator's second one after a judge's score.

They are stored apart from ratings, so that they enter no mean and no figure of blind agreement.
"""

from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import database, studies
from concord.store.database import find, now

Kind = Literal["adjudicated", "revised"]


class Informed(NamedTuple):
    """One such answer that holds. `shown` is the judge's score that its giver had seen."""

    unit: int
    criterion: str
    score: float
    reason: str
    person: str
    rater: int
    given: str
    shown: float | None = None


class Comment(NamedTuple):
    """What somebody says of an item after others' answers to it were shown; “” for nothing."""

    unit: int
    rater: int
    person: str
    text: str
    given: str


class BlindAnswer(NamedTuple):
    """A submitted, blind answer of a person, with their words beside it."""

    unit: int
    criterion: str
    rater: int
    person: str
    score: float
    reason: str
    flag: str


def answers(db: Database, name: str, kind: Kind) -> list[Informed]:
    """The answers of a study that hold, by unit and criterion. Raises NotFound."""
    rows = db.execute(
        "SELECT i.unit_id, i.criterion, i.score, i.reason, x.name, i.rater_id, i.given, i.shown "
        "FROM study_units u JOIN informed_answers i ON i.unit_id = u.id AND i.kind = ? "
        "JOIN raters x ON x.id = i.rater_id "
        "WHERE u.study_id = ? AND i.replaced IS NULL ORDER BY i.unit_id, i.criterion, i.id",
        [kind, studies.study_id(db, name)],
    )
    return [Informed(*row) for row in rows]


def give(
    db: Database,
    kind: Kind,
    unit: int,
    rater: int,
    criterion: str,
    score: float | None,
    reason: str = "",
    shown: float | None = None,
) -> None:
    """Store an answer, or take it back (None); the answer before it is kept as replaced.

    An item is settled by one adjudicator: StudyError for another one, as long as an answer of the first
    holds.
    """
    if kind == "adjudicated":
        others = db.execute(
            "SELECT x.name FROM informed_answers i JOIN raters x ON x.id = i.rater_id WHERE i.unit_id = ? "
            "AND i.kind = 'adjudicated' AND i.rater_id <> ? AND i.replaced IS NULL",
            [unit, rater],
        ).fetchone()
        if others:
            raise StudyError(f"{others[0]} has settled this item. Yours was not taken; go on with the next.")
    which = [unit, kind, rater, criterion]
    same = "unit_id = ? AND kind = ? AND rater_id = ? AND criterion = ? AND replaced IS NULL"
    old = db.execute(f"SELECT score, reason FROM informed_answers WHERE {same}", which).fetchone()
    if old == (score, reason):
        return
    db.execute(f"UPDATE informed_answers SET replaced = ? WHERE {same}", [now(), *which])
    if score is not None:
        row = {"kind": kind, "unit_id": unit, "rater_id": rater, "criterion": criterion, "score": score}
        database.insert(db, "informed_answers", {**row, "reason": reason, "shown": shown, "given": now()})


def blind(db: Database, name: str, without: Collection[int] = ()) -> list[BlindAnswer]:
    """People's submitted answers in a study, without those of some raters: by unit, criterion and rater."""
    rows = db.execute(
        "SELECT u.id, r.criterion, r.rater_id, x.name, r.score, r.explanation, ifnull(a.flag, '') "
        "FROM study_units u JOIN ratings r ON r.study_id = u.study_id "
        "AND r.conversation_id = u.conversation_id AND ifnull(r.turn, 0) = ifnull(u.turn, 0) "
        "JOIN raters x ON x.id = r.rater_id AND x.kind = 'human' "
        "LEFT JOIN assignments a ON a.unit_id = u.id AND a.rater_id = r.rater_id "
        "WHERE u.study_id = ? AND ifnull(a.state, 'done') = 'done' ORDER BY u.id, r.criterion, r.rater_id",
        [studies.study_id(db, name)],
    )
    return [given for row in rows if (given := BlindAnswer(*row)).rater not in without]


def open_reveal(db: Database, name: str, rater: int) -> None:
    """Record that an annotator begins to see a judge's scores or others' answers, which locks theirs."""
    row = {"study_id": studies.study_id(db, name), "rater_id": rater}
    if find(db, "reveals", "opened", **row) is None:
        db.table("reveals").insert({**row, "opened": now()})


def revealed(db: Database, name: str) -> dict[str, str]:
    """The annotators who have begun to see a judge's scores or others' answers, and since when, by name."""
    rows = db.execute(
        "SELECT x.name, v.opened FROM reveals v JOIN raters x ON x.id = v.rater_id WHERE v.study_id = ? "
        "ORDER BY x.name",
        [studies.study_id(db, name)],
    )
    return dict(rows.fetchall())


def refuse_revealed(db: Database, rater: int, study: str) -> None:
    """Raise NotAllowed where an annotator has seen others' answers, or a judge's, to a study.

    Their answers to it are no longer blind, so that none may be changed.
    """
    if find(db, "reveals", "opened", rater_id=rater, study_id=studies.study_id(db, study)):
        raise NotAllowed("What others answered was shown, so your answers are locked: nothing was changed.")


def comments(db: Database, name: str) -> list[Comment]:
    """The comments on a study's items, by unit and time. Raises NotFound."""
    rows = db.execute(
        "SELECT d.unit_id, d.rater_id, x.name, d.text, d.given FROM study_units u "
        "JOIN discussed d ON d.unit_id = u.id JOIN raters x ON x.id = d.rater_id WHERE u.study_id = ? "
        "ORDER BY d.unit_id, d.given",
        [studies.study_id(db, name)],
    )
    return [Comment(*row) for row in rows]


def comment(db: Database, unit: int, rater: int, text: str | None) -> None:
    """Keep somebody's comment on an item in place of the one before, or take it back (None)."""
    db.table("discussed").delete_where("unit_id = ? AND rater_id = ?", [unit, rater])
    if text is not None:
        db.table("discussed").insert({"unit_id": unit, "rater_id": rater, "text": text, "given": now()})


def judge_said(db: Database, name: str, judge: int) -> dict[tuple[int, str], tuple[list[float], str]]:
    """A judge's scores of each unit of a study on each criterion, and its reasons, one a line."""
    rows = db.execute(
        "SELECT u.id, r.criterion, r.score, r.explanation FROM studies t "
        "JOIN study_units u ON u.study_id = t.id "
        "JOIN ratings r ON r.conversation_id = u.conversation_id AND r.study_id IS NULL AND r.rater_id = ? "
        "AND (t.per_turn = 0 OR r.turn = u.turn) WHERE t.id = ? ORDER BY r.turn, r.repeat",
        [judge, studies.study_id(db, name)],
    )
    said: dict[tuple[int, str], list[tuple[float, str]]] = {}
    for unit, criterion, score, words in rows:
        said.setdefault((unit, criterion), []).append((score, words))
    return {
        key: ([score for score, _ in of], "\n".join(filter(None, (words for _, words in of))))
        for key, of in said.items()
    }


def judges_of(db: Database, name: str) -> set[int]:
    """The judges with a score of a unit of a study, whose `judge_said` is not empty. Raises NotFound."""
    # Each is looked for by itself: the first unit that it rated settles it.
    rows = db.execute(
        "SELECT x.id FROM raters x WHERE x.kind = 'judge' AND EXISTS (SELECT 1 FROM studies t "
        "JOIN study_units u ON u.study_id = t.id JOIN ratings r "
        "ON r.conversation_id = u.conversation_id AND r.rater_id = x.id AND r.study_id IS NULL "
        "AND (t.per_turn = 0 OR r.turn = u.turn) WHERE t.id = ?)",
        [studies.study_id(db, name)],
    )
    return {number for (number,) in rows}


def apart(db: Database, name: str) -> Iterator[dict[str, Any]]:
    """Every answer of a study beside its first ratings, by kind: “extra”, “repeat”, “gold”, “training”,
    “adjudicated” or “revised”.

    `blind` is the same person's rating of the item, `shown` the judge's score they had seen, `gold` the known
    answer. Hidden items are there once they are submitted.
    """
    yield from db.query(
        "SELECT s.kind, c.key AS item_id, s.turn, s.criterion, x.name AS rater, s.score, s.explanation, "
        "s.created, (SELECT r.score FROM ratings r WHERE s.kind IN ('repeat', 'revised') "
        "AND r.study_id = :study AND r.conversation_id = s.conversation_id AND r.turn IS s.turn "
        "AND r.criterion = s.criterion AND r.rater_id = s.rater_id) AS blind, s.shown, "
        "(SELECT g.answer FROM known_answers g WHERE g.item_id = s.item_id "
        "AND g.criterion = s.criterion) AS gold "
        "FROM (SELECT p.purpose AS kind, i.id AS item_id, i.conversation_id, i.turn, "
        "a.question AS criterion, p.rater_id, a.value AS score, a.reason AS explanation, "
        "a.given AS created, NULL AS shown FROM items i "
        "JOIN placements p ON p.item_id = i.id AND p.state = 'done' JOIN answers a "
        "ON a.placement_id = p.id AND a.replaced IS NULL WHERE i.study_id = :study UNION ALL "
        "SELECT i.kind, u.id, u.conversation_id, u.turn, i.criterion, i.rater_id, i.score, i.reason, "
        "i.given, i.shown FROM informed_answers i JOIN study_units u ON u.id = i.unit_id "
        "WHERE u.study_id = :study AND i.replaced IS NULL UNION ALL "
        "SELECT 'extra', u.id, r.conversation_id, r.turn, r.criterion, r.rater_id, r.score, r.explanation, "
        "r.created, NULL FROM study_units u JOIN assignments a ON a.unit_id = u.id AND a.extra "
        "AND a.state = 'done' JOIN ratings r ON r.study_id = u.study_id AND r.rater_id = a.rater_id "
        "AND r.conversation_id = u.conversation_id AND ifnull(r.turn, 0) = ifnull(u.turn, 0) "
        "WHERE u.study_id = :study) s "
        "JOIN conversations c ON c.id = s.conversation_id "
        "JOIN raters x ON x.id = s.rater_id ORDER BY s.kind, c.key, s.turn, s.criterion, x.name",
        {"study": studies.study_id(db, name)},
    )
