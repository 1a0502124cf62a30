"""What two runs, players or versions of a prompt are compared by: some conversations and judgements of each.

Conversations and judgements are given by their ids.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from sqlite_utils import Database

from concord.configuration import Use
from concord.rating import NOTHING_SPENT, Rater, Spent
from concord.store import configurations
from concord.store.ratings import RATER, rater

_IN = "IN (SELECT value FROM json_each(?))"


def of_keys(
    db: Database, conversations: Collection[str], judgements: Collection[str]
) -> tuple[list[int], list[int]]:
    """The ids of those of the conversations and judgements that are stored."""
    asked = (("conversations", conversations), ("judgements", judgements))
    one, other = (
        [row[0] for row in db.execute(f"SELECT id FROM {table} WHERE key {_IN}", [_list(keys)])]
        for table, keys in asked
    )
    return one, other


def of_player(db: Database, benchmark: str, player: str) -> tuple[list[int], list[int]]:
    """A player's conversations and all judgements of them."""
    rows = db.execute("SELECT id FROM conversations WHERE benchmark = ? AND player = ?", [benchmark, player])
    ids = [row[0] for row in rows]
    rows = db.execute(f"SELECT id FROM judgements WHERE conversation_id {_IN}", [_list(ids)])
    return ids, [row[0] for row in rows]


def of_version(db: Database, benchmark: str, version: str) -> tuple[list[int], list[int]]:
    """The judgements by a version of the judges' prompt, and the conversations that it rated."""
    of = "JOIN conversations c ON c.id = t.conversation_id JOIN raters x ON x.id = t.rater_id"
    rated = f"{of} WHERE c.benchmark = ? AND x.kind = 'judge' AND x.variant = ?"
    args = [benchmark, version]
    ids = db.execute(f"SELECT DISTINCT t.conversation_id FROM scores t {rated}", args)
    judgements = db.execute(f"SELECT t.id FROM judgements t {rated}", args)
    return [row[0] for row in ids], [row[0] for row in judgements]


def talks(db: Database, ids: Sequence[int]) -> pd.DataFrame:
    """These conversations: index conversation; key, player, language, turns, reply_chars, cut_replies."""
    columns = "id AS conversation, key, player, language, turns, reply_chars, cut_replies"
    sql = f"SELECT {columns} FROM conversations WHERE id {_IN} ORDER BY id"
    return pd.read_sql_query(sql, db.conn, params=[_list(ids)], index_col="conversation")


def facets(db: Database, ids: Sequence[int], names: Sequence[str]) -> dict[int, str]:
    """What each conversation was about: its facets of these names, in this order."""
    rows = db.execute(
        f"SELECT conversation_id, name, value FROM facets WHERE conversation_id {_IN} AND name {_IN}",
        [_list(ids), _list(names)],
    )
    found: dict[int, dict[str, str]] = {}
    for number, name, value in rows:
        found.setdefault(number, {})[name] = value
    return {n: " · ".join(of[name] for name in names if name in of) for n, of in found.items()}


def scores(db: Database, ids: Sequence[int], judgements: Sequence[int] | None = None) -> pd.DataFrame:
    """What judges gave: conversation, rater (its id), criterion, and score, the mean over turns and repeats.

    Of these judgements alone, where they are given.
    """
    what = "t.conversation_id AS conversation, t.rater_id AS rater, t.criterion"
    of = "JOIN raters x ON x.id = t.rater_id WHERE x.kind = 'judge' AND t.study_id IS NULL"
    by = "GROUP BY 1, 2, 3"
    if judgements is None:
        mean = "sum(t.total) / sum(t.n) AS score"
        sql, args = f"SELECT {what}, {mean} FROM scores t {of} AND t.conversation_id {_IN} {by}", ids
    else:
        sql = f"SELECT {what}, avg(t.score) AS score FROM ratings t {of} AND t.judgement_id {_IN} {by}"
        args = judgements
    return pd.read_sql_query(sql, db.conn, params=[_list(args)])


def raters(db: Database, ids: Collection[int]) -> dict[int, Rater]:
    """These raters by id."""
    rows = db.execute(f"SELECT x.id, {RATER} FROM raters x WHERE x.id {_IN}", [_list(ids)])
    return {number: rater(*row) for number, *row in rows}


def spent(db: Database, ids: Sequence[int], judgements: Sequence[int]) -> Spent:
    """What these conversations and judgements cost to make, whichever run made them."""
    names = ", ".join(f"total({name})" for name in vars(NOTHING_SPENT))
    sums = [
        db.execute(f"SELECT {names} FROM {table} WHERE id {_IN}", [_list(those)]).fetchone()
        for table, those in (("conversations", ids), ("judgements", judgements))
    ]
    made, judged = (
        Spent(**{n: type(usual)(v) for (n, usual), v in zip(vars(NOTHING_SPENT).items(), row, strict=True)})
        for row in sums
    )
    return made + judged


def unusable(db: Database, judgements: Sequence[int]) -> dict[str, int]:
    """How many of these judgements had no usable reply, by judge."""
    rows = db.execute(
        "SELECT x.name, count(*) FROM judgements j JOIN raters x ON x.id = j.rater_id "
        f"WHERE j.failure IS NOT NULL AND j.id {_IN} GROUP BY x.name ORDER BY x.name",
        [_list(judgements)],
    )
    return dict(rows.fetchall())


def not_made(db: Database, works: Collection[str]) -> Counter[str]:
    """Why those of the works that failed and were not done since failed: reason and model → number."""
    rows = db.execute(
        f"SELECT reason, kind, model FROM failures WHERE work {_IN}",
        [_list(works)],
    )
    return Counter(" by ".join(filter(None, (reason or kind, model))) for reason, kind, model in rows)


def models(db: Database, ids: Sequence[int], judgements: Sequence[int]) -> dict[str, list[Use]]:
    """The models behind these results by name: each configuration, and what its endpoint reported."""
    rows = db.query(
        "SELECT m.*, u.reported FROM conversation_configurations u JOIN model_configurations m "
        f"ON m.id = u.configuration_id WHERE u.conversation_id {_IN} UNION "
        "SELECT m.*, j.reported FROM judgements j JOIN model_configurations m "
        f"ON m.id = j.configuration_id WHERE j.id {_IN} ORDER BY 1",
        [_list(ids), _list(judgements)],
    )
    found: dict[str, Use] = {}
    for row in rows:
        before = found.get(row["hash"], Use(configurations.of_row(row), {}))
        found[row["hash"]] = replace(
            before, reported={**before.reported, **configurations.read(row["reported"])}
        )
    by_name: dict[str, list[Use]] = {}
    for use in found.values():
        assert use.configuration is not None
        by_name.setdefault(use.configuration.nickname, []).append(use)
    return by_name


def prompts(db: Database, ids: Sequence[int], judgements: Sequence[int]) -> dict[str, list[str]]:
    """The prompts that made these results, by name: version and hash."""
    rows = db.execute(
        "SELECT DISTINCT p.key AS name, p.value AS hash, t.version FROM conversations c, "
        "json_each(c.meta, '$.prompts') p LEFT JOIN prompts t ON t.hash = p.value "
        f"WHERE c.id {_IN} UNION "
        "SELECT ifnull(t.name, 'judge'), j.prompt, ifnull(t.version, x.variant) FROM judgements j "
        "JOIN raters x ON x.id = j.rater_id LEFT JOIN prompts t ON t.hash = j.prompt "
        f"WHERE j.prompt != '' AND j.id {_IN} ORDER BY 1, 3, 2",
        [_list(ids), _list(judgements)],
    )
    found: dict[str, list[str]] = {}
    for name, hash_, version in rows:
        found.setdefault(name, []).append(" ".join(filter(None, (version, hash_))))
    return found


def stamp(db: Database) -> tuple[Any, ...]:
    """Changes with every new conversation, rating, judgement and failure."""
    tables: Mapping[str, str] = {
        "conversations": "max(id)",
        "ratings": "max(id)",
        "judgements": "max(id)",
        "failures": "max(created)",
    }
    asked = ", ".join(f"(SELECT {what} FROM {table})" for table, what in tables.items())
    return tuple(db.execute(f"SELECT {asked}").fetchone())


def _list(values: Collection[object]) -> str:
    return json.dumps(list(values))
