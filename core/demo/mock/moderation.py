"""The mock's moderations endpoint: rude, hateful and violent words are counted against a short list; it understands nothing."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

MODEL = "mock-moderation"

# Mild words only: they stand for worse ones, so that a test or a demo has something to find.
_WORDS: dict[str, str] = {
    "harassment": r"idiot|stupid|fool|moron|loser|shut up|pathetic|dumb|ugly",
    "harassment/threatening": r"you will regret|watch your back|i will find you",
    "hate": r"those people|vermin|subhuman|infidels?",
    "hate/threatening": r"wipe them out|drive them out",
    "illicit": r"counterfeit|lock ?pick|smuggl\w+|steal",
    "illicit/violent": r"bomb|explosives?|poison",
    "self-harm": r"hurt myself|self-harm",
    "self-harm/instructions": r"how to hurt yourself",
    "self-harm/intent": r"want to die",
    "sexual": r"naked|seductive",
    "sexual/minors": r"(?!)",
    "violence": r"kill\w*|murder\w*|attack\w*|battle|fire at|shoot\w*|sword|blood",
    "violence/graphic": r"gore|guts|dismember\w*",
}


class BadRequest(ValueError):
    """A request the protocol does not allow."""


def moderate(body: bytes) -> dict[str, Any]:
    """The reply to a moderations request: one result a text, scores 0 to 1. Raises BadRequest."""
    try:
        data = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"The request's body is not JSON: {error}.") from None
    given = data.get("input") if isinstance(data, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest("`input` must be a text or a list of texts.")
    model = data.get("model") or MODEL
    mark = hashlib.blake2b(body, digest_size=8).hexdigest()
    return {"id": f"modr-mock-{mark}", "model": model, "results": [_result(text) for text in texts]}


def _result(text: str) -> dict[str, Any]:
    scores = {name: _score(text, words) for name, words in _WORDS.items()}
    flags = {name: score > 0.5 for name, score in scores.items()}
    return {"flagged": any(flags.values()), "categories": flags, "category_scores": scores}


def _score(text: str, words: str) -> float:
    """1 − 0.75^n for n hits a hundred words, over a floor that no real model goes below either."""
    hits = len(re.findall(rf"\b(?:{words})\b", text, re.I))
    per_hundred = hits / max(1.0, len(text.split()) / 100)
    score: float = round(0.0005 + 0.9995 * (1 - 0.75**per_hundred), 6)
    return score
