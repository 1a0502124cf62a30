"""Start a run as its own process, which outlives the page, the browser and the server that started it."""

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from concord.errors import ConfigError, WorkspaceError
from concord.files import read_json
from concord.runs.plans import Plan, RunOptions, as_dict, from_dict
from concord.store import runs
from concord.store.database import now
from concord.workspace import Workspace

FOLDER = "runs"
"""Where a workspace keeps the plan (`.json`) and the output (`.log`) of each such run."""
LOOK = 0.05
"""Seconds between two looks whether a process has begun its run."""


def start(workspace: Workspace, plan: Plan, **options: Unpack[RunOptions]) -> int:
    """Run a plan in the background; returns the number of the run once it has begun.

    Raises WorkspaceError where it does not begin, with what the process says, and if the workspace's `runs`
    folder cannot be written.
    """
    flags: list[str] = []
    for name, value in options.items():
        if value is not None and value is not False and value != "":
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    started_at = now()
    try:
        folder = workspace.path / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        plan_file = folder / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{uuid.uuid4().hex[:8]}.json"
        plan_file.write_text(json.dumps(as_dict(plan), ensure_ascii=False, indent=1), encoding="utf-8")
        log = plan_file.with_suffix(".log")
        with log.open("wb") as log_file:
            # -P: a file in the server's current folder, such as h2.py, is no module.
            command = ["-P", "-m", "concord.cli", "--workspace", str(workspace.path)]
            command += ["run", "plan", str(plan_file)]
            child = subprocess.Popen(
                [sys.executable, *command, *flags],
                env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl+C in the server's terminal must not stop the run
            )
    except OSError as error:
        raise WorkspaceError(
            f"The run could not be started in {workspace.path / FOLDER}: {error.strerror}. Is it writable?"
        ) from error
    while True:
        has_ended = child.poll() is not None
        with workspace.read() as db:
            run_ids = [
                run.id for run in runs.recent(db) if run.pid == child.pid and run.started >= started_at
            ]
        if run_ids:
            # A killed process looks alive until it is waited for.
            threading.Thread(target=child.wait, daemon=True).start()
            return run_ids[0]
        if has_ended:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            reason = lines[-1].removeprefix("Error: ") if lines else "It ended without a message."
            raise WorkspaceError(f"The run did not begin: {reason} Its output is in {log}.")
        time.sleep(LOOK)


def read_plan(file: Path) -> Plan:
    """The plan in a file that `start` wrote. Raises WorkspaceError for any other file."""
    try:
        return from_dict(read_json(file, WorkspaceError))
    except (WorkspaceError, ConfigError) as error:
        reason = str(error).rstrip(".")
        raise WorkspaceError(
            f"{file} holds no plan of a run: {reason}. Start the run again from the runs page."
        ) from error
