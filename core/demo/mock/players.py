"""Mock players: five manners of playing a character, from lively to tiresome, so that there is something to tell apart.

A reply is composed of hand-written patterns; its facts and things come from the card, its quotes from what the other has just said.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from core.demo.mock.call import Call
from core.demo.mock.facts import Fact
from core.demo.mock.reading import ACTION, PATTERNS, WORD, Card, card_of, language_of, last_said, words
from core.demo.mock.slips import slip

REFUSING = {"challenge": 0.75, "fight": 0.75, "tease": 0.75}
OTHERWISE_REFUSING = 0.05
"""How often the refuser refuses at some turn, by how the conversation begins: over a usual mix of situations, in a fifth to a quarter."""


@dataclass(frozen=True)
class Ear:
    """What a player has to work with at one turn. `earlier` is what it has said so far, `spirit` its form in this conversation, 0–1."""

    call: Call
    card: Card
    patterns: ModuleType
    heard: str
    mood: str
    echo: str
    word: str
    earlier: tuple[str, ...]
    rng: random.Random
    spirit: float

    def pick(self, pool: Sequence[str]) -> str:
        """A pattern of the pool, filled, not used before in this conversation if there is another; empty where none can be filled."""
        slots = {"echo": self.echo, "word": self.word, "name": self.card.name.split(",")[0]}
        before = "\n".join(self.earlier)
        things = [t for t in self.card.things if t not in before] or list(self.card.things)
        slots["thing"] = self.rng.choice(things) if things else ""
        able = [p for p in pool if all(slots.get(slot) for slot in re.findall(r"\{(\w+)\}", p))]
        fresh = [p for p in able if max(re.split(r"\{\w+\}", p), key=len) not in before]
        return sentence(self.rng.choice(fresh or able).format(**slots)) if able else ""

    def fact(self) -> str:
        """A fact of the card in words the character can say, one not told before if there is any."""
        before = "\n".join(self.earlier)
        fresh = [f for f in self.card.facts if f.text.removesuffix(".") not in before]
        if not fresh:
            return ""
        own = [f for f in fresh if f.kind == "own"]
        return self._told(self.rng.choice(own if own and self.rng.random() < 0.6 else fresh))

    def _told(self, fact: Fact) -> str:
        pool = {
            "own": self.patterns.TELL_OWN,
            "hearsay": self.patterns.TELL_HEARSAY,
            "entry": self.patterns.TELL_ENTRY,
        }[fact.kind]
        before = "\n".join(self.earlier)
        fresh = [p for p in pool if max(re.split(r"\{\w+\}", p), key=len) not in before]
        pattern = self.rng.choice(fresh or pool)
        text = fact.text.removesuffix(".") if "{fact}»." in pattern else fact.text
        return str(pattern.format(fact=text, heading=fact.heading))


def sentence(text: str) -> str:
    """The text with a capital letter at its start, quotation marks aside; a gesture stays as it is."""
    at = next((i for i, c in enumerate(text) if c.isalnum() or c == "*"), len(text))
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def listen(call: Call) -> Ear:
    """Everything a player takes from a request."""
    card, heard = card_of(call), last_said(call)
    language = "ru" if "ru" in (card.language, language_of(heard)) else "en"
    patterns = PATTERNS[language]
    rng = call.rng("reply")
    spoken = ACTION.sub(" ", heard) if len(words(ACTION.sub(" ", heard))) >= 1 else ""
    return Ear(
        call=call,
        card=card,
        patterns=patterns,
        heard=heard,
        mood=mood_of(heard, patterns, opening=not any(m.role == "assistant" for m in call.messages)),
        echo=echo_of(spoken, patterns, rng),
        word=keyword_of(spoken or heard.replace("*", " "), patterns, rng),
        earlier=tuple(m.content for m in call.messages if m.role == "assistant"),
        rng=rng,
        spirit=call.steady_rng("spirit").random(),
    )


def mood_of(heard: str, patterns: ModuleType, opening: bool) -> str:
    """What the other is up to, as far as their words tell; greetings count at the opening only."""
    if re.match(patterns.LACONIC, heard, re.I) or len(words(heard)) <= 2:
        return "laconic"
    for mood, cues in patterns.MOODS.items():
        if re.search(cues, heard, re.I) and (opening or mood != "greeting"):
            return str(mood)
    if ACTION.search(heard) and len(ACTION.sub("", heard).strip()) < 3:
        return "strange"
    return "question" if "?" in heard else "statement"


def echo_of(spoken: str, patterns: ModuleType, rng: random.Random) -> str:
    """Two to six words the other said in one breath, without their punctuation; the whole of a very short message."""
    clauses = [c.strip(" -–—'\"“”«»…*") for c in re.split(r"(?:[.;:!?\n()“”«»\"—–…]|,(?!\d))+", spoken)]
    able = [c for c in clauses if 2 <= len(c.split()) <= 6 and len(c) <= 48]
    able = [c for c in able if words(c) and words(c)[-1] not in patterns.STOP] or able
    if not able and len(words(spoken)) == 1:
        able = [c for c in clauses if c]
    if not able:
        return ""
    echo = rng.choice(able)
    first = words(echo)[:1]
    common = bool(first) and first[0] in patterns.STOP and first != ["i"]
    return echo[0].lower() + echo[1:] if common else echo


def keyword_of(spoken: str, patterns: ModuleType, rng: random.Random) -> str:
    """One of the more telling words of a message."""
    able = [
        w
        for w in WORD.findall(spoken)
        if w.islower() and len(w) >= 4 and w not in patterns.STOP and w.isalpha()
    ]
    able = [w for w in able if not re.search(patterns.OBLIQUE, w)] or able
    longest = sorted(dict.fromkeys(able), key=lambda w: (-len(w), w))[:4]
    return rng.choice(longest) if longest else ""


def joined(*parts: str) -> str:
    """The parts that are there, as one paragraph."""
    return " ".join(p for p in parts if p)


def vivid(call: Call, least: float = 0.45) -> str:
    """In character: gestures, facts and things of the card, the other's words taken up. `least` is its form on its worst day."""
    ear = listen(call)
    spirit, rng, patterns = least + (1 - least) * ear.spirit, ear.rng, ear.patterns
    action = ear.pick(patterns.ACTIONS) if rng.random() < 0.4 + 0.5 * spirit else ""
    react = ear.pick(patterns.REACT[ear.mood])
    fact = ear.fact() if rng.random() < 0.3 + 0.6 * spirit else ""
    chatty = ear.mood != "grief"
    colour = ear.pick(patterns.COLOUR) if chatty and rng.random() < 0.6 * spirit else ""
    close = ear.pick(patterns.CLOSE) if chatty and rng.random() < 0.25 + 0.35 * spirit else ""
    if rng.random() < 0.6:
        return joined(action, react, fact, colour, close)
    return joined(react, action, colour, fact, close)


def bland(call: Call) -> str:
    """Polite, correct, short, and anybody's. On a better day it mentions the character's name or one fact."""
    ear = listen(call)
    first = ear.rng.choice(ear.patterns.BLAND[ear.mood])
    second = ear.pick(ear.patterns.BLAND_MORE) if ear.rng.random() < 0.55 else ""
    own = [f.text for f in ear.card.facts if f.kind == "own" and f.text not in "\n".join(ear.earlier)]
    if own and ear.rng.random() < 0.3 * ear.spirit:
        return joined(first, ear.rng.choice(own))
    return joined(first, second)


def parrot(call: Call) -> str:
    """Says the same few things again and again, one fact of the card among them, and repeats the other's words."""
    ear = listen(call)
    steady = call.steady_rng("phrases")
    phrases = steady.sample(ear.patterns.PARROT, 2 + (ear.spirit > 0.5))
    told = [f.text for f in ear.card.facts if f.kind == "own"] or [f.text for f in ear.card.facts]
    catch = steady.choice(told) if told else ""
    gesture = steady.choice([a for a in ear.patterns.ACTIONS if "{" not in a])
    echo = ear.pick(ear.patterns.PARROT_ECHO) if ear.rng.random() < 0.75 else ""
    again = catch if ear.rng.random() < 0.35 + 0.4 * ear.spirit else ""
    react = ear.pick(ear.patterns.REACT[ear.mood]) if ear.rng.random() < 0.35 * ear.spirit else ""
    return joined(gesture if ear.spirit > 0.6 else "", echo, react, ear.rng.choice(phrases), again)


def refuser(call: Call) -> str:
    """Fairly good, but in a fifth to a quarter of its conversations, mostly unfriendly ones, there is a turn at which it will not play."""
    steady = call.steady_rng("refusing")
    begins = [i for i, m in enumerate(call.messages) if m.role == "user"]
    opening = listen(replace(call, messages=call.messages[: begins[0] + 1])).mood if begins else ""
    turn = len(begins)
    if steady.random() < REFUSING.get(opening, OTHERWISE_REFUSING) and turn == steady.choice((1, 2, 2, 3, 4)):
        return str(call.rng("refusal").choice(listen(call).patterns.REFUSALS))
    return vivid(call, least=0.2)


def typist(call: Call) -> str:
    """Entertaining and in character, with slips in every sentence: on a bad day every third word."""
    rate = 0.06 + 0.24 * call.steady_rng("haste").random()
    ear = listen(call)
    return slip(vivid(call, least=0.4), rate, ear.patterns, call.rng("slips"))
