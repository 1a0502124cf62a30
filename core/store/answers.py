"""One way to read what people answered, by purpose: the answers that hold, of items that are submitted.

First and extra answers are blind ones, wherever they were given: at the desk, or in a file. All others lie
beside them, so that they enter no mean and no figure of agreement. `placements.placed` has the items to which
they belong, in every state.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.store import studies
from concord.store.database import records
from concord.store.purposes import RATED


class ItemAnswer(NamedTuple):
    """One answer to an item; `flag` is the comment on it, `shown` the judge's score that stood beside it.

    `placement` is 0 where the answer came in a file.
    """

    item: int
    criterion: str
    score: float
    reason: str = ""
    person: str = ""
    rater: int = 0
    answered_at: str = ""
    shown: float | None = None
    flag: str = ""
    placement: int = 0


_BLIND = (
    "SELECT g.item_id, g.criterion, g.score, g.explanation, x.name, g.rater_id, '', NULL, ifnull(p.flag, ''),"
    " ifnull(p.id, 0) FROM human_scores g JOIN raters x ON x.id = g.rater_id AND x.kind = 'human' "
    f"LEFT JOIN placements p ON p.item_id = g.item_id AND p.rater_id = g.rater_id AND p.purpose IN {RATED} "
    "WHERE g.study_id = :study AND ifnull(p.state, 'done') = 'done' ORDER BY 1, 2, 6"
)
_OF_PURPOSE = (
    "SELECT i.id, a.question, a.value, a.reason, x.name, p.rater_id, a.answered_at, a.shown, p.flag, p.id "
    "FROM items i JOIN placements p ON p.item_id = i.id AND p.purpose = :purpose "
    "AND (:unfinished OR p.state = 'done') "
    "JOIN answers a ON a.placement_id = p.id AND a.superseded_at IS NULL JOIN raters x ON x.id = p.rater_id "
    "WHERE i.study_id = :study ORDER BY i.id, a.question, a.id"
)


def answers(db: Database, study: str, purpose: str, *, unfinished: bool = False) -> list[ItemAnswer]:
    """The answers of a study for a purpose, by item, criterion and time. Raises NotFound.

    Of `first` all blind answers are there, those of extra raters too. Of other purposes those of
    `unfinished` items are there where they are asked for.
    """
    sql = _BLIND if purpose in RATED else _OF_PURPOSE
    values = {"study": studies.study_id(db, study), "purpose": purpose, "unfinished": unfinished}
    return records(db, ItemAnswer, sql, values)


def blind(db: Database, study: str, excluded: Collection[int] = ()) -> list[ItemAnswer]:
    """People's blind answers in a study, without those of excluded raters."""
    return [answer for answer in answers(db, study, "first") if answer.rater not in excluded]


class ItemPlace(NamedTuple):
    """Where an item of a study is: its conversation, the key of that, and the turn; None: the whole of it."""

    conversation_id: int
    key: str
    turn: int | None


def places(db: Database, study: str) -> dict[int, ItemPlace]:
    """The items of a study that are rated, by id. Raises NotFound."""
    sql = (
        "SELECT i.id, i.conversation_id, c.key, i.turn FROM items i "
        "JOIN conversations c ON c.id = i.conversation_id WHERE i.study_id = ? AND i.known = ''"
    )
    return {item: ItemPlace(*place) for item, *place in db.execute(sql, [studies.study_id(db, study)])}


def by_item(item_answers: Iterable[ItemAnswer]) -> dict[int, list[ItemAnswer]]:
    """Answers by their item."""
    items: dict[int, list[ItemAnswer]] = {}
    for answer in item_answers:
        items.setdefault(answer.item, []).append(answer)
    return items


def judge_scores(db: Database, name: str, judge: int) -> dict[tuple[int, str], tuple[list[float], str]]:
    """A judge's scores of each unit of a study on each criterion, and its reasons, one a line."""
    rows = db.execute(
        "SELECT u.id, r.criterion, r.score, r.explanation FROM studies t "
        "JOIN items u ON u.study_id = t.id AND u.known = '' AND u.other_id IS NULL "
        "JOIN ratings r ON r.conversation_id = u.conversation_id AND r.study_id IS NULL AND r.rater_id = ? "
        "AND (t.per_turn = 0 OR r.turn IS u.turn) WHERE t.id = ? ORDER BY r.turn, r.repeat",
        [judge, studies.study_id(db, name)],
    )
    scores: dict[tuple[int, str], list[float]] = {}
    reasons: dict[tuple[int, str], list[str]] = {}
    for unit, criterion, score, reason in rows:
        scores.setdefault((unit, criterion), []).append(score)
        if reason:
            reasons.setdefault((unit, criterion), []).append(reason)
    return {key: (values, "\n".join(reasons.get(key, ()))) for key, values in scores.items()}


def apart(db: Database, name: str) -> Iterator[dict[str, Any]]:
    """Every answer of a study beside its first ratings, by kind: “extra”, “repeat”, “gold”, “training”,
    “adjudicated”, “revised”, “discussed” or “spot-check”.

    `blind` is the same person's rating of the item, `shown` the judge's score they had seen, `gold` the known
    answer, `judge` whose judgement was checked; of such an answer the criterion “” is the finding. Hidden
    items are there once they are submitted.
    """
    yield from db.query(
        "SELECT CASE p.purpose WHEN 'adjudicate' THEN 'adjudicated' WHEN 'revise' THEN 'revised' "
        "WHEN 'discuss' THEN 'discussed' ELSE p.purpose END AS kind, c.key AS item_id, i.turn, "
        "a.question AS criterion, x.name AS rater, a.value AS score, a.reason AS explanation, "
        "a.answered_at AS created, (SELECT r.score FROM ratings r "
        "WHERE p.purpose IN ('repeat', 'revise', 'discuss') AND r.study_id = :study "
        "AND r.conversation_id = i.conversation_id AND r.turn IS i.turn AND r.criterion = a.question "
        "AND r.rater_id = p.rater_id) AS blind, a.shown, "
        "(SELECT g.answer FROM known_answers g WHERE g.item_id = i.id AND g.criterion = a.question) AS gold, "
        "ifnull(y.name, '') AS judge FROM items i "
        "JOIN placements p ON p.item_id = i.id AND p.state = 'done' AND p.purpose <> 'first' "
        "JOIN answers a ON a.placement_id = p.id AND a.superseded_at IS NULL "
        "JOIN conversations c ON c.id = i.conversation_id JOIN raters x ON x.id = p.rater_id "
        "LEFT JOIN judgements j ON j.id = i.judgement_id LEFT JOIN raters y ON y.id = j.rater_id "
        "WHERE i.study_id = :study ORDER BY 1, c.key, i.turn, a.question, x.name",
        {"study": studies.any_id(db, name)},
    )
