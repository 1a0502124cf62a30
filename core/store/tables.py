"""What leaderboards are made of: conversations that judges rated, and what each judge gave them.

`where` maps a name to the values allowed: a facet, “language”, “player”, or “prompt” (the version of the
judge's).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlite_utils import Database

from core.errors import not_found
from core.rating import Rater
from core.scores import labels
from core.store import conversations as stored

Where = Mapping[str, Sequence[str]]
PROMPT = "prompt"


def ids(benchmark: str, where: Where | None = None) -> tuple[str, dict[str, Any]]:
    """A query for the ids of the conversations of a benchmark, with its named arguments."""
    condition, args = _where(benchmark, where)
    return f"SELECT c.id FROM conversations c WHERE {condition}", args


def conversations(db: Database, benchmark: str, where: Where | None = None) -> pd.DataFrame:
    """A benchmark's conversations: index conversation; player, turns, reply_chars, simulated."""
    condition, args = _where(benchmark, where)
    return _frame(
        db,
        "SELECT c.id AS conversation, c.player, c.turns, c.reply_chars, c.simulated FROM conversations c "
        f"WHERE {condition}",
        args,
    ).set_index("conversation")


def scores(db: Database, benchmark: str, criteria: Sequence[str], where: Where | None = None) -> pd.DataFrame:
    """Each judge's mean over turns and repeats: conversation, judge, each criterion (nan if not rated)."""
    chosen, args = ids(benchmark, where)
    means = [
        f"sum(s.total) FILTER (WHERE s.criterion = :c{i}) / sum(s.n) FILTER (WHERE "
        f"s.criterion = :c{i}) AS c{i}"
        for i in range(len(criteria))
    ]
    table = _frame(
        db,
        f"SELECT s.conversation_id AS conversation, s.rater_id AS judge, {', '.join(means)} "
        f"FROM scores s WHERE s.study_id IS NULL AND s.conversation_id IN ({chosen}) "
        "GROUP BY s.conversation_id, s.rater_id",
        args | {f"c{i}": name for i, name in enumerate(criteria)},
    )
    table.columns = pd.Index(["conversation", "judge", *criteria])
    prompts = (where or {}).get(PROMPT, ())
    named = {
        number: name
        for name, (number, rater) in _judges(db, benchmark).items()
        if not prompts or rater.variant in prompts
    }
    table["judge"] = table.judge.map(named)
    return table.dropna(subset="judge").astype(dict.fromkeys(criteria, float))


def judges(db: Database, benchmark: str) -> dict[str, Rater]:
    """Every judge of a benchmark by name; each version of the prompt is a judge of its own."""
    return {name: rater for name, (_, rater) in _judges(db, benchmark).items()}


def _judges(db: Database, benchmark: str) -> dict[str, tuple[int, Rater]]:
    rows = db.execute(
        "SELECT id, name, variant, simulated FROM raters WHERE kind = 'judge' AND id IN (SELECT s.rater_id "
        "FROM scores s JOIN conversations c ON c.id = s.conversation_id WHERE c.benchmark = ?) "
        "ORDER BY name, variant",
        [benchmark],
    ).fetchall()
    found = {number: Rater(name, "judge", variant, bool(mock)) for number, name, variant, mock in rows}
    names = labels(found.values())
    return {names[rater]: (number, rater) for number, rater in found.items()}


def facets(db: Database, benchmark: str, names: Sequence[str], *, player: str = "") -> pd.DataFrame:
    """The facets of a benchmark's (or a player's) conversations by name: index conversation."""
    rows = db.execute(
        "SELECT f.conversation_id, f.name, f.value FROM facets f "
        "JOIN conversations c ON c.id = f.conversation_id "
        "WHERE c.benchmark = ? AND (? = '' OR c.player = ?) AND f.name IN (SELECT value FROM json_each(?))",
        [benchmark, player, player, json.dumps(list(names))],
    ).fetchall()
    table = pd.DataFrame(rows, columns=["conversation", "name", "value"])
    return table.pivot(index="conversation", columns="name", values="value").reindex(columns=list(names))


def conditions(
    db: Database, benchmark: str, items: Collection[str], where: Where | None = None
) -> dict[str, list[str]]:
    """Language and facets in which these conversations differ, without those of `items`."""
    chosen, args = ids(benchmark, where)
    rows = db.execute(
        f"SELECT DISTINCT 'language', language FROM conversations WHERE id IN ({chosen}) UNION "
        f"SELECT DISTINCT name, value FROM facets WHERE conversation_id IN ({chosen}) ORDER BY 1, 2",
        args,
    )
    found: dict[str, list[str]] = {}
    for name, value in rows:
        if name not in items:
            found.setdefault(name, []).append(value)
    return {name: values for name, values in found.items() if len(values) > 1}


def mixed_notes(mixed: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each condition in which the conversations of a table differ."""
    return [
        f"{len(values)} values of {name} are mixed "
        f"({', '.join(values[:5])}{', …' if len(values) > 5 else ''}); "
        f"`--where {name}={values[0]}` takes one."
        for name, values in mixed.items()
    ]


def check(db: Database, benchmark: str, where: Where | None, *, prompts: Sequence[str] | None = None) -> None:
    """Raises NotFound for a name or value in `where` that the benchmark lacks.

    `prompts` are the versions that judges answered; those of the judges who rated, unless given.
    """
    if not where:
        return
    known = stored.values(db, benchmark)
    rated = (rater.variant for rater in judges(db, benchmark).values())
    known[PROMPT] = sorted(set(rated if prompts is None else prompts))
    del known["benchmark"]
    for name, values in where.items():
        if name not in known:
            raise not_found("facet", name, known)
        for value in values:
            if value not in known[name]:
                raise not_found(name, value, known[name])


def stamp(db: Database) -> tuple[int, int]:
    """Changes with every new conversation or rating: results hold while it is the same."""
    row = db.execute("SELECT (SELECT max(id) FROM conversations), (SELECT max(id) FROM ratings)").fetchone()
    return row[0] or 0, row[1] or 0


def _where(benchmark: str, where: Where | None) -> tuple[str, dict[str, Any]]:
    clauses, args = ["c.benchmark = :benchmark"], {"benchmark": benchmark}
    for i, (name, allowed) in enumerate((where or {}).items()):
        if name == PROMPT or not allowed:
            continue
        values = f"(SELECT value FROM json_each(:v{i}))"
        args[f"v{i}"] = json.dumps(list(allowed))
        if name in ("language", "player"):
            clauses.append(f"c.{name} IN {values}")
        else:
            args[f"f{i}"] = name
            clauses.append(
                f"c.id IN (SELECT conversation_id FROM facets WHERE name = :f{i} AND value IN {values})"
            )
    return " AND ".join(clauses), args


def _frame(db: Database, sql: str, args: Mapping[str, Any]) -> pd.DataFrame:
    cursor = db.execute(sql, dict(args))
    return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
