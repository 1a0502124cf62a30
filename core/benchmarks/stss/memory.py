"""A resident's memory stream, retrieved by recency, importance and relevance.

After Park et al. (2023): each of the three is scaled to 0–1 over the stream, and they are added. Relevance is
the cosine of memory and query as TF-IDF vectors.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

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
    """Memories in the order they were made."""

    memories: list[Memory] = field(default_factory=list)

    def add(self, memory: Memory) -> None:
        """Append a memory."""
        self.memories.append(memory)

    def retrieve(self, query: str, now: datetime, k: int) -> list[Memory]:
        """The k memories with the highest sum, oldest first; of equal ones the later."""
        memories = self.memories
        if not memories:
            return []
        hours = np.array([(now - m.time).total_seconds() / 3600 for m in memories])
        importance = np.array([m.importance for m in memories], dtype=np.float64)
        worth = _unit(DECAY**hours) + _unit(importance) + _unit(self.relevance(query))
        order = np.lexsort((np.arange(len(worth)), worth))[::-1][:k]
        return [memories[i] for i in sorted(order.tolist())]

    def relevance(self, query: str) -> Floats:
        """Cosine of each memory and the query by TF-IDF, 0 to 1; words that no memory holds are ignored."""
        counts = [_words_of(memory.text) for memory in self.memories]
        n, holding = len(counts), Counter(word for words in counts for word in words)
        idf = {word: math.log((1 + n) / (1 + of)) + 1 for word, of in holding.items()}
        wanted = {word: count * idf[word] for word, count in _words_of(query).items() if word in idf}
        length = math.hypot(*wanted.values())
        cosines = np.zeros(n)
        for i, words in enumerate(counts):
            norm = math.hypot(*(count * idf[word] for word, count in words.items()))
            dot = sum(words[word] * idf[word] * weight for word, weight in wanted.items() if word in words)
            # A memory without a single word has no direction.
            cosines[i] = dot / (norm * length) if dot else 0.0
        return cosines


@lru_cache(maxsize=100_000)
def _words_of(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def _unit(values: Floats) -> Floats:
    """Values scaled to 0–1; 0 where all are equal."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
