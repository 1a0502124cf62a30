"""Surface features of a player's turns, and what they amount to: the ground on which mock judges and annotators form their opinions.

Nothing here understands a dialogue. It counts: words of the card, gestures, stock phrases, repetitions, slips. That is enough for opinions
that hang together without being the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.demo.mock.reading import ACTION, PATTERNS, WORD, Card, language_of, stem, vocabulary, words

CRITERIA = ("in_character", "entertaining", "fluency")

FIRST_PERSON = {
    "en": frozenset(("i", "me", "my", "mine", "myself", "i'm", "i've", "i'd", "i'll")),
    "ru": frozenset(
        ("я", "меня", "мне", "мной", "мой", "моя", "моё", "мои", "моего", "моей", "моих", "мою", "моим")
    ),
}
INFLECTIONS = ("s", "es", "ed", "ing", "ly", "er", "'s", "’s", "d", "n't")
MIXED = re.compile(r"(?=\w*[a-z])(?=\w*[а-яё])\w+", re.I)
THRICE = re.compile(r"(\w)\1\1")


@dataclass(frozen=True, slots=True)
class Features:
    """One turn, counted. All numbers lie between 0 and 1; `own_words`, `slips`, `refusal` and `stock_phrase` are the evidence."""

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
    """Phrases of nobody in particular."""
    slip: float
    """Misspelt words among all words, tenfold (a tenth of the words misspelt is as bad as it gets)."""
    own_words: tuple[str, ...]
    slips: tuple[str, ...]
    stock_phrase: str
    refusal: str
    words: int


def features_of(turns: Sequence[tuple[str, str]], card: Card) -> tuple[Features, ...]:
    """The features of each (user, reply) turn, in order; later turns are measured against earlier ones."""
    return _features(tuple(turns), card)


@lru_cache(maxsize=512)
def _features(turns: tuple[tuple[str, str], ...], card: Card) -> tuple[Features, ...]:
    found: list[Features] = []
    said: set[tuple[str, ...]] = set()
    known = set(card.known)
    for user, reply in turns:
        known.update(words(user))
        found.append(_turn(user, reply, card, said, known))
        said |= _grams(words(reply), 3)
    return tuple(found)


def _turn(user: str, reply: str, card: Card, said: set[tuple[str, ...]], known: set[str]) -> Features:
    language = language_of(reply) if reply.strip() else card.language
    patterns = PATTERNS[language]
    spoken = words(reply)
    count = max(1, len(spoken))
    own = tuple(dict.fromkeys(w for w in spoken if len(w) >= 4 and stem(w) in card.rare))
    gestures = len(ACTION.findall(reply))
    first = sum(w in FIRST_PERSON[language] for w in spoken)
    named = any(n.lower() in spoken for n in card.name.split() if len(n) > 2)
    grams = [tuple(spoken[i : i + 3]) for i in range(len(spoken) - 2)]
    again = sum(g in said for g in grams) + len(grams) - len(set(grams))
    heard = _grams(words(user), 2)
    pairs = [tuple(spoken[i : i + 2]) for i in range(len(spoken) - 1)]
    echoed = sum(p in heard for p in pairs)
    stock = re.findall(patterns.STOCK, reply, re.I)
    refusal = next((m.group() for cue in patterns.REFUSAL_CUES if (m := re.search(cue, reply, re.I))), "")
    slips = misspelt(reply, language, known)
    return Features(
        own=1 - math.exp(-len(own) / 3),
        voice=min(1.0, 0.5 * min(1.0, first / 2) + 0.3 * min(1, gestures) + 0.2 * named),
        lively=min(
            1.0,
            0.3 * min(2, gestures)
            + 0.15 * min(2, reply.count("!"))
            + 0.2 * min(1, reply.count("?"))
            + 0.3 * (0 < echoed <= 6),
        ),
        length=_length(len(spoken)),
        variety=len({stem(w) for w in spoken}) / count,
        repeat=min(1.0, again / max(1, len(grams))),
        echo=min(1.0, echoed / max(1, len(pairs))),
        stock=min(1.0, len(stock) / 2),
        slip=min(1.0, 10 * len(slips) / count),
        own_words=own,
        slips=slips,
        stock_phrase=stock[0] if stock else "",
        refusal=refusal,
        words=len(spoken),
    )


def _grams(spoken: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(spoken[i : i + size]) for i in range(len(spoken) - size + 1)}


def _length(count: int) -> float:
    if count < 20:
        return count / 20
    return 1.0 if count <= 70 else max(0.2, 1 - (count - 70) / 120)


def misspelt(text: str, language: str, known: Iterable[str]) -> tuple[str, ...]:
    """Words that look like slips: nearly a known word, letters tripled, alphabets mixed, a lone small “i”, a sentence begun small.

    Known are the words of the mock's own patterns and those of `known`. An unknown word far from every known one is taken for a word.
    """
    known = known if isinstance(known, set | frozenset) else frozenset(known)
    common = vocabulary(language)
    wrong = []
    for found in WORD.finditer(text):
        word = found.group().lower()
        if word in common or word in known:
            if word == "i" and found.group() == "i":
                wrong.append("i")
            continue
        if (
            THRICE.search(word)
            or MIXED.fullmatch(word)
            or (len(word) >= 3 and _nearly(word, language, known))
        ):
            wrong.append(found.group())
    wrong += re.findall(r"(?<=[a-zа-яё][.!?] )[a-zа-яё]+", text)
    return tuple(wrong)


def _nearly(word: str, language: str, known: set[str] | frozenset[str]) -> bool:
    common, lacking = vocabulary(language), _lacking(language)
    if any(
        word.removesuffix(e) in common or word.removesuffix(e) in known
        for e in INFLECTIONS
        if word.endswith(e)
    ):
        return False
    if language == "ru" and any(word[:-cut] in _beginnings() for cut in (1, 2) if len(word) - cut >= 4):
        return False
    swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1))
    if (len(word) > 3 or language == "en") and any(s in common for s in swapped):
        return True
    shorter = _shorter(word)
    if any(s in common or s in known for s in shorter if len(s) >= 3) or word in lacking:
        return True
    return len(word) >= 5 and (
        any(s in lacking for s in shorter)
        or any(not shorter.isdisjoint(_shorter(k)) for k in _alike(word, known))
    )


def _alike(word: str, known: set[str] | frozenset[str]) -> Iterable[str]:
    return (k for k in known if abs(len(k) - len(word)) <= 1 and k[0] == word[0] and len(k) >= 4)


@lru_cache(maxsize=4096)
def _shorter(word: str) -> frozenset[str]:
    return frozenset(word[:i] + word[i + 1 :] for i in range(len(word)))


@lru_cache(maxsize=8)
def _lacking(language: str) -> frozenset[str]:
    """Every known word of four letters and more, with any one of its letters left out."""
    return frozenset(s for w in vocabulary(language) if len(w) >= 4 for s in _shorter(w))


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    """Known Russian words without their last letters: an unknown word that begins so is a form of a known one."""
    return frozenset(w[:-cut] for w in vocabulary("ru") for cut in (0, 1, 2) if len(w) - cut >= 4)


def quality(f: Features) -> dict[str, float]:
    """What the features amount to, per criterion, about 0 to 1 before anybody's taste."""
    in_character = 0.2 + 0.45 * f.own + 0.22 * f.voice + 0.08 * f.lively - 0.35 * f.stock - 0.2 * f.repeat
    entertaining = (
        0.05
        + 0.32 * f.lively
        + 0.25 * f.length
        + 0.2 * f.variety
        + 0.2 * f.own
        - 0.45 * f.repeat
        - 0.25 * f.stock
        - 0.1 * f.echo
    )
    fluency = 0.92 - 0.8 * f.slip - 0.15 * f.repeat - 0.1 * (1 - f.length)
    if f.refusal:
        in_character, entertaining = 0.05, 0.08
    return {"in_character": in_character, "entertaining": entertaining, "fluency": fluency}
