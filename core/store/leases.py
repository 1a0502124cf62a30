"""Leases: which run is making which piece of work, so that no two runs pay for the same one.

A lease holds until its work is stored or has failed, and no longer than its run is alive.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlite_utils import Database

from concord.store import runs


@dataclass(frozen=True)
class Claim:
    """What a run got of what it asked for: `mine` is new, `others` maps a work to the run that makes it."""

    mine: frozenset[str]
    others: Mapping[str, int]


def claim(db: Database, run: int, works: Collection[str]) -> Claim:
    """Take the works that nobody is making; those of a run that has ended are free. In one transaction with
    a look at what is stored, nothing is made twice.
    """
    held = held_by(db, works)
    others = {work: holder for work, holder in held.items() if holder != run}
    free = [work for work in works if work not in held]
    db.conn.executemany("REPLACE INTO leases (work, run_id) VALUES (?, ?)", [(work, run) for work in free])
    return Claim(frozenset(free), others)


def held_by(db: Database, works: Collection[str]) -> dict[str, int]:
    """The runs that are making these works, by work; runs that have ended hold none."""
    held = dict(
        db.execute(
            "SELECT work, run_id FROM leases WHERE work IN (SELECT value FROM json_each(?))",
            [json.dumps(list(works))],
        ).fetchall()
    )
    ended = {run for run in set(held.values()) if runs.get(db, run).stands != "running"}
    return {work: run for work, run in held.items() if run not in ended}


def release(db: Database, works: Collection[str]) -> None:
    """End the leases of these pieces of work."""
    db.execute("DELETE FROM leases WHERE work IN (SELECT value FROM json_each(?))", [json.dumps(list(works))])


def release_all(db: Database, run: int) -> None:
    """End all leases of a run."""
    db.execute("DELETE FROM leases WHERE run_id = ?", [run])
