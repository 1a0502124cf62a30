"""The one thread of a process that writes while it works: small groups of changes, one transaction a group, a
fraction of a second apart.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlite_utils import Database

from core.store.database import connect, transaction

Change = Callable[[Database], None]
GROUP_SECONDS = 0.1
GROUP_SIZE = 500
WAITING = 5000
"""Changes waiting at the most; whoever brings more waits, so that memory stays flat when the disk is slow."""


class Writer:
    """`put` a change and go on; leaving the `with` block writes what is left.

    A change that fails is raised at the next `put`, or on leaving.
    """

    def __init__(self, path: Path):
        self._path = path
        self._changes: queue.Queue[Change | None] = queue.Queue(WAITING)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="concord-writer", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._changes.put(None)
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def put(self, change: Change) -> None:
        """Queue a change. Changes are applied in the order given."""
        if self._error is not None:
            raise self._error
        self._changes.put(change)

    def _work(self) -> None:
        db = connect(self._path)
        try:
            last = False
            while not last:
                group, last = self._group()
                if group and self._error is None:
                    with transaction(db):
                        for change in group:
                            change(db)
        except BaseException as error:  # noqa: BLE001 - carried to the thread that put the change
            self._error = error
            self._drain()
        finally:
            db.close()

    def _group(self) -> tuple[list[Change], bool]:
        """The next changes, waiting a little for company so that one commit serves many."""
        first = self._changes.get()
        if first is None:
            return [], True
        group = [first]
        time.sleep(GROUP_SECONDS)
        while len(group) < GROUP_SIZE:
            try:
                change = self._changes.get_nowait()
            except queue.Empty:
                return group, False
            if change is None:
                return group, True
            group.append(change)
        return group, False

    def _drain(self) -> None:
        """After an error nobody may hang on a full queue."""
        while self._changes.get() is not None:
            pass
