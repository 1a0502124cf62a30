"""The ratings of a study as one long frame, and facets and features of its units."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns, Names, coded, taken
from concord.conversation import Conversation, Message
from concord.errors import StudyError
from concord.scores import labels
from concord.store import rubrics, studies
from concord.store.purposes import RATED
from concord.store.ratings import RATER, rater
from concord.store.studies import study_id

if TYPE_CHECKING:
    import pandas as pd


def facet_values(db: Database, name: str) -> dict[str, dict[int, str]]:
    """The facets of a study's units, by name: unit → value; a unit that has none is not there."""
    sql = (
        "SELECT f.name, u.id, f.value FROM items u JOIN facets f ON f.conversation_id = u.conversation_id "
        "WHERE u.study_id = ? AND u.known = '' ORDER BY f.name, u.id"
    )
    facets: dict[str, dict[int, str]] = {}
    for facet, unit, value in db.execute(sql, [study_id(db, name)]):
        if value is not None:
            facets.setdefault(facet, {})[unit] = value
    return facets


GREETING = 20
"""Fewer characters before several turns are a greeting, which asks nothing."""


def first_messages(db: Database, name: str) -> dict[int, str]:
    """What each unit's conversation answers, as a hash: the user's message it begins with, after that of a
    system, if any; else its context. Conversations without either, and those that begin with a greeting,
    have a value of their own.
    """
    sql = (
        "SELECT u.id, c.id, c.context_id, json_array_length(c.messages), "
        "c.messages ->> '$[0][0]', c.messages ->> '$[0][1]', "
        "c.messages ->> '$[1][0]', c.messages ->> '$[1][1]' "
        "FROM items u JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? AND u.known = ''"
    )
    shared: dict[int, str] = {}
    for unit, conversation, context, length, *first in db.execute(sql, [study_id(db, name)]):
        system = first[0] == "system"
        role, text = first[2:] if system else first[:2]
        own = f"context {context}" if context else f"conversation {conversation}"
        asks = role == "user" and len(text.strip()) >= (GREETING if length - system > 3 else 1)
        shared[unit] = sha256(text.encode()).hexdigest() if asks else own
    return shared


def places(db: Database, name: str) -> list[tuple[int, str, str, int]]:
    """Each unit of a study with its benchmark, its conversation's key and its turn (−1: the whole of it).

    They are in the order of keys, which does not depend on the order in which they were stored.
    """
    sql = (
        "SELECT u.id, c.benchmark, c.key, ifnull(u.turn, -1) AS turn FROM items u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? AND u.known = '' "
        "ORDER BY c.benchmark, c.key, turn"
    )
    return list(db.execute(sql, [study_id(db, name)]))


def varied(facets: Mapping[str, Mapping[int, str]]) -> list[str]:
    """Those of the facets of units that divide them into groups, at least one of them of several units."""
    units = len({unit for of in facets.values() for unit in of})
    return [name for name, of in facets.items() if 1 < len({*of.values()}) < units]


def feature_rows(db: Database, name: str) -> Columns:
    """Features of a study's units: unit, reply_chars, turns, turn, place, language.

    `reply_chars` is the mean length of a reply in the conversation, or the length of the turn's own reply;
    `turns` how many the conversation has; `turn` is nan for whole conversations. `place` is that of the unit
    in its annotators' orders, on average (nan: dealt to nobody).
    """
    sql = (
        "SELECT u.id AS unit, 1.0 * c.reply_chars / nullif(c.turns, 0) AS reply_chars, c.turns, u.turn, "
        f"(SELECT avg(p.position) FROM placements p WHERE p.item_id = u.id AND p.purpose IN {RATED}) AS "
        "place, "
        "c.language FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ? AND u.known = ''"
    )
    features = _columns(db, sql, study_id(db, name))
    if not np.isnan(features["turn"]).all():
        features["reply_chars"] = np.array(_of_turns(db, study_id(db, name)), dtype=np.float64)
    return features


def _of_turns(db: Database, study: int) -> list[float]:
    """The length of the reply of each unit, in the order of `feature_rows`; nan for a turn without one."""
    sql = (
        "SELECT u.turn, c.id, c.messages FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "WHERE u.study_id = ? AND u.known = ''"
    )
    lengths: dict[int, dict[int, float]] = {}
    of_units = []
    for turn, conversation, messages in db.execute(sql, [study]):
        if conversation not in lengths:
            dialogue = Conversation("", "", "", tuple(Message(*m) for m in json.loads(messages)))
            lengths[conversation] = {
                t.number: float(len(t.reply.content)) for t in dialogue.turns() if t.reply
            }
        of_units.append(lengths[conversation].get(turn, float("nan")))
    return of_units


def refusals_seen(db: Database, name: str) -> dict[int, tuple[str, ...]]:
    """The units of a study in whose conversation a judge saw a refusal, at any turn: who saw it, by label."""
    pairs = db.execute(
        "SELECT u.id, s.rater_id FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "JOIN refusals f ON f.benchmark = c.benchmark "
        "JOIN scores s ON s.conversation_id = c.id AND s.criterion = f.criterion AND s.total > 0 "
        "JOIN raters x ON x.id = s.rater_id AND x.kind = 'judge' WHERE u.study_id = ? AND u.known = '' "
        "GROUP BY u.id, s.rater_id ORDER BY u.id, x.name, x.variant",
        [study_id(db, name)],
    ).fetchall()
    every = {number: rater(*row) for number, *row in db.execute(f"SELECT x.id, {RATER} FROM raters x")}
    called = labels({every[number] for _, number in pairs})
    seen: dict[int, tuple[str, ...]] = {}
    for unit, number in pairs:
        seen[unit] = (*seen.get(unit, ()), called[every[number]])
    return seen


def refusal_criteria(db: Database, name: str) -> tuple[str, ...]:
    """The criteria by which judges see a refusal in a study's conversations."""
    criteria = db.execute(
        "SELECT DISTINCT f.criterion FROM items u JOIN conversations c ON c.id = u.conversation_id "
        "JOIN refusals f ON f.benchmark = c.benchmark WHERE u.study_id = ? AND u.known = '' ORDER BY "
        "f.criterion",
        [study_id(db, name)],
    )
    return tuple(row[0] for row in criteria)


def frame(db: Database, name: str, *, with_extra: bool = False) -> pd.DataFrame:
    """The rows of `rows` as a frame."""
    import pandas as pd

    return pd.DataFrame({name: np.asarray(of) for name, of in rows(db, name, with_extra=with_extra).items()})


def rows(
    db: Database,
    name: str,
    *,
    without: Collection[int] = (),
    with_extra: bool = False,
    every_judge: bool = False,
) -> Columns:
    """A study's ratings in long form: a row a unit, criterion, rater and repeat.

    Those of the raters `without` (by id) are excluded, and so are extra ratings, which were chosen by what
    others answered; `with_extra` has them, and a column `extra` that says which they are.

    Judges are those who rated by the study's rubric, in any version, or by none where the study has none,
    those who rated by the rubric of its lab, and those whose ratings came with a file of the study; or
    `every_judge` of its conversations, whatever they were asked by.

    Columns: unit (id), conversation_id, turn (nan: the whole conversation), player, criterion, rater (see
    `concord.scores.labels`), model (a judge's, as models.toml names it), variant (the version
    of a judge's prompt), kind, simulated, repeat, total and n
    (sum and number of the scores), score (their mean).
    """
    of_study = study_id(db, name)
    study = studies.get(db, name)
    if study.pairs:
        raise StudyError(f"“{name}” is a study of pairs: `concord compare {name}` shows its figures.")
    worded = any(criterion.scale.kind.content for criterion in study.criteria)
    if not study.per_turn:
        sql = _SUMS
    else:
        sql = _WORDED_TURNS if worded else _TURNS
    given = _columns(db, sql, of_study)
    if not with_extra and given["extra"].any():
        given = taken(given, ~given["extra"])
    # What a unit and a rater are is read once each, not once a rating.
    units = _columns(
        db,
        "SELECT u.id AS unit, u.conversation_id, u.turn, c.player FROM items u "
        "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? AND u.known = '' ORDER BY "
        "u.id",
        of_study,
    )
    others = [
        *([] if every_judge else rubrics.other_judges(db, study.judge_rubrics, study.own_judges)),
        *without,
    ]
    if others:
        given = taken(given, np.flatnonzero(~np.isin(given["rater_id"], others)))
    at = np.searchsorted(units["unit"], given["unit"])
    codes, numbers = coded(given.pop("rater_id"))
    who = codes.astype(np.int32)
    every = {number: rater(*row) for number, *row in db.execute(f"SELECT x.id, {RATER} FROM raters x")}
    raters = [every[number] for number in numbers]
    called = labels(raters)
    of_rater = {
        "rater": Names(who, [called[rater] for rater in raters]),
        "model": Names(who, [r.name if r.kind == "judge" else "" for r in raters]),
        "variant": Names(who, [r.variant if r.kind == "judge" else "" for r in raters]),
        "kind": Names(who, [rater.kind for rater in raters]),
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
        **({"content": given["content"]} if "content" in given else {}),
        "score": given["total"] / given["n"],
        **({"extra": given["extra"]} if with_extra else {}),
    }


_SUMS = (
    "SELECT u.id AS unit, s.rater_id, s.criterion, s.repeat, s.extra, s.total, s.n FROM items u "
    "JOIN scores s ON s.conversation_id = u.conversation_id "
    "AND (s.study_id = u.study_id OR s.study_id IS NULL) WHERE u.study_id = ? AND u.known = ''"
)
_TURNS = (
    "SELECT u.id AS unit, r.rater_id, r.criterion, r.repeat, r.extra, r.score AS total, 1 AS n "
    "FROM items u JOIN ratings r ON r.conversation_id = u.conversation_id "
    "AND r.turn IS u.turn AND (r.study_id = u.study_id OR r.study_id IS NULL) "
    "WHERE u.study_id = ? AND u.known = ''"
)
_WORDED_TURNS = (
    "SELECT u.id AS unit, r.rater_id, r.criterion, r.repeat, r.extra, r.score AS total, 1 AS n, "
    "r.explanation AS content FROM items u JOIN ratings r ON r.conversation_id = u.conversation_id "
    "AND r.turn IS u.turn AND (r.study_id = u.study_id OR r.study_id IS NULL) "
    "WHERE u.study_id = ? AND u.known = ''"
)


def _columns(db: Database, sql: str, study: int) -> dict[str, Any]:
    cursor = db.execute(sql, [study])
    return _arrays([column[0] for column in cursor.description], cursor)


NUMBERS = {
    **dict.fromkeys(("unit", "conversation_id", "rater_id", "repeat", "n"), np.int64),
    "extra": np.bool_,
    "turn": np.float64,
    "reply_chars": np.float64,
    "turns": np.float64,
    "place": np.float64,
    "total": np.float64,
}
"""The types of the columns that are numbers; the others hold texts."""

TOGETHER = 2000
"""Rows that are held as tuples at a time."""


def _arrays(names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> dict[str, Any]:
    """Rows as columns; a turn that is none is nan."""
    numbers: dict[str, defaultdict[Hashable, int]] = {
        name: defaultdict(count().__next__) for name in names if name not in NUMBERS
    }
    parts: dict[str, list[Any]] = {name: [np.empty(0, NUMBERS.get(name, np.int64))] for name in names}
    while some := [*islice(rows, TOGETHER)]:
        for name, column in zip(names, zip(*some, strict=True), strict=True):
            values = map(numbers[name].__getitem__, column) if name in numbers else column
            parts[name].append(np.fromiter(values, NUMBERS.get(name, np.int64), len(some)))
    columns = {name: np.concatenate(parts.pop(name)) for name in names}
    return {name: Names(of, [*numbers[name]]) if name in numbers else of for name, of in columns.items()}
