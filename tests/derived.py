"""Whether what is derived from ratings is what computing it anew gives."""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database

from concord.store import copies, summaries

DERIVED = ("scores", "finals", "summaries", "player_counts", "rater_counts")
ALIKE = 6
"""Numbers that are equal to so many decimals are the same: they were added in another order."""


def rows(db: Database, table: str) -> set[tuple[Any, ...]]:
    """The rows of a table, with rounded numbers."""
    return {
        tuple(round(cell, ALIKE) if isinstance(cell, float) else cell for cell in row)
        for row in db.execute(f"SELECT * FROM {table}")
    }


def faults(db: Database) -> list[str]:
    """What `concord verify` finds, and the derived tables that do not fit; they are computed anew."""
    findings, stored = copies.findings(db), {table: rows(db, table) for table in DERIVED}
    summaries.refresh(db)
    return [*findings, *(table for table in DERIVED if stored[table] != rows(db, table))]
