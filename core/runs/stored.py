"""The store as a run uses it: while it cannot be read or written, the run waits, and makes no call."""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from sqlite_utils import Database

from concord.errors import RunStopped, WorkspaceError
from concord.store.writer import Writer, obstacle
from concord.workspace import Workspace

AGAIN_SECONDS = 0.5
"""Between two tries to read."""
LAG_SECONDS = 1.0
"""Calls wait once an answer has waited so long to be stored."""
LOOK_SECONDS = 0.05
"""How often is looked whether it is stored."""
UNREADABLE = (sqlite3.Error, OSError, WorkspaceError)
T = TypeVar("T")


class RunStore:
    """Reads and writes for one run, in its event loop. `stopped` says why the run has stopped, “” before."""

    def __init__(self, workspace: Workspace, writer: Writer, stopped: Callable[[], str]):
        self.workspace = workspace
        self.writer = writer
        self._stopped = stopped
        self._unreadable = ""
        self._catching_up: asyncio.Task[None] | None = None

    async def look(self, look: Callable[[Database], T]) -> T:
        """What the store holds; waits while it cannot be read. Raises RunStopped if the run has stopped."""
        while True:
            await self._same_file()
            try:
                with self.workspace.read() as db:
                    value = look(db)
            except UNREADABLE as error:
                await self.until_readable(error)
            else:
                self._unreadable = ""
                return value

    async def until_readable(self, error: Exception) -> None:
        """Wait a while for the obstacle to go away. Raises the error if there is none."""
        self._unreadable = obstacle(error)
        if not self._unreadable:
            raise error
        self._go_on()
        await asyncio.sleep(AGAIN_SECONDS)

    def submit(self, change: Callable[[Database], object]) -> None:
        """Have a change stored soon."""
        self.writer.put(change)

    async def do(self, change: Callable[[Database], T]) -> T:
        """Apply a change; what it returns once it is on the disk."""
        return await asyncio.wrap_future(self.writer.ask(change))

    async def admit(self) -> None:
        """Wait until a call may be made, called before each. Raises RunStopped if the run has stopped."""
        if self.writer.lag > LAG_SECONDS:
            if self._catching_up is None or self._catching_up.done():
                self._catching_up = asyncio.create_task(self._catch_up())
            await asyncio.shield(self._catching_up)
        await self._same_file()
        self._go_on()

    async def _same_file(self) -> None:
        """Raise RunStopped where another file lies where the database was."""
        if self.writer.is_replaced():
            await self.do(lambda db: None)  # now the writer has noticed, too
            raise RunStopped(str(self.writer.replaced))

    async def _catch_up(self) -> None:
        """Wait until the store has taken what was answered, or the run stops."""
        while self.writer.lag > LAG_SECONDS and not self._stopped():
            await asyncio.sleep(LOOK_SECONDS)

    def _go_on(self) -> None:
        if reason := self._stopped():
            raise RunStopped(reason)

    def status(self) -> str:
        """Why calls wait for the store; “” where they do not."""
        reason = self.writer.obstacle or self._unreadable
        if not reason and self.writer.lag <= LAG_SECONDS:
            return ""
        return (
            f"No calls while the database cannot be used: {reason or 'it takes long to write'}. Answers "
            "are kept in memory and stored as soon as possible"
        )
