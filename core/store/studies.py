"""Studies in the store: units to rate, who rates what in which order, and the answers given at the desk."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.conversation import Unit
from concord.errors import NotAllowed, NotFound, StudyError, not_found
from concord.rating import Annotation, Criterion
from concord.store import conversations, database, ratings, settings, summaries
from concord.store.database import find, now

# An item somebody has answered, flagged or closed is theirs; the others may still be dealt anew.
BEGUN = (
    "({a}.state <> 'open' OR {a}.flag <> '' OR EXISTS (SELECT 1 FROM study_units b JOIN ratings r "
    "ON r.study_id = b.study_id "
    "AND r.conversation_id = b.conversation_id AND ifnull(r.turn, 0) = ifnull(b.turn, 0) "
    "WHERE b.id = {a}.unit_id AND r.rater_id = {a}.rater_id))"
)

IN_SIGHT = "spot-check"
"""The source of studies whose people saw the judges' scores."""
FEWEST_PINNED = 8
"""Conversations rated by people that a pinned study has at least; below it no interval is given."""
_PINNED = "study"

NOT_YOURS = "This item is not on your desk. Go back to your list."


@dataclass(frozen=True)
class Study:
    """What is rated, by which criteria, and how often each unit (0: by everybody).

    `source` is “drawn” or the format of the import. In an `anonymous` study people's ratings have no names,
    so that no figure may treat them as those of persons.
    """

    name: str
    criteria: tuple[Criterion, ...]
    title: str = ""
    guidelines: str = ""
    source: str = "drawn"
    per_turn: bool = False
    overlap: int = 0
    seed: int = 0
    anonymous: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""

    @property
    def rubric(self) -> str:
        """The rubric by which it is rated; “” for a benchmark's own questions."""
        return str(self.meta.get("rubric", {}).get("name", ""))

    @property
    def pilot_of(self) -> str:
        """The study that this one is a pilot of, which need not be drawn yet; “” for none."""
        return str(self.meta.get("pilot_of", ""))

    @property
    def blind(self) -> bool:
        """Whether people answered without seeing a judge's score; corrections in a spot-check are not."""
        return self.source != IN_SIGHT


@dataclass(frozen=True)
class Task:
    """One unit on an annotator's desk. Nothing here tells who wrote the dialogue or how others rated it."""

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


def create(db: Database, study: Study) -> int:
    """Store a new study and return its id. Raises StudyError where the name is taken."""
    if find(db, "studies", "id", name=study.name):
        raise StudyError(f"There is a study “{study.name}” already. Give this one another name.")
    if find(db, "pair_studies", "id", name=study.name):
        raise StudyError(f"There is a study of pairs “{study.name}” already. Give this one another name.")
    meta = json.dumps(dict(study.meta), ensure_ascii=False)
    row = {**vars(study), "title": study.title or study.name, "meta": meta, "created": now()}
    del row["criteria"]
    new = database.insert(db, "studies", row)
    ratings.register(db, scope(study.name), study.criteria)
    return new


def scope(name: str) -> str:
    """The scope under which a study's criteria are registered."""
    return f"study:{name}"


def get(db: Database, name: str) -> Study:
    """A study by name. Raises NotFound."""
    row = _row(db, name)
    del row["id"]
    row |= {flag: bool(row[flag]) for flag in ("per_turn", "anonymous")}
    return Study(**row | {"criteria": ratings.criteria(db, scope(name)), "meta": json.loads(row["meta"])})


def study_id(db: Database, name: str) -> int:
    """A study's id. Raises NotFound."""
    return int(_row(db, name)["id"])


def _row(db: Database, name: str) -> dict[str, Any]:
    row = find(db, "studies", name=name)
    if row is None:
        raise not_found("study", name, names(db))
    return row


def names(db: Database) -> list[str]:
    """Every study, newest first."""
    return [row["name"] for row in db.table("studies").rows_where(select="name", order_by="id DESC")]


def titles(db: Database) -> dict[str, str]:
    """The title of every study by its name, newest first; the name where it has no title."""
    rows = db.execute("SELECT name, title FROM studies ORDER BY id DESC")
    return {name: title or name for name, title in rows}


def ranked(db: Database) -> list[str]:
    """Every study, the one first that says most about judges.

    That is the pinned one; then those whose people did not see judges' scores, pilots last; of these the ones
    rated by people and judges, then those with most conversations rated by people, then the newest.
    """
    rows = db.execute(
        "SELECT t.name FROM studies t ORDER BY t.name IS ? DESC, t.source <> ? DESC, "
        "ifnull(json_extract(t.meta, '$.pilot_of'), '') = '' DESC, "
        "EXISTS (SELECT 1 FROM scores s WHERE s.study_id = t.id) AND EXISTS (SELECT 1 FROM study_units u "
        "JOIN scores s ON s.conversation_id = u.conversation_id JOIN raters x ON x.id = s.rater_id "
        "WHERE u.study_id = t.id AND s.study_id IS NULL AND x.kind = 'judge') DESC, "
        "(SELECT count(DISTINCT s.conversation_id) FROM scores s WHERE s.study_id = t.id) DESC, t.id DESC",
        [pinned(db), IN_SIGHT],
    )
    return [name for (name,) in rows]


def beside(db: Database, name: str, pilot_of: str = "") -> list[str]:
    """The studies with which one may share no conversation.

    They are its pilots; of a pilot, the study it is a pilot of, and other pilots of that.
    """
    rows = db.execute(
        "SELECT name FROM studies WHERE name <> :name AND (json_extract(meta, '$.pilot_of') = :name "
        "OR :main <> '' AND (name = :main OR json_extract(meta, '$.pilot_of') = :main)) ORDER BY id",
        {"name": name, "main": pilot_of},
    )
    return [found for (found,) in rows]


def pinned(db: Database) -> str | None:
    """The study that the workspace's figures rest on by choice; None where none was chosen."""
    return settings.get(db, _PINNED)


def pin(db: Database, name: str) -> None:
    """Choose the study that figures rest on unless another is asked for.

    Raises NotFound, and StudyError for a study whose people saw judges' scores, or rated too little.
    """
    study, n = get(db, name), conversations_rated(db, name)
    if not study.blind:
        raise StudyError(
            f"People saw the judges' scores in the study “{name}”: figures of agreement cannot rest on it. "
            "Pin a study that was rated blind."
        )
    if n < FEWEST_PINNED:
        raise StudyError(
            f"People rated {n} conversations of the study “{name}”; a pinned study has at least "
            f"{FEWEST_PINNED}. Pin it when more are rated."
        )
    settings.put(db, _PINNED, name)


def unpin(db: Database) -> None:
    """Leave the choice of the study to `ranked` again."""
    settings.remove(db, _PINNED)


def conversations_rated(db: Database, name: str) -> int:
    """The number of conversations that people rated in a study."""
    sql = "SELECT count(DISTINCT conversation_id) FROM scores WHERE study_id = ?"
    return int(db.execute(sql, [study_id(db, name)]).fetchone()[0])


def rated(db: Database, name: str) -> bool:
    """Whether anybody has rated in a study: people in it, or judges any of its units."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM ratings WHERE study_id = :study) OR EXISTS (SELECT 1 FROM study_units "
        "u JOIN ratings r ON r.conversation_id = u.conversation_id WHERE u.study_id = :study)"
    )
    return bool(db.execute(sql, {"study": study_id(db, name)}).fetchone()[0])


def raters(db: Database, name: str) -> list[tuple[str, bool]]:
    """The people who rated in a study, each with whether they are simulated. Raises NotFound."""
    rows = db.execute(
        "SELECT name, simulated FROM raters WHERE kind = 'human' AND id IN (SELECT rater_id FROM ratings "
        "WHERE study_id = ?) ORDER BY name",
        [study_id(db, name)],
    )
    return [(person, bool(simulated)) for person, simulated in rows]


def set_overlap(db: Database, name: str, overlap: int) -> None:
    """Remember how many raters each unit is to have."""
    db.table("studies").update(study_id(db, name), {"overlap": overlap})


def remember(db: Database, name: str, key: str, value: Any) -> None:
    """Keep how a study is done under a key of its `meta`."""
    meta = json.dumps(dict(get(db, name).meta) | {key: value}, ensure_ascii=False)
    db.table("studies").update(study_id(db, name), {"meta": meta})


def write_guidelines(db: Database, name: str, text: str) -> None:
    """Replace a study's guidelines."""
    db.table("studies").update(study_id(db, name), {"guidelines": text})


def add_units(db: Database, name: str, units: Iterable[tuple[int, int | None, str]]) -> list[int]:
    """Add (conversation id, turn, stratum) to a study; returns the units' ids in the same order."""
    found = study_id(db, name)
    last = db.execute("SELECT ifnull(max(id), 0) FROM study_units").fetchone()[0]
    db.table("study_units").insert_all(
        {"study_id": found, "conversation_id": conversation, "turn": turn, "stratum": stratum}
        for conversation, turn, stratum in units
    )
    return [row[0] for row in db.execute("SELECT id FROM study_units WHERE id > ? ORDER BY id", [last])]


def units(db: Database, name: str) -> list[dict[str, Any]]:
    """A study's units: id, conversation_id, key, turn, stratum, player."""
    rows = db.query(
        "SELECT u.id, u.conversation_id, c.key, u.turn, u.stratum, c.player FROM study_units u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? ORDER BY u.id",
        [study_id(db, name)],
    )
    return list(rows)


def assign(db: Database, rater: int, unit_ids: Sequence[int], *, extra: bool = False) -> None:
    """Append units to an annotator's desk, without those they have; `extra`: because others differ there."""
    sql = "SELECT ifnull(max(position), 0) FROM assignments WHERE rater_id = ?"
    last = db.execute(sql, [rater]).fetchone()[0]
    db.conn.executemany(
        "INSERT OR IGNORE INTO assignments (unit_id, rater_id, position, extra) VALUES (?, ?, ?, ?)",
        [(unit, rater, last + i, extra) for i, unit in enumerate(unit_ids, 1)],
    )


def reclaim(db: Database, name: str, rater: int, unit_ids: Sequence[int] | None = None) -> list[int]:
    """Take back the units (of these) that an annotator of a study has not begun; returns their ids."""
    rows = db.execute(
        "DELETE FROM assignments WHERE rater_id = ? AND unit_id IN (SELECT id "
        "FROM study_units WHERE study_id = ?) AND (? IS NULL OR unit_id IN (SELECT value "
        f"FROM json_each(?))) AND NOT {BEGUN.format(a='assignments')} RETURNING unit_id",
        [rater, study_id(db, name), *[None if unit_ids is None else json.dumps(list(unit_ids))] * 2],
    )
    return [row[0] for row in rows.fetchall()]


def queues(db: Database, name: str) -> list[tuple[int, str, bool, bool]]:
    """Who has what, in their order: (unit id, annotator, whether begun, whether done or skipped)."""
    rows = db.execute(
        f"SELECT a.unit_id, x.name, {BEGUN.format(a='a')}, a.state <> 'open' FROM assignments a "
        "JOIN study_units u ON u.id = a.unit_id JOIN raters x ON x.id = a.rater_id WHERE u.study_id = ? "
        "ORDER BY a.position",
        [study_id(db, name)],
    )
    return [(unit, person, bool(begun), bool(closed)) for unit, person, begun, closed in rows.fetchall()]


def positions(db: Database, name: str) -> dict[tuple[int, str], int]:
    """The position of each item on its desk, by unit id and annotator."""
    rows = db.execute(
        "SELECT a.unit_id, x.name, a.position FROM assignments a JOIN study_units u ON u.id = a.unit_id "
        "JOIN raters x ON x.id = a.rater_id WHERE u.study_id = ?",
        [study_id(db, name)],
    )
    return {(unit, person): position for unit, person, position in rows}


def studies_of(db: Database, rater: int) -> list[tuple[str, str, int, int]]:
    """The studies on an annotator's desk: (name, title, items done or skipped, items in all).

    Hidden items count, as they do for whoever rates them.
    """
    rows = db.execute(
        "SELECT t.name, t.title, sum(i.state <> 'open'), count(*) FROM ("
        "SELECT u.study_id, a.state FROM assignments a JOIN study_units u ON u.id = a.unit_id "
        "WHERE a.rater_id = :rater UNION ALL SELECT study_id, state FROM hidden_items "
        "WHERE rater_id = :rater) i JOIN studies t ON t.id = i.study_id GROUP BY t.id ORDER BY t.id DESC",
        {"rater": rater},
    )
    return list(rows.fetchall())


def task(db: Database, rater: int, assignment: int) -> Task:
    """An item of an annotator's desk with their answers. Raises NotAllowed for somebody else's item."""
    row = db.execute(
        "SELECT a.id, t.name, u.conversation_id, u.turn, a.state, a.reason, a.flag, a.seconds "
        "FROM assignments a JOIN study_units u ON u.id = a.unit_id JOIN studies t ON t.id = u.study_id "
        "WHERE a.id = ? AND a.rater_id = ?",
        [assignment, rater],
    ).fetchone()
    if row is None:
        raise NotAllowed(NOT_YOURS)
    answers = db.execute(
        "SELECT r.criterion, r.score, r.explanation FROM assignments a "
        "JOIN study_units u ON u.id = a.unit_id JOIN ratings r ON r.conversation_id = u.conversation_id "
        "AND ifnull(r.turn, 0) = ifnull(u.turn, 0) AND r.rater_id = a.rater_id AND r.study_id = u.study_id "
        "WHERE a.id = ?",
        [assignment],
    ).fetchall()
    reasons = {criterion: reason for criterion, _, reason in answers if reason}
    return Task(*(*row, {criterion: score for criterion, score, _ in answers}, reasons))


def asked(db: Database, study: str, conversation: int) -> tuple[Criterion, ...]:
    """The criteria that a study asks of a conversation."""
    every = ratings.criteria(db, scope(study))
    if not any(criterion.only for criterion in every):
        return every
    found = conversations.load(db, conversation)
    facets = {**found.facets, "player": found.player, "language": found.language}
    return tuple(criterion for criterion in every if criterion.asked_of(facets))


def answer(
    db: Database, rater: int, assignment: int, criterion: str, score: float | None, reason: str = ""
) -> None:
    """Store one answer, or take it back (None); the answer before it stays as a revision.

    `reason` is kept where the criterion asks for words beside the answer. Raises NotAllowed for somebody
    else's item, NotFound for a criterion and StudyError for a score that the study does not have.
    """
    item = task(db, rater, assignment)
    reason = kept_reason(db, item, criterion, score, reason)
    old = item.answers.get(criterion)
    if old == score and item.reasons.get(criterion, "") == reason:
        return
    which = {"conversation_id": item.conversation_id, "turn": item.turn, "criterion": criterion}
    which |= {"rater_id": rater, "study_id": study_id(db, item.study)}
    if old is not None:
        ratings.withdraw(db, " AND ".join(f"{name} IS ?" for name in which), list(which.values()))
    if score is not None:
        database.insert(db, "ratings", {**which, "score": score, "explanation": reason, "created": now()})
    elif item.state == "done":
        database.update(db, "assignments", assignment, state="open")
    if item.state == "done":
        summaries.refresh(db, [item.conversation_id])


def kept_reason(db: Database, item: Task, criterion: str, score: float | None, reason: str) -> str:
    """The reason to store beside an answer. Raises NotFound for a criterion, StudyError for a score that the
    study does not have.
    """
    known = {c.name: c for c in asked(db, item.study, item.conversation_id)}
    if criterion not in known:
        raise not_found("criterion", criterion, known)
    if score is not None and score not in known[criterion].scale:
        raise StudyError(f"{score} is not on the scale of “{criterion}”.")
    return reason.strip() if known[criterion].reason and score is not None else ""


def refuse_incomplete(db: Database, item: Task) -> None:
    """Raise StudyError where an item lacks a required answer or a required reason."""
    known = asked(db, item.study, item.conversation_id)
    missing = [c.label for c in known if c.required and c.name not in item.answers]
    if missing:
        raise StudyError(f"Still to answer: {', '.join(missing)}.")
    unsaid = [
        c.label
        for c in known
        if c.reason == "required" and c.name in item.answers and c.name not in item.reasons
    ]
    if unsaid:
        raise StudyError(f"Still to give a reason for: {', '.join(unsaid)}.")


def submit(db: Database, rater: int, assignment: int) -> None:
    """Close an item whose required criteria are answered, with reasons where they must have them.

    Twice is as good as once. Raises StudyError where something is missing.
    """
    item = task(db, rater, assignment)
    refuse_incomplete(db, item)
    _set_state(db, item, "done")


def skip(db: Database, rater: int, assignment: int, reason: str) -> None:
    """Leave an item unrated, with the reason; answers already given stay but do not count."""
    _set_state(db, task(db, rater, assignment), "skipped", reason)


def reopen(db: Database, rater: int, assignment: int) -> None:
    """Take an item up again; its answers count once it is submitted anew."""
    _set_state(db, task(db, rater, assignment), "open")


def flag(db: Database, rater: int, assignment: int, comment: str) -> None:
    """Mark an item with a comment for the researcher; an empty comment takes the mark away."""
    database.update(db, "assignments", task(db, rater, assignment).id, flag=comment)


def add_seconds(db: Database, rater: int, assignment: int, seconds: float) -> None:
    """Add time at work on an item. Raises NotAllowed for somebody else's item."""
    item = find(db, "assignments", "seconds", id=assignment, rater_id=rater)
    if item is None:
        raise NotAllowed(NOT_YOURS)
    database.update(db, "assignments", assignment, seconds=item["seconds"] + max(0.0, seconds))


def _set_state(db: Database, item: Task, state: str, reason: str = "") -> None:
    submitted = None if state == "open" else now()
    database.update(db, "assignments", item.id, state=state, reason=reason, submitted=submitted)
    summaries.refresh(db, [item.conversation_id])


def close_imported(db: Database, study: int, raters: Collection[int], since: str) -> None:
    """Close the open items of these people for which answers were stored since then: these count."""
    open_items = (
        "FROM assignments a JOIN study_units u ON u.id = a.unit_id WHERE a.state = 'open' AND "
        "u.study_id = :study AND a.rater_id IN (SELECT value FROM json_each(:raters)) AND EXISTS "
        "(SELECT 1 FROM ratings r WHERE r.study_id = u.study_id AND r.conversation_id = u.conversation_id "
        "AND r.turn IS u.turn AND r.rater_id = a.rater_id AND r.created >= :since)"
    )
    given = {"study": study, "raters": json.dumps(list(raters)), "since": since}
    found = db.execute(f"SELECT a.id, u.conversation_id {open_items}", given).fetchall()
    for item, _ in found:
        database.update(db, "assignments", item, state="done", submitted=now())
    summaries.refresh(db, list({conversation for _, conversation in found}))


def import_annotations(db: Database, study: str, given: Iterable[Annotation]) -> None:
    """Store answers given elsewhere for units dealt at the desk, and close their items. Raises NotFound."""
    found = study_id(db, study)
    raters = dict(db.execute("SELECT name, id FROM raters WHERE kind = 'human'").fetchall())
    by_unit: dict[tuple[str, Unit], list[Annotation]] = {}
    for annotation in given:
        by_unit.setdefault((annotation.annotator, annotation.rating.unit), []).append(annotation)
    touched = []
    for (annotator, unit), answers in by_unit.items():
        conversation = find(db, "conversations", "id", key=unit.conversation)
        if conversation is None or annotator not in raters:
            raise NotFound(
                f"The conversation “{unit.conversation}” or the annotator “{annotator}” is not stored."
            )
        number, rater = conversation["id"], raters[annotator]
        ratings.insert(db, number, rater, [a.rating for a in answers], study_id=found)
        db.execute(
            "UPDATE assignments SET state = 'done', submitted = ?, seconds = ? WHERE rater_id = ? AND "
            "unit_id = (SELECT id FROM study_units WHERE study_id = ? AND conversation_id = ? AND turn IS ?)",
            [now(), sum(a.seconds for a in answers), rater, found, number, unit.turn],
        )
        touched.append(number)
    summaries.refresh(db, touched)
