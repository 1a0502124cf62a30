"""A workspace that cannot be written is refused in a sentence; its database can be verified."""

from __future__ import annotations

import ctypes
import sys

import pytest

from concord.conversation import Conversation, Message
from concord.store import conversations
from concord.workspace import Workspace
from tests import warm

SENTENCE = "is read-only. Copy it to a folder that you can write"
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
@pytest.mark.parametrize("words", [("export", "conversations"), ("people", "invite", "Ada")])
def test_commands_say_so_in_a_sentence(workspace, words):
    before = held(workspace)
    done = concord(workspace, *words)
    assert done.returncode == 1
    assert SENTENCE in done.stderr
    assert "Traceback" not in done.stderr
    assert held(workspace) == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_its_database_is_verified_where_it_lies(workspace):
    before = held(workspace)
    done = concord(workspace, "verify")
    assert done.returncode == 0, done.stderr
    assert held(workspace) == before
