"""Files of conversations, judged against mock models, and what the mock's ledger says was paid."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pyarrow as pa
from pyarrow import dataset, parquet

from concord.conversation import Unit
from concord.files import read_toml
from concord.lake import plan
from concord.lake.plan import LakePlan
from concord.llm.models import load_models
from concord.rating import Rater, Rating
from concord.rubrics.reading import read
from concord.store import ratings, studies, summaries
from concord.workspace import Workspace

RUBRIC = """
title = "Support"
unit = "conversation"
[[criteria]]
name = "solved"
statement = "The assistant solves the problem."
type = "yes-no"
[[criteria]]
name = "polite"
statement = "The assistant is polite."
scale = "1..5"
"""


def conversation(number: int) -> dict[str, Any]:
    """A row of a log."""
    return {
        "id": f"c{number:05}",
        "messages": [
            {"role": "user", "content": f"My parcel {number} is lost."},
            {"role": "assistant", "content": "I am sorry to hear that. " * (number % 7 + 1)},
        ],
        "segment": "ab"[number % 2],
        "created": f"2026-0{number % 3 + 1}-1{number % 4}T08:00:00Z",
    }


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def table(path: Path, rows: Sequence[Mapping[str, Any]], **how: Any) -> Path:
    """Write Parquet."""
    parquet.write_table(pa.Table.from_pylist(list(rows)), path, **how)
    return path


def planned(
    workspace: Workspace, files: Sequence[Path], out: Path, judges: Sequence[str] = ("a", "b"), **how: Any
) -> LakePlan:
    """A plan of small partitions for judges of a workspace, by RUBRIC."""
    file = workspace.path / "rubrics" / "support.toml"
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        file.write_text(RUBRIC, encoding="utf-8")
    load_models(workspace.models_path)
    entries = read_toml(workspace.models_path)["models"]
    how = {"conversations": 20, "folder": str(workspace.path), **how}
    chosen = {judge: entries[judge] for judge in judges}
    return plan.planned([*map(str, files)], read(file), chosen, str(out), **how)


COMMAND = "import sys; from concord.cli import main; main(sys.argv[1:])"
"""The program `concord`, as a process of its own."""


def calls_of(workspace: Workspace) -> dict[str, Any]:
    """What the mock server of a workspace has done."""
    address = next(iter(load_models(workspace.models_path).values())).base_url
    with urlopen(f"{address}/_calls") as reply:
        counts: dict[str, Any] = json.load(reply)
    return counts


def calls(workspace: Workspace) -> int:
    """How many calls it has answered."""
    return sum(calls_of(workspace)["answered"].values())


def rows(
    out: Path, columns: Sequence[str] = ("key", "judge", "criterion", "score", "reason", "failure")
) -> list[Any]:
    """The answers in a folder, in an order of their own."""
    parts = sorted(map(str, out.glob("*/*/part-*.parquet")))
    whole = dataset.dataset(parts).to_table(columns=[*columns]).to_pylist() if parts else []
    return sorted(tuple(map(str, row.values())) for row in whole)


def truth(key: str) -> float:
    """What people say of “solved”."""
    return float(zlib.crc32(key.encode()) % 10 < (8 if int(key[-1]) % 2 else 5))


def rate(workspace: Workspace, study: str) -> dict[str, float]:
    """Have two people rate a study; returns their answers by key."""
    answers = {}
    with workspace.write() as db:
        number = studies.study_id(db, study)
        units = studies.units(db, study)
        for name in ("ann", "bob"):
            rater = ratings.rater_id(db, Rater(name, "human"))
            for unit in units:
                key = unit["key"].removeprefix("lake/")
                answers[key] = truth(key)
                given = [
                    Rating(Unit(unit["key"]), "solved", truth(key)),
                    Rating(Unit(unit["key"]), "polite", 4),
                ]
                ratings.insert(db, unit["conversation_id"], rater, given, study_id=number)
        summaries.refresh(db, [unit["conversation_id"] for unit in units])
    return answers
