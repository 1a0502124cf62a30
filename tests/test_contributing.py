"""The recipes of CONTRIBUTING.md, taken from the page and followed."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.benchmarks import BENCHMARKS
from core.store import conversations, ratings
from core.workspace import Workspace

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {
    name: body
    for language, body in re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)
    for name in re.findall(r"^(?:#|\{#) ([\w/.]+)(?: #\})?\n", body)
}


@pytest.fixture
def followed(workspace) -> Workspace:
    """The workspace with every file of the page in its place."""
    for name, body in BLOCKS.items():
        if name.startswith(("prompts/", "data/")):
            file = workspace.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body)
    address = re.search(r'"(http://[^"]+)"', workspace.models_path.read_text())[1]
    added = BLOCKS["models.toml"].replace("http://127.0.0.1:8601/v1", address)
    workspace.models_path.write_text(workspace.models_path.read_text() + added)
    return workspace


def concord(workspace, *words):
    from core.cli import main

    done = CliRunner().invoke(main, ["--workspace", str(workspace.path), *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_page_holds_the_recipes():
    assert {"models.toml", "core/benchmarks/haiku.py", "prompts/pingpong/stern/judge_system.jinja"} <= set(
        BLOCKS
    )


def test_a_judge(followed):
    concord(
        followed,
        "run",
        "pingpong",
        "--players",
        "player",
        "--interrogator",
        "user",
        "--characters",
        "tully",
        "--situations",
        "reality",
    )
    assert "✓ second-opinion" in concord(followed, "doctor", "second-opinion")
    concord(followed, "judge", "pingpong", "--judges", "second-opinion")
    with followed.read() as db:
        assert [r.name for r in ratings.judges(db)] == ["second-opinion"]


def test_a_version_of_a_prompt(followed):
    words = [
        "run",
        "pingpong",
        "--players",
        "player",
        "--interrogator",
        "user",
        "--characters",
        "tully",
        "--situations",
        "reality",
    ]
    concord(followed, *words, "--judges", "a", "--version", "stern")
    with followed.read() as db:
        assert [(r.name, r.variant) for r in ratings.judges(db)] == [("a", "stern")]


def test_a_benchmark(followed, monkeypatch):
    module = types.ModuleType("core.benchmarks.haiku")
    exec(BLOCKS["core/benchmarks/haiku.py"], module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(BENCHMARKS, "haiku", module.HAIKU)
    from core.commands import run

    monkeypatch.setitem(run.command.commands, "haiku", run._command(module.HAIKU))
    said = concord(followed, "run", "haiku", "--poets", "player", "--judges", "a,b")
    assert "finished: 3 of 3 stored" in said
    assert "finished: 3 of 3 stored · 0 calls" in concord(
        followed, "run", "haiku", "--poets", "player", "--judges", "a,b"
    )
    with followed.read() as db:
        [found] = conversations.search(db, conversations.Filter("haiku", facets={"subject": ("rain",)}))
        assert found.judges == 2
        assert found.final is not None
