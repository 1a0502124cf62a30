"""Which keys a file has named so far, and its rows by keys, on the disk: memory need not hold all of them."""

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


class RowsKept:
    """Rows of a file by a key: each with the place where it stands and its fields, written as JSON."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute(
            "CREATE TABLE kept (id INTEGER PRIMARY KEY, key TEXT, place TEXT, fields TEXT, used INT)"
        )
        conn.execute("CREATE INDEX kept_by_key ON kept (key)")

    def add(self, key: str, place: str, fields: str) -> None:
        """Keep a row."""
        self._conn.execute("INSERT INTO kept VALUES (NULL, ?, ?, ?, 0)", [key, place, fields])

    def of(self, key: str) -> list[tuple[str, str]]:
        """The places and fields of a key's rows, in the order in which they were kept."""
        self._conn.execute("UPDATE kept SET used = 1 WHERE key = ?", [key])
        return self._conn.execute(
            "SELECT place, fields FROM kept WHERE key = ? ORDER BY id", [key]
        ).fetchall()

    def every_key(self) -> Iterator[str]:
        """Every key, in the order in which they were kept first."""
        for (key,) in self._conn.execute("SELECT key FROM kept GROUP BY key ORDER BY min(id)"):
            yield key

    def unused(self) -> int:
        """How many rows nobody asked for."""
        count: int = self._conn.execute("SELECT count(*) FROM kept WHERE used = 0").fetchone()[0]
        return count


@contextmanager
def kept() -> Iterator[RowsKept]:
    """Room for rows, in a temporary file that is gone afterwards."""
    with closing(sqlite3.connect("", isolation_level=None)) as conn:
        yield RowsKept(conn)
