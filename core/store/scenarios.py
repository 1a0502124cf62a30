"""Scenarios in the store: what a benchmark is run on, its source, and who accepted it."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import ConcordError, not_found
from concord.scenario import Scenario, State
from concord.store import audit
from concord.store.actor import acting
from concord.store.database import column, find, now


def save(db: Database, scenarios: Iterable[Scenario]) -> int:
    """Store scenarios whose keys are new; returns how many are."""
    changes = db.conn.total_changes
    moment = now()
    rows: list[dict[str, Any]] = []
    for scenario in scenarios:
        row = dict(vars(scenario))
        row["body"] = json.dumps(dict(scenario.body), ensure_ascii=False)
        row["created"] = scenario.created or moment
        row["decided"] = scenario.decided
        if not scenario.decided:
            row["decided"] = moment if scenario.decided_by else None
        rows.append(row)
    db.table("scenarios").insert_all(rows, ignore=True)
    return db.conn.total_changes - changes


def accepted(db: Database, benchmark: str, kind: str) -> list[Scenario]:
    """The accepted scenarios in the order stored, without those in `waiting_for`."""
    waiting = waiting_for(db, benchmark, kind)
    scenarios = page(db, benchmark, kind, state="accepted")
    return [scenario for scenario in scenarios if scenario.key not in waiting]


def waiting_for(db: Database, benchmark: str, kind: str) -> dict[str, str]:
    """The accepted scenarios whose stored task is not accepted: key → task's key."""
    rows = db.execute(
        "SELECT s.key, t.key FROM scenarios s JOIN scenarios t ON t.benchmark = s.benchmark "
        "AND t.kind = 'task' AND t.key = json_extract(s.body, '$.task') WHERE s.benchmark = ? AND s.kind = ? "
        "AND s.state = 'accepted' AND t.state <> 'accepted' ORDER BY s.id",
        [benchmark, kind],
    )
    return dict(rows.fetchall())


def page(db: Database, benchmark: str, kind: str, *, state: State | None = None) -> list[Scenario]:
    """All of a kind, or those in a state, in the order they came."""
    rows = db.query(
        "SELECT * FROM scenarios WHERE benchmark = ? AND kind = ? AND (? IS NULL OR state = ?) ORDER BY id",
        [benchmark, kind, state, state],
    )
    return [_scenario(row) for row in rows]


def get(db: Database, benchmark: str, kind: str, key: str) -> Scenario:
    """One of them. Raises NotFound."""
    row = find(db, "scenarios", benchmark=benchmark, kind=kind, key=key)
    if row is None:
        raise not_found(kind, key, keys(db, benchmark, kind))
    return _scenario(row)


def keys(db: Database, benchmark: str, kind: str, state: State | None = None) -> list[str]:
    """Their keys, in the order they came."""
    sql = (
        "SELECT key FROM scenarios WHERE benchmark = ? AND kind = ? AND (? IS NULL OR state = ?) ORDER BY id"
    )
    return column(db, sql, [benchmark, kind, state, state])


def proposed(db: Database, calls: Sequence[str]) -> set[str]:
    """Those of the calls (BENCHMARK/KIND/CALL) whose proposal is stored; CALL is in the scenario's body."""
    sql = (
        "SELECT benchmark || '/' || kind || '/' || json_extract(body, '$.call') AS call FROM scenarios "
        "WHERE call IN (SELECT value FROM json_each(?))"
    )
    return set(column(db, sql, [json.dumps(list(calls))]))


def decide(db: Database, benchmark: str, kind: str, key: str, state: State, by: str) -> Scenario:
    """Store who decided on a scenario, when and what, with a line of the audit log. Raises NotFound."""
    db.execute(
        "UPDATE scenarios SET state = ?, decided_by = ?, decided = ? "
        "WHERE benchmark = ? AND kind = ? AND key = ?",
        [state, by, now(), benchmark, kind, key],
    )
    scenario = get(db, benchmark, kind, key)
    with acting(by):
        audit.record(db, AuditAct(f"scenario_{state}"), detail=benchmark, item=key, target=kind)
    return scenario


def bring(db: Database, scenarios: Sequence[Scenario]) -> list[str]:
    """Store scenarios of one benchmark and kind whose keys are new, with a line of the audit log that counts
    them; their keys.
    """
    if not scenarios:
        return []
    first = scenarios[0]
    existing = set(keys(db, first.benchmark, first.kind))
    new = [scenario.key for scenario in scenarios if scenario.key not in existing]
    if save(db, scenarios):
        detail = f"{len(new)} of {first.benchmark}, {first.source}"
        audit.record(db, AuditAct.SCENARIOS_BROUGHT, detail=detail, target=first.kind)
    return new


def remove(db: Database, benchmark: str, kind: str, keys: Sequence[str], *, used_by: Collection[str]) -> int:
    """Remove scenarios, with a line of the audit log; returns how many. `used_by` are the benchmarks whose
    conversations are made from them: another one may have a facet of the same name and value.

    Raises ConcordError where a conversation or another scenario rests on one of them: nothing is removed.
    """
    listed = json.dumps(list(keys))
    resting = column(
        db,
        "SELECT f.value FROM facets f JOIN conversations c ON c.id = f.conversation_id WHERE f.name = :kind "
        "AND f.value IN (SELECT value FROM json_each(:keys)) AND c.benchmark IN (SELECT value FROM "
        "json_each(:used_by)) UNION "
        "SELECT json_extract(body, '$.' || :kind) AS used FROM scenarios WHERE benchmark = :benchmark "
        "AND kind <> :kind AND used IN (SELECT value FROM json_each(:keys)) LIMIT 1",
        {"kind": kind, "keys": listed, "benchmark": benchmark, "used_by": json.dumps(list(used_by))},
    )
    if resting:
        raise ConcordError(
            f"The {kind} “{resting[0]}” is in use: something stored was made from it. It can be rejected or "
            "discarded, but not removed."
        )
    cursor = db.execute(
        "DELETE FROM scenarios WHERE benchmark = ? AND kind = ? AND key IN (SELECT value FROM json_each(?))",
        [benchmark, kind, listed],
    )
    audit.record(db, AuditAct.SCENARIOS_REMOVED, detail=f"{cursor.rowcount} of {benchmark}", target=kind)
    return int(cursor.rowcount)


def _scenario(row: Mapping[str, Any]) -> Scenario:
    values = {name: value for name, value in row.items() if name != "id"}
    return Scenario(**values | {"body": json.loads(row["body"])})
