"""A thread that writes changes to the store in small groups, one transaction for each group."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlite_utils import Database

from concord.store.database import Idle, closing_if_failed, transaction
from concord.store.turns import turn

T = TypeVar("T")
Change = Callable[[Database], Any]
GATHER_SECONDS = 0.1
"""How long changes that nobody waits for are gathered for one commit."""
GROUP_SIZE = 500
GROUP_SECONDS = 0.05
"""A group is committed once its changes have taken this long, so that others have their turn soon."""
WAITING = 5000
"""Changes that may wait; `put` blocks beyond, so that a slow disk does not fill the memory."""


@dataclass(frozen=True, slots=True)
class _Task:
    change: Change
    done: Future[Any] | None = None
    """Where somebody waits for the result."""


class Writer:
    """`put` a change and go on, or `do` it and wait until it is on the disk.

    Changes are applied in the order given. One that fails is undone, and the others of its group are stored.
    A failed `put` is raised at the next `put` or on leaving the `with` block; what was put and not begun by
    then is dropped.
    """

    def __init__(self, path: Path):
        self._path = path
        self._tasks: queue.Queue[_Task | None] = queue.Queue(WAITING)
        self._left: list[_Task | None] = []
        self._error: BaseException | None = None
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
        self._tasks.put(None)
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def put(self, change: Change) -> None:
        """Queue a change."""
        if self._error is not None:
            raise self._error
        self._tasks.put(_Task(change))

    def do(self, change: Callable[[Database], T]) -> T:
        """Apply a change together with those that others ask for meanwhile; return what it returns once it is
        on the disk. Raises what it raises, and sqlite3.Error if the group could not be committed.
        """
        done: Future[T] = Future()
        self._tasks.put(_Task(change, done))
        return done.result()

    def _work(self) -> None:
        idle = Idle(self._path)
        last = False
        while not last:
            group, last = self._group()
            # After an error the queue is still emptied, so that nobody waits for a place in it.
            group = [task for task in group if task.done or self._error is None]
            if group:
                self._commit(idle, group)
            if last and self._left:
                self._left.append(None)
                last = False
        idle.close()

    def _commit(self, idle: Idle, group: list[_Task]) -> None:
        """Apply changes for as long as a group may take, and commit; what is left opens the next group."""
        done: list[tuple[_Task, Any, Exception | None]] = []
        try:
            file, db = idle.take()
            with closing_if_failed(db), turn(self._path), transaction(db):
                until = time.monotonic() + GROUP_SECONDS
                for task in group:
                    done.append((task, *_applied(db, task.change)))
                    if time.monotonic() >= until:
                        break
        except BaseException as error:  # noqa: BLE001 - carried to the threads that wait
            for task in group:
                self._settle(task, None, error)
            return
        idle.give(file, db)
        self._left = [*group[len(done) :], *self._left]
        for task, result, failure in done:
            self._settle(task, result, failure)

    def _settle(self, task: _Task, result: Any, error: BaseException | None) -> None:
        if task.done is None:
            self._error = self._error or error
        elif error is not None:
            task.done.set_exception(error)
        else:
            task.done.set_result(result)

    def _group(self) -> tuple[list[_Task], bool]:
        """The next changes, and whether they are the last. Waits to gather several, unless somebody waits."""
        first = self._left.pop(0) if self._left else self._tasks.get()
        if first is None:
            return [], True
        group = [first]
        if first.done is None and not self._left:
            time.sleep(GATHER_SECONDS)
        while len(group) < GROUP_SIZE:
            try:
                task = self._left.pop(0) if self._left else self._tasks.get_nowait()
            except queue.Empty:
                return group, False
            if task is None:
                return group, True
            group.append(task)
        return group, False


def _applied(db: Database, change: Change) -> tuple[Any, Exception | None]:
    """What a change returns, or the error for which it was undone."""
    db.conn.execute("SAVEPOINT change")
    try:
        result = change(db)
    except Exception as error:  # noqa: BLE001 - handed to whoever asked for the change
        # An error such as a full disk ends the whole transaction; then this raises, and the group fails.
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
