"""How far plays that take long have come, in the words of their benchmark: the town's time, where a simulation is under way."""

from __future__ import annotations

from sqlite_utils import Database

from core.benchmarks import get
from core.store import runs


def under_way(db: Database, benchmark: str) -> dict[str, str]:
    """Plays that were begun and are not stored yet: key → how far each has come. Empty for benchmarks whose plays have no stages."""
    stage = get(benchmark).stage
    if stage is None:
        return {}
    latest = runs.latest_steps(db, f"{benchmark}/")
    return {work: found for work, step in latest.items() if (found := stage(step))}


def sentence(db: Database, benchmark: str) -> str:
    """Those under way in one line; empty where there are none."""
    found = sorted(under_way(db, benchmark).values())
    if not found:
        return ""
    where = f"at {found[0]}" if found[0] == found[-1] else f"from {found[0]} to {found[-1]}"
    return f"{len(found)} begun and not finished, {where}"
