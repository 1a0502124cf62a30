"""A thread that writes changes to the store in small groups, one transaction for each group."""

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlite_utils import Database

from concord.errors import DatabaseReplaced, WorkspaceError
from concord.store.database import Idle, closing_if_failed, file_at, replaced, transaction
from concord.store.locks import turn

T = TypeVar("T")
Change = Callable[[Database], Any]
GATHER_SECONDS = 0.1
"""How long changes that nobody waits for are gathered for one commit."""
GROUP_SIZE = 500
GROUP_SECONDS = 0.05
"""A group is committed once its changes have taken this long, so that others have their turn soon."""
WAITING = 5000
"""Changes that may wait; `put` blocks beyond, so that a slow disk does not fill the memory."""
AGAIN_SECONDS = 0.5
"""A patient writer tries again after so long."""


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
        return f"a file next to the database cannot be opened ({error.strerror or error})"
    return ""


@dataclass(frozen=True, slots=True)
class _Task:
    change: Change
    done: Future[Any] | None = None
    """Where somebody waits for the result."""
    queued_at: float = field(default_factory=time.monotonic)
    context: Context = field(default_factory=copy_context)
    """Of whoever asks for it: who acts."""

    def apply(self, db: Database) -> Any:
        """Apply the change as who asked for it."""
        return self.context.run(self.change, db)


class Writer:
    """`put` a change and go on, or `do` it and wait until it is on the disk.

    Changes are applied in the order given. One that fails is undone, and the others of its group are stored.
    A failed `put` is raised at the next `put` or on leaving the `with` block, once all others are stored.

    A patient writer keeps what cannot be stored for now (see `obstacle`) and tries until it
    can; `obstacle` says why it cannot. Another writer raises the error in the thread that waits.
    A patient writer writes to the file that it was made for: where another one replaces it, it goes on in a
    copy of the former one, and `replaced` says so.
    """

    def __init__(self, path: Path, *, patient: bool = False):
        self._path = path
        self._patient = patient
        self._tasks: deque[_Task] = deque()
        """What is not stored yet, in order; the first ones may be at work."""
        self._hurry = 0
        """How many of them somebody waits for."""
        self._behind = False
        """Whether the last group left some to be stored next."""
        self._closed = False
        self._changed = threading.Condition()
        self._error: BaseException | None = None
        self.obstacle = ""
        """Why nothing can be stored for now; “” where it can."""
        self.replaced: DatabaseReplaced | None = None
        """Set once the database was replaced by another file."""
        self._file = file_at(path)
        self._idle = Idle(path)
        self._former = self._idle.take()[1] if patient else None
        """A connection by which a file is still read after it was replaced."""
        self._thread = threading.Thread(target=self._work, name="concord-writer", daemon=True)

    def start(self) -> Self:
        """Begin to write."""
        self._thread.start()
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def is_replaced(self) -> bool:
        """Whether another file lies where the database was."""
        return self.replaced is not None or file_at(self._path) not in (None, self._file)

    @property
    def lag(self) -> float:
        """For how many seconds the oldest of them has waited."""
        try:
            return time.monotonic() - self._tasks[0].queued_at
        except IndexError:
            return 0.0

    def put(self, change: Change) -> None:
        """Queue a change."""
        if self._error is not None:
            raise self._error
        self._add(_Task(change))

    def ask(self, change: Callable[[Database], T]) -> Future[T]:
        """Queue a change and go on; the future has what it returns once it is on the disk."""
        done: Future[T] = Future()
        self._add(_Task(change, done))
        return done

    def do(self, change: Callable[[Database], T]) -> T:
        """Apply a change together with those that others ask for meanwhile; return what it returns once it is
        on the disk. Raises what it raises, and sqlite3.Error if the group could not be committed.
        """
        return self.ask(change).result()

    def _add(self, task: _Task) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._tasks) < WAITING)
            self._tasks.append(task)
            self._hurry += task.done is not None
            if task.done is not None or len(self._tasks) == 1:
                self._changed.notify_all()

    def _work(self) -> None:
        while group := self._group():
            self._commit(group)
        self._idle.close()
        if self._former is not None:
            self._former.close()

    def _group(self) -> list[_Task]:
        """The next changes; none after the last. Waits to gather several, unless somebody waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._tasks or self._closed)
            if not self._behind:
                self._changed.wait_for(lambda: self._hurry or self._closed, GATHER_SECONDS)
            return list(islice(self._tasks, GROUP_SIZE))

    def _commit(self, group: list[_Task]) -> None:
        """Apply changes for as long as a group may take, and commit; what is left opens the next group."""
        done: list[tuple[_Task, Any, BaseException | None]] = []
        try:
            if self._former is not None and self.is_replaced():
                self._go_on_in_a_copy(self._former)
            file, db = self._idle.take()
            with closing_if_failed(db), turn(self._path), transaction(db):
                deadline = time.monotonic() + GROUP_SECONDS
                for task in group:
                    done.append((task, *applied(db, task.apply)))
                    if time.monotonic() >= deadline:
                        break
        except BaseException as error:  # noqa: BLE001 - carried to the threads that wait
            reason = obstacle(error) if self._patient else ""
            if reason:
                self.obstacle = reason
                time.sleep(AGAIN_SECONDS)
                return
            done = [(task, None, error) for task in group]
        else:
            self.obstacle = ""
            self._idle.give(file, db)
        with self._changed:
            for task, _, _ in done:
                self._tasks.popleft()
                self._hurry -= task.done is not None
            self._behind = len(done) < len(group)
            self._changed.notify_all()
        for task, result, failure in done:
            self._settle(task, result, failure)

    def _go_on_in_a_copy(self, former: Database) -> None:
        """Write to a copy of the file that was replaced. Raises DatabaseReplaced where none can be made."""
        if self.replaced is None:
            self.replaced = replaced(self._path, former, self._idle.log)
            if copy := self.replaced.copy:
                self._path = copy
                self._file = file_at(copy)
                self._idle = Idle(copy)
        if self.replaced.copy is None:
            raise self.replaced

    def _settle(self, task: _Task, result: Any, error: BaseException | None) -> None:
        if task.done is None:
            self._error = self._error or error
        elif not task.done.set_running_or_notify_cancel():
            return  # nobody waits for it any more; the change is stored
        elif error is not None:
            task.done.set_exception(error)
        else:
            task.done.set_result(result)


def applied(db: Database, change: Change) -> tuple[Any, Exception | None]:
    """What a change returns, or the error for which it alone was undone. Raises what keeps the store from
    taking anything, for which all of the transaction must be undone.
    """
    db.conn.execute("SAVEPOINT change")
    try:
        result = change(db)
    except Exception as error:
        if obstacle(error):
            raise
        db.conn.execute("ROLLBACK TO change")
        db.conn.execute("RELEASE change")
        return None, error
    db.conn.execute("RELEASE change")
    return result, None


_shared: dict[Path, Writer] = {}
_sharing = threading.Lock()


def shared(path: Path) -> Writer:
    """The writer of this process for a database, which works as long as the process does."""
    with _sharing:
        if path not in _shared:
            _shared[path] = Writer(path).start()
        return _shared[path]
