"""Studies of pairs, and pairs of conversations dealt to people to compare.

The answers are stored as comparisons. Pairs of a discarded scenario are left out everywhere. A benchmark's
own question is asked in the study of its name, which is not stored: it has all the benchmark's pairs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlite_utils import Database

from concord.errors import NotAllowed
from concord.rating import Preference
from concord.store import comparisons
from concord.store.comparisons import PairQuestion
from concord.store.database import find, insert, now
from concord.store.placements import DeskPace, paced
from concord.store.studies import refuse_taken

# A pair is compared whichever of the two was shown first, be it at this desk or elsewhere. The plus has
# SQLite look up the few comparisons of the conversation, not the many of the person.
_ITS = (
    "+x.rater_id = p.rater_id AND x.first_id IN (p.first_id, p.second_id) "
    "AND x.second_id IN (p.first_id, p.second_id) AND x.failure IS NULL"
)
_OF = "ifnull((SELECT {} FROM pair_studies t WHERE t.name = p.study), {})"
_ANSWERS = (
    f"(SELECT count(DISTINCT x.criterion) FROM comparisons x WHERE {_ITS} "
    f"AND x.rubric = {_OF.format('t.rubric', chr(39) * 2)})"
)
_SETTLED = f"(p.skipped IS NOT NULL OR {_ANSWERS} >= {_OF.format('json_array_length(t.criteria)', 1)})"
_KEPT = "p.scenario NOT IN (SELECT key FROM scenarios WHERE state = 'discarded')"


@dataclass(frozen=True)
class PairStudy:
    """Pairs that people and judges compare by the pairwise questions of a rubric's version.

    `criteria` are the questions' names (“” is a benchmark's own question); `source` says where the pairs are
    from: “drawn”, or the name of a file.
    """

    name: str
    title: str
    benchmark: str
    rubric: str = ""
    version: int = 0
    criteria: tuple[str, ...] = ("",)
    guidelines: str = ""
    seed: int = 0
    source: str = ""
    created: str = ""


@dataclass(frozen=True)
class Pairing:
    """Two conversations as shown to a person (`first` as A), and the answers so far, by criterion.

    It names no player. `skipped` is the reason for which it was skipped; None where it was not. `flag` is a
    comment for the researcher.
    """

    id: int
    study: str
    first: int
    second: int
    answers: Mapping[str, Preference]
    skipped: str | None = None
    flag: str = ""


@dataclass(frozen=True)
class Standing:
    """How many of the pairs of a study dealt to a person are compared, or skipped; seconds of work."""

    person: str
    rater: int
    study: str
    done: int
    dealt: int
    skipped: int = 0
    seconds: float = 0.0


def create(db: Database, study: PairStudy, pairs: Sequence[tuple[str, int, int]]) -> None:
    """Store a new study with its pairs (scenario, id, id). Raises StudyError where the name is taken."""
    refuse_taken(db, study.name)
    meta = {name: getattr(study, name) for name in ("benchmark", "rubric", "version", "criteria")}
    row = {name: value for name, value in vars(study).items() if name not in meta}
    row |= {"pairs": 1, "meta": json.dumps(meta, ensure_ascii=False), "created": now()}
    number = insert(db, "studies", row)
    db.table("items").insert_all(
        {"study_id": number, "stratum": scenario, "conversation_id": min(a, b), "other_id": max(a, b)}
        for scenario, a, b in pairs
    )


def study(db: Database, name: str) -> PairStudy:
    """A study of pairs by name; of another name, that of a benchmark's own question."""
    row = find(db, "pair_studies", name=name)
    if row is None:
        return PairStudy(name, name, name)
    del row["id"]
    return PairStudy(**row | {"criteria": tuple(json.loads(row["criteria"]))})


def studies(db: Database) -> list[PairStudy]:
    """The stored studies of pairs, newest first."""
    names = db.execute("SELECT name FROM pair_studies ORDER BY id DESC").fetchall()
    return [study(db, name) for (name,) in names]


def pairs(db: Database, name: str) -> list[tuple[str, int, str, int, str]]:
    """The pairs of a stored study: (scenario, id, key, id, key), the player first in the alphabet first.

    Discarded scenarios are left out.
    """
    rows = db.execute(
        "SELECT p.scenario, a.player, a.id, a.key, b.player, b.id, b.key FROM study_pairs p "
        "JOIN pair_studies t ON t.id = p.study_id JOIN conversations a ON a.id = p.first_id "
        f"JOIN conversations b ON b.id = p.second_id WHERE t.name = ? AND {_KEPT} ORDER BY p.id",
        [name],
    )
    return [
        (scenario, one, key, other, other_key) if a <= b else (scenario, other, other_key, one, key)
        for scenario, a, one, key, b, other, other_key in rows
    ]


def assign(db: Database, rater: int, study: str, pairs: Sequence[tuple[str, int, int]]) -> None:
    """Append pairs (scenario, first, second) to a person's desk, without those the person has either way."""
    sql = "SELECT ifnull(max(position), 0) FROM pairings WHERE rater_id = ?"
    last = db.execute(sql, [rater]).fetchone()[0]
    db.conn.executemany(
        "INSERT OR IGNORE INTO pairings (rater_id, study, scenario, first_id, second_id, position, "
        "created) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(rater, study, *pair, last + i, now()) for i, pair in enumerate(pairs, 1)],
    )


def reclaim(db: Database, rater: int, study: str) -> int:
    """Take back the pairs of which a person has answered nothing and skipped none; returns how many."""
    sql = "DELETE FROM pairings AS p WHERE p.rater_id = ? AND p.study = ? AND p.skipped IS NULL "
    return db.execute(f"{sql} AND {_ANSWERS} = 0", [rater, study]).rowcount


def held(db: Database, study: str) -> list[tuple[int, int, str]]:
    """The pairs dealt: (the smaller id, the larger id, person)."""
    rows = db.execute(
        "SELECT min(p.first_id, p.second_id), max(p.first_id, p.second_id), r.name FROM pairings p "
        "JOIN raters r ON r.id = p.rater_id WHERE p.study = ? ORDER BY p.id",
        [study],
    )
    return list(rows.fetchall())


def desk(db: Database, rater: int, study: str) -> list[tuple[int, bool]]:
    """A person's pairs in their order: (number, whether compared by every question, or skipped)."""
    rows = db.execute(
        f"SELECT p.id, {_SETTLED} FROM pairings p WHERE p.rater_id = ? AND p.study = ? AND {_KEPT} "
        "ORDER BY p.position",
        [rater, study],
    )
    return [(number, bool(done)) for number, done in rows]


def get(db: Database, rater: int, number: int) -> Pairing:
    """A pair on a person's desk with the answers so far. Raises NotAllowed for a pair that is not there."""
    row = db.execute(
        "SELECT p.study, p.first_id, p.second_id, p.skipped, p.flag FROM pairings p "
        f"WHERE p.rater_id = ? AND p.id = ? AND {_KEPT}",
        [rater, number],
    ).fetchone()
    if row is None:
        raise NotAllowed("This pair is not on your desk any more, and your answer was not taken.")
    name, first, second, skipped, flag = row
    of = study(db, name)
    given = {c: comparisons.given(db, rater, first, second, PairQuestion(of.rubric, c)) for c in of.criteria}
    answers = {criterion: answer for criterion, answer in given.items() if answer}
    return Pairing(number, name, first, second, answers, skipped, flag)


def skip(db: Database, rater: int, number: int, reason: str | None) -> None:
    """Skip a pair of a person's desk for a reason, or take that back (None). Raises NotAllowed."""
    get(db, rater, number)
    db.table("pairings").update(number, {"skipped": reason, "answered": now()})


def flag(db: Database, rater: int, number: int, comment: str) -> None:
    """Flag a pair of a person's desk with a comment; “” takes the flag away. Raises NotAllowed."""
    get(db, rater, number)
    db.table("pairings").update(number, {"flag": comment})


def worked(db: Database, rater: int, number: int, seconds: float, *, answered: bool) -> None:
    """Add time at work on a pair of a person's desk, and keep the time of an answer."""
    db.execute(
        "UPDATE pairings SET seconds = seconds + ?, answered = iif(?, ?, answered) "
        "WHERE rater_id = ? AND id = ?",
        [seconds, answered, now(), rater, number],
    )


def pace(db: Database, rater: int, study: str, since: str) -> DeskPace:
    """How many pairs a person compared since a moment, and the median seconds of a pair, all days."""
    rows = db.execute(
        f"SELECT p.answered >= ?, p.seconds FROM pairings p WHERE p.rater_id = ? AND p.study = ? "
        f"AND p.skipped IS NULL AND {_SETTLED}",
        [since, rater, study],
    )
    return paced(rows.fetchall())


def remarks(db: Database, study: str) -> list[tuple[str, str, str, str, str]]:
    """The pairs of a study that were flagged or skipped: (person, key, key, flag, reason of the skip)."""
    rows = db.execute(
        "SELECT r.name, a.key, b.key, p.flag, ifnull(p.skipped, '') FROM pairings p "
        "JOIN raters r ON r.id = p.rater_id JOIN conversations a ON a.id = p.first_id "
        "JOIN conversations b ON b.id = p.second_id "
        f"WHERE p.study = ? AND (p.flag <> '' OR p.skipped IS NOT NULL) AND {_KEPT} "
        "ORDER BY r.name, p.position",
        [study],
    )
    return list(rows.fetchall())


def standings(db: Database, *, rater: int | None = None, study: str = "") -> list[Standing]:
    """The standing of everybody who has pairs, or of one person or study, ordered by name."""
    rows = db.execute(
        f"SELECT r.name, r.id, p.study, sum({_SETTLED}), count(*), sum(p.skipped IS NOT NULL), "
        "sum(p.seconds) "
        "FROM pairings p JOIN raters r ON r.id = p.rater_id WHERE (? IS NULL OR p.rater_id = ?) AND (? = '' "
        f"OR p.study = ?) AND {_KEPT} GROUP BY r.id, p.study ORDER BY r.name, p.study",
        [rater, rater, study, study],
    )
    return [Standing(*row) for row in rows.fetchall()]
