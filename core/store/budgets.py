"""What the runs of one plan may spend together.

A run is granted money before it spends it. What a run counts for is what it was granted or, if that is more,
what it has spent: a run that was killed counts for the calls that it had in flight as well.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlite_utils import Database


class Grant(NamedTuple):
    """What a run may have spent until it asks again, and what other runs of its plan count for."""

    granted: float
    elsewhere: float


def grant(db: Database, run: int, wanted: float, limit: float) -> Grant:
    """Grant a run what it wants to have spent, as far as the limit of all runs of its plan allows."""
    [row] = db.execute("SELECT benchmark, plan, granted FROM runs WHERE id = ?", [run]).fetchall()
    benchmark, plan, before = row
    elsewhere = spent(db, benchmark, json.loads(plan), but=run)
    granted = max(before, min(wanted, limit - elsewhere))
    db.execute("UPDATE runs SET granted = ?, elsewhere = ? WHERE id = ?", [granted, elsewhere, run])
    return Grant(granted, elsewhere)


def close(db: Database, run: int, lost: float) -> None:
    """Take back what a run was granted and has not spent; `lost` is what calls without an answer may cost."""
    db.execute("UPDATE runs SET granted = cost + ? WHERE id = ?", [lost, run])


def spent(db: Database, benchmark: str, plan: Mapping[str, Any], *, but: int | None = None) -> float:
    """What all runs of a plan were granted or have spent (the larger of both), except the run `but`."""
    rows = db.execute(
        "SELECT plan, max(cost, granted) FROM runs WHERE benchmark = ? AND id IS NOT ?", [benchmark, but]
    )
    return float(sum(cost for text, cost in rows if cost and json.loads(text) == plan))
