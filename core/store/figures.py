"""Figures beside the database: texts by a stamp of everything that they were computed from.

The file is a cache: it holds nothing that cannot be computed again, and may be deleted at any time. What it
cannot give or take is computed again, without an error.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from concord.store.database import File, file_at

MOST_BYTES = 64 * 2**20
"""Of all texts, compressed; the oldest give way."""
WAIT = 5.0
"""Seconds that a writer waits for another one."""
SCHEMA = """
    CREATE TABLE IF NOT EXISTS figures (
        id INTEGER PRIMARY KEY, stamp TEXT NOT NULL, part TEXT NOT NULL, text BLOB NOT NULL,
        UNIQUE (stamp, part)
    )"""
EVICTION = """
    DELETE FROM figures WHERE id IN (
        SELECT id FROM (SELECT id, sum(length(text)) OVER (ORDER BY id DESC) AS bytes FROM figures)
        WHERE bytes > ?
    )"""


class StoredFigures:
    """The texts of one stamp, by name, in the file at `path`, which is created."""

    def __init__(self, path: Path, stamp: str) -> None:
        self.path = path
        self.stamp = stamp
        self._file: File | None = None
        self._texts: dict[str, bytes] = {}
        self._transaction(self._read)

    def __getitem__(self, part: str) -> str:
        """A text. Raises KeyError where there is none."""
        try:
            return zlib.decompress(self._texts[part]).decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise KeyError(part) from error

    def __setitem__(self, part: str, text: str) -> None:
        """Store a text, unless the file was removed since it was read: a removed name stays removed."""
        self._texts[part] = zlib.compress(text.encode(), level=1)
        if self._file is None or file_at(self.path) != self._file:
            return

        def write(db: sqlite3.Connection) -> None:
            row = [self.stamp, part, self._texts[part]]
            db.execute("INSERT OR REPLACE INTO figures (stamp, part, text) VALUES (?, ?, ?)", row)
            db.execute(EVICTION, [MOST_BYTES])

        self._transaction(write)

    def _read(self, db: sqlite3.Connection) -> None:
        db.execute(SCHEMA)
        rows = db.execute("SELECT part, text FROM figures WHERE stamp = ?", [self.stamp])
        self._texts = dict(rows.fetchall())
        self._file = file_at(self.path)

    def _transaction(self, act: Callable[[sqlite3.Connection], None]) -> None:
        """Act in a transaction, if there can be one; a file that is damaged is removed."""
        try:
            if self._file is None:  # for its owner alone, as the database
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            options: Any = {"uri": True, "timeout": WAIT, "isolation_level": None}
            with closing(sqlite3.connect(address, **options)) as db, db:
                db.execute("BEGIN IMMEDIATE")
                act(db)
        except (OSError, sqlite3.OperationalError):
            pass
        except sqlite3.DatabaseError:
            clear(self.path)


def clear(path: Path) -> None:
    """Remove the file, if there is one."""
    for file in (path, Path(f"{path}-journal")):
        with suppress(OSError):
            file.unlink(missing_ok=True)
