"""Runs in the store: their progress, the journal of calls already paid for, and the work that failed."""

import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from sqlite_utils import Database

from concord.codes import ON_DEMAND, Failure
from concord.configuration import Configuration, Reported
from concord.errors import not_found
from concord.rating import Spent
from concord.store import configurations, database, locks
from concord.store.database import file_of, find, insert, now, update
from concord.store.filters import FacetValues

State = Literal["running", "finished", "stopped", "broken"]
_ON_DEMAND = json.dumps([name for failure in ON_DEMAND for name in failure.stored])


@dataclass(frozen=True)
class Progress:
    """Where a run stands. `planned` = stored before it began + done + failed + left."""

    id: int
    benchmark: str
    plan: Mapping[str, Any]
    state: State
    message: str
    planned: int
    stored: int
    done: int
    failed: int
    spent: Spent
    started: str
    """When it began: of a run that waited for its turn, when that came."""
    heartbeat_at: str
    ended: str | None
    pid: int | None
    stop_asked: bool
    waiting: int = 0
    """Calls that wait at an endpoint in batches that it sent."""
    max_cost: float | None = None
    """What all runs of its plan may spend together; None for no limit."""
    elsewhere: float = 0.0
    """What other runs of its plan had spent, of a run with a limit."""
    alive: bool = False
    """Whether its process is alive, as its file tells."""
    signal: int = 0
    """The signal that stopped it, where this comes from the run itself."""

    @property
    def left(self) -> int:
        """Pieces of work not yet tried."""
        return max(0, self.planned - self.stored - self.done - self.failed)

    @property
    def elapsed(self) -> float:
        """Seconds from its beginning to the last sign of life; the wait for its turn does not count."""
        last = datetime.fromisoformat(self.ended or self.heartbeat_at)
        return (last - datetime.fromisoformat(self.started).astimezone(UTC)).total_seconds()

    @property
    def interrupted(self) -> bool:
        """Whether its state is running and its process is gone."""
        return self.state == "running" and not self.alive

    @property
    def stands(self) -> str:
        """Its state, “interrupted”, “waiting for batches”, or “finished with failures”."""
        if self.interrupted:
            return "interrupted"
        if self.waiting and self.state == "stopped":
            return "waiting for batches"
        return "finished with failures" if self.state == "finished" and self.failed else self.state

    @property
    def seconds_left(self) -> float | None:
        """Time left at the pace so far; None before anything was done."""
        tried = self.done + self.failed
        return self.elapsed / tried * self.left if tried else None


def start(
    db: Database, benchmark: str, plan: Mapping[str, Any], pid: int, max_cost: float | None = None
) -> int:
    """Open a run and return its id."""
    body = json.dumps(plan, ensure_ascii=False)
    row = {"benchmark": benchmark, "plan": body, "state": "running", "pid": pid, "host": socket.gethostname()}
    return insert(
        db, "runs", row | {"max_cost": max_cost} | dict.fromkeys(("started", "heartbeat_at"), now())
    )


def begin(db: Database, run: int) -> str:
    """Count a run's time from now, as its turn has come; returns the moment."""
    moment = now()
    update(db, "runs", run, started=moment, heartbeat_at=moment)
    return moment


def beat(
    db: Database, run: int, *, planned: int, stored: int, done: int, failed: int, message: str = ""
) -> bool:
    """Write where the run stands; `message` says what it waits for. Returns whether it is to stop."""
    pieces = {"planned": planned, "stored": stored, "done": done, "failed": failed}
    update(db, "runs", run, **pieces, message=message, heartbeat_at=now())
    row = find(db, "runs", "stop_asked", id=run)
    return bool(row and row["stop_asked"])


def spend(db: Database, run: int, spent: Spent) -> None:
    """Add to what a run has spent, in the transaction that keeps what was paid for."""
    db.execute(_SPEND, [*vars(spent).values(), run])


_SPEND = f"UPDATE runs SET {', '.join(f'{f.name} = {f.name} + ?' for f in fields(Spent))} WHERE id = ?"


def end(db: Database, run: int, state: State, message: str = "") -> None:
    """Close a run."""
    moment = now()
    db.table("runs").update(
        run, {"state": state, "message": message, "ended": moment, "heartbeat_at": moment}
    )


def ask_to_stop(db: Database, run: int) -> None:
    """Ask a run to finish its calls in flight and end; if its process is gone, mark it stopped."""
    progress = get(db, run)
    if progress.interrupted:
        end(db, run, "stopped", "Its process had ended. Resume the run to continue.")
    elif progress.state == "running":
        db.table("runs").update(run, {"stop_asked": 1})


_RUNS = (
    "SELECT r.*, (SELECT count(*) FROM batches b JOIN batch_calls c ON c.batch_id = b.id "
    "WHERE b.run_id = r.id) AS waiting FROM runs r"
)


def get(db: Database, run: int) -> Progress:
    """One run. Raises NotFound."""
    for row in db.query(f"{_RUNS} WHERE r.id = ?", [run]):
        return _progress(db, row)
    raise not_found("run", str(run), (str(row["id"]) for row in db.table("runs").rows))


def recent(db: Database, limit: int = 20) -> list[Progress]:
    """The latest runs, newest first."""
    return [_progress(db, row) for row in db.query(f"{_RUNS} ORDER BY r.id DESC LIMIT ?", [limit])]


def ahead(db: Database, run: int) -> int | None:
    """A run of the same benchmark that was started before this one and is at work; None if there is none.

    What two runs could share, conversations and what judges said of them, belongs to one benchmark.
    """
    rows = db.query(
        f"{_RUNS} WHERE r.state = 'running' AND r.id < :run "
        "AND r.benchmark = (SELECT benchmark FROM runs WHERE id = :run) ORDER BY r.id",
        {"run": run},
    )
    for row in rows:
        if not _progress(db, row).interrupted:
            return int(row["id"])
    return None


def elsewhere(db: Database, run: int) -> float:
    """What other runs of a run's plan count for, which is kept with it: as runs of a benchmark take turns, it
    stays as it is while this one is at work.
    """
    progress = get(db, run)
    cost = cost_of_plan(db, progress.benchmark, progress.plan, but=run)
    update(db, "runs", run, elsewhere=cost)
    return cost


def grant(db: Database, run: int, amount: float) -> None:
    """Note what a run may have spent until it asks again."""
    update(db, "runs", run, granted=amount)


def end_grant(db: Database, run: int, unknown_cost: float) -> None:
    """Take back what a run was granted and has not spent, but for what calls without an answer may cost."""
    db.execute("UPDATE runs SET granted = cost + ? WHERE id = ?", [unknown_cost, run])


def cost_of_plan(db: Database, benchmark: str, plan: Mapping[str, Any], *, but: int | None = None) -> float:
    """What all runs of a plan count for, but one: what they were granted or, if that is more, have spent. So
    one that was killed counts for the calls that it had in flight as well.
    """
    rows = db.execute(
        "SELECT plan, max(cost, granted) FROM runs WHERE benchmark = ? AND id IS NOT ?", [benchmark, but]
    )
    costs = [cost for text, cost in rows if cost and json.loads(text) == plan]
    return float(sum(costs))


@dataclass(frozen=True)
class NotedCall:
    """An answered call in the journal. `asked` is the hash of what was sent and of the configuration.

    `beside` holds what the reply said beside its text, as plain values.
    """

    asked: str
    reply: str
    cut: bool
    spent: Spent
    reported: Reported
    details: Mapping[str, Any] = field(default_factory=dict)


def note_call(db: Database, work: str, step: str, note: NotedCall, configuration: Configuration) -> None:
    """Keep an answered call until its work is stored, so that a resumed run does not pay for it again."""
    database.replace(
        db,
        "journal",
        {
            "work": work,
            "step": step,
            "configuration_id": configurations.remember(db, configuration),
            "asked": note.asked,
            "reply": note.reply,
            "beside": json.dumps(dict(note.details), ensure_ascii=False),
            "cut": note.cut,
            "model": note.reported.model,
            "fingerprint": note.reported.fingerprint,
            **{name: getattr(note.spent, name) for name in _USAGE_COLUMNS},
        },
    )


_USAGE_COLUMNS = [field.name for field in fields(Spent) if field.name != "calls"]
"""What a call of the journal took; it is one call."""


def noted_calls(db: Database, work: str) -> dict[str, NotedCall]:
    """The calls kept for a piece of work, by step."""
    calls = {}
    for row in db.table("journal").rows_where("work = ?", [work]):
        calls[row["step"]] = NotedCall(
            asked=row["asked"],
            reply=row["reply"],
            cut=bool(row["cut"]),
            spent=Spent(**{name: row[name] for name in _USAGE_COLUMNS}, calls=1),
            reported=Reported(row["model"], row["fingerprint"]),
            details=json.loads(row["beside"]),
        )
    return calls


def works_noted(db: Database, works: Sequence[str]) -> dict[str, int]:
    """The number of journalled calls of each of these works that has any."""
    sql = "SELECT work, count(*) FROM journal WHERE work IN (SELECT value FROM json_each(?)) GROUP BY work"
    return dict(db.execute(sql, [json.dumps(list(works))]).fetchall())


def settle(db: Database, work: str) -> None:
    """Delete the journal and the failure of a work that is stored."""
    for table in ("journal", "failures"):
        db.execute(f"DELETE FROM {table} WHERE work = ?", [work])


def forget_step(db: Database, work: str, step: str) -> None:
    """Delete the replies of a step that were all unusable: the next run asks again."""
    db.table("journal").delete_where(
        "work = ? AND (step = ? OR step GLOB ?)", [work, step, f"{step} again *"]
    )


@dataclass(frozen=True)
class FailedWork:
    """Why a piece of work failed. `reason` is the name under which failures are counted, `raw` what was
    answered, `model` whose reply it was; `player` and `facets` are those of the conversation that was not
    made, empty for a verdict.
    """

    kind: Failure
    message: str
    reason: str = ""
    raw: str = ""
    benchmark: str = ""
    model: str = ""
    player: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)


def save_failure(db: Database, work: str, failure: FailedWork, run: int | None) -> None:
    """Record a piece of work that failed. The journal keeps its paid calls."""
    row = {**asdict(failure), "facets": json.dumps(dict(failure.facets), ensure_ascii=False)}
    row |= {"work": work, "run_id": run, "created": now()}
    columns = ", ".join(row)
    placeholders = ", ".join(f":{name}" for name in row)
    updates = ", ".join(f"{name} = excluded.{name}" for name in row if name != "work")
    db.execute(
        f"INSERT INTO failures ({columns}) VALUES ({placeholders}) "
        f"ON CONFLICT (work) DO UPDATE SET {updates}, attempts = attempts + 1",
        row,
    )


class Reason(NamedTuple):
    """Failures of one reason: how many, of which models, some of their works, and one raw example."""

    reason: str
    failed: int
    models: tuple[str, ...]
    works: tuple[str, ...]
    message: str
    raw: str


def reasons(db: Database, run: int) -> list[Reason]:
    """What failed in a run and was not done since, by reason, the most frequent first."""
    by_reason: dict[str, list[dict[str, Any]]] = {}
    for row in db.table("failures").rows_where("run_id = ?", [run], order_by="created, work"):
        by_reason.setdefault(row["reason"] or row["kind"], []).append(row)
    reasons: list[Reason] = []
    for reason, rows in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        example = max(rows, key=lambda row: bool(row["raw"]))
        models = {row["model"] for row in rows}
        reasons.append(
            Reason(
                reason=reason,
                failed=len(rows),
                models=tuple(sorted(models - {""})),
                works=tuple(row["work"] for row in rows[:5]),
                message=example["message"],
                raw=example["raw"],
            )
        )
    return reasons


def failed_plays(db: Database, benchmark: str, filters: FacetValues | None = None) -> list[dict[str, Any]]:
    """Conversations whose failure is their result and that were not made since: player, model, facets.

    `filters` allows only these values of a facet, of “language” or of “player”; other names ask nothing.
    """
    rows = db.table("failures").rows_where(
        "benchmark = ? AND player != '' AND kind IN (SELECT value FROM json_each(?))",
        [benchmark, _ON_DEMAND],
    )
    plays = []
    for row in rows:
        facets = json.loads(row["facets"])
        of_play = {**facets, "player": row["player"]}
        if all(of_play.get(name) in (None, *values) for name, values in (filters or {}).items() if values):
            plays.append({"player": row["player"], "model": row["model"], "facets": facets})
    return plays


def failed_turns(
    db: Database, benchmark: str, filters: FacetValues | None = None
) -> dict[str, dict[str, int]]:
    """`failed_plays`, counted: player → whose reply stayed unusable → number."""
    counts: dict[str, dict[str, int]] = {}
    for row in failed_plays(db, benchmark, filters):
        count_of_model = counts.setdefault(row["player"], {})
        count_of_model[row["model"]] = count_of_model.get(row["model"], 0) + 1
    return counts


def failed(db: Database, works: Sequence[str]) -> set[str]:
    """Those of the works whose failure is their result and that were not done since."""
    rows = db.execute(
        "SELECT work FROM failures WHERE kind IN (SELECT value FROM json_each(?)) AND work IN (SELECT value "
        "FROM json_each(?))",
        [_ON_DEMAND, json.dumps(list(works))],
    )
    return {work for (work,) in rows}


def _progress(db: Database, row: Mapping[str, Any]) -> Progress:
    values = {f.name: row[f.name] for f in fields(Progress) if f.name in row}
    spent = Spent(**{f.name: row[f.name] for f in fields(Spent)})
    values |= {"plan": json.loads(row["plan"]), "stop_asked": bool(row["stop_asked"]), "spent": spent}
    if row["state"] == "running":
        file = file_of(db)
        # What the store cannot take is in the run's own file.
        values |= {"alive": locks.alive(file, row["id"])}
        values |= {"message": locks.message_of(file, row["id"]) or row["message"]}
    return Progress(**values)
