"""What the benchmarks' tables are made of: conversations that judges rated, and what each judge gave them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlite_utils import Database


def conversations(
    db: Database, benchmark: str, *, language: str = "", facets: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """The conversations of a benchmark, one row each: index conversation; player, turns, reply_chars, simulated.

    `facets` maps a facet's name to the values allowed; without any it asks nothing.
    """
    where, args = _where(benchmark, language, facets)
    return _frame(
        db,
        f"SELECT c.id AS conversation, c.player, c.turns, c.reply_chars, c.simulated FROM conversations c WHERE {where}",
        args,
    ).set_index("conversation")


def scores(
    db: Database,
    benchmark: str,
    criteria: Sequence[str],
    *,
    language: str = "",
    facets: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """What each judge gave to these conversations: conversation, judge, and the judge's mean over turns and repeats for each criterion.

    nan where a judge did not rate a criterion. A judge asked with several versions of its prompt is several judges, named as in `judges`.
    """
    where, args = _where(benchmark, language, facets)
    means = [
        f"sum(s.total) FILTER (WHERE s.criterion = :c{i}) / sum(s.n) FILTER (WHERE s.criterion = :c{i}) AS c{i}"
        for i in range(len(criteria))
    ]
    table = _frame(
        db,
        f"SELECT s.conversation_id AS conversation, s.rater_id AS judge, {', '.join(means)} FROM scores s "
        f"WHERE s.study_id IS NULL AND s.conversation_id IN (SELECT c.id FROM conversations c WHERE {where}) "
        "GROUP BY s.conversation_id, s.rater_id",
        args | {f"c{i}": name for i, name in enumerate(criteria)},
    )
    table = table.rename(columns={f"c{i}": name for i, name in enumerate(criteria)}).astype(
        dict.fromkeys(criteria, float)
    )
    names = {rater: name for rater, (name, _) in _named(db, map(int, table.judge.unique())).items()}
    return table.assign(judge=table.judge.map(names)).dropna(subset="judge")


def stamp(db: Database) -> tuple[int, int]:
    """Changes whenever a conversation or a rating was added: what was computed before may be shown while it stays the same."""
    row = db.execute("SELECT (SELECT max(id) FROM conversations), (SELECT max(id) FROM ratings)").fetchone()
    return row[0] or 0, row[1] or 0


def judges(db: Database, benchmark: str) -> dict[int, tuple[str, bool]]:
    """Everybody who judged a benchmark's conversations: id → (name, whether it is a mock).

    Where one model answered several versions of the benchmark's prompt, the name tells which.
    """
    rows = db.execute(
        "SELECT DISTINCT s.rater_id FROM scores s JOIN conversations c ON c.id = s.conversation_id WHERE c.benchmark = ?",
        [benchmark],
    )
    return _named(db, (row[0] for row in rows))


def _named(db: Database, ids: Iterable[int]) -> dict[int, tuple[str, bool]]:
    rows = list(
        db.query(
            "SELECT id, name, variant, simulated FROM raters WHERE kind = 'judge' AND id IN (SELECT value FROM json_each(?)) "
            "ORDER BY name, variant",
            [json.dumps(list(ids))],
        )
    )
    names = [row["name"] for row in rows]
    return {
        row["id"]: (
            f"{row['name']} {row['variant']}" if names.count(row["name"]) > 1 else row["name"],
            bool(row["simulated"]),
        )
        for row in rows
    }


def facets(db: Database, benchmark: str, names: Sequence[str], *, player: str = "") -> pd.DataFrame:
    """The facets of a benchmark's (and a player's) conversations, one column for each name: index conversation."""
    rows = db.execute(
        "SELECT f.conversation_id, f.name, f.value FROM facets f JOIN conversations c ON c.id = f.conversation_id "
        "WHERE c.benchmark = ? AND (? = '' OR c.player = ?) AND f.name IN (SELECT value FROM json_each(?))",
        [benchmark, player, player, json.dumps(list(names))],
    ).fetchall()
    table = pd.DataFrame(rows, columns=["conversation", "name", "value"])
    return table.pivot(index="conversation", columns="name", values="value").reindex(columns=list(names))


def _where(
    benchmark: str, language: str, facets: Mapping[str, Sequence[str]] | None
) -> tuple[str, dict[str, Any]]:
    clauses, args = ["c.benchmark = :benchmark"], {"benchmark": benchmark}
    if language:
        clauses.append("c.language = :language")
        args["language"] = language
    for i, (name, allowed) in enumerate((facets or {}).items()):
        if allowed:
            clauses.append(
                f"c.id IN (SELECT conversation_id FROM facets WHERE name = :f{i} AND value IN (SELECT value FROM json_each(:v{i})))"
            )
            args |= {f"f{i}": name, f"v{i}": json.dumps(list(allowed))}
    return " AND ".join(clauses), args


def _frame(db: Database, sql: str, args: Mapping[str, Any]) -> pd.DataFrame:
    cursor = db.execute(sql, dict(args))
    return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
