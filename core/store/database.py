"""Opening the database: one connection a use, WAL, foreign keys on, writes that start immediate."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database

from concord.errors import DatabaseReplaced, WorkspaceError
from concord.store import schema, summaries
from concord.store.locks import turn

BUSY_SECONDS = 30.0
IDLE = 8
"""How many idle connections a process that reads often keeps open."""
Args = Sequence[Any] | dict[str, Any]
T = TypeVar("T")


def connect(path: Path, *, create: bool = True, name: Path | None = None) -> Database:
    """A connection, for one thread at a time. Opening takes almost a millisecond: SQLite reads the schema.

    A database that was lost while in use must not be replaced by an empty one: that is for `create`. Messages
    name the file as `name`, if it is given. Raises WorkspaceError.
    """
    mode = "rwc" if create else "rw"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        conn = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        db = Database(conn, execute_plugins=False)
        conn.create_function("casefold", 1, str.casefold, deterministic=True)
        conn.execute("PRAGMA foreign_keys = ON")
        # A commit is on the disk before it is acknowledged (some 4 ms): not even a power cut may lose a
        # rating.
        conn.execute("PRAGMA synchronous = FULL")
        # Reads the schema: of a damaged one Python may be unable to decode what SQLite says, here and never
        # later.
        conn.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except sqlite3.OperationalError as error:
        raise WorkspaceError(
            f"The database {name or path} cannot be opened: {error}. Check that you may read and write it, "
            "or open another workspace."
        ) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise WorkspaceError(_damaged(name or path, error)) from error
    return db


File = tuple[int, int]
"""A file by its device and its inode, whatever it is called."""
Open = tuple[File | None, Database]
"""A connection, with its file."""


def file_at(path: Path) -> File | None:
    """The file that lies at a path now; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Idle:
    """Open connections that nobody uses, so many at most."""

    def __init__(self, path: Path, limit: int = IDLE) -> None:
        self._path = path
        self._limit = limit
        self._free: list[Open] = []
        self.log: File | None = None
        """The log that the connections write."""

    def take(self) -> Open:
        """A connection to the file that lies at the path now.

        Where it was replaced since, what the former one held is copied first: see `set_aside`.
        """
        present = file_at(self._path)
        if present is None:
            return None, connect(self._path, create=False)
        with suppress(IndexError):  # none is left
            while True:
                file, db = self._free.pop()
                if file == present:
                    return file, db
                with closing(db), suppress(sqlite3.Error, OSError):
                    set_aside(self._path, db, self.log)
        return present, connect(self._path, create=False)

    def give(self, file: File | None, db: Database) -> None:
        """Keep a connection for the next who reads."""
        if len(self._free) < self._limit:
            self.log = file_at(Path(f"{self._path}-wal")) or self.log
            self._free.append((file, db))
        else:
            db.close()

    def close(self) -> None:
        """Close them all."""
        while self._free:
            self._free.pop()[1].close()


def set_aside(path: Path, db: Database, log: File | None) -> Path:
    """Copy what a connection sees into a new file beside the database, which another file has replaced.

    Its log, if it still lies there, is removed: SQLite would write it into the other file and damage it.
    Returns the copy. Raises sqlite3.Error and OSError.
    """
    copy = Path(f"{path}-replaced-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}")
    with suppress(FileExistsError):  # another connection of this process made it
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(copy)) as target:
            db.conn.backup(target, pages=-1)
        put_on_disk(copy)
    if log is not None and file_at(Path(f"{path}-wal")) == log:
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
    return copy


def replaced(path: Path, db: Database, log: File | None) -> DatabaseReplaced:
    """The error to raise where another file has replaced a database; what a connection sees is copied."""
    copy = None
    content = "Everything that was stored is in {}."
    try:
        copy = set_aside(path, db, log)
    except (sqlite3.Error, OSError) as error:
        content = f"What it held could not be copied ({error})."
    return DatabaseReplaced(
        f"{path} was replaced by another file while Concord wrote to it, perhaps by a file synchroniser. "
        f"Nothing is written to that file, and no call is made. {content.format(copy)} Keep the one that you "
        f"want as {path.name}: docs/backup.md, “Restore”, says how. Then run the command again.",
        copy,
    )


_idle: dict[Path, Idle] = {}


def keep_open(path: Path) -> None:
    """Keep connections that were read from open, in a process that reads often.

    Besides the millisecond to open one, SQLite tidies up after the last one that closes: 5 to 10 ms.
    """
    _idle.setdefault(path, Idle(path))


@contextmanager
def closing_if_failed(db: Database) -> Iterator[None]:
    """Close a connection that was in use when something failed."""
    try:
        yield
    except BaseException:
        db.close()
        raise


@contextmanager
def reading(path: Path) -> Iterator[Database]:
    """A connection that sees one consistent state and writes nothing."""
    idle = _idle.get(path) or Idle(path, 0)
    file, db = idle.take()
    with closing_if_failed(db):
        db.conn.execute("BEGIN")
        yield db
        db.rollback()
    idle.give(file, db)


@contextmanager
def writing(path: Path) -> Iterator[Database]:
    """A transaction that holds the write lock from its start, so that it cannot fail halfway for a lock."""
    with writer(path) as begin, begin() as db:
        yield db


@contextmanager
def writer(path: Path) -> Iterator[Callable[[], AbstractContextManager[Database]]]:
    """Begins transactions as `writing` does, one after another on one connection.

    Raises DatabaseReplaced where another file lies at the path before one begins.
    """
    file = file_at(path)
    db = connect(path, create=False)
    log: File | None = None

    @contextmanager
    def begin() -> Iterator[Database]:
        nonlocal log
        if file is not None and file_at(path) not in (None, file):
            raise replaced(path, db, log)
        with turn(path), transaction(db):
            yield db
        log = file_at(Path(f"{path}-wal"))

    try:
        yield begin
    finally:
        db.close()


@contextmanager
def transaction(db: Database) -> Iterator[Database]:
    """BEGIN IMMEDIATE … COMMIT, or nothing at all."""
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.rollback()
        raise
    db.conn.execute("COMMIT")


def prepare(path: Path) -> Path | None:
    """Create or migrate the database; refuse one that a newer Concord wrote. Only its owner can read it.

    A database of an earlier form is copied first, into a file beside it, which is returned. A file without a
    byte was emptied by something else: a new database takes its name when it is complete.
    """
    copy = None
    log = Path(f"{path}-wal")
    with suppress(OSError):  # connecting says what is wrong
        state = ""
        if path.exists() and not path.stat().st_size:
            state = "empty"
        elif not path.exists() and log.exists() and log.stat().st_size:
            state = f"gone, and {log.name} is left"
        if state:
            raise WorkspaceError(
                f"{path} is {state}: its content is lost. Restore a backup (docs/backup.md), or "
                f"delete {path.name} and {log.name} to begin again."
            )
        _keep_private(path)
    db = connect(path, create=False)
    try:
        if schema.version(db, path) < schema.latest():
            db.enable_wal()
            # Two processes may open a new workspace at once: the second waits here and finds nothing left to
            # do.
            with turn(path):
                if number := schema.version(db, path):
                    copy = _copy_of_form(path, db, number) if number < schema.latest() else None
                with transaction(db):
                    number = schema.version(db, path)
                    if number < schema.latest():
                        schema.apply(db, number)
                        summaries.refresh(db)  # what is derived from ratings follows the present rules
    except sqlite3.DatabaseError as error:
        raise WorkspaceError(_damaged(path, error)) from error
    finally:
        db.close()
    return copy


def _copy_of_form(path: Path, db: Database, number: int) -> Path:
    """A copy of a database of an earlier form, as it is before the first step. Raises WorkspaceError."""
    copy = Path(f"{path}-form-{number}")
    new = Path(f"{path}-form-{number}-new")
    if copy.exists():
        copy = Path(f"{copy}-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    try:
        os.close(os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(new)) as target:
            db.conn.backup(target, pages=-1)
        put_on_disk(new)
        os.replace(new, copy)
        put_on_disk(path.parent)
    except (sqlite3.OperationalError, OSError) as error:
        new.unlink(missing_ok=True)
        raise WorkspaceError(
            f"{path} is of an earlier Concord and is copied before it is changed, but {copy.name} could not "
            f"be written: {error}. Free space on the disk, then run the command again. Nothing was changed."
        ) from error
    return copy


def _keep_private(path: Path) -> None:
    """Create the file for its owner alone, whatever the umask says, and close one that others could read.

    SQLite gives what it writes beside the database (-wal, -shm) the mode of the database.
    """
    if not path.exists():
        with turn(path):
            if not path.exists():
                _create(path)
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if file.exists() and file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _create(path: Path) -> None:
    new = Path(f"{path}-new")
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    db = connect(new)
    try:
        db.enable_wal()
        with transaction(db):
            if not (number := schema.version(db, new)):
                schema.apply(db, number)
    finally:
        db.close()
    os.replace(new, path)
    put_on_disk(path.parent)


def put_on_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _damaged(path: Path, error: Exception) -> str:
    reason = "its schema is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
    return (
        f"{path} is not a Concord database, or it is damaged ({reason}). Restore a backup (docs/backup.md), "
        "or open another workspace."
    )


def now(after: timedelta = timedelta(0)) -> str:
    """The present (or a moment `after` it) as stored: UTC, ISO 8601, milliseconds, sortable as text."""
    return (datetime.now(UTC) + after).isoformat(timespec="milliseconds")


def file_of(db: Database) -> Path:
    """The file that a connection is open on."""
    return Path(db.execute("PRAGMA database_list").fetchone()[2])


def find(db: Database, table: str, select: str = "*", **values: Any) -> dict[str, Any] | None:
    """The first row of a table with these values (None finds NULL); None where there is none.

    `rows_where` looks up the schema on every call, and takes seven times as long.
    """
    condition = " AND ".join(f"{name} IS ?" for name in values)
    cursor = db.execute(f"SELECT {select} FROM {table} WHERE {condition} LIMIT 1", list(values.values()))
    row = cursor.fetchone()
    if row is None:
        return None
    names = [description[0] for description in cursor.description]
    return dict(zip(names, row, strict=True))


def scalar(db: Database, sql: str, args: Args = ()) -> Any:
    """The first value of a query; None where it has no row."""
    row = db.execute(sql, args).fetchone()
    return None if row is None else row[0]


def column(db: Database, sql: str, args: Args = ()) -> list[Any]:
    """The first column of a query."""
    return [row[0] for row in db.execute(sql, args)]


def records(db: Database, kind: Callable[..., T], sql: str, args: Args = ()) -> list[T]:
    """The rows of a query, each as a `kind` of its columns, in their order; a field of bool is made one."""
    types = list(getattr(kind, "__annotations__", {}).values())
    flags = [place for place, field_type in enumerate(types) if field_type in (bool, "bool")]
    if not flags:
        return [kind(*row) for row in db.execute(sql, args).fetchall()]
    results: list[T] = []
    for row in db.execute(sql, args).fetchall():
        values = list(row)
        for place in flags:
            values[place] = bool(values[place])
        results.append(kind(*values))
    return results


def update(db: Database, table: str, id: int, **values: Any) -> None:
    """Set columns of the row with this id; a tenth of the time that `Table.update` takes."""
    columns = ", ".join(f"{name} = ?" for name in values)
    db.execute(f"UPDATE {table} SET {columns} WHERE id = ?", [*values.values(), id])


def insert(db: Database, table: str, row: Mapping[str, Any]) -> int:
    """Insert a row and return its id; a tenth of the time that `Table.insert` takes, for rows that come by
    thousands.
    """
    cursor = db.execute(f"{_insertion(table, row)} RETURNING id", dict(row))
    number: int = cursor.fetchone()[0]
    return number


def insert_many(db: Database, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of the same columns with one statement."""
    if rows:
        db.conn.executemany(_insertion(table, rows[0]), rows)


def replace(db: Database, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row in place of one with the same key."""
    db.execute(_insertion(table, row, "REPLACE"), dict(row))


def _insertion(table: str, columns: Iterable[str], verb: str = "INSERT") -> str:
    """The statement for a row whose values have the names of their columns."""
    names = list(columns)
    placeholders = ", ".join(f":{name}" for name in names)
    return f"{verb} INTO {table} ({', '.join(names)}) VALUES ({placeholders})"
