"""A thread that writes changes to the store in small groups, one transaction for each group."""

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
"""Changes that may wait; `put` blocks beyond, so that a slow disk does not fill the memory."""


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
        last = False
        while not last:
            group, last = self._group()
            # After an error the queue is still emptied, so that nobody waits for a place in it.
            if group and self._error is None:
                try:
                    with transaction(db):
                        for change in group:
                            change(db)
                except BaseException as error:  # noqa: BLE001 - carried to the thread that put the change
                    self._error = error
        db.close()

    def _group(self) -> tuple[list[Change], bool]:
        """The next changes, and whether they are the last. Waits to gather several for one commit."""
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
