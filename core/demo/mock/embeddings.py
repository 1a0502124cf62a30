"""The mock's embeddings endpoint: words are hashed into a small vector, so that texts with words in common are near; it understands nothing."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

from core.demo.mock.moderation import BadRequest

MODEL = "mock-embeddings"
DIMENSIONS = 64
MOST = 4096


def embed(body: bytes) -> dict[str, Any]:
    """The reply to an embeddings request: one vector of length 1 a text, the same text always the same. Raises BadRequest."""
    try:
        data = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"The request's body is not JSON: {error}.") from None
    given = data.get("input") if isinstance(data, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise BadRequest("`input` must be a text or a list of texts, none of them empty.")
    size = data.get("dimensions", DIMENSIONS)
    if not isinstance(size, int) or not 1 <= size <= MOST:
        raise BadRequest(f"`dimensions` must be a whole number from 1 to {MOST}.")
    read = sum(max(1, len(text) // 4) for text in texts)
    return {
        "object": "list",
        "model": data.get("model") or MODEL,
        "data": [
            {"object": "embedding", "index": place, "embedding": _vector(text, size)}
            for place, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": read, "total_tokens": read},
    }


def _vector(text: str, size: int) -> list[float]:
    """Each word adds 1 or −1 at a place that its hash names."""
    numbers = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or [text]:
        mark = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        numbers[(mark >> 1) % size] += 1.0 if mark & 1 else -1.0
    length = math.hypot(*numbers)
    if length == 0:  # words that cancel each other out
        return [1.0, *numbers[1:]]
    return [round(number / length, 6) for number in numbers]
