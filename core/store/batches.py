"""Batches at an endpoint in the store: where each stands, and the calls that wait in it.

A batch is stored before its file is sent, after that, and once the endpoint has named it, so that a run that
was killed in between finds it again by its mark.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlite_utils import Database

from concord.store.database import insert, now, scalar

FINAL_STATES = ("collected", "refused", "given up")
"""States of a batch in which no call waits any more."""


@dataclass(frozen=True)
class Batch:
    """A batch. `state` is prepared, uploaded, the endpoint's own word, or one of ENDED.

    `mark` is what the endpoint is told as metadata, `file` and `name` are its names for the file of requests
    and for the batch; empty before it gave them. `lines` are the calls at first, `changed` is when the state
    did.
    """

    id: int
    mark: str
    run_id: int | None
    model: str
    lines: int
    state: str
    file: str
    name: str
    message: str
    created: str
    changed: str

    @property
    def age(self) -> float:
        """Seconds since its state changed."""
        return (datetime.fromisoformat(now()) - datetime.fromisoformat(self.changed)).total_seconds()


@dataclass(frozen=True)
class Waiting:
    """A call in a batch; `batch_id` is None where it is to be asked again.

    `asked` is the hash of what was sent, `cost` the estimate, `tries` how many batches gave no answer.
    `kind`, `message`, `reason` and `raw` are those of a CallFailed where it failed for good.
    """

    id: str
    batch_id: int | None
    model: str
    work: str
    step: str
    asked: str
    cost: float
    tries: int = 0
    kind: str | None = None
    message: str = ""
    reason: str = ""
    raw: str = ""


def prepare(db: Database, run: int | None, model: str, mark: str, calls: Sequence[Waiting]) -> int:
    """Store a batch that is about to be sent; its number."""
    moment = now()
    row = {"mark": mark, "run_id": run, "model": model, "lines": len(calls), "state": "prepared"}
    number = insert(db, "batches", row | {"created": moment, "changed": moment})
    names = ("id", "model", "work", "step", "asked", "cost")
    rows: list[dict[str, Any]] = []
    for call in calls:
        rows.append({"batch_id": number, **{name: getattr(call, name) for name in names}})
    db.table("batch_calls").upsert_all(rows, pk="id")
    return number


def change(db: Database, batch: int, state: str, **names: str) -> None:
    """Write the state of a batch, and its `file`, `name` or `message`."""
    db.table("batches").update(batch, {"state": state, "changed": now(), **names})


def waiting(db: Database, models: Collection[str] | None = None) -> list[Batch]:
    """The batches that are not collected (of these models), the oldest first."""
    rows = db.table("batches").rows_where(
        "state NOT IN (SELECT value FROM json_each(?))", [json.dumps(FINAL_STATES)], order_by="id"
    )
    batches = [Batch(**row) for row in rows]
    if models is None:
        return batches
    return [batch for batch in batches if batch.model in models]


def adopt(db: Database, batch: int, run: int) -> None:
    """A run takes over a batch that another one sent: now its calls wait for this one."""
    db.table("batches").update(batch, {"run_id": run})


def refusals(db: Database, model: str, start: str) -> list[int]:
    """How many calls each batch of a model had that its endpoint refused from `start` on."""
    rows = db.table("batches").rows_where(
        "state = 'refused' AND model = ? AND changed >= ?", [model, start], select="lines"
    )
    return [row["lines"] for row in rows]


def calls(db: Database, batch: int | None = None) -> dict[str, Waiting]:
    """The calls that wait, are to be asked again or failed, by id; of a batch those that wait in it."""
    table = db.table("batch_calls")
    rows = table.rows if batch is None else table.rows_where("batch_id = ?", [batch])
    return {row["id"]: Waiting(**row) for row in rows}


def settle(db: Database, call: str, batch: int | None = None) -> bool:
    """Forget a call that was answered, or whose failure was told; whether it was there (in this batch)."""
    sql = "DELETE FROM batch_calls WHERE id = ? AND (? IS NULL OR batch_id = ?)"
    return db.execute(sql, [call, batch, batch]).rowcount > 0


def leave(db: Database, call: str, batch: int, **values: int | str) -> None:
    """A call leaves its batch without an answer: it is asked again, after so many `tries`, or has failed
    for good, as `kind`, `message`, `reason` and `raw` say.
    """
    if scalar(db, "SELECT 1 FROM batch_calls WHERE id = ? AND batch_id = ?", [call, batch]):
        db.table("batch_calls").update(call, {"batch_id": None, **values})


def end(db: Database, batch: int, state: str, message: str) -> None:
    """A batch is collected or was refused: all calls left in it are to be asked again."""
    db.execute("UPDATE batch_calls SET batch_id = NULL WHERE batch_id = ?", [batch])
    change(db, batch, state, message=message)


def forget(db: Database, batch: int) -> None:
    """Remove a batch that the endpoint never had; its calls are to be asked again."""
    db.table("batches").delete(batch)
