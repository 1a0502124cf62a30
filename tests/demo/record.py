"""Record the demo: `make record-demo` plays it against the mock models and writes data/demo anew.

What `concord demo` puts into a workspace is what this leaves in one: the rows of its database, and the other
files of data/demo, which are written by hand.
"""

from __future__ import annotations

import lzma
import re
import socket
import tempfile
from pathlib import Path
from unittest.mock import patch

from concord.demo import workspace as demo
from concord.store import rows
from concord.workspace import Workspace
from tests.demo import own_data, pingpong, simulbench, stss
from tests.mock.server import running

PARTS = (pingpong, simulbench, stss, own_data)
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


def write(workspace: Workspace, file: Path) -> None:
    """Write the rows of a workspace, compressed."""
    with workspace.read() as db, lzma.open(file, "wt", encoding="utf-8", preset=9) as out:
        out.writelines(rows.lines(db))


def main() -> None:
    """Play the demo in a folder of its own, and record it."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "demo")
        play(workspace)
        write(workspace, demo.ROWS)
    print(f"{demo.ROWS}: {demo.ROWS.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
