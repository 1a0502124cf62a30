"""Copies of a database that is in use, and whether one is whole: what SQLite says of it, and what must hold.

A copy is one consistent state, taken without stopping anybody who writes.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlite_utils import Database

from concord.errors import WorkspaceError
from concord.store.database import connect, put_on_disk
from concord.store.purposes import RATED

RESTORE = "Restore a backup (docs/backup.md)."
REPORT = "Results may be affected: restore a backup (docs/backup.md), or report it if it comes back."
MOST = 5
"""How many single places of one kind are named."""


def backup(path: Path, to: Path) -> None:
    """Copy a database into a new file that only its owner may read.

    The file is on the disk when this returns. Raises WorkspaceError where it exists or cannot be written, or
    where SQLite finds the copy damaged; then no new file is left.
    """
    try:
        os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise WorkspaceError(f"{to} exists already. A backup replaces nothing: name a new file.") from error
    except OSError as error:
        raise WorkspaceError(f"{to} cannot be written: {error.strerror}.") from error
    try:
        _copy(path, to)
        with closing(sqlite3.connect(to)) as copy:
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise WorkspaceError(f"{path} is damaged ({verdict}). `concord verify` says what to do.")
        for written in (to, to.absolute().parent):
            put_on_disk(written)
    except BaseException as error:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{to}{suffix}").unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error | OSError):
            raise WorkspaceError(f"{path} could not be copied to {to}: {error}.") from error
        raise


@contextmanager
def snapshot(path: Path) -> Iterator[Database]:
    """A copy of a database that may be changed at will and is deleted afterwards. Raises sqlite3.Error."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        _copy(path, copy)
        db = connect(copy)
        with suppress(sqlite3.Error):  # a damaged database may refuse it, and is to be looked at all the same
            db.conn.execute("PRAGMA synchronous = OFF")
        with closing(db):
            yield db


def _copy(path: Path, to: Path) -> None:
    """All pages in one step: SQLite starts the copy again if somebody writes between two steps."""
    address, log = path.absolute().as_uri(), Path(f"{path}-wal")
    if not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size):
        address += "?immutable=1"  # SQLite can create no file for its locks there, and nobody writes
    with (
        closing(sqlite3.connect(address, uri=True)) as source,
        closing(sqlite3.connect(to)) as target,
    ):
        source.backup(target, pages=-1)


def findings(db: Database) -> list[str]:
    """Everything wrong with a database, a sentence each that says what to do.

    Where SQLite itself finds damage, nothing else is looked at.
    """
    try:
        damage = [row[0] for row in db.execute(f"PRAGMA integrity_check({MOST})") if row[0] != "ok"]
        if damage:
            return [f"SQLite finds the file damaged: {problem}. {RESTORE}" for problem in damage]
        return [f"{sentence} {REPORT}" for sentence in (*_references(db), *_items(db))]
    except sqlite3.DatabaseError as error:
        return [f"The file is damaged or no Concord database: {error}. {RESTORE}"]


def _references(db: Database) -> Iterator[str]:
    """Rows that refer to rows that are not there."""
    missing: dict[tuple[str, str], list[int]] = {}
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check").fetchall():
        missing.setdefault((table, parent), []).append(row)
    for (table, parent), rows in missing.items():
        yield f"Rows of {table} that refer to missing rows of {parent}: {_named(rows)}."


def _items(db: Database) -> Iterator[str]:
    """Items that were submitted and hold no answer at all, or another one than figures have."""
    rows = db.execute(
        f"SELECT p.id FROM placements p WHERE p.state = 'done' AND p.purpose IN {RATED} AND NOT EXISTS "
        "(SELECT 1 FROM given g WHERE g.item_id = p.item_id AND g.rater_id = p.rater_id)"
    )
    if empty := [number for (number,) in rows]:
        yield f"Submitted items without answers: {_named(empty)}."
    rows = db.execute(
        f"SELECT DISTINCT p.id FROM placements p JOIN answers a ON a.placement_id = p.id WHERE a.replaced IS "
        f"NULL AND p.state = 'done' AND p.purpose IN {RATED} AND NOT EXISTS (SELECT 1 FROM given g "
        "WHERE g.item_id = p.item_id AND g.rater_id = p.rater_id AND g.criterion = a.question "
        "AND g.score = a.value)"
    )
    if other := [number for (number,) in rows]:
        yield f"Submitted items whose answers are not their ratings: {_named(other)}."


def _named(places: list[Any]) -> str:
    shown = ", ".join(map(str, places[:MOST]))
    return f"{len(places)} ({shown}{', …' if len(places) > MOST else ''})"
