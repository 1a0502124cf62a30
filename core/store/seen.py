"""Which keys a file has named so far, kept on the disk: a large file has more than memory should hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager


class KeysSeen:
    """Keys, each with what it stands for and the place where it was named first."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("CREATE TABLE seen (key TEXT PRIMARY KEY, digest BLOB, place TEXT) WITHOUT ROWID")

    def earlier(self, key: str, digest: bytes, place: str) -> tuple[bytes, str] | None:
        """What the key stood for where it was named before, and the place; None where it is new."""
        added = self._conn.execute(
            "INSERT INTO seen VALUES (?, ?, ?) ON CONFLICT DO NOTHING", [key, digest, place]
        ).rowcount
        if added:
            return None
        row = self._conn.execute("SELECT digest, place FROM seen WHERE key = ?", [key]).fetchone()
        return row[0], row[1]


@contextmanager
def seen() -> Iterator[KeysSeen]:
    """A memory of keys, in a temporary file that is gone afterwards."""
    with closing(sqlite3.connect("", isolation_level=None)) as conn:
        yield KeysSeen(conn)
