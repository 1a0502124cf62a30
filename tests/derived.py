"""Whether what is derived from ratings is what computing it anew gives, and all else that a database owes."""

from __future__ import annotations

from sqlite_utils import Database

from concord.store import integrity


def faults(db: Database) -> list[str]:
    """What `concord verify` finds; derived tables are computed anew."""
    return integrity.findings(db)
