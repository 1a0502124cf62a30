"""Answers that are not blind: an adjudicator's, and an annotator's second one after a judge's score.

They are placements of purposes that are not rated, so that they enter no mean and no figure of agreement.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeVar

from sqlite_utils import Database

from concord.errors import NotAllowed, StudyError
from concord.store import placements, studies
from concord.store.database import now
from concord.store.purposes import RATED

Kind = Literal["adjudicate", "revise", "discuss"]
U = TypeVar("U", bound="Informed | BlindAnswer")


class Informed(NamedTuple):
    """One such answer that holds; `shown` is the judge's score that its giver had seen."""

    unit: int
    criterion: str
    score: float
    reason: str
    person: str
    rater: int
    given: str
    shown: float | None = None


class BlindAnswer(NamedTuple):
    """A submitted, blind answer of a person, with their words beside it."""

    unit: int
    criterion: str
    rater: int
    person: str
    score: float
    reason: str
    flag: str


def answers(db: Database, name: str, purpose: Kind) -> list[Informed]:
    """The answers of a study that hold, by unit, criterion and time. Raises NotFound."""
    rows = db.execute(
        "SELECT u.id, a.question, a.value, a.reason, x.name, p.rater_id, a.given, a.shown "
        "FROM items u "
        "JOIN placements p ON p.item_id = u.id AND p.purpose = ? JOIN answers a ON a.placement_id = p.id "
        "JOIN raters x ON x.id = p.rater_id WHERE u.study_id = ? AND a.replaced IS NULL "
        "ORDER BY u.id, a.question, a.id",
        [purpose, studies.study_id(db, name)],
    )
    return [Informed(*row) for row in rows]


def give(
    db: Database,
    purpose: Kind,
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
    if purpose == "adjudicate":
        others = db.execute(
            "SELECT x.name FROM placements p JOIN answers a ON a.placement_id = p.id JOIN raters x "
            "ON x.id = p.rater_id WHERE p.item_id = ? AND p.purpose = 'adjudicate' AND p.rater_id <> ? "
            "AND a.replaced IS NULL",
            [unit, rater],
        ).fetchone()
        if others:
            raise StudyError(f"{others[0]} has settled this item. Yours was not taken; go on with the next.")
    placement = placements.beside(db, rater, purpose, unit)
    item = placements.get(db, rater, placement)
    if (item.answers.get(criterion), item.reasons.get(criterion, "")) == (score, reason):
        return
    if score is None:
        placements.withdraw(db, placement, criterion)
    else:
        placements.give(db, placement, criterion, score, reason, shown)


def blind(db: Database, name: str, without: Collection[int] = ()) -> list[BlindAnswer]:
    """People's submitted answers in a study, without those of some raters: by unit, criterion and rater."""
    rows = db.execute(
        "SELECT g.item_id, g.criterion, g.rater_id, x.name, g.score, g.explanation, ifnull(p.flag, '') "
        "FROM given g JOIN raters x ON x.id = g.rater_id AND x.kind = 'human' LEFT JOIN placements p "
        f"ON p.item_id = g.item_id AND p.rater_id = g.rater_id AND p.purpose IN {RATED} "
        "WHERE g.study_id = ? AND ifnull(p.state, 'done') = 'done' ORDER BY 1, 2, 3",
        [studies.study_id(db, name)],
    )
    return [given for row in rows if (given := BlindAnswer(*row)).rater not in without]


def by_unit(answers: Iterable[U]) -> dict[int, list[U]]:
    """Answers by their unit."""
    units: dict[int, list[U]] = {}
    for answer in answers:
        units.setdefault(answer.unit, []).append(answer)
    return units


def show(db: Database, rater: int, purpose: Literal["revise", "discuss"], units: Iterable[int]) -> None:
    """Record that an annotator begins to see what stands beside these units, which locks their answers."""
    for unit in units:
        placement = placements.beside(db, rater, purpose, unit)
        db.execute("UPDATE placements SET opened = ifnull(opened, ?) WHERE id = ?", [now(), placement])


def revealed(db: Database, name: str) -> dict[str, str]:
    """The annotators who have begun to see a judge's scores or others' answers, and since when, by name."""
    rows = db.execute(
        "SELECT x.name, min(p.opened) FROM items u JOIN placements p ON p.item_id = u.id "
        "AND p.purpose IN ('revise', 'discuss') JOIN raters x ON x.id = p.rater_id WHERE u.study_id = ? "
        "AND p.opened IS NOT NULL GROUP BY x.id ORDER BY x.name",
        [studies.study_id(db, name)],
    )
    return dict(rows.fetchall())


def has_seen(db: Database, rater: int, study: str, purpose: Literal["", "revise", "discuss"] = "") -> bool:
    """Whether an annotator has begun to see a judge's scores (“revise”) or others' answers (“discuss”) of a
    study; without a `purpose`, either.
    """
    row = db.execute(
        "SELECT 1 FROM placements p JOIN items i ON i.id = p.item_id JOIN studies t ON t.id = i.study_id "
        "WHERE p.rater_id = ? AND p.opened IS NOT NULL AND p.purpose IN ('revise', 'discuss') "
        "AND ? IN ('', p.purpose) AND t.name = ? LIMIT 1",
        [rater, purpose, study],
    ).fetchone()
    return row is not None


def refuse_revealed(db: Database, rater: int, study: str) -> None:
    """Raise NotAllowed where an annotator has seen others' answers, or a judge's, to a study.

    Their answers to it are no longer blind, so that none may be changed.
    """
    if has_seen(db, rater, study):
        raise NotAllowed("What others answered was shown, so your answers are locked: nothing was changed.")


def judge_scores(db: Database, name: str, judge: int) -> dict[tuple[int, str], tuple[list[float], str]]:
    """A judge's scores of each unit of a study on each criterion, and its reasons, one a line."""
    rows = db.execute(
        "SELECT u.id, r.criterion, r.score, r.explanation FROM studies t "
        "JOIN items u ON u.study_id = t.id AND u.known = '' AND u.other_id IS NULL "
        "JOIN ratings r ON r.conversation_id = u.conversation_id AND r.study_id IS NULL AND r.rater_id = ? "
        "AND (t.per_turn = 0 OR r.turn IS u.turn) WHERE t.id = ? ORDER BY r.turn, r.repeat",
        [judge, studies.study_id(db, name)],
    )
    given: dict[tuple[int, str], list[tuple[float, str]]] = {}
    for unit, criterion, score, words in rows:
        given.setdefault((unit, criterion), []).append((score, words))
    return {
        key: ([score for score, _ in of], "\n".join(filter(None, (words for _, words in of))))
        for key, of in given.items()
    }


def judges_of(db: Database, name: str) -> set[int]:
    """The judges with a score of a unit of a study, whose `judge_scores` is not empty. Raises NotFound."""
    # Each is looked for by itself: the first unit that it rated settles it.
    rows = db.execute(
        "SELECT x.id FROM raters x WHERE x.kind = 'judge' AND EXISTS (SELECT 1 FROM studies t "
        "JOIN items u ON u.study_id = t.id AND u.known = '' AND u.other_id IS NULL JOIN ratings r "
        "ON r.conversation_id = u.conversation_id AND r.rater_id = x.id AND r.study_id IS NULL "
        "AND (t.per_turn = 0 OR r.turn IS u.turn) WHERE t.id = ?)",
        [studies.study_id(db, name)],
    )
    return {number for (number,) in rows}


def apart(db: Database, name: str) -> Iterator[dict[str, Any]]:
    """Every answer of a study beside its first ratings, by kind: “extra”, “repeat”, “gold”, “training”,
    “adjudicated”, “revised”, “discussed” or “spot-check”.

    `blind` is the same person's rating of the item, `shown` the judge's score they had seen, `gold` the known
    answer, `judge` whose judgement was checked; of such an answer the criterion “” is the finding. Hidden
    items are there once they are submitted.
    """
    yield from db.query(
        "SELECT CASE s.kind WHEN 'adjudicate' THEN 'adjudicated' WHEN 'revise' THEN 'revised' "
        "WHEN 'discuss' THEN 'discussed' ELSE s.kind END AS kind, c.key AS item_id, s.turn, s.criterion, "
        "x.name AS rater, s.score, s.explanation, s.created, (SELECT r.score FROM ratings r "
        "WHERE s.kind IN ('repeat', 'revise', 'discuss') "
        "AND r.study_id = :study AND r.conversation_id = s.conversation_id AND r.turn IS s.turn "
        "AND r.criterion = s.criterion AND r.rater_id = s.rater_id) AS blind, s.shown, "
        "(SELECT g.answer FROM known_answers g WHERE g.item_id = s.item_id "
        "AND g.criterion = s.criterion) AS gold, ifnull((SELECT y.name FROM judgements j JOIN raters y "
        "ON y.id = j.rater_id WHERE j.id = s.judgement_id), '') AS judge "
        "FROM (SELECT p.purpose AS kind, i.id AS item_id, i.conversation_id, i.turn, i.judgement_id, "
        "a.question AS criterion, p.rater_id, a.value AS score, a.reason AS explanation, "
        "a.given AS created, a.shown FROM items i JOIN placements p ON p.item_id = i.id "
        "AND p.state = 'done' JOIN answers a ON a.placement_id = p.id AND a.replaced IS NULL "
        "WHERE i.study_id = :study AND p.purpose <> 'first') s "
        "JOIN conversations c ON c.id = s.conversation_id "
        "JOIN raters x ON x.id = s.rater_id ORDER BY 1, c.key, s.turn, s.criterion, x.name",
        {"study": studies.any_id(db, name)},
    )
