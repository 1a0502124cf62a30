"""While the store takes nothing (a lock, a full disk, a lost file) no call is made; none is paid twice."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from concord.errors import DatabaseReplaced
from concord.runs import engine, planning
from concord.runs.stored import LAG_SECONDS
from concord.store import database, integrity, locks, parts, settings, writer
from concord.store import runs as stored
from concord.workspace import Workspace
from tests import warm
from tests.runs.runs_helpers import calls_made, concord_run, count, plan, until
from tests.runs.store_lost_helpers import Watched, calls_when_still, lock_of

IN_FLIGHT = 16
"""What a client sends at once unless told otherwise."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Errors of SQLite come at once, and are tried again soon."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(locks, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(writer, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(engine, "BEAT_SECONDS", 0.1)


def needed(repeats):
    """Two conversations of four turns for each repeat, and two judges."""
    return repeats * 2 * (4 * 2 + 2)


def in_thread(pool, workspace, watched, repeats=20):
    job = planning.job(workspace, plan(repeats=repeats))
    return pool.submit(engine.execute, workspace, job, watch=watched)


def test_behind_a_lock_no_call_is_made_and_afterwards_none_is_repeated(faulty):
    workspace, watched = faulty(latency=0.2), Watched()
    with ThreadPoolExecutor(1) as pool:
        running = in_thread(pool, workspace, watched)
        while calls_made(workspace) < 20:
            assert not running.done()
        with lock_of(workspace):
            watched.until("another program has locked the database")
            with workspace.read() as db:
                [found] = stored.recent(db)
            assert "another program has locked" in found.message, "the page reads it as well"
            assert not found.interrupted
            assert calls_when_still(workspace) < needed(20)
        ended = running.result()
    assert (ended.state, ended.done, ended.left) == ("finished", 20 * 2 * 3, 0)
    assert ended.message == ""
    assert calls_made(workspace) == ended.spent.calls == needed(20)
    assert count(workspace, "journal") == 0


def test_a_kill_behind_a_lock_loses_a_second_of_answers(faulty):
    workspace = faulty(latency=0.05)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "8")
    process = warm.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: count(workspace, "journal"), process)
    with lock_of(workspace) as lock:
        with workspace.read() as db:
            [run] = stored.recent(db)
        until(lambda: locks.message_of(workspace.db_path, run.id), process)
        made = calls_when_still(workspace)
        process.kill()
        process.wait()
        kept = lock["journal"].count
        for table in ("conversations", "judgements"):
            kept += sum(row["calls"] for row in lock[table].rows)
    # 20 calls a second in each of 16 places, for the second after which calls wait and the tenths of a
    # second in which the store had taken the last ones; twice that is allowed for a busy machine.
    assert made - kept <= 2 * 1.2 * LAG_SECONDS * IN_FLIGHT / 0.05
    done = warm.run(command)
    assert done.returncode == 0, done.stderr
    assert calls_made(workspace) == 8 * (7 * 8 + 16) + made - kept


def test_a_database_that_is_lost_for_a_while_costs_nothing(faulty):
    """Moved away and back, as by a cloud folder or a wrong hand; an empty one is not put in its place."""
    workspace, watched = faulty(latency=0.2), Watched()
    away = workspace.db_path.with_name("away.db")
    with ThreadPoolExecutor(1) as pool:
        running = in_thread(pool, workspace, watched)
        while calls_made(workspace) < 20:
            assert not running.done()
        workspace.db_path.rename(away)
        try:
            watched.until("gone or cannot be opened")
            calls_when_still(workspace)
            assert not workspace.db_path.exists()
        finally:
            away.rename(workspace.db_path)
        ended = running.result()
    assert (ended.state, ended.left) == ("finished", 0)
    assert calls_made(workspace) == ended.spent.calls == needed(20)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set on Linux only")
def test_a_full_disk_stops_the_calls_until_there_is_room(faulty):
    workspace = faulty(latency=0.2)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "5", "--judges", "a")
    process = warm.Popen(command, stdout=subprocess.PIPE)
    until(lambda: count(workspace, "journal"), process)
    wal = workspace.db_path.with_name("concord.db-wal")
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    # No file may grow beyond what the log holds by now.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (wal.stat().st_size + 4096, hard))
    with workspace.read() as db:
        [run] = stored.recent(db)
    until(lambda: "the disk" in locks.message_of(workspace.db_path, run.id), process)
    made = calls_when_still(workspace)
    assert made < 5 * (7 * 8 + 16 + 8)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "finished" in said
    assert calls_made(workspace) == 5 * (7 * 8 + 16 + 8)


def test_stopped_behind_a_lock_it_stores_what_it_has_before_it_ends(faulty):
    workspace = faulty(latency=0.05)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "8")
    process = warm.Popen(command, stdout=subprocess.PIPE)
    until(lambda: count(workspace, "journal"), process)
    with lock_of(workspace):
        with workspace.read() as db:
            [run] = stored.recent(db)
        until(lambda: locks.message_of(workspace.db_path, run.id), process)
        os.kill(process.pid, signal.SIGINT)
        made = calls_when_still(workspace)
        assert process.poll() is None, "it waits for the store"
    said, _ = process.communicate()
    assert "Stopped by a signal" in said
    with workspace.read() as db:
        paid = sum(row["calls"] for row in db["conversations"].rows) + db["journal"].count
        assert paid == made == stored.get(db, run.id).spent.calls


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_second_signal_ends_it_at_once_whatever_it_waits_for(faulty, number):
    workspace = faulty(hang=40)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "5")
    process = warm.Popen(command, stdout=subprocess.PIPE)
    until(lambda: calls_made(workspace) >= 40, process)
    with lock_of(workspace):
        os.kill(process.pid, number)
        time.sleep(1)
        assert process.poll() is None, "it waits for calls and for the store"
        os.kill(process.pid, number)
        assert process.wait(1) == -number
    process.communicate()


def test_a_change_that_fails_keeps_no_other_from_being_stored(workspace):
    both_put = threading.Event()

    def fail(db):
        assert both_put.wait(30)
        raise ZeroDivisionError

    def write():
        with writer.Writer(workspace.db_path) as writing:
            writing.put(fail)
            writing.put(lambda db: db.execute("INSERT INTO settings VALUES ('kept', '1')"))
            both_put.set()

    before = count(workspace, "settings")
    with pytest.raises(ZeroDivisionError):
        write()
    assert count(workspace, "settings") == before + 1


def replacement(workspace, tmp_path):
    """Another workspace's database, with a run too, which a file synchroniser puts in place of this one."""
    other = Workspace(shutil.copytree(workspace.path, tmp_path / "other"))
    for leftover in other.path.glob("concord.db-*"):
        leftover.unlink()
    other.db_path.unlink()
    other = Workspace.open(other.path)
    with other.write() as db:
        stored.start(db, "pingpong", {"theirs": True}, 1, None)
        db.execute("INSERT INTO settings VALUES ('whose', 'theirs')")
    with closing(database.connect(other.db_path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return other.db_path


def everything(path):
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def test_a_replaced_database_ends_the_run_and_both_files_stay_whole(faulty, tmp_path, run):
    workspace = faulty(latency=0.05)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "8")
    process = warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until(lambda: count(workspace, "journal") > 10, process)
    theirs = replacement(workspace, tmp_path)
    content = everything(theirs)
    os.replace(theirs, workspace.db_path)
    made = calls_when_still(workspace)
    said, _ = process.communicate()
    assert process.returncode == 1, said
    assert "concord.db was replaced by another file while Concord wrote to it" in said
    assert made < 8 * (7 * 8 + 16), "it stopped"
    assert everything(workspace.db_path) == content
    [copy] = [p for p in workspace.path.glob("concord.db-replaced-*") if p.name[-1].isdigit()]
    with closing(database.connect(copy)) as db:
        [ended] = stored.recent(db)
        assert ended.state == "broken"
        kept = db["journal"].count
        for table in ("conversations", "judgements"):
            kept += sum(row["calls"] for row in db[table].rows)
    assert kept == made, "each call that was paid for is stored"
    for path in (workspace.db_path, copy):
        assert run(workspace, "verify", path).exit_code == 0


def test_an_import_does_not_go_on_in_another_file(tmp_path):
    workspace, other = Workspace.open(tmp_path / "here"), Workspace.open(tmp_path / "other")
    content = everything(other.db_path)

    def import_in_parts():
        with parts.in_parts(workspace.db_path) as part:
            with part() as db:
                settings.put(db, "ours first", "1")
            os.replace(other.db_path, workspace.db_path)
            with part() as db:
                settings.put(db, "ours second", "1")

    with pytest.raises(DatabaseReplaced) as caught:
        import_in_parts()
    assert everything(workspace.db_path) == content
    with closing(database.connect(caught.value.copy)) as db:
        assert [settings.get(db, name) for name in ("ours first", "ours second")] == ["1", None]


def test_what_the_app_had_stored_is_copied_to_the_other_file(tmp_path):
    """The log of the former file would be written into the new one."""
    here, other = Workspace.open(tmp_path / "here"), Workspace.open(tmp_path / "other")
    here.change(lambda db: db.execute("INSERT INTO settings VALUES ('ours', '1')"))
    assert here.db_path.with_name("concord.db-wal").stat().st_size
    os.replace(other.db_path, here.db_path)
    here.change(lambda db: db.execute("INSERT INTO settings VALUES ('ours afterwards', '1')"))
    with here.read() as db:
        assert [settings.get(db, name) for name in ("ours", "ours afterwards")] == [None, "1"]
        assert integrity.findings(db) == []
    [copy] = here.path.glob("concord.db-replaced-*")
    with closing(database.connect(copy)) as db:
        assert [settings.get(db, name) for name in ("ours", "ours afterwards")] == ["1", None]
