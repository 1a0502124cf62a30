"""Conversations in the store: saved once by key, found by what varied, read a page at a time."""

from __future__ import annotations

import hashlib
import json
import re
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
from concord.store.filters import condition

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
# "newest" and "oldest" follow the primary key, the next four an index of `summaries`: without a filter none
# of them sorts the table. The others do.
_ORDERS: dict[str, str] = {
    "newest": "c.id DESC",
    "lowest": "s.final ASC",
    "highest": "s.final DESC",
    "disagreement": "s.spread DESC",
    "people_gap": "abs(s.final - s.people) DESC",
    "oldest": "c.id ASC",
    "longest": "c.turns DESC",
    "refused": "nullif(s.refused, 0) DESC",
    "failed": "nullif(s.failed, 0) DESC",
}

_SORTED_BY: Mapping[str, str] = {
    "benchmark": "c.benchmark",
    "language": "c.language",
    "player": "c.player",
    "turns": "c.turns",
    "people": "s.people",
    "key": "c.key",
}
"""Columns of a list that an order may name, in SQL; every facet is one, too."""
_FACET = "(SELECT value FROM facets WHERE conversation_id = c.id AND name = :facet)"
# SQLite takes the number at the beginning of a text: only a text that is a number sorts as one.
_FACET_NUMBER = (
    f"CASE WHEN NOT json_valid({_FACET}) THEN NULL "
    f"WHEN json_type({_FACET}) IN ('integer', 'real') THEN CAST({_FACET} AS REAL) END"
)


class Sort(NamedTuple):
    """The order by a column, or by a facet; numbers in a facet come in their order, before other texts."""

    column: str
    facet: bool = False
    descending: bool = False

    @property
    def sql(self) -> tuple[str, str]:
        """What is ordered by, and the order."""
        way = "DESC" if self.descending else "ASC"
        if self.facet:
            return _FACET, f"{_FACET_NUMBER} {way} NULLS LAST, {_FACET} {way}, c.id"
        value = _SORTED_BY[self.column]
        return value, f"{value} {way}, c.id"


@dataclass(frozen=True)
class Found:
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


def save_all(db: Database, given: Sequence[Conversation]) -> int:
    """Store those of many conversations that are not stored, a fifth of the time that `save` takes one by
    one; returns how many.
    """
    there = existing(db, [conversation.key for conversation in given])
    new = {conversation.key: conversation for conversation in given if conversation.key not in there}
    last = scalar(db, "SELECT ifnull(max(id), 0) FROM conversations")
    numbered = [*enumerate(new.values(), last + 1)]
    rows = [{"id": number, **_row(db, each, NOTHING_SPENT, False)} for number, each in numbered]
    for row in rows[:1]:
        sql = f"INSERT INTO conversations ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"
        db.conn.executemany(sql, rows)
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


def known_trajectory(db: Database, conversation_id: int) -> Mapping[str, Any]:
    """The same, where there must be one. Raises NotFound."""
    if (values := trajectory(db, conversation_id)) is None:
        raise NotFound(f"There is no trajectory of conversation {conversation_id} in this workspace.")
    return values


def _row(db: Database, conversation: Conversation, spent: Spent, simulated: bool) -> dict[str, Any]:
    replies = conversation.replies
    return {
        "key": conversation.key,
        "benchmark": conversation.benchmark,
        "language": conversation.language,
        "player": conversation.player,
        "messages": _said(conversation.messages),
        "context_id": _context(db, conversation.context),
        "meta": _dump(dict(conversation.meta)),
        "turns": len(replies),
        "reply_chars": sum(map(len, replies)),
        "cut_replies": sum(bool(m.meta.get("cut")) for m in conversation.messages if m.role == "assistant"),
        "simulated": simulated,
        "created": now(),
        **vars(spent),
    }


def _name_facets(db: Database, numbered: Sequence[tuple[int, Conversation]]) -> None:
    db.conn.executemany(
        "INSERT INTO facets (name, value, conversation_id) VALUES (?, ?, ?)",
        ((name, str(value), number) for number, of in numbered for name, value in of.facets.items()),
    )


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
    named = "key IN (SELECT value FROM json_each(?))"
    sql = f"SELECT DISTINCT benchmark FROM conversations WHERE {named} ORDER BY 1"
    return column(db, sql, [json.dumps(list(keys))])


def keys_after(db: Database, wanted: Filter, last: int = 0, *, limit: int = 500) -> list[tuple[int, str]]:
    """The next (id, key) of the conversations that pass the filter, in the order stored."""
    chosen, args = _chosen(wanted)
    sql = f"SELECT c.id, c.key {chosen} AND c.id > :last ORDER BY c.id LIMIT :limit"
    return list(db.execute(sql, args | {"last": last, "limit": limit}).fetchall())


def unreadable(db: Database, wanted: Filter = Filter()) -> tuple[int, int]:
    """How many conversations that pass have a failed judgement, and how many others a cut reply."""
    chosen, args = _chosen(replace(wanted, failed=True))
    row = db.execute(f"SELECT ifnull(sum(s.failed > 0), 0), count(*) {chosen}", args).fetchone()
    return row[0], row[1] - row[0]


def load(db: Database, which: int | str) -> Conversation:
    """A conversation by id or key. Raises NotFound."""
    column = "id" if isinstance(which, int) else "key"
    for _, conversation in _read(db, f"conversations c WHERE c.{column} = ?", [which]):
        return conversation
    raise NotFound(
        f"There is no conversation “{which}” in this workspace. Look for it on the conversations page."
    )


def each(db: Database, benchmark: str) -> Iterator[tuple[int, Conversation]]:
    """Every conversation of a benchmark with its id, in the order stored; read in chunks."""
    last = 0
    which = "c.id > ? AND c.benchmark = ? ORDER BY c.id LIMIT ?"
    while chunk := _read(db, f"conversations c WHERE {which}", [last, benchmark, _CHUNK]):
        for row, conversation in chunk:
            last = row["id"]
            yield last, conversation


def several(db: Database, ids: Sequence[int]) -> Iterator[tuple[Conversation, bool]]:
    """These conversations in this order, each with whether it is a mock's; read in chunks."""
    source = "json_each(?) j JOIN conversations c ON c.id = j.value ORDER BY j.key"
    for start in range(0, len(ids), _CHUNK):
        for row, conversation in _read(db, source, [json.dumps(list(ids[start : start + _CHUNK]))]):
            yield conversation, bool(row["simulated"])


_FIRST = (
    "ifnull((SELECT substr(m.value ->> '$[1]', 1, 200) FROM json_each(c.messages) m "
    "WHERE m.value ->> '$[0]' = 'user' LIMIT 1), '') AS first"
)


def openings(db: Database, ids: Collection[int]) -> dict[int, str]:
    """How what the user asked first begins, of each of these conversations."""
    sql = f"SELECT c.id, {_FIRST} FROM json_each(?) j JOIN conversations c ON c.id = j.value"
    return dict(db.execute(sql, [json.dumps(list(ids))]).fetchall())


_OF_FACETS = "(SELECT json_group_object(name, value) FROM facets WHERE conversation_id = c.id) AS facets"


def _read(db: Database, source: str, args: Sequence[Any]) -> list[tuple[dict[str, Any], Conversation]]:
    """The rows of the conversations c of a source, each with its conversation."""
    context = "(SELECT body FROM contexts WHERE id = c.context_id) AS context"
    columns = "c.id, c.key, c.benchmark, c.language, c.player, c.messages, c.meta, c.simulated"
    rows = db.query(f"SELECT {columns}, {_OF_FACETS}, {context} FROM {source}", list(args))
    names = ("benchmark", "key", "player", "language")
    return [
        (
            row,
            Conversation(
                **{name: row[name] for name in names},
                messages=tuple(Message(*message) for message in json.loads(row["messages"])),
                facets=json.loads(row["facets"]),
                context=json.loads(row["context"] or "{}"),
                meta=json.loads(row["meta"]),
            ),
        )
        for row in rows
    ]


def listed(db: Database, which: int) -> Found:
    """One conversation as a list shows it. Raises NotFound."""
    for one in _list(db, "c.id = :id", {"id": which}, "c.id", 1, 0):
        return one
    raise NotFound(f"There is no conversation number {which} in this workspace.")


def spent(db: Database, which: int) -> Spent:
    """What a conversation cost to make. Raises NotFound."""
    row = find(db, "conversations", ", ".join(vars(NOTHING_SPENT)), id=which)
    if row is None:
        raise NotFound(f"There is no conversation number {which} in this workspace.")
    return Spent(**row)


def search(
    db: Database, wanted: Filter = Filter(), order: Order | Sort = "newest", limit: int = 50, offset: int = 0
) -> list[Found]:
    """A page of the conversations that pass the filter and have the value by which they are ordered."""
    where, args = _where(wanted)
    if isinstance(order, Sort):
        value, sql = order.sql
        args |= {"facet": order.column} if order.facet else {}
    else:
        sql = _ORDERS[order]
        value = sql.removesuffix(" ASC").removesuffix(" DESC")
    if order != "newest":
        where += f" AND {value} IS NOT NULL"
    return _list(db, where, args, sql, limit, offset)


class Group(NamedTuple):
    """The conversations that share a value: how many, and the means of what judges and people gave them."""

    value: str
    conversations: int
    final: float | None
    people: float | None
    failed: int


def groups(db: Database, wanted: Filter, column: str, *, facet: bool = False) -> list[Group]:
    """The conversations that pass the filter by a column of `_SORTED_BY` or by a facet, the largest first."""
    clause, args = _where(wanted)
    value = _FACET if facet else _SORTED_BY[column]
    rows = db.execute(
        f"SELECT {value}, count(*), avg(s.final), avg(s.people), ifnull(sum(s.failed > 0), 0) "
        "FROM conversations c LEFT JOIN summaries s ON s.conversation_id = c.id "
        f"WHERE {clause} AND {value} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
        args | ({"facet": column} if facet else {}),
    )
    return [Group(*row) for row in rows]


def table(db: Database, wanted: Filter = Filter()) -> pd.DataFrame:
    """Every conversation that passes the filter: id, key, player, language, and a column for each facet."""
    import pandas as pd

    chosen, args = _chosen(wanted)
    sql = f"SELECT c.id, c.key, c.player, c.language {chosen} ORDER BY c.id"
    frame = pd.read_sql_query(sql, db.conn, params=args)
    sql = f"SELECT * FROM facets WHERE conversation_id IN (SELECT c.id {chosen})"
    facets = pd.read_sql_query(sql, db.conn, params=args)
    wide = facets.pivot(index="conversation_id", columns="name", values="value")
    return frame.join(wide.drop(columns=frame.columns, errors="ignore"), on="id")


def count(db: Database, wanted: Filter = Filter()) -> int:
    """How many conversations pass the filter."""
    facets = {name: values for name, values in wanted.facets.items() if values}
    if replace(wanted, benchmark="", facets=facets) == Filter():
        sql = "SELECT ifnull(sum(conversations), 0) FROM player_counts WHERE ? IN ('', benchmark)"
        return int(scalar(db, sql, [wanted.benchmark]))
    chosen, args = _chosen(wanted)
    return int(scalar(db, f"SELECT count(*) {chosen}", args))


def values(db: Database, benchmark: str = "") -> dict[str, list[str]]:
    """What one can filter by: benchmarks, languages, players, and every facet with its values."""
    only = "FROM player_counts WHERE ? IN ('', benchmark)"
    result = {
        name: column(db, f"SELECT DISTINCT {name} {only} ORDER BY 1", [benchmark])
        for name in ("benchmark", "language", "player")
    }
    # One look for each value, where a join would go through every conversation.
    facets = db.execute(
        f"{_FACETS} SELECT name, value FROM v WHERE name <> '' AND (? = '' OR EXISTS (SELECT 1 FROM facets f "
        "JOIN conversations c ON c.id = f.conversation_id WHERE f.name = v.name AND f.value = v.value "
        "AND c.benchmark = ?)) ORDER BY 1, 2",
        [benchmark, benchmark],
    )
    for name, value in facets:
        result.setdefault(name, []).append(value)
    return result


_NEXT = "FROM facets f WHERE (f.name, f.value) > (v.name, v.value) ORDER BY f.name, f.value LIMIT 1"
# From each value the index leads to the next one, where DISTINCT would go through every row.
_FACETS = (
    f"WITH RECURSIVE v(name, value) AS (SELECT '', '' UNION ALL SELECT (SELECT f.name {_NEXT}), "
    f"(SELECT f.value {_NEXT}) FROM v WHERE name IS NOT NULL)"
)


def _where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The condition in SQL on the conversations c and their summaries s, and its arguments by name."""
    chosen, args = condition(wanted.facets)
    clauses = [chosen]
    if wanted.players:
        clauses.append("c.player IN (SELECT value FROM json_each(:players))")
        args["players"] = json.dumps(wanted.players)
    for name in ("benchmark", "language"):
        if getattr(wanted, name):
            clauses.append(f"c.{name} = :{name}")
            args[name] = getattr(wanted, name)
    if wanted.refused is not None:
        clauses.append("s.refused > 0" if wanted.refused else "ifnull(s.refused, 0) = 0")
    if wanted.failed is not None:
        some = "(s.failed > 0 OR c.cut_replies > 0)"
        clauses.append(some if wanted.failed else "ifnull(s.failed, 0) = 0 AND c.cut_replies = 0")
    if wanted.study:
        clauses.append(
            "c.id IN (SELECT i.conversation_id FROM items i JOIN studies t ON t.id = i.study_id "
            "WHERE t.name = :study AND i.known = '' UNION SELECT i.other_id FROM items i JOIN studies t "
            "ON t.id = i.study_id WHERE t.name = :study AND i.known = '' AND i.other_id IS NOT NULL)"
        )
        args["study"] = wanted.study
    if wanted.text:
        # json.dumps keeps letters as they are (ensure_ascii off) but escapes quotes and backslashes.
        text = json.dumps(wanted.text, ensure_ascii=False)[1:-1]
        # SQLite's own lower() knows no letters beyond ASCII; the other one does, and is slower.
        lower, text = ("lower", text.lower()) if text.isascii() else ("casefold", text.casefold())
        clauses.append(f"instr({lower}(c.messages), :text) > 0")
        args["text"] = text
    return " AND ".join(clauses), args


def _chosen(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """FROM and WHERE of the conversations c that pass the filter, and the arguments."""
    where, args = _where(wanted)
    joined = " LEFT JOIN summaries s ON s.conversation_id = c.id" if re.search(r"\bs\.", where) else ""
    return f"FROM conversations c{joined} WHERE {where}", args


def _list(
    db: Database, where: str, args: Mapping[str, Any], order: str, limit: int, offset: int
) -> list[Found]:
    source = "conversations c LEFT JOIN summaries s ON s.conversation_id = c.id"
    if "s." in order and set(re.findall(r"\bc\.(\w+)", where)) <= {"benchmark", "language"}:
        # CROSS keeps SQLite to walking the summaries in their order; with a narrower filter, sorting what it
        # leaves is quicker.
        source = "summaries s CROSS JOIN conversations c ON c.id = s.conversation_id"
    counts = ", ".join(f"ifnull(s.{name}, 0) AS {name}" for name in ("judges", "refused", "failed"))
    rows = db.query(
        "SELECT c.id, c.key, c.benchmark, c.language, c.player, c.turns, c.reply_chars, c.simulated, "
        f"c.created, s.final, s.spread, s.people, {counts}, {_FIRST}, {_OF_FACETS} FROM {source} "
        f"WHERE {where} ORDER BY {order} LIMIT :limit OFFSET :offset",
        {**args, "limit": limit, "offset": offset},
    )
    return [
        Found(**row | {"simulated": bool(row["simulated"]), "facets": json.loads(row["facets"])})
        for row in rows
    ]


def _context(db: Database, context: Mapping[str, Any]) -> int | None:
    if not context:
        return None
    body = _dump(dict(context))
    digest = hashlib.sha256(body.encode()).hexdigest()
    stored = find(db, "contexts", "id", hash=digest)
    return stored["id"] if stored else database.insert(db, "contexts", {"hash": digest, "body": body})


@cache
def _message_json() -> Callable[[Any], bytes]:
    """What writes values as JSON fastest; it takes its time to load."""
    from pydantic import TypeAdapter

    return TypeAdapter[Any](Any).dump_json


def _said(messages: Sequence[Message]) -> str:
    """What was said as JSON. Messages without more are written in a quarter of the time of `json`."""
    if not any(message.meta for message in messages):
        with suppress(ValueError):  # half of a character
            return _message_json()([(m.role, m.content, {}) for m in messages]).decode()
    return _dump([[m.role, m.content, dict(m.meta)] for m in messages])


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
