"""What the rows of files say under a key, on the disk: memory need not hold all of it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

RECENT = 20_000
"""Keys that are kept in memory before they go to the disk."""


class FirstByKey:
    """The first text of each key, with the place where it stands."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._recent = dict[str, tuple[str, str]]()
        self._full = False
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("CREATE TABLE texts (key TEXT PRIMARY KEY, place TEXT, text TEXT) WITHOUT ROWID")
        conn.execute("BEGIN")

    def add(self, key: str, place: str, text: str) -> tuple[str, str] | None:
        """Keep a text and its place; those of the key that are there already, if some are."""
        if (first := self._recent.get(key)) is not None:
            return first
        if self._full:
            row = self._conn.execute("SELECT place, text FROM texts WHERE key = ?", [key]).fetchone()
            if row is not None:
                return str(row[0]), str(row[1])
        self._recent[key] = place, text
        if len(self._recent) == RECENT:
            rows = ((name, *value) for name, value in sorted(self._recent.items()))
            self._conn.executemany("INSERT INTO texts VALUES (?, ?, ?)", rows)
            self._recent = {}
            self._full = True
        return None


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

    def of(self, key: str, fits: Callable[[str], bool] | None = None) -> list[tuple[str, str]]:
        """The places and texts of a key, in the order in which they were kept; those that fit."""
        rows = self._conn.execute(
            "SELECT id, place, text FROM texts WHERE key = ? ORDER BY id", [key]
        ).fetchall()
        rows = [row for row in rows if fits is None or fits(row[2])]
        self._conn.executemany(
            "UPDATE texts SET used = 1 WHERE id = ? AND used = 0", [row[:1] for row in rows]
        )
        return [(place, text) for _, place, text in rows]

    def every_text(self) -> Iterator[tuple[str, str]]:
        """Every place and text, in the order in which they were kept."""
        yield from self._conn.execute("SELECT place, text FROM texts ORDER BY id")

    def every_key(self) -> Iterator[str]:
        """Every key, in the order in which they were kept first."""
        for (key,) in self._conn.execute("SELECT key FROM texts GROUP BY key ORDER BY min(id)"):
            yield key

    def unused(self) -> int:
        """How many texts nobody asked for."""
        count: int = self._conn.execute("SELECT count(*) FROM texts WHERE used = 0").fetchone()[0]
        return count


@contextmanager
def firsts() -> Iterator[FirstByKey]:
    """Room for the first text of each key, in a temporary file that is gone afterwards."""
    with closing(sqlite3.connect("", isolation_level=None)) as conn:
        yield FirstByKey(conn)


@contextmanager
def kept() -> Iterator[TextsByKey]:
    """Room for texts, in a temporary file that is gone afterwards."""
    with closing(sqlite3.connect("", isolation_level=None)) as conn:
        yield TextsByKey(conn)
