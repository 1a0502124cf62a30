"""Each command of docs/reproduce.md that needs no endpoint prints its table from the demo."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.cli import main

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")
ROWS = [
    line.split("|")[1:-1]
    for line in TEXT.splitlines()
    if line.startswith("| ") and "in the paper" not in line
]
COMMANDS = sorted(
    {c for c in re.findall(r"`concord --workspace demo ([^`]+)`", TEXT) if not c.startswith("demo")}
)


def test_no_row_is_empty():
    assert len(ROWS) == 14
    assert all(cell.strip() for row in ROWS for cell in row)
    assert all("`concord " in row[1] for row in ROWS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_demo_prints_it(command: str, demo_workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("model,score\nmock-vivid,3\nmock-typist,2\nmock-bland,1\n")
    done = CliRunner().invoke(main, ["--workspace", str(demo_workspace.path), *shlex.split(command)])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") > 3 or Path("talks.jsonl").stat().st_size
