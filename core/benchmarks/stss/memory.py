"""A resident's memory stream, retrieved by recency, importance and relevance.

After Park et al. (2023): each of the three is scaled to 0–1 over the stream, and they are added. Relevance is
the cosine of memory and query: of a model's vectors if the run names a model for it, else of TF-IDF vectors.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from core.benchmarks.stss.vectors import Vectors

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
        """The k memories with the highest sum, oldest first; of equal ones the later.

        Raises CallFailed if the embeddings endpoint fails.
        """
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
        asked = {self._numbers[w]: c for w, c in _words_of(query).items() if w in self._numbers}
        if not asked:
            return np.zeros(n)
        parts = (self._rows, self._words, self._counts)
        rows, words, counts = (np.array(part, dtype=np.int64) for part in parts)
        holding = np.bincount(words, minlength=len(self._numbers))
        idf = np.log((1 + n) / (1 + holding)) + 1
        weights = counts * idf[words]
        norms = np.sqrt(np.bincount(rows, weights**2, minlength=n))
        wanted = np.zeros(len(self._numbers))
        wanted[list(asked)] = list(asked.values())
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
