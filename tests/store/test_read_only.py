"""A workspace that cannot be written can be looked at by page and command; what would change it says so."""

from __future__ import annotations

import ctypes
import shutil
import sys
from pathlib import Path

import pytest

from concord.conversation import Conversation, Message
from concord.errors import WorkspaceError
from concord.store import conversations, readonly, schema, sessions, settings
from concord.store.database import reading
from concord.workspace import Workspace
from tests import warm

ROOT = Path(__file__).parents[2]
SENTENCE = "is read-only: it can be looked at, and nothing in it can be changed"
TALK = Conversation("pingpong", "k", "player", (Message("user", "Hi"), Message("assistant", "Hello.")))


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a conversation, whose folder and files cannot be written."""
    made = Workspace.open(tmp_path / "held")
    with made.write() as db:
        conversations.save(db, TALK)
    shut(made.path)
    yield made
    made.path.chmod(0o700)


def shut(folder):
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)


def like_anybody():
    """Root may write whatever it likes; without these capabilities permissions hold for root as well."""
    header, sets = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    assert libc.capget(header, sets) == 0
    for effective_permitted in (0, 1):
        sets[effective_permitted] &= ~0b110  # to write, and to read, what permissions forbid
    assert libc.capset(header, sets) == 0


def concord(workspace, *words):
    code = (
        "import os; from concord.cli import main; from tests.store.test_read_only import like_anybody\n"
        "if os.geteuid() == 0: like_anybody()\n"
        "main()"
    )
    return warm.run([sys.executable, "-c", code, "--workspace", workspace.path, *words])


def held(workspace):
    """What lies in the folder, byte for byte."""
    return {file.name: file.read_bytes() for file in workspace.path.iterdir()}


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
@pytest.mark.parametrize(
    "words", [("export", "conversations"), ("verify",), ("sessions", "list"), ("study", "list")]
)
def test_commands_that_read_do(workspace, words):
    before = held(workspace)
    done = concord(workspace, *words)
    assert done.returncode == 0, done.stderr
    assert held(workspace) == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
@pytest.mark.parametrize(
    "words", [("link",), ("people", "invite", "Ada"), ("study", "draw", "s", "--n", "1")]
)
def test_commands_that_write_say_so_in_a_sentence(workspace, words):
    before = held(workspace)
    done = concord(workspace, *words)
    assert done.returncode == 1
    assert SENTENCE in done.stderr
    assert "Traceback" not in done.stderr
    assert held(workspace) == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_changes_that_a_crash_left_in_the_log_are_read(workspace, tmp_path):
    """The copy of a workspace in use, on a medium that cannot be written: the conversation is in its log."""
    crashed = Workspace(tmp_path / "crashed")
    crashed.path.mkdir()
    with reading(Workspace.open(tmp_path / "used").db_path) as kept:
        kept.execute("SELECT count(*) FROM conversations")
        with Workspace(tmp_path / "used").write() as db:
            conversations.save(db, TALK)
        for name in ("concord.db", "concord.db-wal"):
            shutil.copyfile(tmp_path / "used" / name, crashed.path / name)
    shut(crashed.path)
    done = concord(crashed, "export", "conversations")
    crashed.path.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert '"Hello."' in done.stdout


@pytest.fixture
def served(workspace, monkeypatch):
    """The workspace as the app opens it."""
    monkeypatch.setattr(readonly, "_copies", {})
    monkeypatch.setattr(readonly, "is_read_only", lambda path: path == workspace.db_path)
    return Workspace.open(workspace.path, served=True)


def test_the_app_writes_who_is_signed_in_and_nothing_else(served):
    before = held(served)
    with served.write() as db:
        token = sessions.begin(db, "local")
        settings.listens_at(db, "http://here")
    assert served.change(lambda db: sessions.of(db, token)) is not None
    with served.read() as db:
        assert conversations.count(db) == 1
        assert settings.address(db) == "http://here"
    for change in (
        lambda db: conversations.save(db, Conversation("pingpong", "new", "p", TALK.messages)),
        lambda db: db.execute("DELETE FROM conversations"),
        lambda db: db.table("conversations").update(1, {"player": "q"}),
    ):
        with pytest.raises(WorkspaceError, match=SENTENCE):
            served.change(change)
    with served.read() as db:
        assert conversations.load(db, 1) == TALK
    assert held(served) == before


def test_an_older_one_is_refused_by_commands_and_shown_by_the_app(tmp_path, monkeypatch):
    made = Workspace.open(tmp_path / "old")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "ALTER TABLE settings ADD COLUMN note TEXT"))
    monkeypatch.setattr(readonly, "_copies", {})
    monkeypatch.setattr(readonly, "is_read_only", lambda path: path == made.db_path)
    with pytest.raises(WorkspaceError, match="older Concord and is read-only"):
        Workspace.open(made.path)
    assert Workspace.open(made.path, served=True).path == made.path
