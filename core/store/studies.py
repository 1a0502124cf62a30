"""Studies in the store: units to rate, who rates what in which order, and the answers given at the desk."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlite_utils import Database

from concord.errors import NotFound, StudyError, not_found
from concord.rating import Criterion, Rater
from concord.store import audit, conversations, database, ratings
from concord.store.database import column, find, now, scalar, update

# A rated item somebody has answered, flagged or closed is theirs; the others may still be dealt anew.
BEGUN = (
    "(p.state <> 'open' OR p.flag <> '' OR EXISTS (SELECT 1 FROM answers b WHERE b.placement_id = p.id) "
    "OR EXISTS (SELECT 1 FROM items b JOIN ratings r ON r.conversation_id = b.conversation_id "
    "AND +r.study_id = b.study_id AND ifnull(r.turn, 0) = ifnull(b.turn, 0) "
    "WHERE b.id = p.item_id AND r.rater_id = p.rater_id))"
)

KEPT = "(i.other_id IS NULL OR i.stratum NOT IN (SELECT key FROM scenarios WHERE state = 'discarded'))"
"""Whether an item i is still asked: pairs of a discarded scenario are left out everywhere."""
RANKED = (
    "EXISTS (SELECT 1 FROM criteria k WHERE k.scope = 'study:' || t.name AND k.scale ->> '$[2]' = 'ranking')"
)
"""Whether the pairs of a scenario are a group that is put in order, in a study t."""
ONE = f"iif({RANKED}, i.study_id || ' ' || i.stratum || ' ' || p.purpose || ' ' || p.attempt, p.id)"
"""What is one item on a desk, where an item i of a study t lies by a placement p: itself, or its group."""

FILE = "file"
"""The source of a study that is a table of labels, not stored."""


@dataclass(frozen=True)
class Study:
    """What is rated, by which criteria, and how often each unit (0: by everybody).

    Of “pairs” people and judges say which of two conversations is better. `source` is “drawn” or the format
    of the import. In an `anonymous` study people's ratings have no names, so that no figure may treat them as
    those of persons.
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
    kind: Literal["ratings", "pairs"] = "ratings"
    meta: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""

    @property
    def pairs(self) -> bool:
        """Whether pairs are compared in it."""
        return self.kind == "pairs"

    @property
    def ranks(self) -> bool:
        """Whether the pairs of a scenario are a group that is put in order: one item on a desk."""
        return any(criterion.scale.kind.ranks for criterion in self.criteria)

    @property
    def counted(self) -> str:
        """What is counted in it, in words."""
        return "groups" if self.ranks else "pairs" if self.pairs else "items"

    @property
    def rubric(self) -> str:
        """The rubric by which it is rated; “” for a benchmark's own questions."""
        return str(self.meta.get("rubric", {}).get("name", ""))

    @property
    def version(self) -> int:
        """The version of the rubric; 0 for a benchmark's own questions."""
        return int(self.meta.get("rubric", {}).get("version", 0))

    @property
    def own_judges(self) -> tuple[tuple[str, str], ...]:
        """The judges whose ratings came with a file of the study, by name and version of their prompt: they
        count in it, whatever they were asked by.
        """
        return tuple((str(name), str(variant)) for name, variant in self.meta.get("judges", ()))

    @property
    def benchmark(self) -> str:
        """The benchmark that it was drawn from; “” where that is not known."""
        return str(self.meta.get("drawn", {}).get("benchmark", ""))


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
    """Raise StudyError where a study of any kind has this name."""
    if there := find(db, "studies", "kind", name=name):
        what = {"ratings": "study", "pairs": "study of pairs", "checks": "spot-check"}[there["kind"]]
        raise StudyError(f"There is a {what} “{name}” already. Give this one another name.")


def scope(name: str) -> str:
    """The scope under which a study's criteria are registered."""
    return f"study:{name}"


def get(db: Database, name: str) -> Study:
    """A study by name. Raises NotFound."""
    row = dict(_row(db, name))
    del row["id"]
    row |= {flag: bool(row[flag]) for flag in ("per_turn", "anonymous")}
    return Study(**row | {"criteria": ratings.criteria(db, scope(name)), "meta": json.loads(row["meta"])})


def study_id(db: Database, name: str) -> int:
    """The id of a study in which people rate. Raises NotFound."""
    return int(_row(db, name)["id"])


def any_id(db: Database, name: str) -> int:
    """The id of a study, of pairs and of checks too. Raises NotFound."""
    row = find(db, "studies", "id", name=name)
    return row["id"] if row else study_id(db, name)


def _row(db: Database, name: str) -> dict[str, Any]:
    row = next(iter(db.query("SELECT * FROM studies WHERE name = ? AND kind <> 'checks'", [name])), None)
    if row is None and find(db, "studies", "id", name=name):
        raise NotFound(
            f"There is no study “{name}”, but a spot-check: `concord export apart --study {name}` writes its "
            "findings."
        )
    if row is None:
        raise not_found("study", name, names(db))
    return row


def names(db: Database, *, pairs: bool = False) -> list[str]:
    """Every study in which items are rated, or pairs compared, newest first."""
    kind = "pairs" if pairs else "ratings"
    return column(db, "SELECT name FROM studies WHERE kind = ? ORDER BY id DESC", [kind])


def titles(db: Database) -> dict[str, str]:
    """The title of every study by its name, newest first; the name where it has no title."""
    rows = db.execute("SELECT name, title FROM studies WHERE kind <> 'checks' ORDER BY id DESC")
    return {name: title or name for name, title in rows}


def ranked(db: Database) -> list[str]:
    """Every study, the one first that says most about judges.

    Those rated by people and judges come first, then those with most conversations rated by people, then the
    newest.
    """
    return column(
        db,
        "SELECT t.name FROM studies t WHERE t.kind = 'ratings' ORDER BY "
        "EXISTS (SELECT 1 FROM scores s WHERE s.study_id = t.id) AND EXISTS (SELECT 1 FROM items u "
        "JOIN scores s ON s.conversation_id = u.conversation_id JOIN raters x ON x.id = s.rater_id "
        "WHERE u.study_id = t.id AND u.known = '' AND s.study_id IS NULL AND x.kind = 'judge') DESC, "
        "(SELECT count(DISTINCT s.conversation_id) FROM scores s WHERE s.study_id = t.id) DESC, t.id DESC",
    )


def conversations_rated(db: Database, name: str) -> int:
    """The number of conversations that people rated in a study."""
    sql = "SELECT count(DISTINCT conversation_id) FROM scores WHERE study_id = ?"
    return int(scalar(db, sql, [study_id(db, name)]))


def rated(db: Database, name: str) -> bool:
    """Whether anybody has rated in a study: people in it, or judges any of its units."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM items i JOIN ratings r ON r.conversation_id = i.conversation_id "
        "WHERE i.study_id = :study AND i.known = '') OR EXISTS (SELECT 1 FROM items i JOIN placements p "
        "ON p.item_id = i.id JOIN answers b ON b.placement_id = p.id WHERE i.study_id = :study)"
    )
    return bool(scalar(db, sql, {"study": study_id(db, name)}))


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


def add_judges(db: Database, name: str, judges: Iterable[Rater]) -> None:
    """Count judges whose ratings came with a file of the study: see `Study.own_judges`."""
    study = get(db, name)
    every = sorted({*study.own_judges, *((judge.name, judge.variant) for judge in judges)})
    if tuple(every) != study.own_judges:
        meta = dict(study.meta) | {"judges": every}
        update(db, "studies", study_id(db, name), meta=json.dumps(meta, ensure_ascii=False))


def languages(db: Database, name: str) -> dict[int, str]:
    """The language of each unit's conversation, where it is known. Raises NotFound."""
    sql = (
        "SELECT u.id, c.language FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ? AND u.known = '' AND c.language <> ''"
    )
    return dict(db.execute(sql, [study_id(db, name)]).fetchall())


def remember(db: Database, name: str, key: str, value: Any) -> None:
    """Keep how a study is done under a key of its `meta`; the audit log says what is set, None as “off”."""
    meta = dict(get(db, name).meta)
    before = meta.get(key)
    update(db, "studies", study_id(db, name), meta=json.dumps(meta | {key: value}, ensure_ascii=False))
    if isinstance(value, dict):
        changed = {k: v for k, v in value.items() if not isinstance(before, dict) or before.get(k) != v}
        gone = dict.fromkeys((before or {}).keys() - value.keys(), "none")
        audit.record(db, f"{key} set", name, detail=audit.facts(**(changed | gone or value)))
    else:
        audit.record(db, f"{key} set", name, detail="off" if value is None else audit.words(value))


def write_guidelines(db: Database, name: str, text: str) -> None:
    """Replace a study's guidelines."""
    update(db, "studies", study_id(db, name), guidelines=text)
    audit.record(db, "guidelines replaced", name)


def add_pairs(db: Database, name: str, pairs: Iterable[tuple[str, int, int]]) -> None:
    """Add pairs (scenario, id, id) that are not in a study yet."""
    study = study_id(db, name)
    db.conn.executemany(
        "INSERT OR IGNORE INTO items (study_id, stratum, conversation_id, other_id) VALUES (?, ?, ?, ?)",
        [(study, scenario, min(a, b), max(a, b)) for scenario, a, b in pairs],
    )


def add_units(db: Database, name: str, units: Iterable[tuple[int, int | None, str]]) -> list[int]:
    """Add (conversation id, turn, stratum) to a study; returns the units' ids in the same order."""
    study = study_id(db, name)
    last = scalar(db, "SELECT ifnull(max(id), 0) FROM items")
    db.conn.executemany(
        "INSERT INTO items (study_id, conversation_id, turn, stratum) VALUES (?, ?, ?, ?)",
        ((study, *unit) for unit in units),
    )
    return column(db, "SELECT id FROM items WHERE id > ? ORDER BY id", [last])


def units(db: Database, name: str) -> list[dict[str, Any]]:
    """A study's units: id, conversation_id, other_id, key, turn, stratum, player.

    A pair's `key` and `player` name both, the player first in the alphabet first; pairs of a group have the
    key of the group.
    """
    rows = db.query(
        f"SELECT i.id, i.conversation_id, i.other_id, {'i.stratum' if get(db, name).ranks else KEY} AS key, "
        f"i.turn, i.stratum, {_of_both('player')} AS player "
        "FROM items i JOIN conversations c ON c.id = i.conversation_id "
        "LEFT JOIN conversations d ON d.id = i.other_id "
        f"WHERE i.study_id = ? AND i.known = '' AND {KEPT} ORDER BY i.id",
        [study_id(db, name)],
    )
    return list(rows)


def _of_both(column: str) -> str:
    """SQL of a column of a conversation c, or of a pair of c and d in the alphabetical order of players."""
    return (
        f"iif(d.id IS NULL, c.{column}, iif(d.player < c.player, d.{column} || ' | ' || c.{column}, "
        f"c.{column} || ' | ' || d.{column}))"
    )


KEY = _of_both("key")
"""SQL of the key of an item: a conversation c, or a pair of it and a conversation d."""


def pairs(db: Database, name: str) -> list[tuple[str, int, str, int, str]]:
    """The pairs of a study: (scenario, id, key, id, key), the player first in the alphabet first.

    Raises NotFound.
    """
    rows = db.execute(
        "SELECT i.stratum, a.player, a.id, a.key, b.player, b.id, b.key FROM items i "
        "JOIN conversations a ON a.id = i.conversation_id JOIN conversations b ON b.id = i.other_id "
        f"WHERE i.study_id = ? AND i.known = '' AND {KEPT} ORDER BY i.id",
        [study_id(db, name)],
    )
    return [
        (scenario, one, key, other, other_key) if a <= b else (scenario, other, other_key, one, key)
        for scenario, a, one, key, b, other, other_key in rows
    ]


def criteria_of(db: Database, study: str, conversation: int, turn: int | None) -> tuple[Criterion, ...]:
    """The criteria that a study asks of an item: of a conversation as a whole (None), or a turn of it."""
    every = ratings.criteria(db, scope(study))
    if any(criterion.whole for criterion in every):
        every = tuple(criterion for criterion in every if criterion.whole == (turn is None))
    if not any(criterion.only for criterion in every):
        return every
    whole = conversations.load(db, conversation)
    facets = {**whole.facets, "player": whole.player, "language": whole.language}
    return tuple(criterion for criterion in every if criterion.asked_of(facets))
