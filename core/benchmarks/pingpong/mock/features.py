"""Surface features of a player's turns: what the opinions of mock judges and simulated annotators are made
of.

Nothing here understands a dialogue. It counts words of the card, gestures, stock phrases, repetitions and
slips.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from core.benchmarks.pingpong.mock.reading import (
    ACTION,
    WORD,
    Card,
    cues,
    language_of,
    lexicon,
    stem,
    words,
)

CRITERIA = ("in_character", "entertaining", "fluency")

MIXED = re.compile(r"(?=\w*[a-z])(?=\w*[а-яё])\w+", re.I)
THRICE = re.compile(r"(\w)\1\1")


@dataclass(frozen=True, slots=True)
class Features:
    """One turn, counted. Numbers but `words` lie between 0 and 1; the last five fields are the evidence."""

    own: float
    """How much of the card's own vocabulary is there."""
    voice: float
    """First person, the character's name, gestures."""
    lively: float
    """Gestures, exclamations, questions back, the other's words taken up."""
    length: float
    """1 for twenty to seventy words, less for less and for much more."""
    variety: float
    """Different words among all words."""
    repeat: float
    """How much of it was said before, in this conversation or in this turn."""
    echo: float
    """How much of it the other has just said."""
    stock: float
    """Phrases that any assistant says."""
    slip: float
    """Misspelt words among all words, tenfold."""
    own_words: tuple[str, ...]
    slips: tuple[str, ...]
    stock_phrase: str
    refusal: str
    words: int


@lru_cache(maxsize=512)
def features_of(turns: tuple[tuple[str, str], ...], card: Card) -> tuple[Features, ...]:
    """The features of each (user, reply) turn, in order; later turns are measured against earlier ones."""
    found: list[Features] = []
    said: set[tuple[str, ...]] = set()
    known = set(card.known)
    for user, reply in turns:
        known.update(words(user))
        found.append(_turn(user, reply, card, said, known))
        said |= _grams(words(reply), 3)
    return tuple(found)


def _turn(user: str, reply: str, card: Card, said: Set[tuple[str, ...]], known: Set[str]) -> Features:
    language = language_of(reply) if reply.strip() else card.language
    spoken = words(reply)
    count = max(1, len(spoken))
    own = tuple(dict.fromkeys(w for w in spoken if len(w) >= 4 and stem(w) in card.rare))
    gestures = len(ACTION.findall(reply))
    first = sum(w in cues(language)["first"].split() for w in spoken)
    named = any(n.lower() in spoken for n in card.name.split() if len(n) > 2)
    grams = [tuple(spoken[i : i + 3]) for i in range(len(spoken) - 2)]
    again = sum(g in said for g in grams) + len(grams) - len(set(grams))
    pairs = [tuple(spoken[i : i + 2]) for i in range(len(spoken) - 1)]
    heard = _grams(words(user), 2)
    echoed = sum(p in heard for p in pairs)
    stock = re.findall(cues(language)["stock"], reply, re.I)
    refusals = (re.search(cue, reply, re.I) for cue in cues(language)["refusal_cues"])
    slips = misspelt(reply, language, known)
    lively = 0.3 * min(2, gestures) + 0.15 * min(2, reply.count("!")) + 0.2 * ("?" in reply)
    return Features(
        own=1 - math.exp(-len(own) / 3),
        voice=min(1.0, 0.5 * min(1.0, first / 2) + 0.3 * min(1, gestures) + 0.2 * named),
        lively=min(1.0, lively + 0.3 * (0 < echoed <= 6)),
        length=count / 20 if count < 20 else min(1.0, max(0.2, 1 - (count - 70) / 120)),
        variety=len({stem(w) for w in spoken}) / count,
        repeat=min(1.0, again / max(1, len(grams))),
        echo=min(1.0, echoed / max(1, len(pairs))),
        stock=min(1.0, len(stock) / 2),
        slip=min(1.0, 10 * len(slips) / count),
        own_words=own,
        slips=slips,
        stock_phrase=stock[0] if stock else "",
        refusal=next((found.group() for found in refusals if found), ""),
        words=len(spoken),
    )


def _grams(spoken: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(spoken[i : i + size]) for i in range(len(spoken) - size + 1)}


def misspelt(text: str, language: str, known: Set[str]) -> tuple[str, ...]:
    """Words that look like slips: one letter off a known word, letters tripled, alphabets mixed, capitals
    lost.

    Known are the words of the mock players' lines and those of `known`. Other words pass for words.
    """
    familiar = lexicon(language) | known
    lacking = (_lacking(lexicon(language)), _lacking(frozenset(known)))
    wrong = []
    for found in WORD.findall(text):
        word, letters = found.lower(), _shorter(found.lower())
        form = any(word[:-cut] in familiar for cut in (1, 2, 3) if len(word) - cut >= 3)
        near = any(word in short or (len(word) > 4 and not letters.isdisjoint(short)) for short in lacking)
        odd = (
            THRICE.search(word)
            or MIXED.fullmatch(word)
            or (len(word) >= 3 and not form and (near or not letters.isdisjoint(familiar)))
        )
        if found == "i" or (odd and word not in familiar):
            wrong.append(found)
    return (*wrong, *re.findall(r"(?<=[a-zа-яё][.!?] )[a-zа-яё]+", text))


@lru_cache(maxsize=16384)
def _shorter(word: str) -> frozenset[str]:
    """The word with any one of its letters left out."""
    return frozenset(word[:i] + word[i + 1 :] for i in range(len(word)))


@lru_cache(maxsize=512)
def _lacking(known: frozenset[str]) -> frozenset[str]:
    """Every word of four letters and more, with any one of its letters left out."""
    return frozenset(short for word in known if len(word) >= 4 for short in _shorter(word))


def quality(f: Features) -> dict[str, float]:
    """What the features amount to, per criterion, about 0 to 1 before anybody's taste."""
    own, dull = f.own, f.stock
    in_character = 0.2 + 0.45 * own + 0.22 * f.voice + 0.08 * f.lively - 0.35 * dull - 0.2 * f.repeat
    entertaining = 0.05 + 0.32 * f.lively + 0.25 * f.length + 0.2 * f.variety + 0.2 * own
    entertaining -= 0.45 * f.repeat + 0.25 * dull + 0.1 * f.echo
    fluency = 0.92 - 0.8 * f.slip - 0.15 * f.repeat - 0.1 * (1 - f.length)
    if f.refusal:
        in_character, entertaining = 0.05, 0.08
    return {"in_character": in_character, "entertaining": entertaining, "fluency": fluency}
