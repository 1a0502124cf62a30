"""What two runs, players or versions of a prompt are compared by: some conversations and judgements of each.

Conversations and judgements are given by their ids.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlite_utils import Database

from concord.configuration import Use
from concord.store import configurations

_IN = "IN (SELECT value FROM json_each(?))"


def of_keys(
    db: Database, conversations: Collection[str], judgements: Collection[str]
) -> tuple[list[int], list[int]]:
    """The ids of those of the conversations and judgements that are stored."""
    wanted = (("conversations", conversations), ("judgements", judgements))
    one, other = (
        [row[0] for row in db.execute(f"SELECT id FROM {table} WHERE key {_IN}", [_list(keys)])]
        for table, keys in wanted
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


def answered(db: Database, ids: Collection[int]) -> list[str]:
    """The criteria that judges rated in these conversations."""
    rows = db.execute(
        f"SELECT DISTINCT criterion FROM scores WHERE study_id IS NULL AND conversation_id {_IN} ORDER BY 1",
        [_list(ids)],
    )
    return [name for (name,) in rows]


def unusable(db: Database, judgements: Sequence[int]) -> dict[str, int]:
    """How many of these judgements had no usable reply, by judge."""
    rows = db.execute(
        "SELECT x.name, count(*) FROM judgements j JOIN raters x ON x.id = j.rater_id "
        f"WHERE j.failure IS NOT NULL AND j.id {_IN} GROUP BY x.name ORDER BY x.name",
        [_list(judgements)],
    )
    return dict(rows.fetchall())


def models(db: Database, ids: Sequence[int], judgements: Sequence[int]) -> dict[str, list[Use]]:
    """The models behind these results by name: each configuration, and what its endpoint reported."""
    rows = db.query(
        "SELECT m.*, u.reported FROM conversation_configurations u JOIN model_configurations m "
        f"ON m.id = u.configuration_id WHERE u.conversation_id {_IN} UNION "
        "SELECT m.*, j.reported FROM judgements j JOIN model_configurations m "
        f"ON m.id = j.configuration_id WHERE j.id {_IN} ORDER BY 1",
        [_list(ids), _list(judgements)],
    )
    uses: dict[str, Use] = {}
    for row in rows:
        before = uses.get(row["hash"], Use(configurations.of_row(row), {}))
        uses[row["hash"]] = replace(
            before, reported={**before.reported, **configurations.read(row["reported"])}
        )
    by_name: dict[str, list[Use]] = {}
    for use in uses.values():
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
    by_name: dict[str, list[str]] = {}
    for name, hash_, version in rows:
        by_name.setdefault(name, []).append(" ".join(filter(None, (version, hash_))))
    return by_name


def stamp(db: Database) -> tuple[Any, ...]:
    """Changes with every new conversation, rating and judgement."""
    newest = (f"(SELECT max(id) FROM {table})" for table in ("conversations", "ratings", "judgements"))
    return tuple(db.execute(f"SELECT {', '.join(newest)}").fetchone())


def _list(values: Collection[object]) -> str:
    return json.dumps(list(values))
