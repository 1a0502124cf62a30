"""Commands in what is printed name the workspace as it was named, so that they can be pasted."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from concord.cli import COMMANDS, main
from concord.files.plain import pasteable
from concord.store import studies
from concord.workspace import Workspace
from pages.parts.ways import WAYS

WITHOUT = {"check", "plan", "compare-systems", "demo", "drift", "gate", "mock", "schema"}
"""Commands that need no workspace."""


@pytest.mark.parametrize("command", sorted({*COMMANDS} - WITHOUT))
def test_a_command_in_a_sentence_names_the_workspace(command: str) -> None:
    call = "concord --workspace '/my own/folder'"
    assert pasteable(f"Use `concord {command} x`.", call) == f"Use `{call} {command} x`."
    assert pasteable(f"Next: concord {command} x", call) == f"Next: {call} {command} x"


@pytest.mark.parametrize(
    "text",
    [
        "`concord check FILE` needs no workspace.",
        "`concord mock` serves models.",
        "Concord runs; concord judges are people.",
        "`myconcord run` is another program's.",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert pasteable(text, "concord --workspace x") == text


def test_what_names_the_workspace_already_is_left() -> None:
    once = pasteable("`concord run pingpong`", "concord --workspace x")
    assert pasteable(once, "concord --workspace x") == once


def test_errors_and_hints_of_a_command_can_be_pasted(tmp_path) -> None:
    folder = tmp_path / "my workspace"
    with Workspace.open(folder).write() as db:
        studies.create(db, studies.Study("s", ()))
    done = CliRunner().invoke(main, ["--workspace", str(folder), "agreement", "--study", "s"])
    assert done.exit_code == 1
    assert f"concord --workspace '{folder}' judge" in done.output.replace("\n", " ")


def test_without_the_option_commands_are_as_short_as_they_were(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CONCORD_WORKSPACE", str(tmp_path))
    with Workspace.open(tmp_path).write() as db:
        studies.create(db, studies.Study("s", ()))
    done = CliRunner().invoke(main, ["agreement", "--study", "s"])
    assert "--workspace" not in done.output


def test_every_way_leads_from_a_command_that_there_is() -> None:
    assert {called.split()[0] for called in WAYS} <= {*COMMANDS}
