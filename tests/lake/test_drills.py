"""Kills, a full disk, a clock that jumps, partitions that fail: nothing is lost, doubled or paid twice.

`bench/kills.py` kills twenty times; the mock server's ledger says what was paid.
"""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import time

import pytest

from concord.lake import engines, journal, plan, working
from concord.lake.coordinator import LakeHow
from concord.lake.judging import judge_partition
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.lake import kills
from tests.lake.kills import LakeJob
from tests.lake.logs import calls, calls_of, conversation, lines, planned, rows
from tests.mock.server import running

ENGINES = {
    "process": ([()], kills.commands),
    "coordinator": ([("--workers", "2")], kills.commands),
    "worker": ([("--workers", "2")], kills.workers),
    "shards": ([("--shard", "1/2"), ("--shard", "2/2")], kills.commands),
}


@pytest.fixture
def log(tmp_path):
    return lines(tmp_path / "log.jsonl", [conversation(number) for number in range(200)])


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="children are looked up in /proc")
@pytest.mark.parametrize("engine", ENGINES)
def test_kills_cost_calls_in_flight_alone(tmp_path, log, engine):
    options, victims = ENGINES[engine]
    with running(latency=0.05) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        workspace.models_path.write_text(toml(url, a=FIXED, b=FIXED))
        planned(workspace, [log], tmp_path / "out")  # writes the rubric
        job = LakeJob(workspace, log, tmp_path / "out", "a,b", 20, options)
        outcome = kills.carried_out(job, victims, 400, 3)
        answers = rows(tmp_path / "out")
        assert engines.execute(planned(workspace, [log], tmp_path / "whole")).state == "finished"
    assert len(answers) == len(set(answers)) == 800
    assert answers == rows(tmp_path / "whole")
    assert outcome.kills == 3
    assert outcome.answered == 400 + outcome.repeated
    assert outcome.repeated <= outcome.kills * outcome.peak
    assert not job.journals()


def test_a_command_begun_at_once_after_a_kill_pays_nothing_twice(tmp_path, log):
    """Workers finish their calls, and the new command waits for the partitions that they hold."""
    with running(latency=2.0) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        workspace.models_path.write_text(toml(url, a=FIXED))
        planned(workspace, [log], tmp_path / "out", ["a"])
        job = LakeJob(workspace, log, tmp_path / "out", "a", 100, [("--workers", "2")])
        killed = job.begin(0)
        while calls_of(workspace)["in_flight"] < 10:
            assert killed.poll() is None
        flying = calls_of(workspace)["in_flight"]
        killed.kill()
        again = job.begin(0)
        output = again.communicate()[0]
        killed.communicate()
        counts = calls_of(workspace)
    assert again.returncode == 0, output
    assert flying >= 10
    assert (sum(counts["answered"].values()), counts["repeated"]) == (200, 0)
    assert len(set(rows(tmp_path / "out"))) == 400


def test_a_worker_that_reads_files_ends_with_its_coordinator(workspace, log, tmp_path):
    """At once, however long the file takes: here for ever, as nobody writes into the pipe."""
    of = planned(workspace, [log], tmp_path / "out")
    log.unlink()
    os.mkfifo(log)
    command = [sys.executable, "-m", "concord.lake.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        worker.stdin.write(pickle.dumps((of, LakeHow(workers=1), 1)))
        worker.stdin.write(b'{"survey": 0}\n')
        worker.stdin.flush()
        assert worker.stdout.readline() == b'{"ready": true}\n'
        worker.stdin.close()
        assert worker.wait() == 0


def test_a_partition_that_another_process_holds_is_waited_for(workspace, log, tmp_path):
    """Such as a worker whose command was killed, which finishes its calls."""
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    plan.prepared(of)
    held, messages = [journal.PartitionJournal(of.journal(3))], []

    def watch(progress):
        messages.append(progress.message)
        while held and progress.partitions_done == 9:
            held.pop().close()

    ended = engines.execute(of, watch=watch)
    assert (ended.state, ended.judged, ended.problems) == ("finished", 200, [])
    assert "Waiting for an earlier command to leave 1 partition." in messages


class FullDisk:
    """Stands before a function that writes: of all calls these fail, as on a full disk."""

    def __init__(self, write, failing, look=lambda: None):
        self.write, self.failing, self.look, self.asked, self.seen = write, failing, look, 0, []

    def __call__(self, *args, **options):
        self.asked += 1
        if self.asked in self.failing:
            if self.asked in (self.failing[0], self.failing[-1]):
                self.seen.append(self.look())
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.write(*args, **options)


def test_a_full_disk_is_waited_for_and_nothing_is_paid_twice(faulty, log, tmp_path, monkeypatch):
    workspace = faulty()
    monkeypatch.setattr(journal, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(working, "AGAIN_SECONDS", 0.01)
    writes = FullDisk(os.write, range(30, 330), lambda: calls(workspace))
    monkeypatch.setattr(journal.os, "write", writes)
    commits = FullDisk(working._write, range(3, 8))
    monkeypatch.setattr(working, "_write", commits)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out"))
    assert (ended.state, ended.judged, ended.failed) == ("finished", 400, 0)
    full, free = writes.seen
    assert full < 100
    assert free - full <= calls_of(workspace)["peak_in_flight"], "no call is made while the disk is full"
    assert commits.asked > 8
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (400, 0)
    assert len(set(rows(tmp_path / "out"))) == 800


def test_half_a_line_on_a_full_disk_is_no_answer(faulty, log, tmp_path, monkeypatch):
    """A line that was cut by a full disk and a kill is asked again; those around it are not."""
    workspace = faulty()
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    seen = []

    async def stopped(*args, session, **options):
        result = await judge_partition(*args, session=session, **options)
        session.halt("Stopped in the midst.")
        seen.append(result.items)
        result.complete = frozenset()
        return result

    monkeypatch.setattr(working, "judge_partition", stopped)
    engines.execute(of)
    monkeypatch.undo()
    [path, *_] = sorted((tmp_path / "out").glob("*/*.journal"))
    text = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(text[:-1]) + text[-1][: len(text[-1]) // 2])
    before = calls(workspace)
    assert engines.execute(of).state == "finished"
    assert calls(workspace) == 201
    assert before < 200
    assert len(set(rows(tmp_path / "out"))) == 400


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_changes_nothing(faulty, log, tmp_path, monkeypatch, jump):
    workspace = faulty(rate_limit=40)
    clock, asked = time.time, []

    def jumping():
        asked.append(True)
        return clock() + jump * len(asked)

    of = planned(workspace, [log], tmp_path / "out")
    os.utime(log, (clock() - jump, clock() - jump))
    monkeypatch.setattr(time, "time", jumping)
    first = engines.execute(of)
    again = engines.execute(of)
    assert asked
    assert (first.state, first.judged, again.state, again.judged) == ("finished", 400, "finished", 0)
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (400, 0)


def test_a_partition_that_raises_does_not_end_the_others(workspace, log, tmp_path, monkeypatch):
    before = calls(workspace)
    of = planned(workspace, [log], tmp_path / "out")
    broken = of.part("a", 3).name

    async def raising(*args, journal, **options):
        if journal.path.stem == broken.removesuffix(".parquet"):
            raise RuntimeError("It is spoiled.")
        return await judge_partition(*args, journal=journal, **options)

    monkeypatch.setattr(working, "judge_partition", raising)
    ended = engines.execute(of)
    assert ended.state == "broken"
    assert ended.left == 1
    assert "Partition 3" in ended.problems[0]
    assert "RuntimeError: It is spoiled." in ended.problems[0]
    monkeypatch.undo()
    assert engines.execute(of).state == "finished"
    assert calls(workspace) - before == 400


@pytest.mark.parametrize("options", [{}, {"batch": True}])
def test_a_coordinator_beside_another_makes_no_call(workspace, log, tmp_path, options):
    """The second one is a process of its own, which ends with the reason."""
    of = planned(workspace, [log], tmp_path / "out")
    outputs = []

    def watch(_progress):
        if not outputs:
            job = LakeJob(workspace, log, tmp_path / "out", "a,b", 20, [("--workers", "2")])
            process = job.begin(0)
            outputs.append(process.communicate()[0])
            assert process.returncode == 1

    assert engines.execute(of, LakeHow(**options), watch=watch).state in ("finished", "open")
    assert "Another process judges into" in outputs[0]
