"""Quickstart and its mock server: however quickstart ends, its server ends with it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from concord.llm.models import load_models
from concord.store import runs
from concord.workspace import Workspace
from tests import warm

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "data" / "examples" / "support"
LONG = 120
"""Seconds after which the test fails: it waits for events."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_the_mock_server_ends_with_quickstart(tmp_path, number):
    call = (sys.executable, "-m", "concord.cli", "--workspace", tmp_path, "quickstart", f"{EXAMPLE}.jsonl")
    asked = ("--rubric", f"{EXAMPLE}.toml", "--mock", "--port", "0", "--no-browser")
    started = warm.Popen(
        [*call, *asked],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        assert started.stdout is not None
        links = []
        for line in started.stdout:
            links += re.findall(r"http://localhost:(\d+)/", line)
            if line.startswith("Concord is at"):
                break
        # The annotator's link, and the one that is opened: with --port 0 both name the port that was free.
        assert len(links) == 2, "quickstart serves the app"
        assert links[0] == links[1] != "0"
        models = load_models(Workspace(tmp_path).models_path)
        port = int(next(m.base_url for m in models.values() if m.simulated).split(":")[-1].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=LONG) as held:
            # Half a request: the server waits for the rest, as long as it lives.
            held.sendall(b"GET /v1/models HTTP/1.1\r\n")
            os.kill(started.pid, number)
            with suppress(ConnectionResetError):
                assert held.recv(1024) == b""
        started.wait(LONG)
    finally:
        # What quickstart started is of its session, and would outlive a kill of it alone.
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        end_run(Workspace(tmp_path))


def end_run(workspace):
    """Kill the run that quickstart started, which outlives it and waits for a workspace that is gone."""
    for _ in range(10 * LONG):
        with workspace.read() as db:
            if begun := runs.recent(db):
                break
        time.sleep(0.1)
    for run in begun:
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGKILL)
