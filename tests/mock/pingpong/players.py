"""Mock players: five manners of playing a character, and the visitor who interrogates them.

What they say is put together from lines of `data/pingpong/<language>/mock/`. The characters that ship with
Concord have lines of their own in `cast.toml`; any other says what its card lets it say of itself.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.mock.call import Call
from tests.mock.material import SLOT, fresh, load, pick
from tests.mock.pingpong.reading import (
    ACTION,
    WORD,
    Card,
    card_of,
    cues,
    language_of,
    last_said,
    scene_of,
    stop_words,
    words,
)

REFUSING = {"challenge": 0.75, "fight": 0.75, "tease": 0.75}
OTHERWISE_REFUSING = 0.05
"""How often the refuser refuses at some turn, by how the conversation begins."""
VAGUE = ("greeting", "question", "statement")
"""Moods that tell little of what the other is up to."""
TELLING = {"grief": 0.25, "help": 0.4}
"""How much of its usual inclination a player has to talk of itself, by mood."""
UNCAPPED = ("tease", "laconic")
"""Situations in which the visitor does not bother with capital letters."""
QUOTING = 0.25
"""How often the visitor takes up words of the player where it can."""


@dataclass(frozen=True)
class Ear:
    """What a player has to work with at one turn."""

    card: Card
    language: str
    mood: str
    slots: Mapping[str, str]
    before: str
    rng: random.Random
    form: float  # how well it plays in this conversation, 0 to 1
    lines: Mapping[str, Any]  # what any character may say
    own: Mapping[str, Sequence[str]]  # the character's own: by mood, and `says`, `does` for any mood

    def pick(self, lines: Sequence[str]) -> str:
        """One of the lines, filled, one that was not said before where there is any."""
        return sentence(pick(lines, self.rng, self.slots, self.before))

    def fresh(self, *choices: Sequence[str]) -> str:
        """A line of the first choice that has any not said before; nothing where there is none."""
        left = next(filter(None, (fresh(lines, self.before) for lines in choices)), None)
        return self.rng.choice(left) if left else ""

    def reaction(self) -> str:
        """An answer to the mood: in the character's own words, else in anybody's."""
        return self.fresh(self.own.get(self.mood, ())) or self.pick(self.lines["react"][self.mood])

    def tale(self) -> str:
        """Something about the character: a line of its own, else a fact of the card."""
        return self.fresh(self.own.get("says", ()), self.card.facts)

    def gesture(self) -> str:
        """Something the character does."""
        return self.fresh(self.own.get("does", ())) or self.pick(self.lines["actions"])


def sentence(text: str) -> str:
    """The text with a capital letter at its start, quotation marks aside; a gesture stays as it is."""
    at = next((i for i, c in enumerate(text) if c.isalnum() or c == "*"), len(text))
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def listen(call: Call) -> Ear:
    """Everything a player takes from a request."""
    card, heard, rng = card_of(call), last_said(call), call.rng("reply")
    language = "ru" if "ru" in (card.language, language_of(heard)) else "en"
    earlier = [m.content for m in call.messages if m.role == "assistant"]
    others = [m.content for m in call.messages[:-1] if m.role == "user" and m.content != heard]
    cast = load("pingpong", language, "cast").values()
    return Ear(
        card=card,
        language=language,
        mood=mood_of([*others, heard], language),
        slots=heard_slots(heard, language, rng),
        before="\n".join(earlier).lower(),
        rng=rng,
        form=call.steady_rng("form").random(),
        lines=load("pingpong", language, "player"),
        own=next((lines for lines in cast if lines["name"] == card.name), {}),
    )


def mood_of(heard: Sequence[str], language: str) -> str:
    """What the other is up to: what most of their messages tell, else what the last one is."""
    told = [_mood(message, language) for message in heard]
    if clear := [mood for mood in told if mood not in VAGUE]:
        return max(clear, key=clear.count)
    return told[-1] if len(told) == 1 or told[-1] != "greeting" else "statement"


def _mood(heard: str, language: str) -> str:
    if re.match(cues(language)["laconic"], heard, re.I) or len(words(heard)) <= 2:
        return "laconic"
    for mood, pattern in cues(language)["moods"].items():
        if re.search(pattern, heard, re.I):
            return str(mood)
    if ACTION.search(heard) and len(ACTION.sub("", heard).strip()) < 3:
        return "strange"
    return "question" if "?" in heard else "statement"


def heard_slots(heard: str, language: str, rng: random.Random) -> dict[str, str]:
    """What a line may take up of the other's words, gestures aside."""
    spoken = ACTION.sub(" ", heard)
    return {"echo": _echo(spoken, language, rng), "word": _keyword(spoken, language, rng)}


def _echo(spoken: str, language: str, rng: random.Random) -> str:
    """Two to six words the other said in one breath; the whole of a very short message."""
    clauses = [c.strip(" -–—'\"“”«»…*") for c in re.split(r"(?:[.;:!?\n()“”«»\"—–…]|,(?!\d))+", spoken)]
    stop = stop_words(language)
    able = [c for c in clauses if 2 <= len(c.split()) <= 6 and len(c) <= 48 and words(c)]
    able = [c for c in able if words(c)[-1] not in stop] or able
    if not able and len(words(spoken)) == 1:
        able = [c for c in clauses if c]
    if not able:
        return ""
    echo = rng.choice(able)
    first = next(iter(words(echo)), "")
    return echo[0].lower() + echo[1:] if first in stop and first != "i" else echo


def _keyword(spoken: str, language: str, rng: random.Random) -> str:
    """One of the more telling words of a message."""
    stop, oblique = stop_words(language), cues(language)["oblique"]
    able = [w for w in WORD.findall(spoken) if w.islower() and len(w) >= 5 and w not in stop and w.isalpha()]
    able = [w for w in able if not re.search(oblique, w)] or able
    longest = sorted(set(able), key=lambda w: (-len(w), w))[:4]
    return rng.choice(longest) if longest else ""


def joined(*parts: str) -> str:
    """The parts that are there, as one paragraph."""
    return " ".join(filter(None, parts))


def vivid(call: Call, least: float = 0.45) -> str:
    """In character: gestures, its own words, the other's taken up. `least` is its form at its worst."""
    ear = listen(call)
    form, rng = least + (1 - least) * ear.form, ear.rng
    action = ear.gesture() if rng.random() < 0.3 + 0.5 * form else ""
    reaction = ear.reaction()
    telling = TELLING.get(ear.mood, 1.0)
    tale = ear.tale() if rng.random() < telling * (0.25 + 0.6 * form) else ""
    close = ear.pick(ear.lines["close"]) if rng.random() < telling * 0.2 * form else ""
    if rng.random() < 0.6 or reaction.startswith("*"):
        return joined("" if reaction.startswith("*") else action, reaction, tale, close)
    return joined(reaction, action, tale, close)


def bland(call: Call) -> str:
    """Polite, correct, short, and anybody's. On a better day it says one thing about the character."""
    ear = listen(call)
    first = ear.rng.choice(ear.lines["bland"][ear.mood])
    second = ear.pick(ear.lines["bland_more"]) if ear.rng.random() < 0.55 else ""
    return joined(first, (ear.rng.random() < 0.3 * ear.form and ear.fresh(ear.card.facts)) or second)


def parrot(call: Call) -> str:
    """Says the same few things again and again, one about the character among them, and repeats the other."""
    ear, steady = listen(call), call.steady_rng("phrases")
    phrases = steady.sample(ear.lines["parrot"], 2 + (ear.form > 0.5))
    tales = ear.own.get("says") or ear.card.facts
    refrain = steady.choice(tales) if tales else ""
    gesture = steady.choice(ear.own.get("does") or ear.lines["actions"])
    echo = ear.pick(ear.lines["parrot_echo"]) if ear.rng.random() < 0.75 else ""
    again = refrain if ear.rng.random() < 0.35 + 0.4 * ear.form else ""
    reaction = ear.reaction() if ear.rng.random() < 0.35 * ear.form else ""
    return joined(gesture if ear.form > 0.6 else "", echo, reaction, ear.rng.choice(phrases), again)


def refuser(call: Call) -> str:
    """Fairly good, but at some turn of a fifth to a quarter of its conversations it declines to play."""
    steady = call.steady_rng("refusing")
    begins = [i for i, m in enumerate(call.messages) if m.role == "user"]
    opening = listen(replace(call, messages=call.messages[: begins[0] + 1])).mood if begins else ""
    refuses = steady.random() < REFUSING.get(opening, OTHERWISE_REFUSING)
    if refuses and len(begins) == steady.choice((1, 2, 2, 3, 4)):
        return str(call.rng("refusal").choice(listen(call).lines["refusals"]))
    return vivid(call, least=0.2)


def typist(call: Call) -> str:
    """Entertaining and in character, with slips in every sentence: on a bad day every third word."""
    rate = 0.06 + 0.24 * call.steady_rng("haste").random()
    language, rng = listen(call).language, call.rng("slips")

    def slip(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < 3 or rng.random() >= rate:
            return word
        slipped = _slipped(word.lower(), language, rng)
        return slipped.capitalize() if word[0].isupper() and rng.random() < 0.7 else slipped

    return WORD.sub(slip, vivid(call, least=0.4))


def _slipped(word: str, language: str, rng: random.Random) -> str:
    slips: dict[str, str] = cues(language)["slips"]
    if word in slips:
        return slips[word]
    if rng.random() < 0.5:
        for ending, instead in cues(language)["endings"].items():
            if word.endswith(ending) and len(word) > len(ending) + 2:
                return word.removesuffix(ending) + str(instead)
    at, kind = rng.randrange(1, len(word) - 1), rng.random()
    if kind < 0.4:
        return word[:at] + word[at + 1 :]
    if kind < 0.7:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[: at + 1] + word[at] + word[at + 1 :]


def visitor(call: Call) -> str:
    """The interrogator's next utterance: an opening for its situation, then ways to go on, none repeated."""
    scene, rng = scene_of(call), call.rng("utterance")
    kinds = cues(scene.language)["situations"].items()
    found = {kind: len(re.findall(pattern, scene.situation, re.I)) for kind, pattern in kinds}
    kind = max(found, key=lambda name: found[name]) if any(found.values()) else "plain"
    before = "\n".join(text for speaker, text in scene.said if speaker == "user")
    slots = heard_slots(scene.last_reply, scene.language, rng)
    able = load("pingpong", scene.language, "visitor")["go_on" if scene.last_reply else "open"][kind]
    quoting = rng.random() < QUOTING
    suitable = [line for line in able if bool(SLOT.search(line)) == quoting] or able
    said = pick(suitable, rng, slots, before) or pick(able, rng, slots, before)
    if said.lower() in before.lower():
        said = pick(able, rng, slots, before)
    return said if kind in UNCAPPED else sentence(said)
