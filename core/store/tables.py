"""What leaderboards are made of: conversations that judges rated, and what each judge gave them.

In `filters`, “prompt” is the version of the judge's prompt; see `concord.store.filters` for the other names.
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
from concord.store.filters import FacetValues, facet_condition

if TYPE_CHECKING:
    import pandas as pd

PROMPT = "prompt"


def ids(benchmark: str, filters: FacetValues | None = None) -> tuple[str, dict[str, Any]]:
    """A query for the ids of the conversations of a benchmark, with its named arguments."""
    facets = {name: values for name, values in (filters or {}).items() if name != PROMPT}
    condition, args = facet_condition(facets)
    sql = f"SELECT conversations.id FROM conversations WHERE benchmark = :benchmark AND {condition}"
    return sql, args | {"benchmark": benchmark}


def conversations(db: Database, benchmark: str, filters: FacetValues | None = None) -> pd.DataFrame:
    """A benchmark's conversations: index conversation; key, player, language, turns, reply_chars,
    cut_replies, simulated.
    """
    conversation_ids, args = ids(benchmark, filters)
    columns = "id AS conversation, key, player, language, turns, reply_chars, cut_replies, simulated"
    sql = f"SELECT {columns} FROM conversations WHERE id IN ({conversation_ids}) ORDER BY id"
    import pandas as pd  # which commands that show no table do without

    return pd.read_sql_query(sql, db.conn, params=args, index_col="conversation")


def scores(
    db: Database,
    benchmark: str,
    criteria: Sequence[str],
    filters: FacetValues | None = None,
) -> pd.DataFrame:
    """Each judge's mean over turns and repeats: conversation, judge, each criterion (nan if not rated)."""
    conversation_ids, args = ids(benchmark, filters)
    columns = ["conversation_id", "rater_id"]
    for number, criterion in enumerate(criteria):
        args[f"c{number}"] = criterion
        answers = f"FILTER (WHERE criterion = :c{number})"
        columns.append(f"sum(total) {answers} / sum(n) {answers}")
    import pandas as pd  # which commands that show no table do without

    sql = f"""
        SELECT {", ".join(columns)} FROM scores
        WHERE study_id IS NULL AND conversation_id IN ({conversation_ids})
        GROUP BY conversation_id, rater_id"""
    table = pd.read_sql_query(sql, db.conn, params=args)
    table.columns = pd.Index(["conversation", "judge", *criteria])
    prompts = (filters or {}).get(PROMPT, ())
    table["judge"] = table.judge.map(_judge_names(db, benchmark, prompts))
    return table.dropna(subset="judge").astype(dict.fromkeys(criteria, float))


def unusable(db: Database, benchmark: str, filters: FacetValues | None = None) -> pd.DataFrame:
    """The judgements whose reply stayed unusable: conversation, judge."""
    conversation_ids, args = ids(benchmark, filters)
    rows = db.query(
        "SELECT DISTINCT conversation_id AS conversation, rater_id AS judge FROM judgements "
        f"WHERE failure IS NOT NULL AND conversation_id IN ({conversation_ids}) ORDER BY 1, 2",
        args,
    )
    import pandas as pd  # which commands that show no table do without

    table = pd.DataFrame(rows, columns=["conversation", "judge"])
    return table.assign(judge=table.judge.map(_judge_names(db, benchmark))).dropna(subset="judge")


def _judge_names(db: Database, benchmark: str, prompts: Collection[str] = ()) -> dict[int, str]:
    """The judges of a benchmark by id; of these versions of the prompt, or of all."""
    number_of = ratings.judges(db, benchmark)
    names: dict[int, str] = {}
    for judge, name in labels(number_of).items():
        if not prompts or judge.variant in prompts:
            names[number_of[judge]] = name
    return names


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
    db: Database, benchmark: str, items: Collection[str], filters: FacetValues | None = None
) -> dict[str, list[str]]:
    """Language and facets in which these conversations differ, without those of `items`."""
    conversation_ids, args = ids(benchmark, filters)
    rows = db.execute(
        f"SELECT DISTINCT 'language', language FROM conversations WHERE id IN ({conversation_ids}) UNION "
        f"SELECT DISTINCT name, value FROM facets WHERE conversation_id IN ({conversation_ids}) "
        "ORDER BY 1, 2",
        args,
    )
    by_name: dict[str, list[str]] = {}
    for name, value in rows:
        if name not in items:
            by_name.setdefault(name, []).append(value)
    return {name: values for name, values in by_name.items() if len(values) > 1}


def mixed_notes(conditions: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each condition in which the conversations of a table differ."""
    notes: list[str] = []
    for name, values in conditions.items():
        examples = ", ".join(values[:5])
        if len(values) > 5:
            examples += ", …"
        notes.append(
            f"{len(values)} values of {name} are mixed ({examples}); `--where {name}={values[0]}` takes one."
        )
    return notes


def check(
    db: Database, benchmark: str, filters: FacetValues | None, *, prompts: Sequence[str] | None = None
) -> None:
    """Raises NotFound for a name or value in `filters` that the benchmark lacks.

    `prompts` are the versions that judges answered; those of the judges who rated, unless given.
    """
    if not filters:
        return
    allowed = stored.values(db, benchmark)
    if prompts is None:
        prompts = [judge.variant for judge in judges(db, benchmark).values()]
    allowed[PROMPT] = sorted(set(prompts))
    del allowed["benchmark"]
    for name, values in filters.items():
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
