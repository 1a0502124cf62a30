"""A run started from a page is a process of its own: it says where it is, survives its starter, and tells why
it could not begin.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from concord.errors import WorkspaceError
from concord.runs import launching
from concord.runs.plans import PlayPlan
from concord.store import runs
from concord.workspace import Workspace
from tests import warm
from tests.conftest import FIXED, toml


def plan(judges=("a",), **options):
    return PlayPlan(
        "pingpong",
        {"players": ("player",), "interrogator": ("user",), "judges": judges},
        {"characters": ["tully"], "situations": ["reality"], **options},
    )


def until(happened, launched):
    """Wait for something that a launched run brings about, as a page does by looking again and again."""
    while not (found := happened()):
        assert not launched.ended or happened(), launched.last_line()
        time.sleep(0.05)
    return found


def ended(launched):
    """Wait for the end of the process."""
    while not launched.ended:
        time.sleep(0.05)


def run_of(workspace, launched):
    return until(lambda: launching.run_of(workspace, launched), launched)


def state_of(workspace, number):
    with workspace.read() as db:
        return runs.get(db, number)


@pytest.fixture(autouse=True)
def warm_starts(monkeypatch):
    """Processes are forked, so that a start takes no seconds."""
    monkeypatch.setattr(launching, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": warm.Popen}))


def test_a_launched_run_does_its_plan_and_ends(workspace, monkeypatch):
    monkeypatch.setattr(launching, "subprocess", subprocess)  # started as it is from a page
    launched = launching.start(workspace, plan())
    number = run_of(workspace, launched)
    ended(launched)
    found = state_of(workspace, number)
    assert (found.state, found.done, found.planned) == ("finished", 2, 2), launched.last_line()
    assert found.pid == launched.pid
    assert launched.log.parent == workspace.path / "runs"
    assert "finished" in launched.log.read_text()
    assert json.loads(launched.log.with_suffix(".json").read_text())["models"]["judges"] == ["a"]


def test_it_has_a_session_of_its_own(workspace):
    launched = launching.start(workspace, plan())
    assert os.getsid(launched.pid) == launched.pid != os.getsid(0), (
        "a Ctrl+C at the server's terminal does not reach it"
    )
    ended(launched)


def test_what_keeps_it_from_starting_is_a_sentence_in_its_log(workspace):
    launched = launching.start(workspace, plan(judges=("nobody",)))
    ended(launched)
    assert launching.run_of(workspace, launched) is None
    assert launched.last_line().startswith("There is no model “nobody”.")


def test_asked_to_stop_it_stops_and_the_same_plan_goes_on(faulty):
    # Many times as much as can be under way at once: a run looks twice a second whether it is to stop.
    workspace = faulty(latency=0.05)
    work = plan(repeats=100)
    launched = launching.start(workspace, work)
    number = run_of(workspace, launched)
    until(lambda: state_of(workspace, number).done > 0, launched)
    with workspace.write() as db:
        runs.ask_to_stop(db, number)
    ended(launched)
    stopped = state_of(workspace, number)
    assert stopped.state == "stopped"
    assert 0 < stopped.done < stopped.planned == 200
    again = launching.start(workspace, work)
    ended(again)
    found = state_of(workspace, run_of(workspace, again))
    assert found.state == "finished"
    assert found.stored + found.done == 200
    assert found.stored >= stopped.done


def test_killed_it_is_known_to_have_ended(faulty):
    workspace = faulty(latency=0.05)
    launched = launching.start(workspace, plan(repeats=40))
    number = run_of(workspace, launched)
    os.kill(launched.pid, signal.SIGKILL)
    ended(launched)
    killed = state_of(workspace, number)
    assert killed.state == "running", "nobody was left to say otherwise"
    assert killed.interrupted


def test_a_spending_limit_is_kept(tmp_path, mock):
    workspace = Workspace.open(tmp_path / "workspace")
    priced = FIXED + "\nprice = { input = 1000.0, output = 1000.0 }"
    workspace.models_path.write_text(toml(mock, player=priced, user=priced, a=priced))
    launched = launching.start(workspace, plan(repeats=10), max_cost=0.5)
    ended(launched)
    found = state_of(workspace, run_of(workspace, launched))
    assert found.state == "stopped"
    assert "spending limit of 0.5" in found.message


def test_two_started_at_the_same_moment_have_files_of_their_own(workspace):
    first, second = (launching.start(workspace, plan(judges=("nobody",))) for _ in range(2))
    assert first.log != second.log
    ended(first)
    ended(second)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"benchmark": "pingpong", "models": 3, "options": {}}'])
def test_a_file_without_a_plan_is_refused(tmp_path, text):
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(WorkspaceError, match="holds no plan"):
        launching.read_plan(file)


def test_a_workspace_that_cannot_be_written_says_so(workspace):
    (workspace.path / "runs").write_text("in the way")
    with pytest.raises(WorkspaceError, match="could not be started"):
        launching.start(workspace, plan())
