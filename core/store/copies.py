"""Copies of a database that is in use: one consistent state, taken without stopping anybody who writes."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlite_utils import Database

from concord.errors import WorkspaceError
from concord.store.database import connect, put_on_disk


def backup(path: Path, target: Path) -> None:
    """Copy a database into a new file that only its owner may read.

    The file is on the disk when this returns. Raises WorkspaceError where it exists or cannot be written, or
    where SQLite finds the copy damaged; then no new file is left.
    """
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise WorkspaceError(
            f"{target} exists already. A backup never replaces a file: name a new one."
        ) from error
    except OSError as error:
        raise WorkspaceError(f"{target} cannot be written: {error.strerror}.") from error
    try:
        _copy(path, target)
        with closing(sqlite3.connect(target)) as copy:
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise WorkspaceError(f"{path} is damaged ({verdict}). `concord verify` says what to do.")
        put_on_disk(target)
        put_on_disk(target.absolute().parent)
    except BaseException as error:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{target}{suffix}").unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error | OSError):
            raise WorkspaceError(f"{path} could not be copied to {target}: {error}.") from error
        raise


@contextmanager
def snapshot(path: Path) -> Iterator[Database]:
    """A copy of a database that may be changed at will and is deleted afterwards.

    Raises sqlite3.Error, and WorkspaceError where the copy cannot be opened.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        _copy(path, copy)
        db = connect(copy, name=path)
        with suppress(sqlite3.Error):  # a damaged database may refuse it, and is to be looked at all the same
            db.conn.execute("PRAGMA synchronous = OFF")
        with closing(db):
            yield db


def _copy(path: Path, target: Path) -> None:
    """All pages in one step: SQLite starts the copy again if somebody writes between two steps."""
    address = path.absolute().as_uri()
    log = Path(f"{path}-wal")
    if not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size):
        address += "?immutable=1"  # SQLite can create no file for its locks there, and nobody writes
    with (
        closing(sqlite3.connect(address, uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy, pages=-1)
