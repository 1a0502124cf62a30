"""What haste does to writing: letters dropped, doubled and swapped, wrong endings, lost capitals."""

from __future__ import annotations

import random
import re
from types import ModuleType

from core.demo.mock.reading import WORD


def slip(text: str, rate: float, patterns: ModuleType, rng: random.Random) -> str:
    """The text with about `rate` of its words (of three letters and more) gone wrong."""

    def wrong(found: re.Match[str]) -> str:
        word = found.group()
        if len(word) < 3 or rng.random() >= rate:
            return word
        slipped = _slipped(word.lower(), patterns, rng)
        return slipped.capitalize() if word[0].isupper() and rng.random() < 0.7 else slipped

    return WORD.sub(wrong, text)


def _slipped(word: str, patterns: ModuleType, rng: random.Random) -> str:
    if word in patterns.SLIPS:
        return str(patterns.SLIPS[word])
    if rng.random() < 0.5:
        for ending, instead in patterns.ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                return word.removesuffix(ending) + str(instead)
    at = rng.randrange(1, len(word) - 1)
    kind = rng.random()
    if kind < 0.4:
        return word[:at] + word[at + 1 :]
    if kind < 0.7:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[: at + 1] + word[at] + word[at + 1 :]
