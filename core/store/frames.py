"""The ratings of a study as one long frame, and facets and features of its units."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from concord.arrays import Columns, coded, taken
from concord.conversation import Conversation, Message
from concord.scores import labels
from concord.store import extras, rubrics, studies
from concord.store.ratings import RATER, rater
from concord.store.studies import study_id

if TYPE_CHECKING:
    import pandas as pd


def facet_values(db: Database, name: str) -> dict[str, dict[int, str]]:
    """The facets of a study's units, by name: unit → value; a unit that has none is not there."""
    sql = (
        "SELECT f.name, u.id, f.value FROM study_units u "
        "JOIN facets f ON f.conversation_id = u.conversation_id WHERE u.study_id = ? ORDER BY f.name, u.id"
    )
    found: dict[str, dict[int, str]] = {}
    for facet, unit, value in db.execute(sql, [study_id(db, name)]):
        if value is not None:
            found.setdefault(facet, {})[unit] = value
    return found


def places(db: Database, name: str) -> list[tuple[int, str, str, int]]:
    """Each unit of a study with its benchmark, its conversation's key and its turn (−1: the whole of it).

    They are in the order of keys, which does not depend on the order in which they were stored.
    """
    sql = (
        "SELECT u.id, c.benchmark, c.key, ifnull(u.turn, -1) AS turn FROM study_units u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? "
        "ORDER BY c.benchmark, c.key, turn"
    )
    return list(db.execute(sql, [study_id(db, name)]))


def varied(db: Database, name: str) -> list[str]:
    """The facets that divide a study's units into groups, at least one of them of several units."""
    return [
        row[0]
        for row in db.execute(
            "SELECT f.name FROM study_units u JOIN facets f ON f.conversation_id = u.conversation_id "
            "WHERE u.study_id = :study GROUP BY f.name HAVING count(DISTINCT f.value) > 1 AND count(DISTINCT "
            "f.value) < (SELECT count(*) FROM study_units u WHERE u.study_id = :study AND EXISTS (SELECT 1 "
            "FROM facets f WHERE f.conversation_id = u.conversation_id)) ORDER BY f.name",
            {"study": study_id(db, name)},
        )
    ]


def feature_rows(db: Database, name: str) -> Columns:
    """Features of a study's units: unit, reply_chars, turns, turn, place, language.

    `reply_chars` is the mean length of a reply in the conversation, or the length of the turn's own reply;
    `turns` how many the conversation has; `turn` is nan for whole conversations. `place` is that of the unit
    in its annotators' orders, on average (nan: dealt to nobody).
    """
    sql = (
        "SELECT u.id AS unit, 1.0 * c.reply_chars / nullif(c.turns, 0) AS reply_chars, c.turns, u.turn, "
        "(SELECT avg(a.position) FROM assignments a WHERE a.unit_id = u.id) AS place, c.language "
        "FROM study_units u JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ?"
    )
    found = _columns(db, sql, study_id(db, name))
    if not np.isnan(found["turn"]).all():
        found["reply_chars"] = np.array(_of_turns(db, study_id(db, name)), dtype=np.float64)
    return found


def _of_turns(db: Database, study: int) -> list[float]:
    """The length of the reply of each unit, in the order of `feature_rows`; nan for a turn without one."""
    sql = (
        "SELECT u.turn, c.id, c.messages FROM study_units u JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ?"
    )
    lengths: dict[int, dict[int, float]] = {}
    found = []
    for turn, conversation, messages in db.execute(sql, [study]):
        if conversation not in lengths:
            said = Conversation("", "", "", tuple(Message(*m) for m in json.loads(messages)))
            lengths[conversation] = {t.number: float(len(t.reply.content)) for t in said.turns() if t.reply}
        found.append(lengths[conversation].get(turn, float("nan")))
    return found


def finals(db: Database, conversation_ids: Sequence[int]) -> Columns:
    """Finals of these conversations, in their order: judged (the judges' mean), spread (their standard
    deviation), people (people's mean, over all studies); nan where there is none.
    """
    sql = (
        "SELECT f.conversation_id, x.kind, avg(f.final), avg(f.final * f.final), count(f.final) "
        "FROM finals f JOIN raters x ON x.id = f.rater_id "
        "WHERE f.conversation_id IN (SELECT value FROM json_each(?)) GROUP BY f.conversation_id, x.kind"
    )
    found = {name: np.full(len(conversation_ids), np.nan) for name in ("judged", "spread", "people")}
    place = {number: row for row, number in enumerate(conversation_ids)}
    for number, kind, mean, square, n in db.execute(sql, [json.dumps(list(conversation_ids))]):
        if mean is not None:
            found["judged" if kind == "judge" else "people"][place[number]] = mean
        if kind == "judge" and n > 1:
            found["spread"][place[number]] = (max(square - mean**2, 0.0) * n / (n - 1)) ** 0.5
    return found


def refusals_seen(db: Database, name: str) -> dict[int, tuple[str, ...]]:
    """The units of a study in whose conversation a judge saw a refusal, at any turn: who saw it, by label."""
    found = db.execute(
        "SELECT u.id, s.rater_id FROM study_units u JOIN conversations c ON c.id = u.conversation_id "
        "JOIN refusals f ON f.benchmark = c.benchmark "
        "JOIN scores s ON s.conversation_id = c.id AND s.criterion = f.criterion AND s.total > 0 "
        "JOIN raters x ON x.id = s.rater_id AND x.kind = 'judge' WHERE u.study_id = ? "
        "GROUP BY u.id, s.rater_id ORDER BY u.id, x.name, x.variant",
        [study_id(db, name)],
    ).fetchall()
    every = {number: rater(*row) for number, *row in db.execute(f"SELECT x.id, {RATER} FROM raters x")}
    called = labels({every[number] for _, number in found})
    seen: dict[int, tuple[str, ...]] = {}
    for unit, number in found:
        seen[unit] = (*seen.get(unit, ()), called[every[number]])
    return seen


def refusal_criteria(db: Database, name: str) -> tuple[str, ...]:
    """The criteria by which judges see a refusal in a study's conversations."""
    found = db.execute(
        "SELECT DISTINCT f.criterion FROM study_units u JOIN conversations c ON c.id = u.conversation_id "
        "JOIN refusals f ON f.benchmark = c.benchmark WHERE u.study_id = ? ORDER BY f.criterion",
        [study_id(db, name)],
    )
    return tuple(row[0] for row in found)


def frame(db: Database, name: str, *, with_extra: bool = False) -> pd.DataFrame:
    """The rows of `rows` as a frame."""
    import pandas as pd

    return pd.DataFrame(rows(db, name, with_extra=with_extra))


def rows(db: Database, name: str, *, without: Collection[int] = (), with_extra: bool = False) -> Columns:
    """A study's ratings in long form: a row a unit, criterion, rater and repeat; people's once submitted.

    Those of the raters `without` (by id) are left out, and so are extra ratings, which were chosen by what
    others answered; `with_extra` has them, and a column `extra` that says which they are.

    Judges are those who rated by the study's rubric, in any version; by none where the study has none.

    Columns: unit (id), conversation_id, turn (nan: the whole conversation), player, criterion, rater (see
    `concord.scores.labels`), model (a judge's, as models.toml names it), variant (the version
    of a judge's prompt), kind, simulated, repeat, total and n
    (sum and number of the scores), score (their mean).
    """
    found = study_id(db, name)
    study = studies.get(db, name)
    if study.per_turn:
        given = _turns_rated(db, found)
    else:
        given = _columns(
            db,
            "SELECT u.id AS unit, s.rater_id, s.criterion, s.repeat, s.total, s.n FROM study_units u "
            "JOIN scores s ON s.conversation_id = u.conversation_id AND (s.study_id = u.study_id "
            "OR s.study_id IS NULL) WHERE u.study_id = ?",
            found,
        )
    # What a unit and a rater are is read once each, not once a rating.
    units = _columns(
        db,
        "SELECT u.id AS unit, u.conversation_id, u.turn, c.player FROM study_units u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? ORDER BY u.id",
        found,
    )
    others = [*rubrics.other_judges(db, study.rubric), *without]
    if others:
        given = taken(given, np.flatnonzero(~np.isin(given["rater_id"], others)))
    more = extras.rated(db, name)
    pairs = zip(given["unit"].tolist(), given["rater_id"].tolist(), strict=True)
    extra = np.array([pair in more for pair in pairs] if more else [False] * len(given["unit"]), dtype=bool)
    if more and not with_extra:
        given = taken(given, np.flatnonzero(~extra))
    at = np.searchsorted(units["unit"], given["unit"])
    who, numbers = coded(given.pop("rater_id"))
    every = {number: rater(*row) for number, *row in db.execute(f"SELECT x.id, {RATER} FROM raters x")}
    raters = [every[number] for number in numbers]
    called = labels(raters)
    of_rater = {
        "rater": np.array([called[rater] for rater in raters], dtype=object)[who],
        "model": np.array([r.name if r.kind == "judge" else "" for r in raters], dtype=object)[who],
        "variant": np.array([r.variant if r.kind == "judge" else "" for r in raters], dtype=object)[who],
        "kind": np.array([rater.kind for rater in raters], dtype=object)[who],
        "simulated": np.array([rater.simulated for rater in raters], dtype=bool)[who],
    }
    return {
        "unit": given["unit"],
        **{column: units[column][at] for column in ("conversation_id", "turn", "player")},
        "criterion": given["criterion"],
        **of_rater,
        "repeat": given["repeat"],
        "total": given["total"],
        "n": given["n"],
        "score": given["total"] / given["n"],
        **({"extra": extra} if with_extra else {}),
    }


def _turns_rated(db: Database, study: int) -> dict[str, npt.NDArray[Any]]:
    """The ratings of a study's turns: unit, rater_id, criterion, repeat, total, n.

    Each conversation's ratings are read once: looking them up turn by turn takes three times as long.
    """
    units = {
        (conversation, turn): unit
        for unit, conversation, turn in db.execute(
            "SELECT id, conversation_id, turn FROM study_units WHERE study_id = ?", [study]
        )
    }
    undone = set(
        db.execute(
            "SELECT a.unit_id, a.rater_id FROM assignments a "
            "JOIN study_units u ON u.id = a.unit_id WHERE u.study_id = ? AND a.state <> 'done'",
            [study],
        )
    )
    given = db.execute(
        "SELECT r.conversation_id, r.turn, r.rater_id, r.criterion, r.repeat, r.score "
        "FROM (SELECT DISTINCT conversation_id, study_id FROM study_units WHERE study_id = ?) u "
        "CROSS JOIN ratings r ON r.conversation_id = u.conversation_id AND r.turn IS NOT NULL "
        "AND (r.study_id = u.study_id OR r.study_id IS NULL)",
        [study],
    )
    rated = [
        (unit, who, criterion, repeat, score, 1)
        for conversation, turn, who, criterion, repeat, score in given
        if (unit := units.get((conversation, turn))) is not None and (unit, who) not in undone
    ]
    return _arrays(("unit", "rater_id", "criterion", "repeat", "total", "n"), rated)


def _columns(db: Database, sql: str, study: int) -> dict[str, npt.NDArray[Any]]:
    cursor = db.execute(sql, [study])
    return _arrays([column[0] for column in cursor.description], cursor.fetchall())


NUMBERS = {"unit": np.int64, "conversation_id": np.int64, "rater_id": np.int64, "repeat": np.int64} | {
    "n": np.int64,
    "turn": np.float64,
    "reply_chars": np.float64,
    "turns": np.float64,
    "place": np.float64,
    "total": np.float64,
}
"""The types of the columns that are numbers; the others hold texts."""


def _arrays(names: Sequence[str], found: Sequence[tuple[Any, ...]]) -> dict[str, npt.NDArray[Any]]:
    """Rows as columns; a turn that is none is nan."""
    cells = zip(*found, strict=True) if found else [()] * len(names)
    return {
        name: np.array(column, dtype=NUMBERS.get(name, object))
        for name, column in zip(names, cells, strict=True)
    }
