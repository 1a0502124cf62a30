"""What the runs of one plan may spend together.

Runs of a benchmark take turns, so what others count for stays as it is while one is at work. A run is granted
money before it spends it, and counts for what it was granted or, if that is more, what it has spent: one that
was killed counts for the calls that it had in flight as well.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlite_utils import Database


def elsewhere(db: Database, run: int) -> float:
    """What other runs of a run's plan count for, which is kept with it."""
    [row] = db.execute("SELECT benchmark, plan FROM runs WHERE id = ?", [run]).fetchall()
    others = spent(db, row[0], json.loads(row[1]), but=run)
    db.execute("UPDATE runs SET elsewhere = ? WHERE id = ?", [others, run])
    return others


def grant(db: Database, run: int, amount: float) -> None:
    """Note what a run may have spent until it asks again."""
    db.execute("UPDATE runs SET granted = ? WHERE id = ?", [amount, run])


def close(db: Database, run: int, lost: float) -> None:
    """Take back what a run was granted and has not spent; `lost` is what calls without an answer may cost."""
    db.execute("UPDATE runs SET granted = cost + ? WHERE id = ?", [lost, run])


def spent(db: Database, benchmark: str, plan: Mapping[str, Any], *, but: int | None = None) -> float:
    """What all runs of a plan were granted or have spent (the larger of both), except the run `but`."""
    rows = db.execute(
        "SELECT plan, max(cost, granted) FROM runs WHERE benchmark = ? AND id IS NOT ?", [benchmark, but]
    )
    return float(sum(cost for text, cost in rows if cost and json.loads(text) == plan))
