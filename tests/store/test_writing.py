"""What the store promises to those who write: at once, twice, after a failure, from an older or a newer
Concord.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.conversation import Conversation, Message, Unit
from core.errors import NotFound, WorkspaceError
from core.rating import Judgement, Rater, Rating, Spent
from core.store import conversations, database, ratings
from core.store.migrations import migrations
from core.store.writer import Writer
from core.workspace import Workspace


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
        assert ratings.failed(db, ["k|j"]) == {"k|j"}
        assert ratings.answered(db, ["k|j"]) == set()
        assert conversations.found(db, number).failed == 1
        assert ratings.of_conversation(db, number) == []

        ratings.save_judgement(db, judgement(4))
        assert ratings.answered(db, ["k|j"]) == {"k|j"}
        found = conversations.found(db, number)
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
        assert conversations.found(db, number).failed == 0


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


def test_an_older_workspace_is_brought_up_to_date_with_what_it_holds(tmp_path):
    path = tmp_path / "workspace" / "concord.db"
    path.parent.mkdir()
    db = database.connect(path)
    second = migrations.pending(db)[1].name
    migrations.apply(db, stop_before=second)
    db.execute(
        "INSERT INTO conversations (key, benchmark, language, player, messages, turns, reply_chars, created) "
        "VALUES ('old', 'bench', 'en', 'p', '[[\"assistant\",\"Hi\",{}]]', 1, 2, '2026-01-01')"
    )
    db.close()
    with Workspace.open(path.parent).write() as db:
        assert migrations.pending(db) == []
        assert conversations.load(db, "old").replies == ("Hi",)
        ratings.insert(
            db, 1, ratings.rater_id(db, Rater("j", "judge")), [Rating(Unit("old", 1), "fluency", 3)]
        )


def test_a_newer_workspace_is_refused_and_left_as_it_is(workspace):
    with workspace.write() as db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('concord', "
            "'999_later', '2030')"
        )
    before = workspace.db_path.read_bytes()
    with pytest.raises(WorkspaceError, match=r"newer Concord .*999_later.*Update Concord"):
        Workspace.open(workspace.path)
    assert workspace.db_path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "concord.db").write_bytes(b"not a database at all, " * 100)
    with pytest.raises(WorkspaceError, match="not a Concord database"):
        Workspace.open(tmp_path)


def test_two_may_open_a_new_workspace_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        opened = [pool.submit(Workspace.open, tmp_path / "new") for _ in range(8)]
        assert {done.result().path for done in opened} == {tmp_path / "new"}


def test_a_change_that_fails_in_the_last_group_is_raised_and_ends_the_thread(tmp_path):
    path = tmp_path / "concord.db"
    with pytest.raises(ZeroDivisionError), Writer(path) as writer:
        writer.put(lambda db: 1 / 0)
