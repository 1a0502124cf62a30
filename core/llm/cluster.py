"""Calls over a Dask cluster: workers make them, this process decides when, and keeps what was answered.

A worker makes single attempts: it is sent a body and sends back bytes. Waiting, limits of an endpoint,
retries, spending limits and the journal stay here, so that limits hold for all workers together and a worker
that dies loses nothing but the attempts it was making. They are made again by another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Self

from concord.codes import Failure
from concord.errors import ConfigError
from concord.files import VERSION
from concord.llm.api_errors import AttemptFailed
from concord.llm.client import Client
from concord.llm.models import Model

if TYPE_CHECKING:
    from distributed import Client as Dask

LOOK_SECONDS = 0.25
"""How often is looked which workers there are."""
CONNECT_SECONDS = 20
LATE_SECONDS = 10.0
"""How much longer than a call may take its worker is waited for."""
REST_SECONDS = 5.0
"""How long a worker that failed is given nothing, while there is another one."""
GONE = (OSError, RuntimeError, ValueError)
"""What Dask raises where a worker, or the scheduler, is gone."""


class Sender:
    """Makes attempts on a worker. It lives there, as a Dask actor."""

    def __init__(self, models: Mapping[str, Model]):
        self._models = models
        self._client = Client({})

    async def begin(self) -> str:
        """Make ready; the version of Concord here. Raises ConfigError where a key is missing."""
        for model in self._models.values():
            model.key()
        self._client = await Client(self._models).__aenter__()
        return VERSION

    async def attempt(self, model: Model, path: str, body: Mapping[str, Any]) -> bytes:
        """One attempt, with the model as it is called now. Raises AttemptFailed."""
        return await self._client.attempt(model, path, body)

    async def end(self) -> None:
        """Close the connections."""
        await self._client.__aexit__()


class _Worker:
    """A worker as seen from here: how many attempts it is making, and what is set when it is lost."""

    def __init__(self, actor: Any):
        self.actor = actor
        self.making = 0
        self.failed_at = -inf
        """When an attempt last failed: a dead worker fails at once, so that it is always the idlest."""
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class ClusterClient(Client):
    """A client whose attempts are made by the workers of a Dask cluster, evenly."""

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        address: str,
        admit: Callable[[], Awaitable[None]],
    ):
        super().__init__(models, admit=admit)
        self.address = address
        self.lost = 0
        """Workers that were lost."""
        self.refused = ""
        """Why a worker that came is not used."""
        self._workers: dict[str, _Worker] = {}
        self._known: set[str] = set()
        self._any = asyncio.Event()
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
        except GONE as error:
            raise ConfigError(f"The Dask cluster {self.address} cannot be reached: {error}.") from error
        await self._look()
        if not self._workers:
            raise ConfigError(
                f"The Dask cluster {self.address} has no workers. Start some: `dask worker {self.address}`."
            )

    async def __aexit__(self, *error: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
        for worker in self._workers.values():
            with suppress(*GONE):  # It is gone already.
                async with asyncio.timeout(2):
                    await worker.actor.end()
        if self._dask is not None:
            await self._dask.close()
        await super().__aexit__(*error)

    def status(self) -> str:
        """Which endpoints calls wait for, how many workers were lost, and why one is not used."""
        lost = f"Workers lost: {self.lost}, at work: {len(self._workers)}" if self.lost else ""
        return ". ".join(filter(None, (super().status(), lost, self.refused)))

    async def attempt(self, model: Model, path: str, body: Mapping[str, Any]) -> bytes:
        """One attempt, made by the worker that is making the fewest. Raises AttemptFailed."""
        worker = await self._free()
        worker.making += 1
        answer = asyncio.ensure_future(worker.actor.attempt(model, path, body))
        try:
            # The worker ends it in time; this is for one that hangs.
            late = model.timeout + LATE_SECONDS
            await asyncio.wait((answer, worker.lost), timeout=late, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return bytes(answer.result())
        except GONE:
            pass  # Dask knows it before the scheduler does.
        finally:
            worker.making -= 1
            answer.cancel()
        worker.failed_at = asyncio.get_running_loop().time()
        raise AttemptFailed("A worker was lost while it made the call.", code=Failure.LOST_WORKER)

    async def _free(self) -> _Worker:
        """The worker that is making the fewest attempts, rather one that has not failed just now; waits for
        one. Raises AttemptFailed.
        """
        if not self._workers:
            self._any.clear()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._any.wait()
            except TimeoutError:
                sentence = f"The Dask cluster {self.address} has no workers."
                raise AttemptFailed(sentence, code=Failure.UNREACHABLE) from None
        since = asyncio.get_running_loop().time() - REST_SECONDS
        return min(self._workers.values(), key=lambda worker: (worker.failed_at > since, worker.making))

    async def _watch(self) -> None:
        """Take in workers that come, and let go of those that are lost."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except ConfigError as error:
                self.refused = str(error)
            except GONE:
                # The scheduler is gone, and nobody knows of its workers.
                self._lose(set(self._workers))

    async def _look(self) -> None:
        assert self._dask is not None
        present = set((await self._dask.scheduler.identity())["workers"])
        self._lose(self._workers.keys() - present)
        for address in sorted(present - self._known):
            self._known.add(address)
            await self._begin(address)

    async def _begin(self, address: str) -> None:
        """Have a worker make attempts. Raises ConfigError where it lacks a key or has another Concord."""
        assert self._dask is not None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                actor = await self._dask.submit(
                    Sender, self._models, actor=True, workers=[address], allow_other_workers=False, pure=False
                )
                there = await actor.begin()
        except (OSError, RuntimeError) as error:
            if self._workers:
                return  # It went away again.
            raise ConfigError(f"The worker {address} of the cluster does not answer: {error}.") from error
        if there != VERSION:
            raise ConfigError(f"The worker {address} has Concord {there}, and this is {VERSION}.")
        self._workers[address] = _Worker(actor)
        self._any.set()

    def _lose(self, addresses: Iterable[str]) -> None:
        """Let go of workers that are gone: what they were making has failed."""
        for address in addresses:
            self.lost += 1
            self._workers.pop(address).lost.set_result(None)
