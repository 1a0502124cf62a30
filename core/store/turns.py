"""Writers of one database, in any number of processes, take turns.

SQLite gives the write lock to the first writer that asks after a commit, and a waiting one asks only every
100 ms. A writer without pauses (an import, a run) therefore keeps all others from writing for seconds. Here a
writer holds the `queue` while it waits for its `turn`, so that the last writer comes behind it.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

ASK_AGAIN_SECONDS = 0.002
PATIENCE_SECONDS = 10.0
"""How long a writer waits for its turn. Then SQLite's own lock decides: the holder is stuck."""


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Wait for the turn to write to a database, and keep it for the block.

    It only orders writers; SQLite's lock keeps them apart. The system gives it back when a process dies. On
    Windows, which has no such locks, nobody waits here.
    """
    if sys.platform == "win32":
        yield
        return
    until = time.monotonic() + PATIENCE_SECONDS
    mine = _file(path, "turn")
    try:
        queue = _file(path, "queue")
        try:
            _lock(queue, until)
            _lock(mine, until)
        finally:
            os.close(queue)
        yield
    finally:
        os.close(mine)


@contextmanager
def alone(path: Path, what: str) -> Iterator[bool]:
    """Whether nobody else does this with a database; where that is so, nobody else may until the block ends.

    On Windows it is not known, and this says yes.
    """
    if sys.platform == "win32":
        yield True
        return
    file = _file(path, what)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


def _file(path: Path, name: str) -> int:
    return os.open(f"{path}-{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(file: int, until: float) -> None:
    """Lock an open file, which closing it undoes. A lock asked for without an end could wait for ever."""
    while time.monotonic() < until:
        with suppress(BlockingIOError):
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(ASK_AGAIN_SECONDS)
