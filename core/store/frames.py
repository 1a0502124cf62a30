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
from concord.rating import Rater
from concord.scores import labels
from concord.store import rubrics, studies
from concord.store.purposes import RATED
from concord.store.ratings import raters as stored_raters
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
    sql = """
        SELECT u.id, c.id, c.context_id, json_array_length(c.messages),
            c.messages ->> '$[0][0]', c.messages ->> '$[0][1]',
            c.messages ->> '$[1][0]', c.messages ->> '$[1][1]'
        FROM items u JOIN conversations c ON c.id = u.conversation_id
        WHERE u.study_id = ? AND u.known = ''"""
    shared: dict[int, str] = {}
    for unit, conversation, context, length, *messages in db.execute(sql, [study_id(db, name)]):
        role, text, second_role, second_text = messages
        if role == "system":
            role = second_role
            text = second_text
            length -= 1
        least_characters = GREETING if length > 3 else 1
        if role == "user" and len(text.strip()) >= least_characters:
            shared[unit] = sha256(text.encode()).hexdigest()
        elif context:
            shared[unit] = f"context {context}"
        else:
            shared[unit] = f"conversation {conversation}"
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
    units: set[int] = set()
    for value_of_unit in facets.values():
        units.update(value_of_unit)
    names: list[str] = []
    for name, value_of_unit in facets.items():
        if 1 < len(set(value_of_unit.values())) < len(units):
            names.append(name)
    return names


def feature_rows(db: Database, name: str) -> Columns:
    """Features of a study's units: unit, reply_chars, turns, turn, place, language.

    `reply_chars` is the mean length of a reply in the conversation, or the length of the turn's own reply;
    `turns` how many the conversation has; `turn` is nan for whole conversations. `place` is that of the unit
    in its annotators' orders, on average (nan: dealt to nobody).
    """
    sql = (
        "SELECT u.id AS unit, 1.0 * c.reply_chars / nullif(c.turns, 0) AS reply_chars, c.turns, u.turn, "
        f"(SELECT avg(p.position) FROM placements p WHERE p.item_id = u.id AND p.purpose IN {RATED}) "
        "AS place, c.language FROM items u JOIN conversations c ON c.id = u.conversation_id "
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
    lengths_of_units: list[float] = []
    for turn, conversation, messages in db.execute(sql, [study]):
        if conversation not in lengths:
            dialogue = Conversation("", "", "", tuple(Message(*m) for m in json.loads(messages)))
            lengths[conversation] = _reply_lengths(dialogue)
        lengths_of_units.append(lengths[conversation].get(turn, float("nan")))
    return lengths_of_units


def _reply_lengths(dialogue: Conversation) -> dict[int, float]:
    """The length of each reply, by its turn."""
    lengths: dict[int, float] = {}
    for turn in dialogue.turns():
        if turn.reply:
            lengths[turn.number] = float(len(turn.reply.content))
    return lengths


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
    raters_by_id = stored_raters(db)
    labels_of_raters = labels({raters_by_id[number] for _, number in pairs})
    witnesses: dict[int, tuple[str, ...]] = {}
    for unit, number in pairs:
        witnesses[unit] = (*witnesses.get(unit, ()), labels_of_raters[raters_by_id[number]])
    return witnesses


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

    columns = rows(db, name, with_extra=with_extra)
    return pd.DataFrame({column: np.asarray(values) for column, values in columns.items()})


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
    number = study_id(db, name)
    study = studies.get(db, name)
    if study.pairs:
        raise StudyError(f"“{name}” is a study of pairs: `concord compare {name}` shows its figures.")
    scores = _columns(db, _scores_sql(study), number)
    if not with_extra and scores["extra"].any():
        scores = taken(scores, ~scores["extra"])
    excluded = list(without)
    if not every_judge:
        excluded += rubrics.other_judges(db, study.judge_rubrics, study.own_judges)
    if excluded:
        scores = taken(scores, np.flatnonzero(~np.isin(scores["rater_id"], excluded)))
    # What a unit and a rater are is read once each, not once a rating.
    units = _columns(db, _UNITS, number)
    row_of_unit = np.searchsorted(units["unit"], scores["unit"])
    columns: dict[str, Any] = {
        "unit": scores["unit"],
        "conversation_id": units["conversation_id"][row_of_unit],
        "turn": units["turn"][row_of_unit],
        "player": units["player"][row_of_unit],
        "criterion": scores["criterion"],
        **_rater_columns(db, scores["rater_id"]),
        "repeat": scores["repeat"],
        "total": scores["total"],
        "n": scores["n"],
    }
    if "content" in scores:
        columns["content"] = scores["content"]
    columns["score"] = scores["total"] / scores["n"]
    if with_extra:
        columns["extra"] = scores["extra"]
    return columns


def _scores_sql(study: studies.Study) -> str:
    """The query for a study's scores: sums of a whole conversation's, or each one of a turn."""
    if not study.per_turn:
        return _SUMS
    if any(criterion.scale.kind.content for criterion in study.criteria):
        return _TURNS_WITH_WORDS
    return _TURNS


def _rater_columns(db: Database, ids: Any) -> dict[str, Any]:
    """Who rated, for rows of raters' ids: rater, model, variant, kind, simulated."""
    codes, numbers = coded(ids)
    codes = codes.astype(np.int32)
    raters_by_id: Mapping[Any, Rater] = stored_raters(db)
    raters = [raters_by_id[number] for number in numbers]
    labels_of_raters = labels(raters)
    models: list[str] = []
    variants: list[str] = []
    for rater in raters:
        is_judge = rater.kind == "judge"
        models.append(rater.name if is_judge else "")
        variants.append(rater.variant if is_judge else "")
    return {
        "rater": Names(codes, [labels_of_raters[rater] for rater in raters]),
        "model": Names(codes, models),
        "variant": Names(codes, variants),
        "kind": Names(codes, [rater.kind for rater in raters]),
        "simulated": np.array([rater.simulated for rater in raters], dtype=bool)[codes],
    }


_UNITS = (
    "SELECT u.id AS unit, u.conversation_id, u.turn, c.player FROM items u "
    "JOIN conversations c ON c.id = u.conversation_id WHERE u.study_id = ? AND u.known = '' ORDER BY u.id"
)
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
_TURNS_WITH_WORDS = (
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

ROWS_AT_ONCE = 2000
"""Rows that are held as tuples at a time."""


def _arrays(names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> dict[str, Any]:
    """Rows as columns; a turn that is none is nan."""
    columns = [_ColumnReader(name) for name in names]
    while chunk := list(islice(rows, ROWS_AT_ONCE)):
        for column, values in zip(columns, zip(*chunk, strict=True), strict=True):
            column.add(values)
    return {column.name: column.array() for column in columns}


class _ColumnReader:
    """A column that is read in parts: numbers as they are, a text as its number, and each text once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._type = NUMBERS.get(name)
        self._numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
        self._parts: list[Any] = []

    def add(self, values: Sequence[Any]) -> None:
        """Append the values of some rows."""
        if self._type is None:
            numbers = map(self._numbers.__getitem__, values)
            self._parts.append(np.fromiter(numbers, np.int64, len(values)))
        else:
            self._parts.append(np.fromiter(values, self._type, len(values)))

    def array(self) -> Any:
        """The column; its parts are given up."""
        array = np.concatenate([np.empty(0, self._type or np.int64), *self._parts])
        self._parts.clear()
        if self._type is None:
            return Names(array, list(self._numbers))
        return array
