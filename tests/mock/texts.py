"""The endpoint that scores texts. It counts words."""

import hashlib
import re
from typing import Any

from tests.mock.call import read_object, require
from tests.mock.material import load

MODERATION = "mock-moderation"


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


def _judged(text: str) -> dict[str, Any]:
    rude = load("mock", "en", "moderation")
    hundreds = max(1.0, len(text.split()) / 100)
    hits = {name: len(re.findall(rf"\b(?:{words})\b", text, re.I)) for name, words in rude.items()}
    # 1 − 0.75^n for n hits a hundred words, over a floor that no real model goes below either.
    scores = {name: round(0.0005 + 0.9995 * (1 - 0.75 ** (n / hundreds)), 6) for name, n in hits.items()}
    flags = {name: score > 0.5 for name, score in scores.items()}
    return {"flagged": any(flags.values()), "categories": flags, "category_scores": scores}
