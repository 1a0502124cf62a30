"""A resident's memory stream, retrieved by recency, importance and relevance; the vectors of its texts.

After Park et al. (2023): each of the three is scaled to 0–1 over the stream, and they are added. Relevance is
the cosine of memory and query: of a model's vectors if the run names a model for it, else of TF-IDF vectors.
"""

from __future__ import annotations

import asyncio
import re
from array import array
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from concord.errors import CallFailed
from concord.llm.embeddings import BATCH, Vector
from concord.runs.benchmark import Ask

DIGITS = 6
"""Cosines are rounded, so that two memories of the same words are equally near wherever they stand."""
T = TypeVar("T")


async def together(thoughts: Iterable[Awaitable[T]]) -> list[T]:
    """Await several at once; returns their results in the order given.

    If one fails, the others are awaited before its error is raised: calls under way are paid for.
    """
    results: list[T] = []
    for result in await asyncio.gather(*thoughts, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results


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
        nearness = np.zeros(len(texts))
        filled = [i for i, text in enumerate(texts) if text.strip()]
        if filled and query.strip():
            rows = np.stack([self._known[texts[i]] for i in filled]).astype(np.float64)
            toward = self._known[query].astype(np.float64)
            lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(toward)
            nearness[filled] = np.round(rows @ toward / lengths, DIGITS)
        return nearness

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
        vectors = await self._ask.embed(self._model, texts)
        length = len(next(iter(self._known.values()), vectors[0]))
        if other := next((len(vector) for vector in vectors if len(vector) != length), 0):
            raise CallFailed(
                f"“{self._model}” gave vectors of {length} numbers and of {other} within one simulation. "
                "Set their number in models.toml, as params = { dimensions = … }, or use another model.",
                kind="unparsable",
            )
        self._known.update(zip(texts, vectors, strict=True))


DECAY = 0.99
"""The factor of recency for each hour."""
WORD = re.compile(r"\w+(?:[:'-]\w+)*")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry: when, what, and how much it matters (1 to 10)."""

    time: datetime
    text: str
    importance: int
    kind: str = "seen"


@dataclass
class Stream:
    """Memories in the order they were made. `vectors` gives their relevance, if set."""

    memories: list[Memory] = field(default_factory=list)
    vectors: Vectors | None = None
    _indexed: int = field(default=0, repr=False)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)
    # Arrays, not lists: numpy reads them as they are, and the garbage collector does not go through them.
    _rows: array[int] = field(default_factory=lambda: array("i"), repr=False)
    _words: array[int] = field(default_factory=lambda: array("i"), repr=False)
    _counts: array[int] = field(default_factory=lambda: array("i"), repr=False)

    def add(self, memory: Memory) -> None:
        """Append a memory."""
        self.memories.append(memory)

    async def retrieve(self, query: str, now: datetime, k: int) -> list[Memory]:
        """The k memories with the highest sum, oldest first; of equal ones the later. Raises CallFailed."""
        memories = tuple(self.memories)
        if not memories:
            return []
        if self.vectors:
            relevance = await self.vectors.cosines([m.text for m in memories], query)
        else:
            relevance = self.lexical_relevance(query)
        hours = np.array([(now - m.time).total_seconds() / 3600 for m in memories])
        importance = np.array([m.importance for m in memories], dtype=np.float64)
        worth = _unit(DECAY**hours) + _unit(importance) + _unit(relevance)
        order = np.lexsort((np.arange(len(worth)), worth))[::-1][:k]
        return [memories[i] for i in sorted(order.tolist())]

    def lexical_relevance(self, query: str) -> Floats:
        """Cosine of each memory and the query by TF-IDF, 0 to 1; words that no memory holds are ignored."""
        self._index()
        n = len(self.memories)
        counts_of_query = {self._numbers[w]: c for w, c in _words_of(query).items() if w in self._numbers}
        if not counts_of_query:
            return np.zeros(n)
        parts = (self._rows, self._words, self._counts)
        rows, words, counts = (np.array(part, dtype=np.int64) for part in parts)
        holding = np.bincount(words, minlength=len(self._numbers))
        idf = np.log((1 + n) / (1 + holding)) + 1
        weights = counts * idf[words]
        norms = np.sqrt(np.bincount(rows, weights**2, minlength=n))
        wanted = np.zeros(len(self._numbers))
        wanted[list(counts_of_query)] = list(counts_of_query.values())
        wanted *= idf
        dots = np.bincount(rows, weights * wanted[words], minlength=n)
        # A memory without a single word has no direction.
        cosine: Floats = np.divide(dots, norms * np.linalg.norm(wanted), out=np.zeros(n), where=norms > 0)
        return cosine

    def _index(self) -> None:
        """Count the words of new memories; called only if relevance is lexical."""
        for row in range(self._indexed, len(self.memories)):
            for word, count in _words_of(self.memories[row].text).items():
                self._rows.append(row)
                self._words.append(self._numbers.setdefault(word, len(self._numbers)))
                self._counts.append(count)
        self._indexed = len(self.memories)


def _words_of(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def _unit(values: Floats) -> Floats:
    """Values scaled to 0–1; 0 where all are equal."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
