"""What keeps a program from reading or writing the database for a while: a lock, a full disk, a lost file."""

import sqlite3

from concord.errors import WorkspaceError

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "another program has locked the database",
    sqlite3.SQLITE_LOCKED: "another program has locked the database",
    sqlite3.SQLITE_PROTOCOL: "another program has locked the database",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the database is gone or cannot be opened",
    sqlite3.SQLITE_READONLY: "the database is read-only, or was moved",
    sqlite3.SQLITE_PERM: "the database may not be written",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_NOMEM: "the memory is full",
    sqlite3.SQLITE_CORRUPT: "the database is damaged",
    sqlite3.SQLITE_NOTADB: "the file is not a database any more",
}
"""By SQLite's primary result code. Other codes say that a statement was wrong: no waiting mends that."""


def obstacle(error: BaseException) -> str:
    """What has to go away before the same change can be stored; “” where the change itself is at fault."""
    if isinstance(error, sqlite3.Error):
        sentence = _SENTENCES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
        return f"{sentence} ({error})" if sentence else ""
    if isinstance(error, WorkspaceError) and isinstance(error.__cause__, sqlite3.Error):
        return obstacle(error.__cause__) or str(error).rstrip(".")
    if isinstance(error, OSError):
        return f"a file beside the database cannot be opened ({error.strerror or error})"
    return ""
