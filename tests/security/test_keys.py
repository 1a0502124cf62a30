"""No key anywhere: an endpoint that repeats the Authorization header puts it into no file and no output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from concord.workspace import Workspace
from tests import warm
from tests.mock.faults import Faults
from tests.mock.server import running

ROOT = Path(__file__).parent.parent.parent
MARKER = 'sk-marker/of"the+key-4711'
"""It is written differently in JSON and in an address."""
IMPATIENT = """
from concord.cli import main
from concord.llm import client
client.FIRST_WAIT = 0.01  # before an endpoint that answers nothing of use is asked again
main()
"""


@pytest.mark.parametrize("fault", ["echo", "echo_ok", "echo_reply"])
def test_a_key_that_comes_back_is_kept_and_printed_nowhere(tmp_path, fault):
    with running(faults=Faults(**{fault: 1}), require_key=MARKER) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        entry = f'base_url = "{url}"\napi_key_env = "MARKED_KEY"\nmodel = "mock-fixed"\nreplies = "text"\n'
        workspace.models_path.write_text("\n".join(f"[models.{name}]\n{entry}" for name in ("p", "u", "j")))
        told = b""

        def concord(*words):
            nonlocal told
            command = [sys.executable, "-c", IMPATIENT, "--workspace", str(workspace.path), *words]
            env = {**os.environ, "MARKED_KEY": MARKER}
            done = warm.run(command, env=env)
            told += (done.stdout + done.stderr).encode()

        asked = ("--characters", "tully", "--situations", "reality")
        concord("run", "pingpong", "--players", "p", "--interrogator", "u", "--judges", "j", *asked)
        (tmp_path / "one.csv").write_text("item_id,user,reply\n1,Hello,Hi\n")
        concord("doctor")
        concord("export", "conversations", "-o", str(workspace.path / "conversations.jsonl"))
        concord("export", "ratings", "-o", str(workspace.path / "ratings.csv"))
    files = [file for file in workspace.path.rglob("*") if file.is_file()]
    assert any(file.name == "concord.db" for file in files)
    marks = ("marker/of", "the+key-4711", "marker%2Fof", "marker\\/of")
    for mark in marks:
        assert mark.encode() not in told, told.decode()
        assert [file.name for file in files if mark.encode() in file.read_bytes()] == []
    assert b"(key)" in told or any(b"(key)" in file.read_bytes() for file in files), "it did come back"
