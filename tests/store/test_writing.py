"""What the store promises to those who write: at once, twice, after a failure, from an older or a newer
Concord.
"""

import fcntl
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotFound, StudyError, WorkspaceError
from concord.rating import Criterion, Judgement, Rater, Rating, Spent
from concord.store import conversations, database, locks, ratings, studies, writer
from concord.store.studies import Study
from concord.store.writer import Writer
from concord.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "workspace")


def conversation(key="k", reply="Hello."):
    return Conversation(
        "bench", key, "player", (Message("user", "Hi"), Message("assistant", reply)), facets={"mood": "dry"}
    )


def judgement(score=None, *, key="k|j", failure=None, spent=None):
    given = () if score is None else (Rating(Unit("k", 1), "fluency", score, "because"),)
    return Judgement(
        key, "k", Rater("j", "judge", "v1"), given, failure, "raw", spent=spent or Spent(1, 10, 5, 0.1, 1.0)
    )


def test_writers_at_once_wait_for_each_other_and_lose_nothing(workspace):
    def write(writer):
        for number in range(25):
            with workspace.write() as db:
                # Reads before it writes: a transaction that began without the write lock would fail here.
                before = conversations.count(db)
                conversations.save(db, conversation(f"{writer}-{number}"))
                assert conversations.count(db) == before + 1

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write, writer) for writer in range(4)]:
            done.result()
    with workspace.read() as db:
        assert conversations.count(db) == 100


def test_a_reader_sees_one_state_while_others_write(workspace):
    with workspace.read() as reader:
        assert conversations.count(reader) == 0
        with workspace.write() as db:
            conversations.save(db, conversation())
        assert conversations.count(reader) == 0
    with workspace.read() as reader:
        assert conversations.count(reader) == 1


def test_a_transaction_that_fails_leaves_nothing(workspace):
    def half():
        with workspace.write() as db:
            conversations.save(db, conversation())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    with workspace.read() as db:
        assert conversations.count(db) == 0


def test_the_same_key_twice_keeps_the_first(workspace):
    with workspace.write() as db:
        first = conversations.save(db, conversation(reply="one"))
        assert conversations.save(db, conversation(reply="two")) == first
        assert conversations.load(db, "k").replies == ("one",)


def test_a_conversation_reads_back_as_it_was(workspace):
    kept = Conversation(
        "bench",
        "k",
        "player",
        (Message("user", "„Привет“ \n 🙂", {"plan": [1]}), Message("assistant", "")),
        "ru",
        {"mood": "dry"},
        {"Card": "text", "_hidden": {"a": 1}},
        {"note": [1, None]},
    )
    with workspace.write() as db:
        number = conversations.save(db, kept)
        assert conversations.load(db, "k") == conversations.load(db, number) == kept
        with pytest.raises(NotFound, match="no conversation “q”"):
            conversations.load(db, "q")


def test_a_failed_judgement_gives_way_and_its_cost_adds_up(workspace):
    with workspace.write() as db:
        number = conversations.save(db, conversation())
        ratings.save_judgement(db, judgement(failure="not JSON"))
        assert ratings.failed_keys(db, ["k|j"]) == {"k|j"}
        assert ratings.answered_keys(db, ["k|j"]) == set()
        assert conversations.listed(db, number).failed == 1
        assert ratings.of_conversation(db, number) == []

        ratings.save_judgement(db, judgement(4))
        assert ratings.answered_keys(db, ["k|j"]) == {"k|j"}
        found = conversations.listed(db, number)
        assert (found.failed, found.final, found.judges) == (0, 4.0, 1)
        (paid,) = ratings.judgements_of(db, number)
        assert (paid["calls"], paid["input_tokens"], paid["cost"]) == (2, 20, 0.2)


def test_an_answer_is_never_replaced(workspace):
    with workspace.write() as db:
        number = conversations.save(db, conversation())
        ratings.save_judgement(db, judgement(4))
        ratings.save_judgement(db, judgement(1))
        ratings.save_judgement(db, judgement(failure="late"))
        assert [r.score for r in ratings.of_conversation(db, number)] == [4.0]
        assert conversations.listed(db, number).failed == 0


def test_a_judgement_of_nothing_stored_is_refused(workspace):
    with workspace.write() as db, pytest.raises(NotFound, match="not stored"):
        ratings.save_judgement(db, judgement(4))


def test_the_same_rating_twice_is_refused_also_without_a_turn(workspace):
    """SQLite takes two NULLs for different: the index must not."""
    with workspace.write() as db:
        number = conversations.save(db, conversation())
        rater = ratings.rater_id(db, Rater("j", "judge"))
        whole = [Rating(Unit("k"), "fluency", 3)]
        ratings.insert(db, number, rater, whole)
        with pytest.raises(sqlite3.IntegrityError):
            ratings.insert(db, number, rater, whole)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "concord.db").write_bytes(b"not a database at all, " * 100)
    with pytest.raises(WorkspaceError, match="not a Concord database"):
        Workspace.open(tmp_path)


def test_two_may_open_a_new_workspace_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        opened = [pool.submit(Workspace.open, tmp_path / "new") for _ in range(8)]
        assert {done.result().path for done in opened} == {tmp_path / "new"}


def test_a_change_that_fails_in_the_last_group_ends_the_thread(tmp_path):
    path = Workspace.open(tmp_path).db_path
    with pytest.raises(ZeroDivisionError), Writer(path) as writer:
        writer.put(lambda db: 1 / 0)


def test_a_change_returns_once_it_is_stored(workspace):
    number = workspace.change(lambda db: conversations.save(db, conversation()))
    with workspace.read() as db:
        assert conversations.load(db, number).key == "k"


def test_changes_meanwhile_are_committed_together_but_for_a_failed_one(workspace, monkeypatch):
    commits = []

    def counted(db):
        commits.append(db)
        return database.transaction(db)

    monkeypatch.setattr(writer, "transaction", counted)
    begun, go_on = threading.Event(), threading.Event()

    def first(db):
        begun.set()
        assert go_on.wait(30)

    def half(db):
        conversations.save(db, conversation("half"))
        raise StudyError("not so")

    with Writer(workspace.db_path) as writing, ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(writing.do, first)]
        assert begun.wait(30)
        for key in "abc":
            waiting.append(
                pool.submit(writing.do, lambda db, key=key: conversations.save(db, conversation(key)))
            )
        failing = pool.submit(writing.do, half)
        while len(writing._tasks) < 5:
            assert not any(done.done() for done in waiting)
        go_on.set()
        for done in waiting:
            done.result(30)
        with pytest.raises(StudyError, match="not so"):
            failing.result(30)
    assert len(commits) == 2
    with workspace.read() as db:
        assert {c.key for c in conversations.search(db)} == {"a", "b", "c"}


def test_a_group_that_takes_long_is_committed_in_parts(workspace, monkeypatch):
    """Each part is seen by others before the next one begins, also the last ones after `with` was left."""
    monkeypatch.setattr(writer, "GROUP_SECONDS", 0.0)
    seen = []

    def change(db):
        with workspace.read() as other:
            seen.append(conversations.count(other))
        conversations.save(db, conversation(str(len(seen))))

    with Writer(workspace.db_path) as writing:
        for _ in range(4):
            writing.put(change)
    assert seen == [0, 1, 2, 3]


def test_a_group_that_cannot_be_committed_fails_and_the_next_is_stored(workspace, monkeypatch):
    class Full(Exception):
        pass

    @contextmanager
    def full(db):
        raise Full
        yield

    monkeypatch.setattr(writer, "transaction", full)
    with Writer(workspace.db_path) as writing:
        with pytest.raises(Full):
            writing.do(lambda db: None)
        monkeypatch.undo()
        assert writing.do(lambda db: conversations.save(db, conversation())) == 1


def held(path, name):
    with open(f"{path}-{name}", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_who_has_just_written_comes_behind_who_waits(workspace):
    path, order = workspace.db_path, []

    def other():
        with locks.turn(path):
            order.append("other")

    with ThreadPoolExecutor(1) as pool:
        with locks.turn(path):
            waiting = pool.submit(other)
            while not held(path, "queue"):
                assert not waiting.done()
        with locks.turn(path):
            order.append("again")
        waiting.result()
    assert order == ["other", "again"]


def test_a_turn_ends_with_its_process_or_when_it_is_stuck(workspace, monkeypatch):
    code = (
        "import sys, time; from pathlib import Path; from concord.store.locks import turn\n"
        "with turn(Path(sys.argv[1])): print('mine', flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, workspace.db_path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "mine\n"
        with monkeypatch.context() as patch:
            patch.setattr(locks, "PATIENCE_SECONDS", 0.1)
            with workspace.write() as db:
                conversations.save(db, conversation())
        process.kill()
        process.wait()
        with locks.turn(workspace.db_path):
            assert held(workspace.db_path, "turn")


def test_a_database_that_was_replaced_is_read_anew(tmp_path):
    """A backup that was put in place of a damaged file, while the app runs."""
    here, other = Workspace.open(tmp_path / "here"), Workspace.open(tmp_path / "other")
    with other.write() as db:
        conversations.save(db, conversation())
    database.keep_open(here.db_path)
    with here.read() as first:
        assert conversations.count(first) == 0
    with here.read() as db:
        assert db is first
    here.change(lambda db: conversations.save(db, conversation("before")))
    for suffix in ("-wal", "-shm"):
        here.db_path.with_name(f"concord.db{suffix}").unlink()
    other.db_path.replace(here.db_path)
    with here.read() as db:
        assert conversations.count(db) == 1
    here.change(lambda db: conversations.save(db, conversation("after")))
    with here.read() as db:
        assert {c.key for c in conversations.search(db)} == {"k", "after"}


def test_a_judges_price_is_that_of_a_thousand_judgements(workspace):
    """Two judgements of j cost .1 and .3: .2 on the mean. One call of k has no price: its is not known."""
    given = (Rating(Unit("k", 1), "fluency", 3),)
    priceless = Judgement("k|k", "k", Rater("k", "judge"), given, spent=Spent(1, 10, 5, 0.1, 1.0, unpriced=1))
    again = replace(judgement(4, key="k|j|1", spent=Spent(1, 10, 5, 0.3, 1.0)), repeat=1)
    with workspace.write() as db:
        number = conversations.save(db, conversation())
        ratings.register(db, "bench", (Criterion("fluency", "?"),))
        studies.create(db, Study("s", (Criterion("fluency", "?"),)))
        studies.add_units(db, "s", [(number, None, "")])
        ratings.save_judgement(db, judgement(3))
        ratings.save_judgement(db, again)
        ratings.save_judgement(db, priceless)
        prices = ratings.price_of_judges(db, "s")
    assert {rater.name: price for rater, price in prices.items()} == {"j": pytest.approx(200), "k": None}
