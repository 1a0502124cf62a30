"""Vectors of the texts of one simulation: each text is embedded once, in one call with others needed then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.benchmarks.benchmark import Ask
from core.errors import CallFailed
from core.llm.embeddings import BATCH, Vector

DIGITS = 6
"""Cosines are rounded, so that two memories of the same words are equally near wherever they stand."""
T = TypeVar("T")


async def together(thoughts: Iterable[Awaitable[T]]) -> list[T]:
    """Await several at once; returns their results in the order given.

    If one fails, the others are awaited before its error is raised: calls under way are paid for.
    """
    found: list[T] = []
    for result in await asyncio.gather(*thoughts, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found


class Vectors:
    """The vectors of one model for one simulation, requested when needed and kept.

    Which texts go in one call depends on who thinks at the same time; a text's vector does not.
    """

    def __init__(self, ask: Ask, model: str):
        self._ask = ask
        self._model = model
        self._known: dict[str, Vector] = {}
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._next: list[str] = []
        self._fetching: asyncio.Task[None] | None = None

    async def cosines(self, texts: Sequence[str], query: str) -> npt.NDArray[np.float64]:
        """How near each text is to the query, −1 to 1; 0 where one of the two is blank. Raises CallFailed."""
        await self._learn([*texts, query])
        found = np.zeros(len(texts))
        said = [i for i, text in enumerate(texts) if text.strip()]
        if said and query.strip():
            rows = np.stack([self._known[texts[i]] for i in said]).astype(np.float64)
            toward = self._known[query].astype(np.float64)
            lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(toward)
            found[said] = np.round(rows @ toward / lengths, DIGITS)
        return found

    async def _learn(self, texts: Iterable[str]) -> None:
        """Wait until the vectors of all texts are known."""
        waited: dict[asyncio.Task[None], None] = {}
        for text in texts:
            if text in self._known or not text.strip():
                continue
            if text not in self._under_way:
                if self._fetching is None:
                    # It starts after everybody who is thinking at this moment has added what they need.
                    self._fetching = asyncio.create_task(self._fetch())
                self._next.append(text)
                self._under_way[text] = self._fetching
            waited[self._under_way[text]] = None
        await together(waited)

    async def _fetch(self) -> None:
        texts, self._next, self._fetching = self._next, [], None
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        try:
            await together(self._fetch_batch(batch) for batch in batches)
        finally:
            for text in texts:
                del self._under_way[text]

    async def _fetch_batch(self, texts: list[str]) -> None:
        found = await self._ask.embed(self._model, texts)
        length = len(next(iter(self._known.values()), found[0]))
        if other := next((len(vector) for vector in found if len(vector) != length), 0):
            raise CallFailed(
                f"“{self._model}” gave vectors of {length} numbers and of {other} within one simulation. "
                "Set their number in models.toml, as params = { dimensions = … }, or use another model.",
                kind="unparsable",
            )
        self._known.update(zip(texts, found, strict=True))
