"""Studies in the store: units to rate, who rates what in which order, and the answers given at the desk."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from concord.errors import StudyError, not_found
from concord.rating import Criterion
from concord.store import conversations, database, ratings, settings
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


def create(db: Database, study: Study) -> int:
    """Store a new study and return its id. Raises StudyError where the name is taken."""
    refuse_taken(db, study.name)
    meta = json.dumps(dict(study.meta), ensure_ascii=False)
    row = {**vars(study), "title": study.title or study.name, "meta": meta, "created": now()}
    del row["criteria"]
    new = database.insert(db, "studies", row)
    ratings.register(db, scope(study.name), study.criteria)
    return new


def refuse_taken(db: Database, name: str) -> None:
    """Raise StudyError where a study, or one of pairs, has this name."""
    if there := find(db, "studies", "pairs", name=name):
        what = "study of pairs" if there["pairs"] else "study"
        raise StudyError(f"There is a {what} “{name}” already. Give this one another name.")


def scope(name: str) -> str:
    """The scope under which a study's criteria are registered."""
    return f"study:{name}"


def get(db: Database, name: str) -> Study:
    """A study by name. Raises NotFound."""
    row = _row(db, name)
    del row["id"], row["pairs"]
    row |= {flag: bool(row[flag]) for flag in ("per_turn", "anonymous")}
    return Study(**row | {"criteria": ratings.criteria(db, scope(name)), "meta": json.loads(row["meta"])})


def study_id(db: Database, name: str) -> int:
    """A study's id. Raises NotFound."""
    return int(_row(db, name)["id"])


def _row(db: Database, name: str) -> dict[str, Any]:
    row = find(db, "studies", name=name, pairs=0)
    if row is None:
        raise not_found("study", name, names(db))
    return row


def names(db: Database) -> list[str]:
    """Every study, newest first."""
    return [
        row["name"] for row in db.table("studies").rows_where("NOT pairs", select="name", order_by="id DESC")
    ]


def titles(db: Database) -> dict[str, str]:
    """The title of every study by its name, newest first; the name where it has no title."""
    rows = db.execute("SELECT name, title FROM studies WHERE NOT pairs ORDER BY id DESC")
    return {name: title or name for name, title in rows}


def ranked(db: Database) -> list[str]:
    """Every study, the one first that says most about judges.

    That is the pinned one; then those whose people did not see judges' scores, pilots last; of these the ones
    rated by people and judges, then those with most conversations rated by people, then the newest.
    """
    rows = db.execute(
        "SELECT t.name FROM studies t WHERE NOT t.pairs ORDER BY t.name IS ? DESC, t.source <> ? DESC, "
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
    last = db.execute("SELECT ifnull(max(id), 0) FROM items").fetchone()[0]
    db.table("items").insert_all(
        {"study_id": found, "conversation_id": conversation, "turn": turn, "stratum": stratum}
        for conversation, turn, stratum in units
    )
    return [row[0] for row in db.execute("SELECT id FROM items WHERE id > ? ORDER BY id", [last])]


def units(db: Database, name: str) -> list[dict[str, Any]]:
    """A study's units: id, conversation_id, key, turn, stratum, player."""
    rows = db.query(
        "SELECT u.id, u.conversation_id, c.key, u.turn, u.stratum, c.player FROM study_units u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? ORDER BY u.id",
        [study_id(db, name)],
    )
    return list(rows)


def asked(db: Database, study: str, conversation: int) -> tuple[Criterion, ...]:
    """The criteria that a study asks of a conversation."""
    every = ratings.criteria(db, scope(study))
    if not any(criterion.only for criterion in every):
        return every
    found = conversations.load(db, conversation)
    facets = {**found.facets, "player": found.player, "language": found.language}
    return tuple(criterion for criterion in every if criterion.asked_of(facets))
