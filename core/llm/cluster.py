"""Calls over a Dask cluster: workers make them, this process decides when, and keeps what was answered.

A worker makes single attempts: it is sent a body and sends back bytes. Waiting, limits of an endpoint,
retries, spending limits and the journal stay here, so that limits hold for all workers together and a worker
that dies loses nothing but the attempts it was making. They are made again by another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from concord.errors import CallFailed, ConfigError
from concord.files import VERSION
from concord.llm.client import AttemptFailed, Client
from concord.llm.models import Model
from concord.llm.trouble import Class, Trouble

if TYPE_CHECKING:
    from distributed import Client as Dask

LOOK_SECONDS = 0.25
"""How often is looked which workers there are."""
CONNECT_SECONDS = 20
TAKE_SECONDS = 10.0
"""How long a worker is asked for answers at a time."""


class Attempt(NamedTuple):
    """A call to be made once, with the model as it is called now."""

    number: int
    model: Model
    path: str
    body: Mapping[str, Any]


class Outcome(NamedTuple):
    """What came of it: the body and headers of an answer, or what a Trouble says."""

    number: int
    content: bytes = b""
    headers: Mapping[str, str] = {}
    trouble: tuple[Class, str, str, str, str, float | None] | None = None


class Sender:
    """Makes attempts on a worker. It lives there, as a Dask actor."""

    def __init__(self, models: Mapping[str, Model]):
        self._models = models
        self._client: Client | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: list[Outcome] = []
        self._some = asyncio.Event()

    async def begin(self) -> str:
        """Make ready; the version of Concord here. Raises ConfigError where a key is missing."""
        for model in self._models.values():
            model.key()
        self._client = await Client(self._models).__aenter__()
        return VERSION

    async def put(self, attempts: Sequence[Attempt]) -> None:
        """Begin to make attempts."""
        for attempt in attempts:
            task = asyncio.create_task(self._make(attempt))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def take(self) -> list[Outcome]:
        """What was answered since it was asked last; waits a while until there is something."""
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                await self._some.wait()
        except TimeoutError:
            return []
        outcomes, self._done = self._done, []
        self._some.clear()
        return outcomes

    async def end(self) -> None:
        """Give up what is being made, and close the connections."""
        for task in self._tasks:
            task.cancel()
        if self._client is not None:
            await self._client.__aexit__()

    async def _make(self, attempt: Attempt) -> None:
        assert self._client is not None
        try:
            content, headers = await self._client.attempt(attempt.model, attempt.path, attempt.body)
            self._done.append(Outcome(attempt.number, content, dict(headers)))
        except AttemptFailed as error:
            trouble, why = error.trouble, error.trouble.failure
            values = (trouble.cls, str(why), why.kind, why.raw, why.reason, trouble.after)
            self._done.append(Outcome(attempt.number, trouble=values))
        self._some.set()


class _Worker:
    """A worker as seen from here: what it is making, and what is on its way to it."""

    def __init__(self, actor: Any):
        self.actor = actor
        self.waiting: dict[int, asyncio.Future[Outcome]] = {}
        self.outbox: list[Attempt] = []
        self.more = asyncio.Event()
        self.lost = False
        self.tasks: list[asyncio.Task[None]] = []

    def lose(self) -> None:
        """Its process is gone: what it was making has failed."""
        if self.lost:
            return
        self.lost = True
        for task in self.tasks:
            task.cancel()
        for outcome in self.waiting.values():
            if not outcome.done():
                outcome.set_exception(_Lost())
        self.waiting.clear()


class _Lost(Exception):
    """The worker that was making an attempt is gone."""


class ClusterClient(Client):
    """A client whose attempts are made by the workers of a Dask cluster, evenly."""

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        address: str,
        admit: Callable[[], Awaitable[None]],
        patient: bool = False,
    ):
        super().__init__(models, admit=admit, patient=patient)
        self.address = address
        self.lost = 0
        """Workers that were lost."""
        self._all = dict(models)
        self._workers: dict[str, _Worker] = {}
        self.refused = ""
        """Why a worker that came is not used."""
        self._known: set[str] = set()
        self._any = asyncio.Event()
        self._number = 0
        self._dask: Dask | None = None
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            await self._connect()
        except BaseException:
            await self.__aexit__()
            raise
        self._watching = asyncio.create_task(self._watch())
        return self

    async def _connect(self) -> None:
        try:
            from distributed import Client as Dask
        except ImportError as error:
            raise ConfigError("--cluster needs Dask: pip install 'concord-eval[cluster]'.") from error
        self._dask = Dask(self.address, asynchronous=True, direct_to_workers=True, timeout=CONNECT_SECONDS)
        try:
            await self._dask
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfigError(f"The Dask cluster {self.address} cannot be reached: {error}.") from error
        await self._look()
        if not self._workers:
            raise ConfigError(
                f"The Dask cluster {self.address} has no workers. Start some: `dask worker {self.address}`."
            )

    async def __aexit__(self, *error: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
        for worker in list(self._workers.values()):
            for task in worker.tasks:
                task.cancel()
            try:
                async with asyncio.timeout(2):
                    await worker.actor.end()
            except (OSError, TimeoutError, ValueError, RuntimeError):
                pass  # It is gone already.
        if self._dask is not None:
            await self._dask.close()
        await super().__aexit__(*error)

    def says(self) -> str:
        """Which endpoints calls wait for, how many workers were lost, and why one is not used."""
        lost = f"Workers lost: {self.lost}, at work: {len(self._workers)}" if self.lost else ""
        return ". ".join(filter(None, (super().says(), lost, self.refused)))

    async def attempt(
        self, model: Model, path: str, body: Mapping[str, Any]
    ) -> tuple[bytes, Mapping[str, str]]:
        """One attempt, made by the worker that is making the fewest. Raises AttemptFailed."""
        worker = await self._free()
        self._number += 1
        waiting: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        worker.waiting[self._number] = waiting
        worker.outbox.append(Attempt(self._number, model, path, body))
        worker.more.set()
        try:
            # The worker ends it in time; this is for one that hangs.
            async with asyncio.timeout(model.timeout + TAKE_SECONDS):
                outcome = await waiting
        except (_Lost, TimeoutError) as error:
            gone = isinstance(error, _Lost)
            message = f"A worker {'was lost while it made' if gone else 'did not answer in time'} the call."
            failure = CallFailed(message, kind="timeout", reason="a lost worker" if gone else "timeout")
            raise AttemptFailed(Trouble("transient", failure)) from None
        if outcome.trouble is not None:
            cls, message, kind, raw, reason, after = outcome.trouble
            raise AttemptFailed(Trouble(cls, CallFailed(message, kind=kind, raw=raw, reason=reason), after))
        return outcome.content, outcome.headers

    async def _free(self) -> _Worker:
        """The worker that is making the fewest attempts; waits for one. Raises AttemptFailed."""
        if not self._workers:
            self._any.clear()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._any.wait()
            except TimeoutError:
                failure = CallFailed(f"The Dask cluster {self.address} has no workers.", kind="unreachable")
                raise AttemptFailed(Trouble("down", failure)) from None
        return min(self._workers.values(), key=lambda worker: len(worker.waiting))

    async def _watch(self) -> None:
        """Take in workers that come, and let go of those that are lost."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except ConfigError as error:
                self.refused = str(error)
            except (OSError, RuntimeError, ValueError):
                # The scheduler is gone, and nobody knows of its workers.
                for address in list(self._workers):
                    self._gone(address)

    async def _look(self) -> None:
        assert self._dask is not None
        present = set((await self._dask.scheduler.identity())["workers"])
        for address in self._workers.keys() - present:
            self._gone(address)
        for address in sorted(present - self._known):
            self._known.add(address)
            await self._begin(address)

    async def _begin(self, address: str) -> None:
        """Have a worker make attempts. Raises ConfigError where it lacks a key or has another Concord."""
        assert self._dask is not None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                actor = await self._dask.submit(
                    Sender, self._all, actor=True, workers=[address], allow_other_workers=False, pure=False
                )
                there = await actor.begin()
        except (OSError, TimeoutError, RuntimeError) as error:
            if self._workers:
                return  # It went away again.
            raise ConfigError(f"The worker {address} of the cluster does not answer: {error}.") from error
        if there != VERSION:
            raise ConfigError(f"The worker {address} has Concord {there}, and this is {VERSION}.")
        worker = self._workers[address] = _Worker(actor)
        worker.tasks = [
            asyncio.create_task(self._sending(address, worker)),
            asyncio.create_task(self._taking(address, worker)),
        ]
        self._any.set()

    def _gone(self, address: str) -> None:
        worker = self._workers.pop(address, None)
        if worker is not None:
            self.lost += 1
            worker.lose()

    async def _sending(self, address: str, worker: _Worker) -> None:
        """Send what has gathered while the last parcel was on its way."""
        try:
            while True:
                await worker.more.wait()
                worker.more.clear()
                parcel, worker.outbox = worker.outbox, []
                await worker.actor.put(parcel)
        except (OSError, RuntimeError, ValueError):
            self._gone(address)

    async def _taking(self, address: str, worker: _Worker) -> None:
        try:
            while True:
                for outcome in await worker.actor.take():
                    waiting = worker.waiting.pop(outcome.number, None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(outcome)
        except (OSError, RuntimeError, ValueError):
            self._gone(address)
