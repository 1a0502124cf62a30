"""What the rows of files say under a key, on the disk: memory need not hold all of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager


class TextsByKey:
    """Texts by a key, each with the place where it stands."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, key TEXT, place TEXT, text TEXT, used INT)")
        conn.execute("CREATE INDEX texts_by_key ON texts (key)")

    def add(self, key: str, place: str, text: str) -> None:
        """Keep a text."""
        self._conn.execute("INSERT INTO texts VALUES (NULL, ?, ?, ?, 0)", [key, place, text])

    def of(self, key: str) -> list[tuple[str, str]]:
        """The places and texts of a key, in the order in which they were kept."""
        self._conn.execute("UPDATE texts SET used = 1 WHERE key = ? AND used = 0", [key])
        return self._conn.execute("SELECT place, text FROM texts WHERE key = ? ORDER BY id", [key]).fetchall()

    def every_key(self) -> Iterator[str]:
        """Every key, in the order in which they were kept first."""
        for (key,) in self._conn.execute("SELECT key FROM texts GROUP BY key ORDER BY min(id)"):
            yield key

    def unused(self) -> int:
        """How many texts nobody asked for."""
        count: int = self._conn.execute("SELECT count(*) FROM texts WHERE used = 0").fetchone()[0]
        return count


@contextmanager
def kept() -> Iterator[TextsByKey]:
    """Room for texts, in a temporary file that is gone afterwards."""
    with closing(sqlite3.connect("", isolation_level=None)) as conn:
        yield TextsByKey(conn)
