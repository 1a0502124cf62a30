"""What leaderboards are made of: conversations that judges rated, and what each judge gave them.

In `where`, “prompt” is the version of the judge's prompt; see `concord.store.filters` for the other names.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlite_utils import Database

from concord.errors import check_known
from concord.rating import Rater
from concord.scores import labels
from concord.store import conversations as stored
from concord.store import ratings
from concord.store.filters import Where, condition

if TYPE_CHECKING:
    import pandas as pd

PROMPT = "prompt"


def ids(benchmark: str, where: Where | None = None) -> tuple[str, dict[str, Any]]:
    """A query for the ids of the conversations of a benchmark, with its named arguments."""
    others = {name: values for name, values in (where or {}).items() if name != PROMPT}
    wanted, args = condition(others)
    sql = f"SELECT c.id FROM conversations c WHERE c.benchmark = :benchmark AND {wanted}"
    return sql, args | {"benchmark": benchmark}


def conversations(db: Database, benchmark: str, where: Where | None = None) -> pd.DataFrame:
    """A benchmark's conversations: index conversation; key, player, language, turns, reply_chars,
    cut_replies, simulated.
    """
    chosen, args = ids(benchmark, where)
    columns = "id AS conversation, key, player, language, turns, reply_chars, cut_replies, simulated"
    sql = f"SELECT {columns} FROM conversations WHERE id IN ({chosen}) ORDER BY id"
    import pandas as pd  # which commands that show no table do without

    return pd.read_sql_query(sql, db.conn, params=args, index_col="conversation")


def scores(
    db: Database,
    benchmark: str,
    criteria: Sequence[str],
    where: Where | None = None,
) -> pd.DataFrame:
    """Each judge's mean over turns and repeats: conversation, judge, each criterion (nan if not rated)."""
    chosen, args = ids(benchmark, where)
    means = [
        f"sum(total) FILTER (WHERE criterion = :c{i}) / sum(n) FILTER (WHERE criterion = :c{i}) AS c{i}"
        for i in range(len(criteria))
    ]
    import pandas as pd  # which commands that show no table do without

    table = pd.read_sql_query(
        f"SELECT {', '.join(['conversation_id', 'rater_id', *means])} FROM scores "
        f"WHERE study_id IS NULL AND conversation_id IN ({chosen}) GROUP BY conversation_id, rater_id",
        db.conn,
        params=args | {f"c{i}": name for i, name in enumerate(criteria)},
    )
    table.columns = pd.Index(["conversation", "judge", *criteria])
    prompts = (where or {}).get(PROMPT, ())
    every = ratings.judges(db, benchmark)
    names = labels(every)
    named = {every[rater]: names[rater] for rater in every if not prompts or rater.variant in prompts}
    table["judge"] = table.judge.map(named)
    return table.dropna(subset="judge").astype(dict.fromkeys(criteria, float))


def unusable(db: Database, benchmark: str, where: Where | None = None) -> pd.DataFrame:
    """The judgements whose reply stayed unusable: conversation, judge."""
    chosen, args = ids(benchmark, where)
    rows = db.query(
        "SELECT DISTINCT conversation_id AS conversation, rater_id AS judge FROM judgements "
        f"WHERE failure IS NOT NULL AND conversation_id IN ({chosen}) ORDER BY 1, 2",
        args,
    )
    every = ratings.judges(db, benchmark)
    names = labels(every)
    named = {every[rater]: names[rater] for rater in every}
    import pandas as pd  # which commands that show no table do without

    table = pd.DataFrame(rows, columns=["conversation", "judge"])
    return table.assign(judge=table.judge.map(named)).dropna(subset="judge")


def judges(db: Database, benchmark: str) -> dict[str, Rater]:
    """Every judge of a benchmark by name; each version of the prompt is a judge of its own."""
    return {name: rater for rater, name in labels(ratings.judges(db, benchmark)).items()}


def facets(db: Database, benchmark: str, names: Sequence[str] = ()) -> pd.DataFrame:
    """The facets of a benchmark's conversations by name, these or all: index conversation."""
    import pandas as pd  # which commands that show no table do without

    table = pd.read_sql_query(
        "SELECT f.conversation_id AS conversation, f.name, f.value "
        "FROM facets f JOIN conversations c ON c.id = f.conversation_id "
        "WHERE c.benchmark = ? AND (? = '[]' OR f.name IN (SELECT value FROM json_each(?)))",
        db.conn,
        params=(benchmark, *[json.dumps(list(names))] * 2),
    )
    wide = table.pivot(index="conversation", columns="name", values="value")
    return wide.reindex(columns=list(names)) if names else wide


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
    by_name: dict[str, list[str]] = {}
    for name, value in rows:
        if name not in items:
            by_name.setdefault(name, []).append(value)
    return {name: values for name, values in by_name.items() if len(values) > 1}


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
    allowed = stored.values(db, benchmark)
    rated = (rater.variant for rater in judges(db, benchmark).values())
    allowed[PROMPT] = sorted(set(rated if prompts is None else prompts))
    del allowed["benchmark"]
    for name, values in where.items():
        check_known("facet", name, allowed)
        check_known(name, values, allowed[name])


def stamp(db: Database) -> str:
    """Changes with every new conversation, judgement, rating or comparison: results hold while it is the
    same.
    """
    row = db.execute(
        "SELECT (SELECT max(id) FROM conversations), (SELECT max(id) FROM ratings), (SELECT max(id) "
        "FROM judgements), (SELECT total(compared) FROM rater_counts), (SELECT max(created) FROM comparisons)"
    ).fetchone()
    return ",".join(map(str, row))
