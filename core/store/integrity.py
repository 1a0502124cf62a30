"""Whether a database is whole: what SQLite says of it, and what must hold of what Concord stores."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from sqlite_utils import Database

from concord.rating import Criterion
from concord.store import schema, summaries
from concord.store.database import column
from concord.store.purposes import RATED

RESTORE = "Restore a backup (docs/backup.md)."
REPORT = "Results may be affected: restore a backup (docs/backup.md), or report it if it comes back."
EXAMPLES = 5
"""How many single places of one kind are named."""
DERIVED = ("scores", "finals", "summaries", "player_counts", "rater_counts")
"""Tables that follow from others."""
ALIKE = 6
"""Numbers that are equal to so many decimals are the same: they were added in another order."""
JSON = {
    "conversations": ("messages", "meta", "made_by"),
    "scenarios": ("body",),
    "criteria": ("scale", "judged", "only_of"),
    "studies": ("context_fields",),
    "samples": ("filter", "strata_facets", "without_studies", "files"),
    "lab_proposals": ("reply",),
    "rubrics": ("body",),
    "import_parts": ("added",),
    "judgements": ("meta", "reported"),
    "comparisons": ("reported",),
    "ratings": ("meta",),
}
"""Columns that hold JSON, or nothing, by table."""


def findings(db: Database) -> list[str]:
    """Everything wrong with a copy of a database, a sentence each that says what to do.

    Where SQLite itself finds damage, or texts are none, nothing else is looked at; without the rows and the
    JSON that they rest on, scores and sums are not. Derived tables are computed anew.
    """
    try:
        damage = list(_damage(db)) or [*_schema(db), *_texts(db)]
        if damage:
            return [f"{sentence} {RESTORE}" for sentence in damage]
        unreadable = [*_references(db), *_json(db)]
        contradictions = [*_items(db), *_judgements(db)]
        if not unreadable:
            contradictions += [*_scores(db), *_derived(db)]
        return [f"{sentence} {REPORT}" for sentence in (*unreadable, *contradictions)]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return [f"The file is damaged or not a Concord database: {error}. {RESTORE}"]


def _damage(db: Database) -> Iterator[str]:
    """What SQLite itself finds."""
    for (problem,) in db.execute(f"PRAGMA integrity_check({EXAMPLES})"):
        if problem != "ok":
            yield f"SQLite finds the file damaged: {problem}."


def _schema(db: Database) -> Iterator[str]:
    """Tables, indices, views and triggers that are not there."""
    complete = Database(memory=True)
    schema.apply(complete, 0)
    sql = "SELECT type, CAST(name AS BLOB) FROM sqlite_schema"
    present = set(db.execute(sql).fetchall())
    missing: list[str] = []
    for kind, name in complete.execute(sql):
        if (kind, name) not in present:
            missing.append(f"{kind} {name.decode()}")
    if missing:
        yield f"Parts of the database that are missing: {_examples(missing)}."


def _texts(db: Database) -> Iterator[str]:
    """Texts that are no UTF-8, which nothing can read."""
    tables = ["sqlite_schema", *db.table_names()]
    db.conn.text_factory = _is_text  # blobs stay what they are
    try:
        for table in tables:
            quoted = table.replace('"', '""')
            cursor = db.execute(f'SELECT * FROM "{quoted}"')
            names = [column[0] for column in cursor.description]
            damaged: dict[str, None] = {}
            for row in cursor:
                for name, cell in zip(names, row, strict=True):
                    if cell is False:
                        damaged[name] = None
            if damaged:
                yield f"Texts of {table} that are no UTF-8: {', '.join(damaged)}."
    finally:
        db.conn.text_factory = str


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _references(db: Database) -> Iterator[str]:
    """Rows that refer to rows that are not there."""
    missing: dict[tuple[str, str], list[int]] = {}
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check").fetchall():
        missing.setdefault((table, parent), []).append(row)
    for (table, parent), rows in missing.items():
        yield f"Rows of {table} that refer to missing rows of {parent}: {_examples(rows)}."


_KEYS = {
    "criteria": "name",
    "import_parts": "number",
    "samples": "study_id",
    "lab_proposals": "request_hash",
}
"""The columns by which rows are named, where they have no `id`."""


def _json(db: Database) -> Iterator[str]:
    """Rows whose JSON cannot be read."""
    for table, columns in JSON.items():
        key = _KEYS.get(table, "id")
        for name in columns:
            sql = f"SELECT {key} FROM {table} WHERE {name} IS NOT NULL AND NOT json_valid({name})"
            keys = column(db, sql)
            if keys:
                yield f"Rows of {table} whose {name} is no JSON: {_examples(keys)}."


def _scores(db: Database) -> Iterator[str]:
    """Scores of ratings, and answers at desks, that are no answers of their question's scale.

    A scale that was guessed from scores says nothing.
    """
    criterion_of: dict[tuple[str, str], Criterion] = {}
    for scope, criteria in summaries.criteria(db).items():
        for criterion in criteria:
            criterion_of[scope, criterion.name] = criterion
    kinds, scope_of = summaries.kinds_and_scopes(db)
    ratings = db.execute(
        "SELECT c.benchmark, r.rater_id, r.study_id, r.criterion, r.score, min(r.id), count(*) "
        "FROM ratings r JOIN conversations c ON c.id = r.conversation_id GROUP BY 1, 2, 3, 4, 5"
    )
    answers = db.execute(
        "SELECT c.benchmark, p.rater_id, i.study_id, a.question, a.value, min(a.id), count(*) FROM answers a "
        "JOIN placements p ON p.id = a.placement_id JOIN items i ON i.id = p.item_id "
        "JOIN studies t ON t.id = i.study_id JOIN conversations c ON c.id = i.conversation_id "
        "WHERE t.kind = 'ratings' AND a.value IS NOT NULL GROUP BY 1, 2, 3, 4, 5"
    )
    for table, rows in (("ratings", ratings), ("answers", answers)):
        numbers_by_problem: dict[str, list[int]] = {}
        for benchmark, rater, study, name, score, first, n in rows:
            question = criterion_of.get((scope_of(benchmark, rater, study), name))
            problem = ""
            if not isinstance(score, int | float):
                problem = f"{name}, no number"
            elif question is not None:
                scale = question.scale_of(kinds[rater])
                if not scale.guessed and score not in scale:
                    problem = f"{name}, {score:g} on {scale.low:g} to {scale.high:g}"
            if problem:
                numbers_by_problem.setdefault(problem, []).extend([first] * n)
        for problem, numbers in numbers_by_problem.items():
            yield f"Scores in {table} that are not on their scale ({problem}): {_examples(numbers)}."


def _items(db: Database) -> Iterator[str]:
    """Items that were submitted and hold no answer at all, or another one than figures have."""
    empty = column(
        db,
        f"SELECT p.id FROM placements p WHERE p.state = 'done' AND p.purpose IN {RATED} AND NOT EXISTS "
        "(SELECT 1 FROM human_scores g WHERE g.item_id = p.item_id AND g.rater_id = p.rater_id)",
    )
    if empty:
        yield f"Submitted items without answers: {_examples(empty)}."
    contradicting = column(
        db,
        "SELECT DISTINCT p.id FROM placements p "
        "JOIN answers a ON a.placement_id = p.id AND a.superseded_at IS NULL "
        f"WHERE p.state = 'done' AND p.purpose IN {RATED} AND NOT EXISTS (SELECT 1 FROM human_scores g "
        "WHERE g.item_id = p.item_id AND g.rater_id = p.rater_id AND g.criterion = a.question "
        "AND g.score = a.value)",
    )
    if contradicting:
        yield f"Submitted items whose answers are not their ratings: {_examples(contradicting)}."


def _judgements(db: Database) -> Iterator[str]:
    """Judgements that failed and have scores all the same."""
    scored = column(
        db,
        "SELECT id FROM judgements j WHERE failure IS NOT NULL AND EXISTS "
        "(SELECT 1 FROM ratings r WHERE r.judgement_id = j.id)",
    )
    if scored:
        yield f"Failed judgements that have scores: {_examples(scored)}."


def _derived(db: Database) -> Iterator[str]:
    """Tables of sums and counts that do not follow from ratings, conversations and comparisons."""
    rows_before = {table: _rows(db, table) for table in DERIVED}
    summaries.refresh(db)
    for table in DERIVED:
        different = rows_before[table] ^ _rows(db, table)
        if different:
            yield f"Rows of {table} that do not follow from what is stored: {len(different)}."


def _rows(db: Database, table: str) -> set[tuple[Any, ...]]:
    """The rows of a table, with rounded numbers."""
    return {tuple(map(_rounded, row)) for row in db.execute(f"SELECT * FROM {table}")}


def _rounded(cell: Any) -> Any:
    if isinstance(cell, float):
        return round(cell, ALIKE)
    return cell


def _examples(places: list[Any]) -> str:
    """How many there are, and the first of them."""
    names = [str(place) for place in places[:EXAMPLES]]
    if len(places) > EXAMPLES:
        names.append("…")
    return f"{len(places)} ({', '.join(names)})"
