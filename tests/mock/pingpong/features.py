"""Surface features of a player's turns, tastes by which mock raters weigh them, and simulated annotators.

The features count words of the card, gestures, stock phrases, repetitions and slips. The simulated annotators
of the demo's study share an impression of each conversation that no judge has.
"""

import math
import random
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

from concord.conversation import Conversation
from tests.mock.pingpong.reading import (
    ACTION,
    WORD,
    Card,
    cues,
    language_of,
    lexicon,
    read_card,
    stem,
    words,
)

CRITERIA = ("in_character", "entertaining", "fluency")
SHARED = 0.5
"""Standard deviation, in points, of what all people see in a conversation and no judge does."""
LIKED = ("own", "voice", "lively", "length", "variety", "repeat", "stock")

ODD = re.compile(r"\w*(\w)\1\1\w*|(?=\w*[a-z])(?=\w*[а-яё])\w+", re.I)
"""A letter thrice in a row, or two alphabets in one word."""


@dataclass(frozen=True, slots=True)
class Features:
    """One turn, counted. Numbers but `words` lie between 0 and 1; the last five fields are the evidence."""

    own: float  # how much of the card's own vocabulary is there
    voice: float  # first person, the character's name, gestures
    lively: float  # gestures, exclamations, questions back, the other's words taken up
    length: float  # 1 for twenty to seventy words, less for less and for much more
    variety: float  # different words among all words
    repeat: float  # how much was said before, in this conversation or in this turn
    echo: float  # how much the other has just said
    stock: float  # phrases that any assistant says
    slip: float  # misspelt words among all words, tenfold
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
        said.update(_grams(words(reply), 3))
    return tuple(found)


def _turn(user: str, reply: str, card: Card, said: Set[tuple[str, ...]], known: Set[str]) -> Features:
    language = language_of(reply) if reply.strip() else card.language
    spoken, cue = words(reply), cues(language)
    count = max(1, len(spoken))
    own = tuple(dict.fromkeys(w for w in spoken if len(w) >= 4 and stem(w) in card.rare))
    gestures = len(ACTION.findall(reply))
    first = sum(w in cue["first"].split() for w in spoken)
    named = any(n.lower() in spoken for n in card.name.split() if len(n) > 2)
    trigrams, pairs = _grams(spoken, 3), _grams(spoken, 2)
    again = sum(g in said for g in trigrams) + len(trigrams) - len(set(trigrams))
    heard = set(_grams(words(user), 2))
    echoed = sum(pair in heard for pair in pairs)
    stock = re.findall(cue["stock"], reply, re.I)
    refusals = (re.search(refusal, reply, re.I) for refusal in cue["refusal_cues"])
    slips = misspelt(reply, language, known)
    lively = 0.3 * min(2, gestures) + 0.15 * min(2, reply.count("!")) + 0.2 * ("?" in reply)
    return Features(
        own=1 - math.exp(-len(own) / 3),
        voice=min(1.0, 0.5 * min(1.0, first / 2) + 0.3 * min(1, gestures) + 0.2 * named),
        lively=min(1.0, lively + 0.3 * (0 < echoed <= 6)),
        length=count / 20 if count < 20 else min(1.0, max(0.2, 1 - (count - 70) / 120)),
        variety=len({stem(w) for w in spoken}) / count,
        repeat=min(1.0, again / max(1, len(trigrams))),
        echo=min(1.0, echoed / max(1, len(pairs))),
        stock=min(1.0, len(stock) / 2),
        slip=min(1.0, 10 * len(slips) / count),
        own_words=own,
        slips=slips,
        stock_phrase=stock[0] if stock else "",
        refusal=next((found.group() for found in refusals if found), ""),
        words=len(spoken),
    )


def _grams(spoken: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(spoken[i : i + size]) for i in range(len(spoken) - size + 1)]


def misspelt(text: str, language: str, known: Set[str]) -> tuple[str, ...]:
    """Words that look like slips: a letter off a known word, letters tripled, alphabets mixed, no capitals.

    Known are the words of the mock players' lines and those of `known`. Other words pass for words.
    """
    usual = lexicon(language, "player", "cast", "visitor")
    familiar, lacking = usual | known, (_lacking(usual), _lacking(frozenset(known)))
    wrong = []
    for found in WORD.findall(text):
        word, letters = found.lower(), _shorter(found.lower())
        form = any(word[:-cut] in familiar for cut in (1, 2, 3) if len(word) - cut >= 3)
        near = any(word in short or (len(word) > 4 and not letters.isdisjoint(short)) for short in lacking)
        off = len(word) >= 3 and not form and (near or not letters.isdisjoint(familiar))
        if found == "i" or ((off or ODD.match(word)) and word not in familiar):
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
    in_character = 0.2 + 0.45 * f.own + 0.22 * f.voice + 0.08 * f.lively - 0.35 * f.stock - 0.2 * f.repeat
    entertaining = 0.05 + 0.32 * f.lively + 0.25 * f.length + 0.2 * f.variety + 0.2 * f.own
    entertaining -= 0.45 * f.repeat + 0.25 * f.stock + 0.1 * f.echo
    fluency = 0.92 - 0.8 * f.slip - 0.15 * f.repeat - 0.1 * (1 - f.length)
    if f.refusal:
        in_character, entertaining = 0.05, 0.08
    return {"in_character": in_character, "entertaining": entertaining, "fluency": fluency}


@dataclass(frozen=True)
class Taste:
    """What a rater likes and how it uses the scale. `bias` and noise are in points of a five-point scale."""

    bias: float = 0.0
    gain: float = 1.0  # how far opinions are stretched about the middle of the scale
    halo: float = 0.2  # how far the opinion on a criterion is drawn to the mean over criteria
    likes: Mapping[str, float] = field(default_factory=dict)  # weight by feature, which counts from 0.5
    noise_turn: float = 0.0  # standard deviation of the noise in a single turn
    noise_whole: float = 0.0  # standard deviation of the noise that stays through a conversation
    unsure: Mapping[str, float] = field(default_factory=dict)  # more of the second kind, by criterion

    def opinion(self, f: Features) -> dict[str, float]:
        """The opinion of a turn per criterion, in points 1 to 5 (and beyond), before noise."""
        plain = quality(f)
        extra = sum(weight * (getattr(f, name) - 0.5) for name, weight in self.likes.items())
        mean = sum(plain.values()) / len(plain)
        points = {}
        for criterion, value in plain.items():
            seen = (1 - self.halo) * value + self.halo * mean + extra * (0.3 if criterion == "fluency" else 1)
            points[criterion] = 1 + 4 * (0.5 + self.gain * (seen - 0.5)) + self.bias
        return points


def answer(points: float, low: int = 1, high: int = 5) -> int:
    """The nearest answer of the scale, for an opinion in points 1 to 5."""
    return max(low, min(high, round(low + (points - 1) / 4 * (high - low))))


def noise(rng: random.Random, sd: float) -> float:
    """Noise in points."""
    return rng.gauss(0.0, sd) if sd else 0.0


@lru_cache(maxsize=256)
def taste_of(annotator: int, seed: int = 0) -> Taste:
    """The taste of the annotator of this number."""
    rng = random.Random(f"annotator|{seed}|{annotator}")
    return Taste(
        bias=rng.uniform(-0.6, 0.6),
        gain=rng.uniform(0.95, 1.6),
        halo=rng.uniform(0.1, 0.45),
        likes={name: rng.gauss(0, 0.12) for name in LIKED},
        noise_whole=rng.uniform(0.6, 1.05),
    )


def rate(
    conversation: Conversation, criterion: str, annotator: int, seed: int = 0, turn: int | None = None
) -> int:
    """One annotator's answer, 1 to 5, on a whole conversation, or on one turn in the light of earlier ones.

    A refusal is answered 0 or 1; an unknown criterion by the mean of the three known ones. Where there is no
    reply to rate the answer is the lowest.
    """
    card = "\n\n".join(text for name, text in conversation.context.items() if not name.startswith("_"))
    said = [(t.user.content if t.user else "", t.reply.content) for t in conversation.turns() if t.reply]
    turns = tuple(said)
    features = features_of(turns, read_card(card))
    if turn is not None:
        features = features[turn - 1 : turn]
    if criterion == "refusal":
        return int(any(f.refusal for f in features))
    if not features:
        return 1
    taste = taste_of(annotator, seed)
    opinions = [taste.opinion(f) for f in features]
    means = {c: sum(o[c] for o in opinions) / len(opinions) for c in CRITERIA}
    points = means.get(criterion, sum(means.values()) / len(means))
    about = f"{seed}|{card}|{turns}|{turn}"
    points += noise(random.Random(f"people|{about}|{criterion}"), SHARED)
    points += noise(random.Random(f"mood|{annotator}|{about}"), 0.6 * taste.noise_whole)
    points += noise(random.Random(f"own|{annotator}|{about}|{criterion}"), 0.8 * taste.noise_whole)
    return answer(points)
