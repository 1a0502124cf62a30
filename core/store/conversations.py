"""Conversations in the store: saved once by key, found by what varied, read a page at a time."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import NotFound
from concord.rating import NOTHING_SPENT, Spent
from concord.store import database
from concord.store.database import column, find, now, scalar
from concord.store.filters import facet_condition

if TYPE_CHECKING:
    import pandas as pd

_CHUNK = 200
"""So many conversations are read at once where all are wanted."""

Order = Literal[
    "newest",
    "lowest",
    "highest",
    "disagreement",
    "people_gap",
    "oldest",
    "longest",
    "refused",
    "failed",
]


class _SortKey(NamedTuple):
    """By what a list is sorted, in SQL over the tables `conversations` and `summaries`."""

    value: str
    descending: bool = True
    order: str = ""
    """The whole ORDER BY, where it is more than the value and its direction."""

    @property
    def order_by(self) -> str:
        return self.order or f"{self.value} {'DESC' if self.descending else 'ASC'}"


# "newest" and "oldest" follow the primary key, the next four an index of `summaries`: without a filter none
# of them sorts the table. The others do.
_ORDERS: dict[str, _SortKey] = {
    "newest": _SortKey("conversations.id"),
    "lowest": _SortKey("summaries.final", descending=False),
    "highest": _SortKey("summaries.final"),
    "disagreement": _SortKey("summaries.spread"),
    "people_gap": _SortKey("abs(summaries.final - summaries.people)"),
    "oldest": _SortKey("conversations.id", descending=False),
    "longest": _SortKey("conversations.turns"),
    "refused": _SortKey("nullif(summaries.refused, 0)"),
    "failed": _SortKey("nullif(summaries.failed, 0)"),
}

_COLUMNS: Mapping[str, str] = {
    "benchmark": "conversations.benchmark",
    "language": "conversations.language",
    "player": "conversations.player",
    "turns": "conversations.turns",
    "people": "summaries.people",
    "key": "conversations.key",
}
"""Columns of a list that an order may name, in SQL; every facet is one, too."""
_FACET = "(SELECT value FROM facets WHERE conversation_id = conversations.id AND name = :facet)"
# SQLite takes the number at the beginning of a text: only a text that is a number sorts as one.
_FACET_NUMBER = """(
    SELECT CAST(value AS REAL) FROM facets WHERE conversation_id = conversations.id AND name = :facet
        AND CASE WHEN json_valid(value) THEN json_type(value) IN ('integer', 'real') END
)"""


class Sort(NamedTuple):
    """The order by a column, or by a facet; numbers in a facet come in their order, before other texts."""

    column: str
    facet: bool = False
    descending: bool = False


def _sort_key(order: Order | Sort) -> _SortKey:
    if not isinstance(order, Sort):
        return _ORDERS[order]
    direction = "DESC" if order.descending else "ASC"
    if not order.facet:
        value = _COLUMNS[order.column]
        return _SortKey(value, order=f"{value} {direction}, conversations.id")
    by_number = f"{_FACET_NUMBER} {direction} NULLS LAST"
    return _SortKey(_FACET, order=f"{by_number}, {_FACET} {direction}, conversations.id")


@dataclass(frozen=True)
class ConversationSummary:
    """A stored conversation as a list shows it: who and what, and how it was judged, without its messages.

    `final` is the mean of the judges' finals (see docs/scores.md), `spread` the distance between the highest
    and the lowest of them, `people` the mean of people's finals; each None if nobody has one. `judges` counts
    judges with a final, `refused` raters who saw a refusal, `failed` judgements without a usable reply.
    """

    id: int
    key: str
    benchmark: str
    language: str
    player: str
    facets: Mapping[str, str]
    turns: int
    reply_chars: int
    simulated: bool
    final: float | None
    spread: float | None
    people: float | None
    judges: int
    refused: int
    failed: int
    created: str
    first: str = ""
    """How what the user asked first begins."""


@dataclass(frozen=True)
class Filter:
    """What to look for; an empty field asks nothing. `facets` maps a facet's name, or `language` or
    `player`, to the values allowed.
    """

    benchmark: str = ""
    language: str = ""
    players: tuple[str, ...] = ()
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: bool | None = None
    failed: bool | None = None
    study: str = ""
    text: str = ""


def save(
    db: Database, conversation: Conversation, spent: Spent = NOTHING_SPENT, *, simulated: bool = False
) -> int:
    """Store a conversation and return its id; one with the same key is left as it is and its id returned."""
    existing_id = find_id(db, conversation.key)
    if existing_id is not None:
        return existing_id
    new = database.insert(db, "conversations", _row(db, conversation, spent, simulated))
    _name_facets(db, [(new, conversation)])
    if conversation.trajectory is not None:
        save_trajectory(db, new, conversation.trajectory)
    return new


def save_all(db: Database, batch: Sequence[Conversation]) -> int:
    """Store those of many conversations that are not stored, a fifth of the time that `save` takes one by
    one; returns how many.
    """
    stored_keys = existing(db, [conversation.key for conversation in batch])
    new: dict[str, Conversation] = {}
    for conversation in batch:
        if conversation.key not in stored_keys:
            new[conversation.key] = conversation
    last = scalar(db, "SELECT ifnull(max(id), 0) FROM conversations")
    numbered = [*enumerate(new.values(), last + 1)]
    rows: list[dict[str, Any]] = []
    for number, conversation in numbered:
        rows.append({"id": number, **_row(db, conversation, NOTHING_SPENT, False)})
    database.insert_many(db, "conversations", rows)
    _name_facets(db, numbered)
    return len(rows)


def save_trajectory(db: Database, conversation_id: int, values: Mapping[str, Any]) -> None:
    """Store the trajectory of a stored conversation, compressed."""
    database.update(
        db, "conversations", conversation_id, trajectory=zlib.compress(_dump(dict(values)).encode())
    )


def trajectory(db: Database, conversation_id: int) -> Mapping[str, Any] | None:
    """What was done in a conversation beside what was said; None where that is not stored."""
    body = scalar(db, "SELECT trajectory FROM conversations WHERE id = ?", [conversation_id])
    return json.loads(zlib.decompress(body)) if body else None


def required_trajectory(db: Database, conversation_id: int) -> Mapping[str, Any]:
    """The same, where there must be one. Raises NotFound."""
    if (values := trajectory(db, conversation_id)) is None:
        raise NotFound(f"There is no trajectory of conversation {conversation_id} in this workspace.")
    return values


def _row(db: Database, conversation: Conversation, spent: Spent, simulated: bool) -> dict[str, Any]:
    replies = conversation.replies
    truncated = 0
    for message in conversation.messages:
        if message.role == "assistant" and message.meta.get("cut"):
            truncated += 1
    return {
        "key": conversation.key,
        "benchmark": conversation.benchmark,
        "language": conversation.language,
        "player": conversation.player,
        "messages": _messages_json(conversation.messages),
        "context_id": _context(db, conversation.context),
        "meta": _dump(dict(conversation.meta)),
        "turns": len(replies),
        "reply_chars": sum(map(len, replies)),
        "cut_replies": truncated,
        "simulated": simulated,
        "created": now(),
        **vars(spent),
    }


def _name_facets(db: Database, numbered: Sequence[tuple[int, Conversation]]) -> None:
    rows: list[tuple[str, str, int]] = []
    for number, conversation in numbered:
        for name, value in conversation.facets.items():
            rows.append((name, str(value), number))
    db.conn.executemany("INSERT INTO facets (name, value, conversation_id) VALUES (?, ?, ?)", rows)


def name_facet(db: Database, conversation_id: int, name: str, value: str) -> None:
    """Give a conversation a facet that it lacks."""
    db.table("facets").insert({"name": name, "value": value, "conversation_id": conversation_id})


def find_id(db: Database, key: str) -> int | None:
    """The id of the conversation with this key, or None."""
    row = find(db, "conversations", "id", key=key)
    return row["id"] if row else None


def existing(db: Database, keys: Sequence[str]) -> dict[str, int]:
    """Those of the keys that are stored, with their ids."""
    return dict(
        db.execute(
            "SELECT key, id FROM conversations WHERE key IN (SELECT value FROM json_each(?))",
            [json.dumps(list(keys))],
        )
    )


def benchmark_names(db: Database) -> list[str]:
    """Every name under which conversations are kept."""
    return column(db, "SELECT DISTINCT benchmark FROM player_counts ORDER BY 1")


def benchmarks_of(db: Database, keys: Sequence[str]) -> list[str]:
    """The benchmarks that the stored ones of these conversations belong to."""
    sql = """
        SELECT DISTINCT benchmark FROM conversations
        WHERE key IN (SELECT value FROM json_each(?)) ORDER BY 1"""
    return column(db, sql, [json.dumps(list(keys))])


def keys_after(db: Database, selection: Filter, last: int = 0, *, limit: int = 500) -> list[tuple[int, str]]:
    """The next (id, key) of the conversations that pass the filter, in the order stored."""
    condition = _condition(selection)
    sql = f"""
        SELECT conversations.id, conversations.key FROM {condition.source}
        WHERE {condition.sql} AND conversations.id > :last ORDER BY conversations.id LIMIT :limit"""
    return list(db.execute(sql, {**condition.args, "last": last, "limit": limit}).fetchall())


def unreadable(db: Database, selection: Filter = Filter()) -> tuple[int, int]:
    """How many conversations that pass have a failed judgement, and how many others a cut reply."""
    condition = _condition(replace(selection, failed=True))
    sql = f"""
        SELECT ifnull(sum(summaries.failed > 0), 0), count(*)
        FROM conversations LEFT JOIN summaries ON summaries.conversation_id = conversations.id
        WHERE {condition.sql}"""
    failed, all_unreadable = db.execute(sql, condition.args).fetchone()
    return failed, all_unreadable - failed


def load(db: Database, name: int | str) -> Conversation:
    """A conversation by id or key. Raises NotFound."""
    column = "id" if isinstance(name, int) else "key"
    for _, conversation in _read(db, f"conversations WHERE conversations.{column} = ?", [name]):
        return conversation
    raise NotFound(
        f"There is no conversation “{name}” in this workspace. Look for it on the conversations page."
    )


def of_benchmark(db: Database, benchmark: str) -> Iterator[tuple[int, Conversation]]:
    """Every conversation of a benchmark with its id, in the order stored; read in chunks."""
    source = """conversations WHERE conversations.id > ? AND conversations.benchmark = ?
        ORDER BY conversations.id LIMIT ?"""
    last = 0
    while chunk := _read(db, source, [last, benchmark, _CHUNK]):
        for row, conversation in chunk:
            last = row["id"]
            yield last, conversation


def several(db: Database, ids: Sequence[int]) -> Iterator[tuple[Conversation, bool]]:
    """These conversations in this order, each with whether it is a mock's; read in chunks."""
    source = """json_each(?) numbers JOIN conversations ON conversations.id = numbers.value
        ORDER BY numbers.key"""
    for start in range(0, len(ids), _CHUNK):
        for row, conversation in _read(db, source, [json.dumps(list(ids[start : start + _CHUNK]))]):
            yield conversation, bool(row["simulated"])


_FIRST_MESSAGE = """ifnull((
    SELECT substr(message.value ->> '$[1]', 1, 200) FROM json_each(conversations.messages) message
    WHERE message.value ->> '$[0]' = 'user' LIMIT 1), '')"""
"""How what the user asked first begins, of a row of `conversations`."""
_FACETS_JSON = """(
    SELECT json_group_object(name, value) FROM facets WHERE conversation_id = conversations.id)"""
"""The facets of a row of `conversations`."""


def openings(db: Database, ids: Collection[int]) -> dict[int, str]:
    """How what the user asked first begins, of each of these conversations."""
    sql = f"""
        SELECT conversations.id, {_FIRST_MESSAGE}
        FROM json_each(?) numbers JOIN conversations ON conversations.id = numbers.value"""
    return dict(db.execute(sql, [json.dumps(list(ids))]).fetchall())


def _read(db: Database, source: str, args: Sequence[Any]) -> list[tuple[dict[str, Any], Conversation]]:
    """The rows of `conversations` in a source, each with its conversation."""
    sql = f"""
        SELECT conversations.id, conversations.key, conversations.benchmark, conversations.language,
            conversations.player, conversations.messages, conversations.meta, conversations.simulated,
            {_FACETS_JSON} AS facets,
            (SELECT body FROM contexts WHERE contexts.id = conversations.context_id) AS context
        FROM {source}"""
    return [(row, _conversation(row)) for row in db.query(sql, list(args))]


def _conversation(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        benchmark=row["benchmark"],
        key=row["key"],
        player=row["player"],
        messages=tuple(Message(*message) for message in json.loads(row["messages"])),
        language=row["language"],
        facets=json.loads(row["facets"]),
        context=json.loads(row["context"] or "{}"),
        meta=json.loads(row["meta"]),
    )


def listed(db: Database, conversation_id: int) -> ConversationSummary:
    """One conversation as a list shows it. Raises NotFound."""
    one = _Condition("conversations.id = :id", {"id": conversation_id})
    for summary in _list(db, one, _ORDERS["newest"], 1, 0):
        return summary
    raise NotFound(f"There is no conversation number {conversation_id} in this workspace.")


def cost(db: Database, conversation_id: int) -> Spent:
    """What a conversation cost to make. Raises NotFound."""
    row = find(db, "conversations", ", ".join(vars(NOTHING_SPENT)), id=conversation_id)
    if row is None:
        raise NotFound(f"There is no conversation number {conversation_id} in this workspace.")
    return Spent(**row)


def search(
    db: Database,
    selection: Filter = Filter(),
    order: Order | Sort = "newest",
    limit: int = 50,
    offset: int = 0,
) -> list[ConversationSummary]:
    """A page of the conversations that pass the filter and have the value by which they are ordered."""
    condition = _condition(selection)
    key = _sort_key(order)
    if order != "newest":
        condition.add(f"{key.value} IS NOT NULL")
    if isinstance(order, Sort) and order.facet:
        condition.args["facet"] = order.column
    return _list(db, condition, key, limit, offset)


class Group(NamedTuple):
    """The conversations that share a value: how many, and the means of what judges and people gave them."""

    value: str
    conversations: int
    final: float | None
    people: float | None
    failed: int


def groups(db: Database, selection: Filter, column: str, *, facet: bool = False) -> list[Group]:
    """The conversations that pass the filter by a column of `_COLUMNS` or by a facet, the largest first."""
    condition = _condition(selection)
    value = _COLUMNS.get(column, "")
    if facet:
        value = _FACET
        condition.args["facet"] = column
    rows = db.execute(
        f"""
        SELECT {value}, count(*), avg(summaries.final), avg(summaries.people),
            ifnull(sum(summaries.failed > 0), 0)
        FROM conversations LEFT JOIN summaries ON summaries.conversation_id = conversations.id
        WHERE {condition.sql} AND {value} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1""",
        condition.args,
    )
    return [Group(*row) for row in rows]


def table(db: Database, selection: Filter = Filter()) -> pd.DataFrame:
    """Every conversation that passes the filter: id, key, player, language, and a column for each facet."""
    import pandas as pd

    condition = _condition(selection)
    sql = f"""
        SELECT conversations.id, conversations.key, conversations.player, conversations.language
        FROM {condition.source} WHERE {condition.sql} ORDER BY conversations.id"""
    frame = pd.read_sql_query(sql, db.conn, params=condition.args)
    sql = f"""
        SELECT * FROM facets WHERE conversation_id IN
            (SELECT conversations.id FROM {condition.source} WHERE {condition.sql})"""
    facets = pd.read_sql_query(sql, db.conn, params=condition.args)
    wide = facets.pivot(index="conversation_id", columns="name", values="value")
    return frame.join(wide.drop(columns=frame.columns, errors="ignore"), on="id")


def count(db: Database, selection: Filter = Filter()) -> int:
    """How many conversations pass the filter."""
    facets = {name: values for name, values in selection.facets.items() if values}
    if replace(selection, benchmark="", facets=facets) == Filter():
        sql = "SELECT ifnull(sum(conversations), 0) FROM player_counts WHERE ? IN ('', benchmark)"
        return int(scalar(db, sql, [selection.benchmark]))
    condition = _condition(selection)
    sql = f"SELECT count(*) FROM {condition.source} WHERE {condition.sql}"
    return int(scalar(db, sql, condition.args))


def values(db: Database, benchmark: str = "") -> dict[str, list[str]]:
    """What one can filter by: benchmarks, languages, players, and every facet with its values."""
    values_by_name: dict[str, list[str]] = {}
    for name in ("benchmark", "language", "player"):
        sql = f"SELECT DISTINCT {name} FROM player_counts WHERE ? IN ('', benchmark) ORDER BY 1"
        values_by_name[name] = column(db, sql, [benchmark])
    for name, value in db.execute(_FACET_VALUES, {"benchmark": benchmark}):
        values_by_name.setdefault(name, []).append(value)
    return values_by_name


# From each value the index leads to the next one, where DISTINCT would go through every row; and one look for
# each value, where a join would go through every conversation.
_FACET_VALUES = """
    WITH RECURSIVE pairs(name, value) AS (
        SELECT '', ''
        UNION ALL
        SELECT
            (SELECT f.name FROM facets f WHERE (f.name, f.value) > (pairs.name, pairs.value)
                ORDER BY f.name, f.value LIMIT 1),
            (SELECT f.value FROM facets f WHERE (f.name, f.value) > (pairs.name, pairs.value)
                ORDER BY f.name, f.value LIMIT 1)
        FROM pairs WHERE name IS NOT NULL
    )
    SELECT name, value FROM pairs
    WHERE name <> '' AND (:benchmark = '' OR EXISTS (
        SELECT 1 FROM facets f JOIN conversations c ON c.id = f.conversation_id
        WHERE f.name = pairs.name AND f.value = pairs.value AND c.benchmark = :benchmark))
    ORDER BY 1, 2"""


@dataclass
class _Condition:
    """Which rows of `conversations`, by columns of it and of `summaries`, with the arguments by name.

    `by_index`: at most the benchmark and the language are asked for, which an index has.
    """

    sql: str
    args: dict[str, Any]
    by_index: bool = False

    def add(self, clause: str) -> None:
        """Ask for this as well."""
        self.sql = f"{self.sql} AND {clause}"

    @property
    def source(self) -> str:
        """The tables that the condition names."""
        if "summaries." not in self.sql:
            return "conversations"
        return "conversations LEFT JOIN summaries ON summaries.conversation_id = conversations.id"


_IN_STUDY = """conversations.id IN (
    SELECT i.conversation_id FROM items i JOIN studies t ON t.id = i.study_id
    WHERE t.name = :study AND i.known = ''
    UNION SELECT i.other_id FROM items i JOIN studies t ON t.id = i.study_id
    WHERE t.name = :study AND i.known = '' AND i.other_id IS NOT NULL)"""


# Each half is read from an index of such rows alone.
_UNREADABLE = """conversations.id IN (
    SELECT conversation_id FROM summaries WHERE failed > 0
    UNION SELECT id FROM conversations WHERE cut_replies > 0)"""


def _condition(selection: Filter) -> _Condition:
    """What a filter asks for."""
    sql, args = facet_condition(selection.facets)
    condition = _Condition(sql, args)
    if selection.benchmark:
        condition.add("conversations.benchmark = :benchmark")
        args["benchmark"] = selection.benchmark
    if selection.language:
        condition.add("conversations.language = :language")
        args["language"] = selection.language
    if selection.refused:
        condition.add("summaries.refused > 0")
    elif selection.refused is not None:
        condition.add("ifnull(summaries.refused, 0) = 0")
    is_narrower = (
        any(selection.facets.values())
        or selection.players
        or selection.failed is not None
        or selection.study
        or selection.text
    )
    condition.by_index = not is_narrower
    if selection.players:
        condition.add("conversations.player IN (SELECT value FROM json_each(:players))")
        args["players"] = json.dumps(selection.players)
    if selection.failed:
        condition.add(_UNREADABLE)
    elif selection.failed is not None:
        condition.add("ifnull(summaries.failed, 0) = 0 AND conversations.cut_replies = 0")
    if selection.study:
        condition.add(_IN_STUDY)
        args["study"] = selection.study
    if selection.text:
        # json.dumps keeps letters as they are (ensure_ascii off) but escapes quotes and backslashes.
        text = json.dumps(selection.text, ensure_ascii=False)[1:-1]
        # SQLite's own lower() knows no letters beyond ASCII; casefold, ours, does, and is slower.
        if text.isascii():
            condition.add("instr(lower(conversations.messages), :text) > 0")
            args["text"] = text.lower()
        else:
            condition.add("instr(casefold(conversations.messages), :text) > 0")
            args["text"] = text.casefold()
    return condition


def _list(
    db: Database, condition: _Condition, key: _SortKey, limit: int, offset: int
) -> list[ConversationSummary]:
    source = "conversations LEFT JOIN summaries ON summaries.conversation_id = conversations.id"
    if condition.by_index and "summaries." in key.order_by:
        # CROSS keeps SQLite to walking the summaries in their order; with a narrower filter, sorting what it
        # leaves is quicker.
        source = "summaries CROSS JOIN conversations ON conversations.id = summaries.conversation_id"
    rows = db.query(
        f"""
        SELECT conversations.id, conversations.key, conversations.benchmark, conversations.language,
            conversations.player, conversations.turns, conversations.reply_chars, conversations.simulated,
            conversations.created, summaries.final, summaries.spread, summaries.people,
            ifnull(summaries.judges, 0) AS judges, ifnull(summaries.refused, 0) AS refused,
            ifnull(summaries.failed, 0) AS failed, {_FIRST_MESSAGE} AS first, {_FACETS_JSON} AS facets
        FROM {source} WHERE {condition.sql} ORDER BY {key.order_by} LIMIT :limit OFFSET :offset""",
        {**condition.args, "limit": limit, "offset": offset},
    )
    summaries: list[ConversationSummary] = []
    for row in rows:
        row["simulated"] = bool(row["simulated"])
        row["facets"] = json.loads(row["facets"])
        summaries.append(ConversationSummary(**row))
    return summaries


def _context(db: Database, context: Mapping[str, Any]) -> int | None:
    if not context:
        return None
    body = _dump(dict(context))
    digest = hashlib.sha256(body.encode()).hexdigest()
    row = find(db, "contexts", "id", hash=digest)
    if row:
        return int(row["id"])
    return database.insert(db, "contexts", {"hash": digest, "body": body})


@cache
def _json_writer() -> Callable[[Any], bytes]:
    """What writes values as JSON fastest; it takes its time to load."""
    from pydantic import TypeAdapter

    return TypeAdapter[Any](Any).dump_json


def _messages_json(messages: Sequence[Message]) -> str:
    """Messages as JSON. Messages without more are written in a quarter of the time of `json`."""
    if not any(message.meta for message in messages):
        with suppress(ValueError):  # half of a character
            return _json_writer()([(m.role, m.content, {}) for m in messages]).decode()
    return _dump([[m.role, m.content, dict(m.meta)] for m in messages])


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
