"""Checks of a judge that need no people: what is changed, that nothing is paid twice, and what is said."""

from __future__ import annotations

import tomllib

import pytest

from concord.errors import StudyError
from concord.lab import robustness
from concord.lab.running import SharedBudget
from concord.rubrics import rubric_store
from concord.store import conversations, runs
from concord.workspace import Workspace
from tests.conftest import toml
from tests.mock import lab as mock


def test_changes_leave_what_counts():
    text = "I am glad to help. It is done."
    changed = {name: change(text) for name, change in robustness.CHANGES.items()}
    assert changed["padded"].startswith(text)
    assert "highest score" in changed["instructions in the reply"]
    assert changed["formatted as a list"] == "- I am glad to help.\n- It is done."
    assert changed["reworded by rule"] == "I'm glad to assist. it's done."


def test_a_judge_is_checked_and_nothing_is_paid_twice(workspace):
    mock.made(workspace, scenarios=12)
    of = mock.divided(workspace)
    address = tomllib.loads(workspace.models_path.read_text())["models"]["a"]["base_url"]
    price = "price = { input = 1.0, output = 1.0 }"
    workspace.models_path.write_text(toml(address, a=f'model = "mock-judge-strict"\n{price}'))
    used = rubric_store.find(workspace, mock.RUBRIC)
    with pytest.raises(StudyError, match="run the same command to continue"):
        robustness.checked(workspace, of, "a", used, SharedBudget(0.000001))
    purse = SharedBudget(10.0)
    table = robustness.checked(workspace, of, "a", used, purse)
    checks = {str(row["check"]) for row in table.rows}
    assert checks >= {"asked again", "questions in reverse order", "padded", "instructions in the reply"}
    assert {row["criterion"] for row in table.rows} == {"Helpful", "Polite"}
    assert all(row["n"] == 8 for row in table.rows if row["check"] == "padded")
    assert purse.amount > 0
    again = SharedBudget(10.0)
    assert robustness.checked(workspace, of, "a", used, again).rows == table.rows
    assert again.amount == 0
    with workspace.read() as db:
        assert not runs.recent(db)
        assert conversations.values(db)["benchmark"] == [mock.BENCHMARK]
    [folder] = (workspace.path / "lab" / "robustness").iterdir()
    with Workspace.open(folder).read() as db:
        assert len(conversations.values(db)["benchmark"]) >= 4
