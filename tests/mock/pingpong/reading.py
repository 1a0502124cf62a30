"""What the mock models understand of PingPong's prompts: card, conversation, situation, language.

Made for the prompts that ship with Concord and tolerant of others: what cannot be found is empty.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from tests.mock.call import Call
from tests.mock.material import lists_in, load, pieces

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ACTION = re.compile(r"\*[^*\n]{2,}\*")
SHORTEST_FACT, LONGEST_FACT = 18, 150


def language_of(text: str) -> str:
    """ "ru" where most letters are Cyrillic, else "en"."""
    cyrillic = sum("а" <= c <= "я" or c == "ё" for c in text.lower())
    latin = sum("a" <= c <= "z" for c in text.lower())
    return "ru" if cyrillic > latin else "en"


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.lower())


def stem(word: str) -> str:
    """The first letters of a word: enough to see “lantern” in “lanterns” and “маяк” in “маяка”."""
    return word[: max(4, min(6, len(word) - 2))]


def cues(language: str) -> dict[str, Any]:
    """A language's patterns and tables: moods, situations, stock phrases, refusals, slips."""
    return load("pingpong", language, "language")


def signs() -> dict[str, Any]:
    """The patterns by which the parts of a prompt are recognised."""
    return load("pingpong", "en", "prompts")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words too common to tell anything."""
    return frozenset(cues(language)["stop"].split())


@cache
def lexicon(language: str, *files: str) -> frozenset[str]:
    """The common words and every word of the lines in these files."""
    lines = (line for name in files for said in lists_in(load("pingpong", language, name)) for line in said)
    return stop_words(language).union(*map(words, lines))


@dataclass(frozen=True)
class Card:
    """A character as a prompt describes it. `rare` are the stems of words that are this card's own."""

    text: str
    name: str
    language: str
    facts: tuple[str, ...]
    rare: frozenset[str]
    known: frozenset[str]


@lru_cache(maxsize=256)
def read_card(text: str, name: str = "") -> Card:
    """The card in `text`; `name` where the prompt told it, else the best guess."""
    language, said = language_of(text), frozenset(words(text))
    common = {stem(word) for word in lexicon(language, "player")}
    rare = frozenset(stem(word) for word in said if len(word) >= 4) - common
    return Card(text, name or guess_name(text), language, facts_of(text, language), rare, said)


def guess_name(text: str) -> str:
    """The character's name: a short first line, else an introduction, else the most frequent name."""
    heading = re.match(signs()["heading"], text)
    if heading and heading[1][0].isupper() and len(heading[1].split()) <= 5:
        return heading[1].strip()
    for pattern in signs()["names"]:
        if found := re.search(pattern, text):
            return str(found[1].strip(' ."“”'))
    inside = Counter(re.findall(r"(?<=[\w,] )[A-ZА-ЯЁ][a-zа-яё]{2,}", text))
    return inside.most_common(1)[0][0] if inside else ""


def facts_of(text: str, language: str) -> tuple[str, ...]:
    """What the character can say of itself, in the card's order; what only others could say is left out."""
    lines = [line for line in text.splitlines() if not re.search(signs()["list_item"], line)]
    sentences = [s.strip() for line in lines for s in re.split(signs()["sentence_ends"], line)]
    told = [
        _first_person(s, language)
        for s in sentences
        if SHORTEST_FACT <= len(s) <= LONGEST_FACT
        and not re.search(signs()["instructions"], s)
        and not re.search(signs()["quoted"], s)
    ]
    return tuple(dict.fromkeys(s + ("" if s[-1] in ".!?…" else ".") for s in told if s))


def _first_person(sentence: str, language: str) -> str:
    """The sentence in the first person, or nothing where it cannot be turned safely."""
    second = signs()["second"][language]
    if re.search(signs()["first"][language], sentence):
        return sentence
    if not re.search(second, sentence) or re.search(signs()["ambiguous"], sentence):
        return ""
    table = cues(language)["first_person"]
    longest = sorted(map(re.escape, table), key=len, reverse=True)
    sentence = re.sub(signs()["object"], r"\1 me", sentence)
    turned = re.sub(rf"(?i)\b(?:{'|'.join(longest)})\b", lambda found: table[found[0].lower()], sentence)
    return "" if re.search(second, turned) else turned[0].upper() + turned[1:]


def card_of(call: Call) -> Card:
    """The card a player has been given: in the system message, or merged into the first user message."""
    first = call.messages[0].content
    card = _between_rules(first)
    if card is None:
        card = re.split(signs()["card_begins"], first, maxsplit=1)[-1]
        card = re.split(signs()["card_ends"], card, maxsplit=1)[0]
    return read_card(card.strip(), guess_name(first[:400]))


def plays(call: Call) -> bool:
    """Whether the request tells its reader to be somebody."""
    first = call.messages[0]
    return first.role == "system" or bool(re.search(signs()["card_begins"], first.content))


def last_said(call: Call) -> str:
    """The other side's last message; of a first message with merged instructions, its last paragraph."""
    position = max(i for i, m in enumerate(call.messages) if m.role != "assistant")
    message = call.messages[position]
    if message.role == "system":
        return ""
    merged = position == 0 and (plays(call) or len(message.content) > 600)
    return message.content.strip().rsplit("\n\n", 1)[-1].strip() if merged else message.content


@dataclass(frozen=True)
class Exchange:
    """One turn of a conversation quoted in a prompt."""

    number: int
    user: str
    reply: str


@dataclass(frozen=True)
class Transcript:
    """A conversation that a judge has been sent, with the card it is to be measured by."""

    card: Card
    turns: tuple[Exchange, ...]


def transcript_of(call: Call) -> Transcript | None:
    """The card between two lines of `=====` and the turns after it; None where the prompt holds no turns."""
    for text in (m.content for m in call.messages if m.role != "assistant"):
        if marked := pieces(signs()["turn"], text):
            said = [(int(mark[1]), dict(_lines(part.rstrip()))) for mark, part in marked]
            turns = tuple(Exchange(n, by.get("user", ""), by.get("player", "")) for n, by in said)
            return Transcript(read_card(_between_rules(text[: marked[0][0].start()]) or ""), turns)
    return None


def transcript_of_scene(call: Call) -> Transcript:
    """What an interrogator that rates as well has been sent: the card, and the dialogue so far in turns."""
    text = next((card for m in call.messages if (card := _between_rules(m.content))), "")
    said = [utterance for _, utterance in scene_of(call).said]
    pairs = enumerate(zip(said[::2], said[1::2], strict=False), 1)
    return Transcript(read_card(text), tuple(Exchange(turn, *pair) for turn, pair in pairs))


@dataclass(frozen=True)
class Scene:
    """What an interrogator has been told: its situation, and the conversation so far, oldest first."""

    situation: str
    said: tuple[tuple[str, str], ...]
    language: str

    @property
    def last_reply(self) -> str:
        """The player's last utterance, or nothing yet."""
        return next((text for speaker, text in reversed(self.said) if speaker == "player"), "")


def scene_of(call: Call) -> Scene:
    """The scene in a prompt; without a line that says “situation” the whole prompt is taken for it."""
    asked = [m.content for m in reversed(call.messages) if m.role != "assistant"]
    text = next((content for content in asked if re.search(signs()["situation"], content)), call.asked)
    begins, found = (re.search(signs()[name], text) for name in ("conversation", "situation"))
    situation = found[1].strip() if found else text
    said = _lines(text[begins.end() :]) if begins else []
    return Scene(situation, tuple(said), language_of(situation))


def _between_rules(text: str) -> str | None:
    parts = re.split(r"^={5,}\s*$", text, flags=re.M)
    return parts[1].strip() if len(parts) >= 3 else None


def _lines(text: str) -> list[tuple[str, str]]:
    """(speaker, utterance) pairs of a quoted conversation; an utterance may run over lines."""
    quoted = pieces(signs()["speaker"], re.sub(signs()["afterwords"], "", text))
    return [("user" if mark[1].lower() == "user" else "player", said.strip()) for mark, said in quoted]
