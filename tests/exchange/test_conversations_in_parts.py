"""Concord's own JSON Lines are stored in parts: others write in between, and one that does not end leaves
nothing.
"""

import fcntl
import json
import signal
import sys
import threading
import time

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file, conversations_import, conversations_jsonl
from concord.rating import Judgement, Rater
from concord.store import conversations, copies, ratings, settings, studies
from concord.workspace import Workspace
from tests import warm
from tests.derived import faults
from tests.exchange.import_in_parts_helpers import held
from tests.exchange.trajectories_helpers import KEYS, simulated

STORED = KEYS[0]
"""A simulation that lies in the workspace already."""


@pytest.fixture
def out(fresh, run, tmp_path):
    """An export: two simulations with trajectories, eight conversations with criteria, and a study."""
    with fresh.write() as db:
        for key in KEYS:
            conversations.save(db, simulated(key), simulated=True)
    file = tmp_path / "talks.jsonl"
    assert run(fresh, "export", "conversations", "--out", file).exit_code == 0
    question = {"name": "wit", "statement": "It is witty.", "title": "Wit", "counted": True}
    question |= {"values": [1, 2], "labels": ["no", "yes"], "continuous": False}
    lines = [{"kind": "benchmark", "name": "talks", "criteria": [question], "refusal_criterion": "wit"}]
    lines += [{"key": f"t{n}", "messages": [{"role": "user", "content": f"Hi {n}"}]} for n in range(8)]
    study = {**dict.fromkeys(("overlap", "seed", "per_turn", "anonymous"), 0), "name": "s", "title": "S"}
    study |= {"guidelines": "", "source": "drawn", "meta": {}, "criteria": [question]}
    lines += [{"kind": "study", **study, "units": [[f"t{n}", None, ""] for n in range(4)]}]
    with file.open("a") as more:
        more.writelines(json.dumps(line) + "\n" for line in lines)
    return file


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Every line of an import is a part of its own."""
    monkeypatch.setattr(conversations_import, "AT_ONCE", 1)
    made = Workspace.open(tmp_path / "other")
    with made.write() as db:
        conversations.save(db, simulated(STORED), simulated=True)
    return made


def bring(workspace, file):
    """Check a file and store it; what is said of that."""
    return conversations_import.store(workspace, conversations_file.survey(file))


def lived(workspace):
    """The stored trajectories, by key."""
    with workspace.read() as db:
        sql = "SELECT key, trajectory FROM conversations WHERE trajectory IS NOT NULL"
        return dict(db.execute(sql).fetchall())


def whole(workspace):
    with copies.snapshot(workspace.db_path) as copy:
        return faults(copy) == []


def test_what_is_stored_in_parts_is_what_one_part_stores(workspace, out, tmp_path, monkeypatch):
    assert bring(workspace, out) == (
        "Under “stss”, “talks”: 9 new conversations, 1 were stored already. Study “s”."
    )
    other = Workspace.open(tmp_path / "at once")
    monkeypatch.setattr(conversations_import, "AT_ONCE", 1000)
    with other.write() as db:
        conversations.save(db, simulated(STORED), simulated=True)
    bring(other, out)
    one, another = held(workspace), held(other)
    for name in ("facets", "items", "criteria"):
        assert one[name] == another[name], name
    assert {name: len(rows) for name, rows in one.items()} == {n: len(rows) for n, rows in another.items()}
    assert not any("'part " in row for row in one["settings"])
    assert lived(workspace) == lived(other)
    assert len(lived(workspace)) == 2
    assert whole(workspace)


def test_a_repeated_import_changes_nothing(workspace, out):
    talks = out.with_name("talks-only.jsonl")
    talks.write_text("".join(line for line in out.read_text().splitlines(True) if '"study"' not in line))
    bring(workspace, talks)
    before = held(workspace)
    assert "0 new conversations, 10 were stored already" in bring(workspace, talks)
    assert held(workspace) == before


def waits(path):
    """Whether somebody is next to write to a database: who is, holds the queue."""
    with open(f"{path}-queue") as queue:
        try:
            fcntl.flock(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_others_write_between_two_lines(workspace, out, monkeypatch):
    """Their write begins while the third line is stored, and is done before the fifth one is."""
    saved, lines, other = conversations_jsonl.save_beside, [], []
    done = threading.Event()

    def write():
        with workspace.write() as db:
            other.append(conversations.count(db))
            settings.put(db, "other", "was here")
        done.set()

    thread = threading.Thread(target=write)

    def save(*args, **how):
        lines.append(args)
        if len(lines) == 3:
            thread.start()
            while not waits(workspace.db_path):
                time.sleep(0.01)
        elif len(lines) == 5:
            assert done.wait(60)
        return saved(*args, **how)

    monkeypatch.setattr(conversations_jsonl, "save_beside", save)
    bring(workspace, out)
    thread.join()
    assert other[0] in (3, 4)
    with workspace.read() as db:
        assert settings.get(db, "other") == "was here"
        assert conversations.count(db) == 10


def test_a_long_line_fills_a_part(out, monkeypatch):
    parsed = conversations_file.survey(out).parsed
    assert len(list(conversations_import._batches(parsed))) == 1
    monkeypatch.setattr(conversations_import, "BYTES_AT_ONCE", 1)
    assert [len(some) for some in conversations_import._batches(parsed)] == [1] * 13


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"key": "z", "messages": 5}', "no list of messages"),
        ('{"key": "z", "messages": [], "configurations": [{}]}', "is missing"),
        ('{"key": "t0", "messages": [{"role": "user", "content": "Bye"}]}', "with other messages"),
        ('{"kind": "study"}', "is missing"),
        ('{"kind": "poem"}', "is unknown"),
        ("{", "not valid JSON"),
    ],
)
def test_a_wrong_last_line_leaves_nothing(workspace, out, line, why):
    before = held(workspace)
    with out.open("a") as more:
        more.write(line + "\n")
    with pytest.raises(ImportRefused, match=why) as refused:
        bring(workspace, out)
    assert "line 14" in str(refused.value)
    assert held(workspace) == before
    assert whole(workspace)


def test_every_conversation_is_checked_before_one_is_stored(workspace, out, monkeypatch):
    monkeypatch.setattr(conversations_import, "in_parts", None)
    with out.open("a") as more:
        more.write('{"key": "z", "messages": 5}\n')
    with pytest.raises(ImportRefused, match="line 14"):
        bring(workspace, out)


KILLED = """
import os, signal
from concord.cli import main
from concord.exchange import conversations_import, conversations_jsonl
conversations_import.AT_ONCE, study = 1, conversations_jsonl._study
def dying(*args):
    study(*args)
    os.kill(os.getpid(), signal.SIGKILL)
conversations_jsonl._study = dying
main()
"""


def test_an_import_that_was_killed_is_removed_when_the_workspace_is_opened(workspace, out):
    before = held(workspace)
    command = ["--workspace", str(workspace.path), "import", "conversations", str(out)]
    done = warm.run([sys.executable, "-c", KILLED, *command])
    assert done.returncode == -signal.SIGKILL
    between = held(workspace)
    assert len(between["conversations"]) == 10
    assert len(lived(workspace)) == 2
    Workspace.open(workspace.path)
    assert held(workspace) == before
    assert whole(workspace)


def test_a_conversation_that_others_use_meanwhile_stays(workspace, out, monkeypatch):
    """Items of a study cannot be removed, so that nobody could open the workspace; a judgement was paid."""
    batches = conversations_import._batches

    def interrupted(rows):
        for some in batches(rows):
            key = some[0].line.complete.get("key")
            if key == "t5":
                with workspace.write() as db:
                    studies.create(db, studies.Study("mine", ()))
                    studies.add_units(db, "mine", [(conversations.find_id(db, "t1"), None, "")])
                    judged = Judgement("paid", "t2", Rater("one", "judge"), failure="unparseable")
                    ratings.save_judgement(db, judged)
            if key == "t6":
                raise KeyboardInterrupt
            yield some

    monkeypatch.setattr(conversations_import, "_batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bring(workspace, out)
    assert not any("'part " in row for row in held(workspace)["settings"])
    with workspace.read() as db:
        assert set(conversations.existing(db, [*KEYS, *(f"t{n}" for n in range(8))])) == {STORED, "t1", "t2"}
        assert db.table("judgements").count == 1
        assert [unit["key"] for unit in studies.units(db, "mine")] == ["t1"]
    assert whole(workspace)
