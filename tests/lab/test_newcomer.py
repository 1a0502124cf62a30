"""What docs/lab.md has a newcomer type improves the demo's erratic judge, command by command."""

from __future__ import annotations

import re
import shlex
import shutil
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.demo import workspace as demo
from concord.demo.server import make_app, running
from concord.store import lab
from concord.workspace import Workspace
from tests.demo import example_rated

ROOT = Path(__file__).parents[2]
LINES = [
    line
    for block in re.findall(
        r"```sh\n(.*?)```",
        (ROOT / "docs" / "lab.md").read_text(encoding="utf-8").split("## A quarter")[1].split("\n## ")[0],
        re.S,
    )
    for line in block.splitlines()
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A checkout in which the demo runs; its recording is not needed here."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONCORD_WORKSPACE", "demo")
    workspace = Workspace.open(tmp_path / "demo")
    with running(partial(make_app, demo.SEED)) as url:
        demo.copy_files(workspace, url)
        yield workspace


def invoke(*words: str) -> str:
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def follow(line: str) -> str:
    """Carry out a line of the page; gives what a command of Concord printed."""
    name, *words = shlex.split(line)
    if name == "concord":
        return invoke(*words)
    if name == "cp":
        shutil.copy(words[0], words[1])
    elif name == "echo":
        Path(words[2]).write_text(words[0], encoding="utf-8")
    else:
        assert name in (".", "export")
    return ""


def test_the_file_is_the_simulated_one():
    assert example_rated.FILE.read_text(encoding="utf-8") == example_rated.text()


def test_the_judge_is_improved_by_what_the_page_says(folder):
    printed = {line: follow(line) for line in LINES}
    output = {line.split()[2]: text for line, text in printed.items() if line.startswith("concord lab")}
    assert re.search(r"^rated v1 +mock-judge-erratic +0\.657", output["show"], re.M)
    assert "look for courtesies" in output["disagreements"]
    assert "agrees with annotators better" in output["compare"]
    assert "Best on select: mock-judge-erratic by rated v2" in output["choose"]
    assert "agrees with annotators better" in output["report"]
    assert "39 items of test" in output["report"]
    assert (folder.path.parent / "card" / "card.html").is_file()
    with folder.read() as db:
        assert len(lab.openings(db, "rated")) == 1


def test_the_rule_that_writes_instructions_improves_it_too(folder):
    for line in LINES[: next(at for at, line in enumerate(LINES) if "split" in line) + 1]:
        follow(line)
    words = (
        "lab",
        "improve",
        "rated",
        "--judge",
        "mock-judge-erratic",
        "--with",
        "mock-vivid",
        "--budget",
        "0.10",
    )
    text = invoke(*words)
    assert "agrees with annotators better" in text
    assert "of 0.1" in text
