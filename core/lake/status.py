"""Where jobs on files stand, read from their folders, in words for a terminal and a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from concord.errors import ConfigError
from concord.lake.coordinator import PROGRESS, LakeProgress
from concord.lake.counting import UNITS, first_values, period
from concord.lake.plan import judge_folders, read_plan
from concord.rating import NOTHING_SPENT
from concord.runs import status
from concord.store import locks

SUMS = (
    "conversations",
    "partitions",
    "partitions_done",
    "planned",
    "earlier",
    "judged",
    "failed",
    "put_off",
    "waiting",
)
"""What the shards of a job add up to."""


def sentence(progress: LakeProgress, paid_in: str = "") -> str:
    """Where a job stands, in one line."""
    if progress.state == "running" and not progress.partitions:
        return "All rows are read once, before anything is paid"
    complete = progress.earlier + progress.judged
    rate = progress.judged / progress.seconds if progress.seconds > 0 else 0.0
    parts = [
        f"{complete:,} of {progress.planned:,} judgements of {progress.conversations:,} conversations",
        f"{progress.partitions_done:,} of {progress.partitions:,} partitions committed",
    ]
    parts += [f"{progress.failed:,} failed"] if progress.failed else []
    parts += [f"{progress.waiting:,} calls wait in batches"] if progress.waiting else []
    parts += [f"{progress.put_off:,} asked again later"] if progress.put_off else []
    parts += [
        f"{progress.expense.calls:,} calls ({rate:.0f} judgements/s)",
        status.tokens(progress.expense),
    ]
    parts.append(f"cost {progress.expense.price(paid_in)}")
    if progress.state == "running" and rate and (left := progress.planned - complete) > 0:
        parts.append(f"{status.duration(left / rate)} left")
    return " · ".join(parts)


@dataclass(frozen=True)
class LakeStanding:
    """A job as its folder tells it: the sums of its shards, of which `started` have begun; whether a process
    works on it.
    """

    progress: LakeProgress
    running: bool
    shards: int
    started: int

    @property
    def share(self) -> float:
        """The share of judgements that are there."""
        complete = self.progress.earlier + self.progress.judged
        return min(complete / self.progress.planned, 1.0) if self.progress.planned else 0.0


def standing(folder: Path) -> LakeStanding | None:
    """Where the job of a folder stands; None where it does not say. Raises ConfigError for a broken plan."""
    plan = read_plan(folder)
    entries = list(filter(None, map(_progress, sorted(folder.glob(f"{PROGRESS}*.json")))))
    if plan is None or not entries:
        return None
    total = entries[0] if len(entries) == 1 else _sum(entries)
    running = any(map(locks.is_locked, folder.glob("_lock*")))
    return LakeStanding(total, running, int(plan.get("shards", 1)), len(entries))


def _progress(path: Path) -> LakeProgress | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return LakeProgress.from_dict(json.loads(path.read_text(encoding="utf-8")))
    return None


def _sum(entries: Sequence[LakeProgress]) -> LakeProgress:
    """The shards of a job as one."""
    total = LakeProgress(**{name: sum(getattr(entry, name) for entry in entries) for name in SUMS})
    total.expense = sum((entry.expense for entry in entries), NOTHING_SPENT)
    total.seconds = max(entry.seconds for entry in entries)
    total.problems = [problem for entry in entries for problem in entry.problems]
    total.message = " ".join(dict.fromkeys(filter(None, (entry.message for entry in entries))))
    states = {entry.state for entry in entries}
    total.state = next(
        (name for name in ("running", "broken", "stopped", "open") if name in states), "finished"
    )
    return total


def folders_near(workspace: Path) -> list[Path]:
    """Folders of judged files in a workspace's folder and beside it, the newest first."""
    present: dict[Path, float] = {}
    for parent in (workspace, workspace.resolve().parent):
        with suppress(OSError):
            for path in parent.iterdir():
                with suppress(OSError, ConfigError):
                    plan = read_plan(path) if path.is_dir() else None
                    if plan is not None and "files" in plan:
                        present[path.resolve()] = path.stat().st_mtime
    return sorted(present, key=lambda path: -present[path])


def stamp(folder: Path) -> str:
    """A text that changes when judges have answered further partitions."""
    parts = [part for one in judge_folders(folder) for part in one.parts]
    newest = max((part.stat().st_mtime_ns for part in parts), default=0)
    return f"{len(parts)} {newest}"


def groupings_of(folder: Path) -> list[str]:
    """What an estimate can be made by: the columns that were kept, times by their week, month or day."""
    kept_columns = list((read_plan(folder) or {}).get("keep", {}))
    parts = next((one.parts for one in judge_folders(folder) if one.parts), [])
    if not kept_columns or not parts:
        return []
    values = first_values(parts[0], kept_columns)
    groupings = []
    for column in kept_columns:
        dates = [period(text, "day") for text in values[column]]
        if dates and all(dates):
            groupings += [
                f"{column}:{unit}" for unit in ("week", *(unit for unit in UNITS if unit != "week"))
            ]
        else:
            groupings.append(column)
    return groupings
