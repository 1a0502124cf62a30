"""Files beside the database that processes lock: writers to take turns, an import to be alone, a run to be
known as alive.

The system gives a lock back when its process ends, however it ends; no number of a process and no clock is
trusted. All processes that share a database in WAL mode run on one machine, so that they see each other's
locks.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from concord.errors import WorkspaceError

ASK_AGAIN_SECONDS = 0.002
PATIENCE_SECONDS = 10.0
"""How long a writer waits for its turn. Then SQLite's own lock decides: the holder is stuck."""
RUN_SECONDS = 1.0
"""How long a run waits for its file: a process that checks the lock holds it for a moment."""
LONGEST = 1000
"""Bytes that a run reserves for its sentence at its start, so that it can write one on a full disk."""


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Wait for the turn to write to a database, and keep it for the block.

    SQLite gives the write lock to the first writer that asks after a commit, and a waiting one asks only
    every 100 ms. A writer without pauses (an import, a run) therefore keeps all others from writing for
    seconds. Here a writer holds the `queue` while it waits for its `turn`, so that the last writer comes
    behind it. It only orders writers; SQLite's lock keeps them apart.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    with _file(path, "turn") as turn_file:
        with _file(path, "queue") as queue_file:
            _lock(queue_file, deadline)
            _lock(turn_file, deadline)
        yield


@contextmanager
def alone(path: Path, activity: str) -> Iterator[bool]:
    """Whether nobody else does this with a database; if so, nobody else may until the block ends."""
    with _file(path, activity) as file:
        yield _lock(file)


@contextmanager
def present(path: Path, run: int) -> Iterator[Callable[[str], None]]:
    """Lock the run's file for the block; yields a function that writes into it what the store cannot take.

    Raises WorkspaceError if the file cannot be written.
    """
    name = _name(path, f"run-{run}")
    last_sentence = ""
    try:
        file = _open(name)
        os.write(file, b" " * LONGEST)
        if not _lock(file, time.monotonic() + RUN_SECONDS):
            raise BlockingIOError("another process has locked it")
    except OSError as error:
        raise WorkspaceError(f"The run cannot write {name}: {error.strerror or error}.") from error

    def say(sentence: str) -> None:
        nonlocal last_sentence
        if sentence != last_sentence:
            text = sentence.encode()[:LONGEST].decode(errors="ignore").encode()
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, text.ljust(LONGEST))
            last_sentence = sentence

    try:
        yield say
    finally:
        os.close(file)
        name.unlink(missing_ok=True)


def alive(path: Path, run: int) -> bool:
    """Whether a run's process is alive: it has locked its file."""
    return is_locked(_name(path, f"run-{run}"))


def is_locked(path: Path) -> bool:
    """Whether a process holds a lock on a file; the system gives it back when the process ends."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def message_of(path: Path, run: int) -> str:
    """What a run says that the store could not take; “” where it says nothing."""
    try:
        return _name(path, f"run-{run}").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _name(path: Path, suffix: str) -> Path:
    return Path(f"{path}-{suffix}")


def _open(name: Path) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def _file(path: Path, suffix: str) -> Iterator[int]:
    """The file for the block; closing it gives its lock back."""
    file = _open(_name(path, suffix))
    try:
        yield file
    finally:
        os.close(file)


def _lock(file: int, deadline: float = 0.0) -> bool:
    """Whether a file could be locked before the deadline. A lock without one could wait for ever."""
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(ASK_AGAIN_SECONDS)
