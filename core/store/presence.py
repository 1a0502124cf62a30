"""Which runs are alive: each locks a file beside the database, and writes into it what the store cannot take.

The system gives the lock back when the process ends, however it ends; no number of a process and no clock is
trusted. All processes that share a database in WAL mode run on one machine, so that they see each other's
locks.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from concord.errors import WorkspaceError

if sys.platform != "win32":
    import fcntl

PATIENCE_SECONDS = 1.0
"""How long a run waits for its file: a process that checks the lock holds it for a moment."""
LONGEST = 1000
"""Bytes that a run reserves for its sentence at its start, so that it can write one on a full disk."""


@contextmanager
def present(path: Path, run: int) -> Iterator[Callable[[str], None]]:
    """Lock the run's file for the block; yields a function that writes a sentence for others into it.

    Raises WorkspaceError if the file cannot be written.
    """
    name, written = _file(path, run), ""
    try:
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(file, b" " * LONGEST)
        _lock(file)
    except OSError as error:
        raise WorkspaceError(f"The run cannot write {name}: {error.strerror or error}.") from error

    def say(sentence: str) -> None:
        nonlocal written
        if sentence != written:
            text = sentence.encode()[:LONGEST].decode(errors="ignore").encode()
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, text.ljust(LONGEST))
            written = sentence

    try:
        yield say
    finally:
        os.close(file)
        with suppress(FileNotFoundError):
            name.unlink()


def alive(path: Path, run: int) -> bool | None:
    """Whether a run's process is alive; None where that cannot be told: it has no file here, or Windows."""
    if sys.platform == "win32":
        return None
    try:
        file = os.open(_file(path, run), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def says(path: Path, run: int) -> str:
    """What a run says that the store could not take; “” where it says nothing."""
    try:
        return _file(path, run).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _lock(file: int) -> None:
    if sys.platform == "win32":
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _file(path: Path, run: int) -> Path:
    return Path(f"{path}-run-{run}")
