"""Record the demo: `make record-demo` plays it against the mock models and writes data/demo anew.

What `concord demo` puts into a workspace is what this leaves in one: the rows of its database, and the other
files of data/demo, which are written by hand.
"""

from __future__ import annotations

import json
import lzma
import re
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlite_utils import Database

from concord.demo import workspace as demo
from concord.store.integrity import DERIVED
from concord.workspace import Workspace
from tests.demo import own_data, pingpong, pingpong_v1, simulbench, stss, stss_people
from tests.mock.server import running

PARTS = (pingpong, simulbench, stss, own_data, pingpong_v1, stss_people)
SEED = 7
HOST = "demo"
"""The name that the machine of the recorded runs has."""


def play(workspace: Workspace, *, seed: int = SEED) -> None:
    """Fill a new workspace with the demo."""
    with running(seed=seed, faults=own_data.FAULTS) as url, patch.object(socket, "gethostname", lambda: HOST):
        demo.copy_files(workspace, url)
        models = workspace.models_path.read_text(encoding="utf-8")
        # One call at a time: intervals depend on the order in which conversations are stored.
        workspace.models_path.write_text(re.sub(r"(?<=max_concurrency = )\d+", "1", models), encoding="utf-8")
        for part in PARTS:
            part.play(workspace)


def lines(db: Database) -> Iterator[str]:
    """The rows of every table that has any, as `concord.store.rows` reads them."""
    for table in sorted({*db.table_names()} - {"sqlite_sequence", "settings", *DERIVED}):
        rows = db.execute(f"SELECT * FROM {table}")
        columns = [column[0] for column in rows.description]
        for number, row in enumerate(rows):
            if number == 0:
                yield _line({"table": table, "columns": columns})
            yield _line([{"bytes": cell.hex()} if isinstance(cell, bytes) else cell for cell in row])


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def write(workspace: Workspace, file: Path) -> None:
    """Write the rows of a workspace, compressed."""
    with workspace.read() as db, lzma.open(file, "wt", encoding="utf-8", preset=9) as out:
        out.writelines(lines(db))


def main() -> None:
    """Play the demo in a folder of its own, and record it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "demo")
        play(workspace)
        write(workspace, demo.ROWS)
    print(f"{demo.ROWS}: {demo.ROWS.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
