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
from concord.store import locks
from concord.store import runs as stored
from tests import warm
from tests.runs.runs_helpers import calls_made, calls_of, concord_run, count, plan, until


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
    assert count(workspace, "journal") == 0
    assert not list(workspace.path.glob("concord.db-run-*"))


def test_who_waits_says_so_and_uses_what_the_other_made(faulty):
    """The second makes no call, says which run it waits for, and finds everything stored."""
    workspace = faulty(latency=0.3)
    with ThreadPoolExecutor(2) as pool:
        jobs = [planning.job(workspace, plan()), planning.job(workspace, plan())]
        first = pool.submit(engine.execute, workspace, jobs[0])
        while not count(workspace, "journal"):
            assert not first.done()
        messages = []
        second = pool.submit(
            engine.execute, workspace, jobs[1], watch=lambda progress: messages.append(progress.message)
        )
        made, used = first.result(), second.result()
    assert "Run 1 is at work on pingpong: this run starts when it has ended." in messages
    assert (made.spent.calls, used.spent.calls) == (20, 0)
    assert (used.stored, used.done, used.left, used.message) == (6, 0, 0, "")
    assert made.ended <= used.started, "pace and time left are of its work, not of its wait"


def test_who_waits_can_be_stopped_and_other_benchmarks_do_not_wait(workspace):
    """A run before it holds the benchmark: a file that it has locked says that it is alive."""
    with workspace.write() as db:
        number = stored.start(db, "pingpong", {}, os.getpid())
    with locks.present(workspace.db_path, number), ThreadPoolExecutor(1) as pool:
        other = engine.execute(workspace, planning.job(workspace, JudgePlan("simulbench", ("a",))))
        assert (other.state, other.planned) == ("finished", 0)
        waiting = pool.submit(engine.execute, workspace, planning.job(workspace, plan()))
        while "starts when it has ended" not in recent(workspace)[0].message:
            assert not waiting.done()
        with workspace.write() as db:
            stored.ask_to_stop(db, recent(workspace)[0].id)
        ended = waiting.result()
    assert (ended.state, ended.spent.calls, ended.left) == ("stopped", 0, 6)
    assert ended.message == "Stopped on request; calls in flight were finished."


def test_what_a_killed_run_had_begun_is_done_by_its_twin(faulty):
    """It dies between two calls of its conversations; the twin goes on in its journal."""
    workspace = faulty(latency=0.5)
    words = ("--repeats", "4", "--judges", "a")
    killed = start(workspace, *words)
    until(lambda: count(workspace, "journal") > 8, killed)
    twin = start(workspace, *words)
    until(lambda: len(recent(workspace)) == 2 and "Run 1 is at work" in recent(workspace)[0].message, twin)
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
    """Judges of what is stored take their turn after the run that plays, and rate what it has made."""
    workspace = faulty(latency=0.02)
    with ThreadPoolExecutor(2) as pool:
        jobs = [planning.job(workspace, p) for p in (plan(repeats=6), JudgePlan("pingpong", ("b", "c")))]
        playing = pool.submit(engine.execute, workspace, jobs[0])
        while not count(workspace, "journal"):
            assert not playing.done()
        judging = pool.submit(engine.execute, workspace, jobs[1])
        assert [playing.result().left, judging.result().left] == [0, 0]
    # Twelve conversations of eight calls, and three judges of each
    assert calls_made(workspace) == 12 * (8 + 3)
    assert judging.result().done == 12


def test_a_run_that_has_ended_or_died_is_not_waited_for(workspace):
    with workspace.write() as db:
        ended, dead, mine, other = (
            stored.start(db, benchmark, {}, os.getpid())
            for benchmark in ("pingpong", "pingpong", "pingpong", "stss")
        )
        with locks.present(workspace.db_path, ended):
            assert stored.ahead(db, mine) == ended
            assert stored.ahead(db, other) is None
            stored.end(db, ended, "stopped")
            assert stored.ahead(db, mine) is None
        assert [stored.ahead(db, run) for run in (ended, dead, mine, other)] == [None] * 4


def test_a_process_with_the_number_of_a_dead_run_is_not_taken_for_it(workspace, tmp_path):
    """Numbers of processes are used again: the file that only the run itself has locked tells."""
    with workspace.write() as db:
        number = stored.start(db, "pingpong", {}, os.getpid())
    Path(f"{workspace.db_path}-run-{number}").write_text("")
    with workspace.read() as db:
        assert stored.get(db, number).interrupted
