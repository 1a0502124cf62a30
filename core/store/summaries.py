"""The sums, finals and summaries that follow from ratings, for lists and figures to read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlite_utils import Database

from concord import scores
from concord.rating import Criterion, Rater
from concord.scores import DIGITS, Line, Sum

Criteria = Mapping[str, Sequence[Criterion]]


def refresh(db: Database, conversation_ids: Sequence[int] | None = None) -> None:
    """Compute the tables scores, finals and summaries anew, of these conversations; of all, and the counts.

    `scores` holds sums, so that a mean divides once. Who is left out by a decision has sums, and no part in
    finals and summaries.
    """
    only = "1" if conversation_ids is None else "conversation_id IN (SELECT value FROM json_each(:ids))"
    args = {"ids": json.dumps(conversation_ids)}
    for table in ("scores", "finals", "summaries"):
        db.execute(f"DELETE FROM {table} WHERE {only}", args)
    db.execute(
        f"""
        INSERT INTO scores (conversation_id, rater_id, criterion, repeat, study_id, extra, total, n)
        SELECT conversation_id, rater_id, criterion, repeat, study_id, max(extra), sum(score), count(*)
        FROM ratings WHERE {only} GROUP BY conversation_id, rater_id, criterion, repeat, study_id
        """,
        args,
    )
    sql = f"SELECT conversation_id, count(failure) FROM judgements WHERE {only} GROUP BY conversation_id"
    failed = dict(db.execute(sql, args).fetchall())
    criteria = _criteria(db)
    refusals = dict(db.execute("SELECT benchmark, criterion FROM refusals").fetchall())
    finals: list[tuple[int, int, float | None]] = []
    summaries: dict[int, tuple[Any, ...]] = {
        number: (number, None, None, None, 0, 0, n) for number, n in failed.items()
    }
    for number, benchmark, sums in _sums(db, only, args):
        kinds = {s.rater: s.kind for s in sums}
        given = scores.finals(sums, criteria)
        judged = [value for rater, value in given.items() if kinds[rater] == "judge"]
        judges = scores.complete(judged)
        people = scores.complete(value for rater, value in given.items() if kinds[rater] == "human")
        saw = {s.rater for s in sums if s.criterion == refusals.get(benchmark) and scores.refused(s.total)}
        spread = round(max(judges) - min(judges), DIGITS) if judges else None
        stood = (scores.mean(judges), spread, scores.mean(people), len(judges))
        summaries[number] = (number, *stood, len(saw), failed.get(number, 0))
        finals += [(number, rater, None if value != value else value) for rater, value in given.items()]
    db.conn.executemany("INSERT INTO finals (conversation_id, rater_id, final) VALUES (?, ?, ?)", finals)
    db.conn.executemany(
        "INSERT INTO summaries (conversation_id, final, spread, people, judges, refused, failed) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        summaries.values(),
    )
    if conversation_ids is None:
        _count(db)


def _count(db: Database) -> None:
    """Count anew what triggers count: the tables player_counts and rater_counts."""
    for table in ("player_counts", "rater_counts"):
        db.execute(f"DELETE FROM {table}")
    db.execute(
        "INSERT INTO player_counts SELECT benchmark, language, player, sum(made), sum(judged), sum(p.calls), "
        "total(p.cost), sum(p.unpriced) FROM (SELECT id, 1 AS made, 0 AS judged, calls, cost, unpriced "
        "FROM conversations UNION ALL SELECT conversation_id, 0, judges > 0, 0, 0, 0 FROM summaries "
        "UNION ALL SELECT conversation_id, 0, 0, calls, cost, unpriced FROM judgements UNION ALL "
        "SELECT first_id, 0, 0, calls, cost, unpriced FROM comparisons) p "
        "JOIN conversations c ON c.id = p.id GROUP BY 1, 2, 3"
    )
    db.execute(
        "INSERT INTO rater_counts SELECT rater_id, benchmark, sum(rated), sum(compared) FROM ("
        "SELECT DISTINCT rater_id, conversation_id, 1 AS rated, 0 AS compared FROM scores UNION ALL "
        "SELECT rater_id, first_id, 0, 1 FROM comparisons) JOIN conversations c ON c.id = conversation_id "
        "GROUP BY 1, 2"
    )


def scorecard(db: Database, conversation_id: int) -> list[Line]:
    """The scores of one conversation without answers not submitted: see `concord.scores.scorecard`."""
    raters = {
        row["id"]: Rater(row["name"], row["kind"], row["variant"], bool(row["simulated"]))
        for row in db.query(
            "SELECT * FROM raters WHERE id IN (SELECT rater_id FROM scores WHERE conversation_id = ?)",
            [conversation_id],
        )
    }
    criteria = _criteria(db)
    for _, benchmark, sums in _sums(db, "conversation_id = :id", {"id": conversation_id}):
        place = {c.name: i for i, c in enumerate(criteria.get(benchmark, ()))}
        named = [Sum(raters[s.rater], *s[1:]) for s in sums]
        named.sort(key=lambda s: (place.get(s.criterion, len(place)), s.kind == "human", s.rater.name))
        return scores.scorecard(named, criteria)
    return []


def _sums(db: Database, only: str, args: dict[str, Any]) -> Iterator[tuple[int, str, list[Sum[int]]]]:
    """The sums of each conversation that has any, with its benchmark, but those of excluded people."""
    kinds = dict(db.execute("SELECT id, kind FROM raters").fetchall())
    by_rubric = dict(
        db.execute(
            "SELECT x.id, 'rubric:' || u.variant FROM raters x JOIN rubrics u ON u.variant = x.variant "
            "WHERE x.kind = 'judge'"
        ).fetchall()
    )
    studies = {number: f"study:{name}" for number, name in db.execute("SELECT id, name FROM studies")}
    rows = db.execute(
        "SELECT s.conversation_id, c.benchmark, s.rater_id, s.study_id, s.criterion, s.total, s.n FROM "
        f"scores s JOIN conversations c ON c.id = s.conversation_id WHERE {only} AND NOT EXISTS "
        "(SELECT 1 FROM left_out o WHERE o.study_id = s.study_id AND o.rater_id = s.rater_id) "
        "ORDER BY s.conversation_id",
        args,
    )
    for (number, benchmark), given in groupby(rows, key=lambda row: row[:2]):
        rest = (
            Sum(rater, kinds[rater], studies.get(study, by_rubric.get(rater, benchmark)), *rest)
            for _, _, rater, study, *rest in given
        )
        yield number, benchmark, list(rest)


def _criteria(db: Database) -> Criteria:
    """What each scope asks."""
    by_scope: dict[str, list[Criterion]] = {}
    for row in db.query("SELECT * FROM criteria ORDER BY scope, position"):
        criterion = Criterion(
            row["name"], "", counted=bool(row["counted"]), conditional=bool(row["conditional"])
        )
        by_scope.setdefault(row["scope"], []).append(criterion)
    return by_scope
