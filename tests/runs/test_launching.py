"""A run started from a page is a process of its own: it says where it is, survives its starter, and tells why
it could not begin.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from concord.errors import WorkspaceError
from concord.runs import launching
from concord.runs.plans import PlayPlan
from concord.store import runs
from concord.workspace import Workspace
from tests.conftest import FIXED, toml


def plan(judges=("a",), **options):
    return PlayPlan(
        "pingpong",
        {"players": ("player",), "interrogator": ("user",), "judges": judges},
        {"characters": ["tully"], "situations": ["reality"], **options},
    )


def ended(workspace, number):
    """Wait for the end of a run, as a page does by looking again and again; returns how it stands."""
    while (run := state_of(workspace, number)).state == "running" and not run.interrupted:
        time.sleep(0.05)
    return run


def files(workspace, kind):
    return sorted((workspace.path / "runs").glob(f"*.{kind}"))


def state_of(workspace, number):
    with workspace.read() as db:
        return runs.get(db, number)


def test_a_launched_run_does_its_plan_and_ends(workspace, monkeypatch):
    monkeypatch.setattr(launching, "subprocess", subprocess)  # started as it is from a page
    run = ended(workspace, launching.start(workspace, plan()))
    assert (run.state, run.done, run.planned) == ("finished", 2, 2)
    [log], [written] = files(workspace, "log"), files(workspace, "json")
    while "finished" not in log.read_text():
        time.sleep(0.05)
    assert json.loads(written.read_text())["models"]["judges"] == ["a"]
    assert launching.read_plan(written) == plan()


def test_a_file_in_the_current_folder_is_no_module(workspace, monkeypatch, tmp_path):
    """`python -m` puts the current folder first: an h2.py there failed every call."""
    for name in ("h2", "httpx2", "json", "click"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the current folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launching, "subprocess", subprocess)
    run = ended(workspace, launching.start(workspace, plan()))
    assert (run.state, run.done, run.failed) == ("finished", 2, 0)


def test_it_has_a_session_of_its_own(faulty):
    workspace = faulty(latency=0.5)
    number = launching.start(workspace, plan())
    process = state_of(workspace, number).pid
    assert os.getsid(process) == process != os.getsid(0), (
        "a Ctrl+C at the server's terminal does not reach it"
    )
    ended(workspace, number)


def test_what_keeps_it_from_starting_is_a_sentence(workspace):
    with pytest.raises(WorkspaceError, match="The run did not begin: There is no model “nobody”"):
        launching.start(workspace, plan(judges=("nobody",)))
    with workspace.read() as db:
        assert not runs.recent(db)


def test_asked_to_stop_it_stops_and_the_same_plan_goes_on(faulty):
    # Many times as much as can be under way at once: a run looks twice a second whether it is to stop.
    workspace = faulty(latency=0.05)
    work = plan(repeats=100)
    number = launching.start(workspace, work)
    while not state_of(workspace, number).done:
        time.sleep(0.05)
    with workspace.write() as db:
        runs.ask_to_stop(db, number)
    stopped = ended(workspace, number)
    assert stopped.state == "stopped"
    assert 0 < stopped.done < stopped.planned == 200
    again = ended(workspace, launching.start(workspace, work))
    assert again.state == "finished"
    assert again.stored + again.done == 200
    assert again.stored >= stopped.done


def test_killed_it_is_known_to_have_ended(faulty):
    workspace = faulty(latency=0.05)
    number = launching.start(workspace, plan(repeats=40))
    os.kill(state_of(workspace, number).pid, signal.SIGKILL)
    killed = ended(workspace, number)
    assert killed.state == "running", "nobody was left to say otherwise"
    assert killed.interrupted


def test_a_spending_limit_is_kept(tmp_path, mock):
    workspace = Workspace.open(tmp_path / "workspace")
    priced = FIXED + "\nprice = { input = 1000.0, output = 1000.0 }"
    workspace.models_path.write_text(toml(mock, player=priced, user=priced, a=priced))
    run = ended(workspace, launching.start(workspace, plan(repeats=10), max_cost=0.5))
    assert run.state == "stopped"
    assert "spending limit of 0.5" in run.message


def test_two_started_at_the_same_moment_have_files_of_their_own(workspace):
    for _ in range(2):
        with pytest.raises(WorkspaceError):
            launching.start(workspace, plan(judges=("nobody",)))
    assert len(files(workspace, "log")) == 2


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
