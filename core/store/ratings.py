"""Judgements and ratings in the store: one table for people and judges."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord.errors import NotFound
from concord.rating import Comparison, Criterion, Judgement, Rater, RaterKind, Rating, Spent
from concord.store import database, summaries
from concord.store.database import column, find, now
from concord.store.purposes import RATED


@dataclass(frozen=True)
class StoredRating:
    """A rating read back. `study` is None for judges' ratings."""

    rater: Rater
    turn: int | None
    criterion: str
    score: float
    explanation: str
    repeat: int
    study: str | None
    created: str


class Row(NamedTuple):
    """A row of the table. `meta` is a JSON object of what else its source said about it, or None."""

    conversation_id: int
    turn: int | None
    criterion: str
    rater_id: int
    repeat: int
    study_id: int | None
    score: float
    explanation: str
    meta: str | None
    created: str


def rater_columns(table: str) -> str:
    """The columns of `rater`, in a query that has raters under this name."""
    return f"{table}.name, {table}.kind, {table}.variant, {table}.simulated"


def rater(name: str, kind: RaterKind, variant: str, simulated: int) -> Rater:
    """A rater from its row."""
    return Rater(name, kind, variant, bool(simulated))


def register(db: Database, scope: str, criteria: Sequence[Criterion], *, refusal: str = "") -> None:
    """Store the criteria of a benchmark or a study, or update those with the same names.

    `refusal` names the criterion by which raters of the benchmark see a refusal.
    """
    rows: list[dict[str, Any]] = []
    for position, criterion in enumerate(criteria):
        row = {"scope": scope, "position": position, **_row(criterion)}
        if refusal:
            row["refusals"] = refusal
        rows.append(row)
    db.table("criteria").upsert_all(rows, pk=("scope", "name"))


def criteria(db: Database, scope: str) -> tuple[Criterion, ...]:
    """The criteria of a benchmark or a study, in their order; empty where none were registered."""
    return tuple(summaries.criteria(db, scope).get(scope, ()))


def criteria_of(db: Database, conversation_id: int) -> tuple[Criterion, ...]:
    """The criteria that a conversation was rated by: of its benchmark, of its judges' rubrics, of studies.

    Of several with one name the first of these holds.
    """
    scopes = db.execute(
        "SELECT benchmark, 0 AS place FROM conversations WHERE id = :id "
        "UNION SELECT 'rubric:' || x.variant, 1 FROM ratings r JOIN raters x ON x.id = r.rater_id "
        "AND x.kind = 'judge' WHERE r.conversation_id = :id "
        "UNION SELECT 'study:' || t.name, 2 FROM ratings r JOIN studies t ON t.id = r.study_id "
        "WHERE r.conversation_id = :id ORDER BY place, 1",
        {"id": conversation_id},
    ).fetchall()
    by_name: dict[str, Criterion] = {}
    for scope, _ in scopes:
        for criterion in criteria(db, scope):
            by_name.setdefault(criterion.name, criterion)
    return tuple(by_name.values())


def _row(criterion: Criterion) -> dict[str, Any]:
    row = {**asdict(criterion), "scale": criterion.scale.as_json}
    if criterion.judged:
        row["judged"] = criterion.judged.as_json
    facets = row.pop("only")
    if row.pop("whole"):
        facets[summaries.WHOLE] = []
    row["only_of"] = json.dumps(facets, ensure_ascii=False)
    conditions = {name: astuple(condition) for name, condition in criterion.when.items()}
    row["asked_when"] = json.dumps(conditions, ensure_ascii=False)
    row["explain"] = json.dumps(astuple(criterion.explain) if criterion.explain else None)
    del row["when"]
    return row


def refusal(db: Database, benchmark: str) -> str:
    """The criterion by which raters of a benchmark see a refusal; “” where there is none."""
    row = find(db, "refusals", benchmark=benchmark)
    return row["criterion"] if row else ""


def rater_id(db: Database, rater: Rater) -> int:
    """The rater's id; a rater that is new is stored."""
    number = find_rater(db, rater)
    key = {"kind": rater.kind, "name": rater.name, "variant": rater.variant, "simulated": rater.simulated}
    return database.insert(db, "raters", key) if number is None else number


def rater_of(db: Database, number: int) -> Rater:
    """The stored rater with this id."""
    sql = "SELECT name, kind, variant, simulated FROM raters WHERE id = ?"
    return rater(*db.execute(sql, [number]).fetchone())


def raters(db: Database) -> dict[int, Rater]:
    """Every rater by id."""
    rows = db.execute("SELECT id, name, kind, variant, simulated FROM raters")
    return {number: rater(*row) for number, *row in rows}


def find_rater(db: Database, rater: Rater) -> int | None:
    """The rater's id, None for one that is not stored."""
    row = find(db, "raters", "id", kind=rater.kind, name=rater.name, variant=rater.variant)
    return row["id"] if row else None


def save_judgement(db: Database, judgement: Judgement, by: Mapping[str, Any] | None = None) -> None:
    """Store a judgement with its ratings, unless it is stored with ratings: see `keep`. `by` are the columns
    of the model that gave it (`configurations.columns`).
    """
    conversation = find(db, "conversations", "id", key=judgement.conversation)
    if conversation is None:
        raise NotFound(f"The judgement “{judgement.key}” is about a conversation that is not stored.")
    rater = rater_id(db, judgement.judge)
    meta = json.dumps(dict(judgement.meta), ensure_ascii=False)
    row = {"conversation_id": conversation["id"], "rater_id": rater, "meta": meta, **(by or {})}
    number = keep(db, "judgements", judgement, row)
    if number is not None:
        repeat = judgement.repeat
        insert(db, conversation["id"], rater, judgement.ratings, repeat=repeat, judgement_id=number)
        summaries.refresh(db, [conversation["id"]])


def keep(
    db: Database, table: str, verdict: Judgement | Comparison, row: Mapping[str, Any], *, again: bool = False
) -> int | None:
    """Store a judgement or a comparison, completed by `row`; returns its id.

    It replaces a failed one, whose cost is added to its own. One that did not fail is replaced only `again`;
    otherwise nothing is stored, and None is returned.
    """
    earlier = find(db, table, key=verdict.key)
    if earlier is not None and earlier["failure"] is None and not again:
        return None
    new = {
        "key": verdict.key,
        "repeat": verdict.repeat,
        "failure": verdict.failure,
        "raw": verdict.raw,
        "prompt": verdict.prompt,
        "created": now(),
        **row,
        **vars(verdict.spent),
    }
    if earlier is None:
        return database.insert(db, table, new)
    for name, amount in vars(verdict.spent).items():
        new[name] = earlier[name] + amount
    database.update(db, table, earlier["id"], **new)
    return int(earlier["id"])


def insert(
    db: Database,
    conversation_id: int,
    rater: int,
    new_ratings: Iterable[Rating],
    *,
    repeat: int = 0,
    study_id: int | None = None,
    judgement_id: int | None = None,
) -> None:
    """Store ratings. A second rating of the same thing by the same rater violates a unique index and raises.

    Call `summaries.refresh` when all rows of a conversation are in.
    """
    common = (conversation_id, rater, repeat, study_id, judgement_id, now())
    db.conn.executemany(
        "INSERT INTO ratings (conversation_id, rater_id, repeat, study_id, judgement_id, created, turn, "
        "criterion, score, explanation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*common, r.unit.turn, r.criterion, r.score, r.explanation) for r in new_ratings],
    )


def insert_rows(db: Database, rows: Iterable[tuple[Any, ...]], columns: Sequence[str] = Row._fields) -> None:
    """Store many ratings, each as a `Row`: twice as fast as `insert_all`. Then call `summaries.refresh`."""
    marks = ", ".join("?" * len(columns))
    db.conn.executemany(f"INSERT INTO ratings ({', '.join(columns)}) VALUES ({marks})", rows)


DEFAULTS: Mapping[str, Any] = {"turn": None, "repeat": 0, "study_id": None, "explanation": "", "meta": None}
"""What columns of a `Row` hold that are not named."""


def insert_columns(db: Database, columns: Mapping[str, Sequence[Any]]) -> None:
    """Store many ratings, by the columns of a `Row`. Then call `summaries.refresh`.

    Columns that hold their default in every row are left to SQLite: to bind them takes as long as the index.
    """
    columns_to_bind = {}
    for name, values in columns.items():
        if name not in DEFAULTS or values.count(DEFAULTS[name]) < len(values):
            columns_to_bind[name] = values
    insert_rows(db, zip(*columns_to_bind.values(), strict=True), [*columns_to_bind])


def scores_of(
    db: Database, conversation_ids: Iterable[int]
) -> dict[tuple[int, int | None, str, int, int, int | None], float]:
    """Scores by what a `Row` begins with: (conversation, turn, criterion, rater, repeat, study)."""
    rows = db.execute(
        "SELECT conversation_id, turn, criterion, rater_id, repeat, study_id, score FROM ratings "
        "WHERE conversation_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(conversation_ids))],
    )
    return {tuple(key): score for *key, score in rows}


def exported(
    db: Database, study: str = "", *, benchmark: str = "", variant: str = "", with_excluded: bool = False
) -> Iterator[dict[str, Any]]:
    """The ratings that count, of a study or all, with item, rater, source, and the comment on the item; no
    extra ones. Of a benchmark, or of raters of a variant, only where they are named.

    Those of annotators whom a decision excluded from their study are there only `with_excluded`.
    """
    sql = f"""
        SELECT c.key AS item_id, r.turn, r.criterion, x.kind AS rater_type, x.name AS rater, x.variant,
            x.simulated, r.repeat, r.score, r.explanation, r.created, r.meta, c.player AS model, c.language,
            t.name AS study, j.configuration_id, j.reported, ifnull(a.flag, '') AS comment
        FROM {_RATINGS_OF_STUDY if study else _ALL_RATINGS}
            LEFT JOIN placements a ON a.item_id = u.id AND a.rater_id = r.rater_id AND a.purpose IN {RATED}
            JOIN conversations c ON c.id = r.conversation_id
            JOIN raters x ON x.id = r.rater_id LEFT JOIN judgements j ON j.id = r.judgement_id
        WHERE NOT r.extra
            AND (:benchmark = '' OR c.benchmark = :benchmark)
            AND (:variant = '' OR x.variant = :variant)
            AND (:study = '' OR t.name = :study)
            AND (:with_excluded OR NOT EXISTS (SELECT 1 FROM excluded_raters o
                WHERE o.study_id = r.study_id AND o.rater_id = r.rater_id))
        ORDER BY r.conversation_id, x.kind, x.name, x.variant, r.repeat, ifnull(r.turn, 0), r.id"""
    yield from db.query(
        sql, {"study": study, "benchmark": benchmark, "variant": variant, "with_excluded": with_excluded}
    )


_ALL_RATINGS = """ratings r
    LEFT JOIN studies t ON t.id = r.study_id
    LEFT JOIN items u ON u.study_id = r.study_id AND u.conversation_id = r.conversation_id
        AND u.known = '' AND u.other_id IS NULL AND ifnull(u.turn, 0) = ifnull(r.turn, 0)"""
"""Ratings r with their study t and item u, if any."""
_RATINGS_OF_STUDY = """studies t
    JOIN items u ON u.study_id = t.id AND u.known = '' AND u.other_id IS NULL
    JOIN ratings r ON r.conversation_id = u.conversation_id AND (r.study_id = t.id
            OR r.study_id IS NULL AND t.per_turn = 0 OR r.study_id IS NULL AND r.turn IS u.turn)
        AND (r.study_id IS NULL OR ifnull(u.turn, 0) = ifnull(r.turn, 0))"""
"""Ratings r of a study t and of its items u by judges."""


def unusable(db: Database, benchmark: str, variant: str) -> Iterator[dict[str, Any]]:
    """The judgements without a usable reply on a benchmark's conversations by judges of a variant.

    Fields: item_id, rater, repeat, failure, raw.
    """
    yield from db.query(
        "SELECT c.key AS item_id, x.name AS rater, j.repeat, j.failure, j.raw FROM conversations c "
        "JOIN judgements j ON j.conversation_id = c.id JOIN raters x ON x.id = j.rater_id "
        "WHERE c.benchmark = ? AND x.variant = ? AND j.failure IS NOT NULL ORDER BY c.id, x.name, j.repeat",
        [benchmark, variant],
    )


def told_beside(db: Database) -> list[str]:
    """What sources said about single ratings: the names in their `meta`."""
    sql = "SELECT DISTINCT j.key FROM ratings r, json_each(r.meta) j WHERE r.meta IS NOT NULL ORDER BY 1"
    return column(db, sql)


def of_conversation(db: Database, conversation_id: int) -> list[StoredRating]:
    """Every rating of one conversation, judges and people, in the order of turns."""
    rows = db.execute(
        f"SELECT {rater_columns('x')}, r.turn, r.criterion, r.score, r.explanation, r.repeat, t.name, "
        "r.created FROM ratings r "
        "JOIN raters x ON x.id = r.rater_id LEFT JOIN studies t ON t.id = r.study_id "
        "WHERE r.conversation_id = ? ORDER BY ifnull(r.turn, 0), x.kind DESC, x.name, r.repeat",
        [conversation_id],
    )
    return [StoredRating(rater(*row[:4]), *row[4:]) for row in rows]


def judgements_of(db: Database, conversation_id: int) -> list[dict[str, Any]]:
    """Who judged a conversation, what it cost, how it failed where it did (with the raw reply), and its meta
    as JSON.
    """
    return list(
        db.query(
            "SELECT j.key, x.name AS judge, x.variant, x.simulated, j.repeat, j.failure, j.raw, j.prompt, "
            "j.meta, j.calls, j.input_tokens, j.output_tokens, j.cost, j.unpriced, j.seconds, "
            "j.cached_tokens, j.created FROM judgements j JOIN raters x ON x.id = j.rater_id "
            "WHERE j.conversation_id = ? ORDER BY x.name, j.repeat",
            [conversation_id],
        )
    )


def answered_keys(db: Database, keys: Sequence[str]) -> set[str]:
    """Those of the keys whose judgement or comparison is stored and did not fail."""
    sql = """
        SELECT key FROM judgements WHERE failure IS NULL AND key IN (SELECT value FROM json_each(:keys))
        UNION ALL
        SELECT key FROM comparisons WHERE failure IS NULL AND key IN (SELECT value FROM json_each(:keys))"""
    return set(column(db, sql, {"keys": json.dumps(list(keys))}))


def failed_keys(db: Database, keys: Sequence[str]) -> set[str]:
    """Those of the keys whose judgement or comparison is stored as failed."""
    sql = """
        SELECT key FROM judgements WHERE failure IS NOT NULL AND key IN (SELECT value FROM json_each(:keys))
        UNION ALL
        SELECT key FROM comparisons
        WHERE failure IS NOT NULL AND key IN (SELECT value FROM json_each(:keys))"""
    return set(column(db, sql, {"keys": json.dumps(list(keys))}))


def judges(db: Database, benchmark: str = "") -> dict[Rater, int]:
    """Every judge with ratings (of the benchmark), and its id, by name and version of the prompt."""
    rows = db.execute(
        f"SELECT DISTINCT x.id, {rater_columns('x')} FROM raters x JOIN rater_counts g ON g.rater_id = x.id "
        "WHERE x.kind = 'judge' AND g.rated > 0 AND ? IN ('', g.benchmark) ORDER BY x.name, x.variant",
        [benchmark],
    )
    return {rater(*row): number for number, *row in rows}


def remember_prompt(db: Database, hash: str, benchmark: str, version: str, name: str, body: str) -> None:
    """Keep the text of a prompt that results refer to by its hash."""
    if find(db, "prompts", "hash", hash=hash) is None:
        row = {"hash": hash, "benchmark": benchmark, "version": version, "name": name, "body": body}
        db.table("prompts").insert(row)


def prompts(db: Database) -> list[dict[str, Any]]:
    """Every prompt that results refer to: hash, benchmark, version, name, body."""
    return list(db.query("SELECT * FROM prompts ORDER BY benchmark, version, name, hash"))


def prompt(db: Database, hash: str) -> dict[str, Any] | None:
    """The prompt with this hash: benchmark, version, name, body; None where it is not kept."""
    return find(db, "prompts", hash=hash)


def people(db: Database) -> list[str]:
    """The names of all people who may rate, in the order in which they came."""
    return column(db, "SELECT name FROM raters WHERE kind = 'human' ORDER BY id")


LATELY = 20_000
"""The judgements, the latest, whose tokens say what others like them will take."""


def tokens_by_judge(db: Database) -> Mapping[tuple[str, str], tuple[float, float]]:
    """Mean tokens in and out per call, by judge and hash of the prompt, of the latest judgements and
    comparisons; those of a judge under any prompt have the hash “”.
    """
    sql = """
        WITH latest AS (
            SELECT * FROM (SELECT rater_id, prompt, calls, input_tokens, output_tokens FROM judgements
                ORDER BY id DESC LIMIT :lately)
            UNION ALL SELECT * FROM (SELECT rater_id, prompt, calls, input_tokens, output_tokens
                FROM comparisons ORDER BY id DESC LIMIT :lately)
        )
        SELECT x.name, j.prompt, 1.0 * sum(j.input_tokens) / sum(j.calls),
            1.0 * sum(j.output_tokens) / sum(j.calls)
        FROM latest j JOIN raters x ON x.id = j.rater_id GROUP BY x.name, j.prompt HAVING sum(j.calls) > 0
        UNION ALL
        SELECT x.name, '', 1.0 * sum(j.input_tokens) / sum(j.calls),
            1.0 * sum(j.output_tokens) / sum(j.calls)
        FROM latest j JOIN raters x ON x.id = j.rater_id GROUP BY x.name HAVING sum(j.calls) > 0"""
    tokens: dict[tuple[str, str], tuple[float, float]] = {}
    for name, prompt, tokens_in, tokens_out in db.execute(sql, {"lately": LATELY}):
        tokens[name, prompt] = (tokens_in, tokens_out)
    return tokens


def price_of_judges(db: Database, study: str) -> dict[Rater, float | None]:
    """What a thousand judgements of a study's conversations cost by judge; None where a price lacks, as of
    judgements that were imported.
    """
    rows = db.execute(
        f"SELECT {rater_columns('x')}, 1000 * total(j.cost) / count(*), sum(j.unpriced) OR NOT sum(j.calls) "
        "FROM judgements j JOIN raters x ON x.id = j.rater_id "
        "WHERE j.conversation_id IN (SELECT i.conversation_id FROM items i "
        "JOIN studies s ON s.id = i.study_id WHERE s.name = ?) GROUP BY x.id",
        [study],
    )
    prices: dict[Rater, float | None] = {}
    for *columns, price, unknown in rows:
        prices[rater(*columns)] = None if unknown else price
    return prices


def total_spent(db: Database) -> Spent:
    """The calls made in this workspace, and their cost; without their tokens and seconds."""
    spent = "SELECT ifnull(sum(calls), 0), total(cost), ifnull(sum(unpriced), 0) FROM player_counts"
    calls, cost, unpriced = db.execute(spent).fetchone()
    return Spent(calls, cost=cost, unpriced=unpriced)
