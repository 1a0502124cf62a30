"""Runs that share work at the same time: nothing is paid twice, and what one makes the other uses."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from concord.runs import engine, planning
from concord.runs.plans import JudgePlan
from concord.store import leases
from concord.store import runs as stored
from tests import warm
from tests.runs.test_runs import calls_made, calls_of, concord_run, count, plan, until


def start(workspace, *words):
    command = concord_run(workspace, "--characters", "tully,mizuki", "--situations", "reality", *words)
    return warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def recent(workspace):
    with workspace.read() as db:
        return stored.recent(db)


@pytest.mark.parametrize("second", ["a,b", "b,c", ""])
def test_twins_started_at_the_same_moment_pay_once_for_what_they_share(faulty, second):
    """The same plan, one with other judges, and one without: the server counts each call once."""
    workspace = faulty(latency=0.02)
    words = ("--repeats", "8")
    others = ("--judges", second) if second else ()
    twins = [start(workspace, *words, "--judges", "a,b"), start(workspace, *words, *others)]
    said = [process.communicate()[0] for process in twins]
    assert [process.returncode for process in twins] == [0, 0], said
    judges = {"a,b": 2, "b,c": 3, "": 2}[second]
    # 2 characters × 8 repeats: eight calls each, and a judgement by every judge that either names
    assert calls_made(workspace) == 16 * (8 + judges)
    assert calls_of(workspace)["repeated"] == 0
    assert (count(workspace, "conversations"), count(workspace, "judgements")) == (16, 16 * judges)
    for run in recent(workspace):
        assert (run.stands, run.left, run.failed) == ("finished", 0, 0)
        assert run.stored + run.done == run.planned
    assert sum(run.spent.calls for run in recent(workspace)) == calls_made(workspace)
    assert (count(workspace, "leases"), count(workspace, "journal")) == (0, 0)
    assert not list(workspace.path.glob("concord.db-run-*"))


def test_who_waits_says_so_and_uses_what_the_other_made(faulty, monkeypatch):
    """One run has begun all there is; the other makes no call and says which run it waits for."""
    workspace = faulty(latency=0.3)
    with ThreadPoolExecutor(2) as pool:
        jobs = [planning.job(workspace, plan()), planning.job(workspace, plan())]
        first = pool.submit(engine.execute, workspace, jobs[0])
        while count(workspace, "leases") < 2 * 3:
            assert not first.done()
        messages = []
        second = pool.submit(
            engine.execute, workspace, jobs[1], watch=lambda progress: messages.append(progress.message)
        )
        made, used = first.result(), second.result()
    assert "results are being made by run 1: they are not paid twice." in " ".join(messages)
    assert (made.spent.calls, used.spent.calls) == (20, 0)
    assert (used.stored, used.done, used.left) == (6, 0, 0)
    assert used.message == "6 results were made by run 1 meanwhile."


def test_what_a_killed_run_had_leased_is_done_by_its_twin(faulty):
    """It dies between two calls of its conversations; the twin goes on in its journal."""
    workspace = faulty(latency=0.5)
    words = ("--repeats", "4", "--judges", "a")
    killed = start(workspace, *words)
    until(lambda: count(workspace, "journal") > 8, killed)
    twin = start(workspace, *words)
    until(lambda: len(recent(workspace)) == 2 and "made by run 1" in recent(workspace)[0].message, twin)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    said, _ = twin.communicate()
    assert twin.returncode == 0, said
    [second, first] = recent(workspace)
    assert first.interrupted
    assert (second.state, second.left) == ("finished", 0)
    with workspace.read() as db:
        results = [row["calls"] for table in ("conversations", "judgements") for row in db[table].rows]
    assert sum(results) == 8 * (8 + 1)
    # At most one call of each conversation was in flight or in the writer's hands.
    assert sum(results) <= calls_made(workspace) <= sum(results) + 2 * 8


def test_judges_wait_for_conversations_of_another_run(faulty):
    """A run of judges over what is stored shares no work with the run that plays, but for the same judge."""
    workspace = faulty(latency=0.02)
    engine.execute(workspace, planning.job(workspace, plan(judges=(), repeats=6)))
    with ThreadPoolExecutor(2) as pool:
        jobs = [planning.job(workspace, p) for p in (plan(repeats=6), JudgePlan("pingpong", ("b", "c")))]
        ended = [done.result() for done in [pool.submit(engine.execute, workspace, job) for job in jobs]]
    assert [run.left for run in ended] == [0, 0]
    # Twelve conversations of eight calls, and three judges of each
    assert calls_made(workspace) == 12 * (8 + 3)


def test_a_lease_of_a_run_that_has_ended_or_died_is_free(workspace):
    with workspace.write() as db:
        number = stored.start(db, "pingpong", {}, os.getpid())
        dead = stored.start(db, "pingpong", {}, pid=2**22 + 1)
        mine = stored.start(db, "pingpong", {}, os.getpid())
        assert leases.claim(db, number, ["w1", "w2"]).mine == {"w1", "w2"}
        assert leases.claim(db, dead, ["w3"]).mine == {"w3"}
        got = leases.claim(db, mine, ["w1", "w3", "w4"])
        assert (got.mine, got.others) == ({"w3", "w4"}, {"w1": number})
        assert leases.claim(db, mine, ["w4"]).mine == set(), "what it has already is not new"
        stored.end(db, number, "stopped")
        assert leases.claim(db, mine, ["w1", "w2"]).mine == {"w1", "w2"}


def test_a_process_with_the_number_of_a_dead_run_is_not_taken_for_it(workspace, tmp_path):
    """Numbers of processes are used again: the file that only the run itself has locked tells."""
    with workspace.write() as db:
        number = stored.start(db, "pingpong", {}, os.getpid())
    Path(f"{workspace.db_path}-run-{number}").write_text("")
    with workspace.read() as db:
        assert stored.get(db, number).interrupted
