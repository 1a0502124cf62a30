"""The endpoints that score or embed texts. They count and hash words."""

import hashlib
import math
import re
from typing import Any

from tests.mock.call import read_object, require
from tests.mock.material import load

EMBEDDINGS, MODERATION = "mock-embeddings", "mock-moderation"
DIMENSIONS, MOST = 64, 4096


def embed(body: bytes) -> dict[str, Any]:
    """The reply to an embeddings request: a vector of length 1 for each text. Raises BadCall."""
    data, texts = _read(body)
    require(all(texts), "`input` must be a text or a list of texts, none of them empty.", "input")
    size = data.get("dimensions", DIMENSIONS)
    fine = isinstance(size, int) and 1 <= size <= MOST
    require(fine, f"`dimensions` must be a whole number from 1 to {MOST}.", "dimensions")
    read = sum(max(1, len(text) // 4) for text in texts)
    vectors = [
        {"object": "embedding", "index": i, "embedding": _vector(text, size)} for i, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": read, "total_tokens": read}
    return {"object": "list", "model": data.get("model") or EMBEDDINGS, "data": vectors, "usage": usage}


def moderate(body: bytes) -> dict[str, Any]:
    """The reply to a moderations request: one result for each text, scores 0 to 1. Raises BadCall."""
    data, texts = _read(body)
    mark = hashlib.blake2b(body, digest_size=8).hexdigest()
    results = [_judged(text) for text in texts]
    return {"id": f"modr-mock-{mark}", "model": data.get("model") or MODERATION, "results": results}


def _read(body: bytes) -> tuple[dict[str, Any], list[str]]:
    """The request and its texts."""
    data = read_object(body)
    given = data.get("input")
    texts = [given] if isinstance(given, str) else given
    fine = isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
    require(fine, "`input` must be a text or a list of texts.", "input")
    return data, list(texts or ())


def _vector(text: str, size: int) -> list[float]:
    """Each word adds 1 or −1 at a place that its hash names, so that texts with words in common are near."""
    numbers = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or [text]:
        mark = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        numbers[(mark >> 1) % size] += 1.0 if mark & 1 else -1.0
    if (length := math.hypot(*numbers)) == 0:  # words that cancel each other out
        return [1.0, *numbers[1:]]
    return [round(number / length, 6) for number in numbers]


def _judged(text: str) -> dict[str, Any]:
    rude = load("mock", "en", "moderation")
    hundreds = max(1.0, len(text.split()) / 100)
    hits = {name: len(re.findall(rf"\b(?:{words})\b", text, re.I)) for name, words in rude.items()}
    # 1 − 0.75^n for n hits a hundred words, over a floor that no real model goes below either.
    scores = {name: round(0.0005 + 0.9995 * (1 - 0.75 ** (n / hundreds)), 6) for name, n in hits.items()}
    flags = {name: score > 0.5 for name, score in scores.items()}
    return {"flagged": any(flags.values()), "categories": flags, "category_scores": scores}
