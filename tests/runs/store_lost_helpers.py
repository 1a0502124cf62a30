"""What several tests take from `test_store_lost`: Watched, calls_when_still, lock_of."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

from concord.store import database
from tests.runs.runs_helpers import calls_made


class Watched:
    """What a run said last, with an event for each sentence that is waited for."""

    def __init__(self):
        self.says, self.changed = "", threading.Condition()

    def __call__(self, progress):
        with self.changed:
            self.says = progress.message
            self.changed.notify_all()

    def until(self, word):
        with self.changed:
            assert self.changed.wait_for(lambda: word in self.says if word else not self.says, 60), self.says


@contextmanager
def lock_of(workspace):
    """Another program writes and does not end; gives its connection."""
    lock = database.connect(workspace.db_path)
    lock.conn.execute("PRAGMA busy_timeout = 30000")
    lock.conn.execute("BEGIN IMMEDIATE")
    try:
        yield lock
    finally:
        lock.rollback()
        lock.close()


def calls_when_still(workspace):
    """The calls at the server once no more arrive."""
    before = -1
    while (now := calls_made(workspace)) != before:
        before = now
        time.sleep(0.3)
    return now
