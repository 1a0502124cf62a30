"""Calls over a Dask cluster: workers make them, this process decides when, and keeps what was answered.

A worker makes single attempts, one on each of its threads: it is sent a body and sends back bytes. Waiting,
limits of an endpoint, retries, spending limits and the journal stay here, so that limits hold for all workers
together. What a worker was making that dies is made by another one.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from concord.errors import CallFailed, ConfigError
from concord.files import VERSION
from concord.llm.client import AttemptFailed, Client
from concord.llm.models import Model
from concord.llm.trouble import Class, Trouble

if TYPE_CHECKING:
    from distributed import Client as Dask

CONNECT_SECONDS = 20
SPARE_SECONDS = 10.0
"""How much longer than a call itself its way over a worker may take."""

Told = tuple[Class, str, str, str, str, float | None]
"""A Trouble as plain values."""
_clients: dict[tuple[str, str], Client] = {}
"""On a worker: what makes calls, by the run and the model as it was sent."""


async def ready(models: Mapping[str, Model]) -> str:
    """On a worker: the version of Concord there. Raises ConfigError where a key is missing."""
    for model in models.values():
        model.key()
    return VERSION


async def make(
    run: str, model: Model, path: str, body: Mapping[str, Any]
) -> tuple[bytes, Mapping[str, str]] | Told:
    """On a worker: one attempt; the body and headers of an answer, or what went wrong."""
    key = run, model.model_dump_json()
    if key not in _clients:
        _clients[key] = await Client({model.name: model}).__aenter__()
    try:
        content, headers = await _clients[key].attempt(model, path, body)
        return content, {name.lower(): value for name, value in headers.items()}
    except AttemptFailed as error:
        trouble, why = error.trouble, error.trouble.failure
        return trouble.cls, str(why), why.kind, why.raw, why.reason, trouble.after


async def end(run: str) -> None:
    """On a worker: close the connections of a run."""
    for key in [key for key in _clients if key[0] == run]:
        await _clients.pop(key).__aexit__()


class ClusterClient(Client):
    """A client whose attempts are made by the workers of a Dask cluster."""

    def __init__(self, models: Mapping[str, Model], *, address: str, **how: Any):
        super().__init__(models, **how)
        self.address, self._run = address, uuid.uuid4().hex
        self._all = dict(models)
        self._dask: Dask | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            await self._connect()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _connect(self) -> None:
        try:
            from distributed import Client as Dask
        except ImportError as error:
            raise ConfigError("--cluster needs Dask: pip install 'concord-eval[cluster]'.") from error
        self._dask = Dask(self.address, asynchronous=True, timeout=CONNECT_SECONDS)
        try:
            await self._dask
            versions: Mapping[str, str] = await self._dask.run(ready, self._all)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConfigError(f"The Dask cluster {self.address} cannot be reached: {error}.") from error
        if not versions:
            raise ConfigError(
                f"The Dask cluster {self.address} has no workers. Start some: `dask worker {self.address}`."
            )
        for worker, there in versions.items():
            if there != VERSION:
                raise ConfigError(f"The worker {worker} has Concord {there}, and this is {VERSION}.")

    async def __aexit__(self, *error: object) -> None:
        if self._dask is not None:
            with suppress(OSError, TimeoutError, ValueError, RuntimeError):  # they are gone already
                async with asyncio.timeout(2):
                    if self._dask.status == "running":
                        await self._dask.run(end, self._run)
            await self._dask.close()
        await super().__aexit__(*error)

    def says(self) -> str:
        """Which endpoints calls wait for, and whether they wait for a worker."""
        info = self._dask.scheduler_info() if self._dask else {}
        gone = info.get("workers", True) == {}
        waits = f"The Dask cluster {self.address} has no workers; calls wait for one" if gone else ""
        return ". ".join(filter(None, (super().says(), waits)))

    async def attempt(
        self, model: Model, path: str, body: Mapping[str, Any]
    ) -> tuple[bytes, Mapping[str, str]]:
        """One attempt, made by a worker. Raises AttemptFailed."""
        from distributed import KilledWorker

        assert self._dask is not None
        try:
            # The worker ends it in time; this is for one that hangs.
            async with asyncio.timeout(model.timeout + SPARE_SECONDS):
                outcome: Any = await self._dask.submit(make, self._run, model, path, body, pure=False)
        except (TimeoutError, KilledWorker, OSError) as error:
            message = f"No worker of the cluster made the call: {type(error).__name__}."
            failure = CallFailed(message, kind="timeout", reason="a lost worker")
            raise AttemptFailed(Trouble("transient", failure)) from None
        if len(outcome) == 2:
            content, headers = outcome
            return content, headers
        cls, message, kind, raw, reason, after = outcome
        raise AttemptFailed(Trouble(cls, CallFailed(message, kind=kind, raw=raw, reason=reason), after))
