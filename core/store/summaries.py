"""The sums, finals and summaries that follow from ratings, for lists and figures to read."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from math import isnan
from operator import itemgetter
from typing import Any, NamedTuple

from sqlite_utils import Database

from concord import scores
from concord.questions import Scale
from concord.rating import Criterion, Dependence, Rater, RaterKind
from concord.scores import DIGITS, Line

Criteria = Mapping[str, Sequence[Criterion]]


def refresh(db: Database, conversation_ids: Sequence[int] | None = None) -> None:
    """Compute the tables scores, finals and summaries anew, of these conversations; of all, and the counts.

    `scores` holds sums, so that a mean divides once. Who is excluded by a decision has sums, and no part in
    finals and summaries.
    """
    condition = "1" if conversation_ids is None else "conversation_id IN (SELECT value FROM json_each(:ids))"
    args = {"ids": json.dumps(conversation_ids)}
    for table in ("scores", "finals", "summaries"):
        db.execute(f"DELETE FROM {table} WHERE {condition}", args)
    db.execute(
        f"""
        INSERT INTO scores (conversation_id, rater_id, criterion, repeat, study_id, extra, total, n)
        SELECT conversation_id, rater_id, criterion, repeat, study_id, max(extra), sum(score), count(*)
        FROM ratings WHERE {condition} GROUP BY conversation_id, rater_id, criterion, repeat, study_id
        """,
        args,
    )
    sql = f"SELECT conversation_id, count(failure) FROM judgements WHERE {condition} GROUP BY conversation_id"
    failures = dict(db.execute(sql, args).fetchall())
    criteria_by_scope = criteria(db)
    refusals = dict(db.execute("SELECT benchmark, criterion FROM refusals").fetchall())
    kinds, scope = kinds_and_scopes(db)

    @lru_cache(10_000)  # most conversations have sums like those of others
    def parts(benchmark: str, *columns: tuple[Any, ...]) -> scores.Parts[int]:
        sums: list[tuple[int, RaterKind, str, str]] = []
        for rater, study, name in zip(*columns, strict=True):
            sums.append((rater, kinds[rater], scope(benchmark, rater, study), name))
        return scores.parts_of_finals(sums, criteria_by_scope)

    finals: list[tuple[int, int, float | None]] = []
    summaries: dict[int, _Summary] = {}
    for number, failed in failures.items():
        summaries[number] = _Summary(number, failed=failed)
    for number, benchmark, rows in _sums(db, condition, args):
        raters, studies, names, totals, counts = zip(*rows, strict=True)
        final_of = scores.finals_of(parts(benchmark, raters, studies, names), totals, counts)
        finals_of_kind: defaultdict[RaterKind, list[float]] = defaultdict(list)
        for rater, final in final_of.items():
            if isnan(final):
                finals.append((number, rater, None))
            else:
                finals.append((number, rater, final))
                finals_of_kind[kinds[rater]].append(final)
        witnesses: set[int] = set()
        for rater, name, total in zip(raters, names, totals, strict=True):
            if name == refusals.get(benchmark) and scores.is_refusal(total):
                witnesses.add(rater)
        judges = finals_of_kind["judge"]
        summaries[number] = _Summary(
            number,
            final=scores.mean(judges),
            spread=round(max(judges) - min(judges), DIGITS) if judges else None,
            people=scores.mean(finals_of_kind["human"]),
            judges=len(judges),
            refusals=len(witnesses),
            failed=failures.get(number, 0),
        )
    db.conn.executemany("INSERT INTO finals (conversation_id, rater_id, final) VALUES (?, ?, ?)", finals)
    db.conn.executemany(
        "INSERT INTO summaries (conversation_id, final, spread, people, judges, refused, failed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        summaries.values(),
    )
    if conversation_ids is None:
        _count(db)


class _Summary(NamedTuple):
    """A row of the table summaries."""

    conversation_id: int
    final: float | None = None
    spread: float | None = None
    people: float | None = None
    judges: int = 0
    refusals: int = 0
    failed: int = 0


def _count(db: Database) -> None:
    """Count anew what triggers count: the tables player_counts and rater_counts."""
    for table in ("player_counts", "rater_counts"):
        db.execute(f"DELETE FROM {table}")
    db.execute(
        "INSERT INTO player_counts SELECT benchmark, language, player, sum(made), sum(judged), sum(p.calls), "
        "total(p.cost), sum(p.unpriced) FROM (SELECT conversation_id, work = 'conversation' AS made, "
        "0 AS judged, calls, cost, unpriced FROM usage "
        "UNION ALL SELECT conversation_id, 0, judges > 0, 0, 0, 0 FROM summaries) p "
        "JOIN conversations c ON c.id = p.conversation_id GROUP BY 1, 2, 3"
    )
    db.execute(
        "INSERT INTO rater_counts SELECT rater_id, benchmark, sum(rated), sum(compared) FROM ("
        "SELECT DISTINCT rater_id, conversation_id, 1 AS rated, 0 AS compared FROM scores UNION ALL "
        "SELECT rater_id, first_id, 0, 1 FROM comparisons) JOIN conversations c ON c.id = conversation_id "
        "GROUP BY 1, 2"
    )


def scorecard(db: Database, conversation_id: int) -> list[Line]:
    """The scores of one conversation without answers not submitted: see `concord.scores.scorecard`."""
    means = db.execute(
        "SELECT s.criterion, x.name, x.kind, x.variant, x.simulated, sum(s.total) / sum(s.n) FROM scores s "
        "JOIN raters x ON x.id = s.rater_id JOIN conversations c ON c.id = s.conversation_id "
        "LEFT JOIN criteria k ON k.scope = c.benchmark AND k.name = s.criterion WHERE c.id = ? "
        "AND NOT EXISTS (SELECT 1 FROM excluded_raters o "
        "WHERE o.study_id = s.study_id AND o.rater_id = s.rater_id) "
        "GROUP BY s.criterion, x.id ORDER BY k.position IS NULL, k.position, x.kind = 'human', x.name",
        [conversation_id],
    )
    finals = db.execute(
        "SELECT x.name, x.kind, x.variant, x.simulated, f.final FROM finals f JOIN raters x "
        "ON x.id = f.rater_id WHERE f.conversation_id = ? AND f.final IS NOT NULL ORDER BY x.name",
        [conversation_id],
    )
    return scores.scorecard(
        [(criterion, _rater(*rater), mean) for criterion, *rater, mean in means],
        {_rater(*rater): final for *rater, final in finals},
    )


def _rater(name: str, kind: RaterKind, variant: str, simulated: int) -> Rater:
    return Rater(name, kind, variant, bool(simulated))


def kinds_and_scopes(db: Database) -> tuple[dict[int, RaterKind], Callable[[str, int, int | None], str]]:
    """The kind of each rater, and what asks a rater who answered about a benchmark's conversation, perhaps in
    a study.
    """
    kinds = dict(db.execute("SELECT id, kind FROM raters").fetchall())
    by_rubric = dict(
        db.execute(
            "SELECT x.id, 'rubric:' || u.variant FROM raters x JOIN rubrics u ON u.variant = x.variant "
            "WHERE x.kind = 'judge'"
        ).fetchall()
    )
    studies = {number: f"study:{name}" for number, name in db.execute("SELECT id, name FROM studies")}

    def scope(benchmark: str, rater: int, study: int | None) -> str:
        return studies[study] if study in studies else by_rubric.get(rater, benchmark)

    return kinds, scope


def _sums(
    db: Database, condition: str, args: dict[str, Any]
) -> Iterator[tuple[int, str, list[tuple[int, int | None, str, float, int]]]]:
    """The sums of each conversation that has any, (rater, study, criterion, total, n), with its benchmark;
    but those of excluded people.
    """
    excluded = set(db.execute("SELECT rater_id, study_id FROM excluded_raters").fetchall())
    rows = db.execute(
        "SELECT s.conversation_id, c.benchmark, s.rater_id, s.study_id, s.criterion, s.total, s.n FROM "
        f"scores s JOIN conversations c ON c.id = s.conversation_id WHERE {condition} "
        "ORDER BY s.conversation_id, s.rater_id, s.criterion",
        args,
    )
    for (number, benchmark), rows_of_conversation in groupby(rows, key=itemgetter(0, 1)):
        sums = [row[2:] for row in rows_of_conversation if row[2:4] not in excluded]
        if sums:
            yield number, benchmark, sums


WHOLE = ""
"""The facet, which no conversation has, that marks in `only_of` a question about the whole."""


def criteria(db: Database, scope: str = "") -> Criteria:
    """What each scope, or one, asks, in the order of its criteria."""
    by_scope: dict[str, list[Criterion]] = {}
    rows = db.execute(
        "SELECT name, statement, scale, title, counted, conditional, judged, reason, required, only_of, "
        "asked_when, explain, scope FROM criteria WHERE ? IN ('', scope) ORDER BY scope, position",
        [scope],
    )
    for row in rows:
        by_scope.setdefault(row[-1], []).append(_criterion(row))
    return by_scope


@lru_cache  # every judgement that is stored reads the criteria again
def _criterion(row: tuple[Any, ...]) -> Criterion:
    name, statement, scale, title, counted, conditional, judged, reason, required, *depends, _ = row
    facets, conditions, explain = map(json.loads, depends)
    return Criterion(
        name,
        statement,
        Scale.from_json(scale),
        title,
        bool(counted),
        bool(conditional),
        Scale.from_json(judged) if judged else None,
        reason,
        bool(required),
        {facet: tuple(values) for facet, values in facets.items() if facet != WHOLE},
        WHOLE in facets,
        {question: _condition(*condition) for question, condition in conditions.items()},
        _condition(*explain) if explain else None,
    )


def _condition(values: Sequence[float], upper: float | None, lower: float | None) -> Dependence:
    return Dependence(tuple(values), upper, lower)
