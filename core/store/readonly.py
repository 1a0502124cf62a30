"""Databases that may be read and not written: on a read-only medium, or in somebody else's folder.

Commands read the file itself, or a copy where it was left with a log that only a writer can read. The app
needs to write who is signed in: it works on a copy of its own, in which nothing else can be changed.
"""

import atexit
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from concord.errors import WorkspaceError

CHANGEABLE = ("sessions", "settings")
"""The tables of a copy that the app writes."""
_WRITES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
_copies: dict[Path, Path] = {}


def is_read_only(path: Path) -> bool:
    """Whether a database is there and cannot be written, or nothing beside it can."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def copy_of(path: Path) -> Path | None:
    """The copy on which this process works; None where it has none."""
    return _copies.get(path)


def has_left_log(path: Path) -> bool:
    """Whether changes are in a log beside the database, and nobody is at work who could read them there."""
    log = Path(f"{path}-wal")
    return log.exists() and bool(log.stat().st_size) and not Path(f"{path}-shm").exists()


def address(path: Path) -> str:
    """How SQLite opens a database that is read only, in a folder where it can create no file.

    Where there is no log, nobody is writing, and SQLite needs no locks.
    """
    log = Path(f"{path}-wal")
    in_use = log.exists() and log.stat().st_size
    return f"{path.absolute().as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"


def work_on_a_copy(path: Path) -> Path:
    """Copy a database, for this process to use in its place until it ends. Raises WorkspaceError."""
    folder = Path(mkdtemp(prefix="concord-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / path.name
    try:
        # With its log, if it was left behind: SQLite reads it where it can write.
        for suffix in ("", "-wal"):
            if Path(f"{path}{suffix}").exists():
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be copied to {folder}: {error.strerror}.") from error
    _copies[path] = copy
    return copy


Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]


@cache
def authorizer(copy: Path) -> Authorizer:
    """SQLite's authorizer of a copy: in its tables nothing is changed but who is signed in.

    Other tables come and go: sqlite-utils makes one to see what SQLite can do.
    """
    with closing(sqlite3.connect(copy)) as db:
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    kept = names - set(CHANGEABLE)

    def allows(action: int, table: str | None, *_: str | None) -> int:
        return sqlite3.SQLITE_DENY if action in _WRITES and table in kept else sqlite3.SQLITE_OK

    return allows


def refused(path: Path) -> WorkspaceError:
    """The error that a change of such a database raises."""
    return WorkspaceError(
        f"The workspace {path.parent} is read-only: it can be looked at, and nothing in it can be changed. "
        "Copy it to a folder that you can write, or ask its owner."
    )


def says_so(error: sqlite3.Error) -> bool:
    """Whether an error of SQLite means that the database is read only."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_AUTH)
