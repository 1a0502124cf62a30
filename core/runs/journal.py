"""The journal of a run: answered calls are kept in the store until their work is stored."""

from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from concord.configuration import Configuration
from concord.llm.handshake import Handshake
from concord.llm.models import Model
from concord.rating import Spent
from concord.runs.stored import RunStore
from concord.store import configurations, handshakes, runs
from concord.store.runs import NotedCall


@dataclass(frozen=True)
class StoreJournal:
    """Keeps what was answered in the store of a run; see `concord.runs.call_runner.Journal`."""

    store: RunStore
    run: int

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self.store.workspace.path

    async def admit(self) -> None:
        """Wait until the store takes what is answered. Raises RunStopped if the run has stopped."""
        await self.store.admit()

    def note(
        self, work: str, step: str, note: NotedCall, entry: Model, model: Model, handshake: Handshake | None
    ) -> None:
        """Keep an answered call, what it cost, and the handshake that it was, in one transaction."""

        def keep(db: Database) -> None:
            runs.note_call(db, work, step, note, model.configuration)
            runs.spend(db, self.run, note.spent)
            if handshake is not None:
                handshakes.put(db, entry.asked_as, handshake.as_dict())

        self.store.submit(keep)

    def spend(self, cost: Spent) -> None:
        """Keep what a call cost that gave no answer."""
        self.store.submit(lambda db: runs.spend(db, self.run, cost))

    def forget(self, work: str, step: str) -> None:
        """Forget the replies of a step that were all unusable."""
        self.store.submit(lambda db: runs.forget_step(db, work, step))

    async def latest(self, model: str) -> Configuration | None:
        """The configuration of the latest results of a model."""
        return (await self.store.look(lambda db: configurations.latest(db, [model]))).get(model)
