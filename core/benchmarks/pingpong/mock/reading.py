"""What the mock models understand of PingPong's prompts: the card, the conversation, the situation, the
language.

Made for the prompts that ship with Concord and tolerant of others: what cannot be found is empty.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from core.benchmarks.pingpong.mock.facts import facts_of
from core.demo.mock.call import Call
from core.demo.mock.material import lists_in, load

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ACTION = re.compile(r"\*[^*\n]{2,}\*")

CARD_BEGINS = re.compile(
    r"^\s*(?:who you are|your character|character|description|кто ты|твой "
    r"персонаж|персонаж|описание)\s*:\s*$",
    re.I | re.M,
)
CARD_ENDS = re.compile(
    r"^\s*(?:how you (?:talk|greet)\b.*|the scene\b.*|while you play|rules?|example\w*|greeting|правила"
    r"|примеры?.*|приветствие)\s*:\s*$",
    re.I | re.M,
)
SITUATION = re.compile(
    r"^.*\b(?:situation|ситуация)\b[^:\n]*:[ \t]*\n?(.*?)(?=\n\s*\n|\Z)", re.I | re.M | re.S
)
CONVERSATION = re.compile(
    r"^.*\b(?:conversation|dialogue|chat|разговор|диалог)\b[^:\n]*:[ \t]*$", re.I | re.M
)
TURN = re.compile(r"^(?:turn|ход|реплика)\s+(\d+)\s*:?\s*$", re.I | re.M)
AFTERWORDS = re.compile(
    r"\n\s*\n(?:end of the (?:conversation|dialogue)\b[^\n]*(?:\n\s*\n[^\n]*)?|[^\n]*\bJSON\b[^\n]*)\Z", re.I
)
"""What a prompt says after the conversation that it quotes."""
SPEAKER = re.compile(r"^(user|player|assistant|bot|character)\s*:[ \t]*", re.I | re.M)
NAMES = (
    r"(?i:\byou are )(?:called |named |now )?([A-ZА-ЯЁ][^.,;:\n(]{1,40}?)(?=[.,;:\n(]| and | who | the )",
    r"(?i:\byour name is )([A-Z][^.,;:\n(]{1,40})",
    r"(?:^|\n)(?i:(?:full )?(?:name|имя|полное имя|unit))[^:\n]{0,10}:\s*([A-ZА-ЯЁ][^.,;:\n(]{1,40})",
    r"\b[Тт]ы\s*[-–—]?\s*((?:[А-ЯЁ][\w-]+)(?:\s+[А-ЯЁ][\w-]+)*)",
    r"\bI am ([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)",
)


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


@cache
def cues(language: str) -> dict[str, Any]:
    """What the language's words give away: moods, situations, stock phrases, refusals, slips."""
    return load("pingpong", language, "language")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words too common to tell anything."""
    return frozenset(cues(language)["stop"].split())


@cache
def vocabulary(language: str) -> frozenset[str]:
    """The words that any player may say, whoever it plays."""
    return stop_words(language) | _words_in(load("pingpong", language, "player"))


@cache
def lexicon(language: str) -> frozenset[str]:
    """Every word that players and visitors say where they make no slips."""
    files = (load("pingpong", language, name) for name in ("cast", "visitor"))
    return vocabulary(language).union(*map(_words_in, files))


def _words_in(content: dict[str, Any]) -> frozenset[str]:
    return frozenset(word for lines in lists_in(content) for line in lines for word in words(line))


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
    language = language_of(text)
    said = frozenset(words(text))
    common = {stem(word) for word in vocabulary(language)}
    rare = frozenset(stem(word) for word in said if len(word) >= 4) - common
    name = name or guess_name(text)
    return Card(text, name, language, facts_of(text, language), rare, said)


def guess_name(text: str) -> str:
    """The character's name: a short first line, else a phrase of introduction, else the most frequent
    name.
    """
    heading = re.match(r"([^\W\d_][^\n.,;:!?]{1,49})\n\s*\n", text)
    if heading and heading[1][0].isupper() and len(heading[1].split()) <= 5:
        return heading[1].strip()
    for pattern in NAMES:
        if found := re.search(pattern, text):
            return found[1].strip(' ."“”')
    inside = re.findall(r"(?<=[\w,] )[A-ZА-ЯЁ][a-zа-яё]{2,}", text)
    return Counter(inside).most_common(1)[0][0] if inside else ""


def card_of(call: Call) -> Card:
    """The card a player has been given: in the system message, or merged into the first user message."""
    first = call.messages[0].content
    card = _between_rules(first)
    if card is None:
        begins = CARD_BEGINS.search(first)
        card = first[begins.end() :] if begins else first
        ends = CARD_ENDS.search(card)
        card = card[: ends.start()] if ends else card
    return read_card(card.strip(), guess_name(first[:400]))


def plays(call: Call) -> bool:
    """Whether the request tells its reader to be somebody."""
    first = call.messages[0]
    return first.role == "system" or bool(CARD_BEGINS.search(first.content))


def last_said(call: Call) -> str:
    """The other side's last message; of a first message that holds merged instructions, its last
    paragraph.
    """
    position = max(i for i, m in enumerate(call.messages) if m.role != "assistant")
    message = call.messages[position]
    if message.role == "system":
        return ""
    merged = position == 0 and (CARD_BEGINS.search(message.content) or len(message.content) > 600)
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
    for message in call.messages:
        text = message.content
        marks = list(TURN.finditer(text)) if message.role != "assistant" else []
        if marks:
            turns = []
            for mark, end in zip(marks, _ends(marks, text), strict=True):
                said = dict(_lines(AFTERWORDS.sub("", text[mark.end() : end].rstrip())))
                turns.append(Exchange(int(mark[1]), said.get("user", ""), said.get("player", "")))
            return Transcript(read_card(_between_rules(text[: marks[0].start()]) or ""), tuple(turns))
    return None


def transcript_of_scene(call: Call) -> Transcript:
    """What an interrogator that rates as well has been sent: the card, and the dialogue so far in turns."""
    text = next((card for m in call.messages if (card := _between_rules(m.content))), "")
    turns: list[Exchange] = []
    user = ""
    for speaker, said in scene_of(call).said:
        if speaker == "user":
            user = said
        else:
            turns.append(Exchange(len(turns) + 1, user, said))
    return Transcript(read_card(text), tuple(turns))


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
    text = next((content for content in asked if SITUATION.search(content)), call.asked)
    begins = CONVERSATION.search(text)
    said = _lines(AFTERWORDS.sub("", text[begins.end() :])) if begins else []
    found = SITUATION.search(text)
    situation = found[1].strip() if found else text
    return Scene(situation, tuple(said), language_of(situation))


def _between_rules(text: str) -> str | None:
    parts = re.split(r"^={5,}\s*$", text, flags=re.M)
    return parts[1].strip() if len(parts) >= 3 else None


def _lines(text: str) -> list[tuple[str, str]]:
    """(speaker, utterance) pairs; an utterance may run over lines."""
    marks = list(SPEAKER.finditer(text))
    return [
        ("user" if mark[1].lower() == "user" else "player", text[mark.end() : end].strip())
        for mark, end in zip(marks, _ends(marks, text), strict=True)
    ]


def _ends(marks: list[re.Match[str]], text: str) -> list[int]:
    """Where the part after each mark ends: at the next mark, or with the text."""
    return [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
