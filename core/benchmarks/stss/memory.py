"""A resident's memory stream, retrieved by recency, importance and relevance; the vectors of its texts.

After Park et al. (2023): each of the three is scaled to 0–1 over the stream, and they are added. Relevance is
the cosine of memory and query: of a model's vectors if the run names a model for it, else of TF-IDF vectors.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm.embeddings import BATCH, Vector
from concord.runs.benchmark import Ask

DIGITS = 6
"""Cosines are rounded, so that two memories of the same words are equally near wherever they stand."""
T = TypeVar("T")


async def gather_all(thoughts: Iterable[Awaitable[T]]) -> list[T]:
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
        self._wanted: dict[str, None] = {}
        self._failure: CallFailed | None = None
        self._turn = asyncio.Lock()

    async def cosines(self, texts: Sequence[str], query: str) -> npt.NDArray[np.float64]:
        """How near each text is to the query, −1 to 1; 0 where one of the two is blank. Raises CallFailed."""
        self._wanted |= dict.fromkeys(text for text in (*texts, query) if text.strip())
        async with self._turn:
            # Everybody who is thinking at this moment adds what they need before the first asks.
            await asyncio.sleep(0)
            if self._failure:
                raise self._failure
            try:
                await self._fetch([text for text in self._wanted if text not in self._known])
            except CallFailed as failure:
                self._failure = failure
                raise
        nearness = np.zeros(len(texts))
        places = [i for i, text in enumerate(texts) if text.strip()]
        if places and query.strip():
            rows = np.stack([self._known[texts[i]] for i in places]).astype(np.float64)
            toward = self._known[query].astype(np.float64)
            lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(toward)
            nearness[places] = np.round(rows @ toward / lengths, DIGITS)
        return nearness

    async def _fetch(self, texts: Sequence[str]) -> None:
        self._wanted.clear()
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        batches_of_vectors = await gather_all(self._ask.embed(self._model, batch) for batch in batches)
        vectors = [vector for batch in batches_of_vectors for vector in batch]
        lengths = {len(vector) for vector in (*islice(self._known.values(), 1), *vectors)}
        if len(lengths) > 1:
            length_words = " and of ".join(map(str, sorted(lengths)))
            raise CallFailed(
                f"“{self._model}” gave vectors of {length_words} numbers within one simulation. Set their "
                "number in "
                "models.toml, as params = { dimensions = … }, or use another model.",
                code=Failure.UNPARSEABLE,
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
        counts = [_words_of(memory.text) for memory in self.memories]
        n = len(counts)
        holding = Counter(word for words in counts for word in words)
        idf = {word: math.log((1 + n) / (1 + documents)) + 1 for word, documents in holding.items()}
        weights = {word: count * idf[word] for word, count in _words_of(query).items() if word in idf}
        length = math.hypot(*weights.values())
        cosines = np.zeros(n)
        for i, words in enumerate(counts):
            norm = math.hypot(*(count * idf[word] for word, count in words.items()))
            dot = sum(words[word] * idf[word] * weight for word, weight in weights.items() if word in words)
            # A memory without a single word has no direction.
            cosines[i] = dot / (norm * length) if dot else 0.0
        return cosines


@lru_cache(maxsize=100_000)
def _words_of(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def _unit(values: Floats) -> Floats:
    """Values scaled to 0–1; 0 where all are equal."""
    low = float(values.min())
    high = float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
