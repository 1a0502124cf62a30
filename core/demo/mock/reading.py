"""What a mock understands of the prompt it is sent: the card, the conversation, the situation, the language.

Made for the prompts that ship with Concord and tolerant of others: what cannot be found is empty, and the personas do with less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from core.demo.mock import patterns_en, patterns_ru
from core.demo.mock.call import Call
from core.demo.mock.facts import Fact, facts_of
from core.demo.mock.schemas import resolve

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
ACTION = re.compile(r"\*[^*\n]{2,}\*")

PATTERNS: dict[str, ModuleType] = {"en": patterns_en, "ru": patterns_ru}

CARD_BEGINS = re.compile(
    r"^\s*(?:who you are|your character|character|description|кто ты|твой персонаж|персонаж|описание)\s*:\s*$",
    re.I | re.M,
)
CARD_ENDS = re.compile(
    r"^\s*(?:how you (?:talk|greet)\b.*|the scene\b.*|while you play|rules?|example\w*|greeting|правила|примеры?.*|приветствие)\s*:\s*$",
    re.I | re.M,
)
SITUATION = re.compile(
    r"^.*\b(?:situation|ситуация)\b[^:\n]*:[ \t]*\n?(.*?)(?=\n\s*\n|\Z)", re.I | re.M | re.S
)
TURN = re.compile(r"^(?:turn|ход|реплика)\s+(\d+)\s*:?\s*$", re.I | re.M)
AFTERWORDS = re.compile(
    r"\n\s*\n(?:end of the (?:conversation|dialogue)\b[^\n]*(?:\n\s*\n[^\n]*)?|[^\n]*\bJSON\b[^\n]*)\Z", re.I
)
"""What a prompt says after the conversation that it quotes."""
SPEAKER = re.compile(r"^(user|player|assistant|bot|character)\s*:[ \t]*", re.I | re.M)
NAMES = (
    re.compile(
        r"\b[Yy]ou are (?:called |named |now )?([A-ZА-ЯЁ][^.,;:\n(]{1,40}?)(?=[.,;:\n(]| and | who | the )"
    ),
    re.compile(r"\byour name is ([A-Z][^.,;:\n(]{1,40})", re.I),
    re.compile(
        r"(?:^|\n)(?:full )?(?:name|имя|полное имя|unit)[^:\n]{0,10}:\s*([A-ZА-ЯЁ][^.,;:\n(]{1,40})", re.I
    ),
    re.compile(r"\bты\s*[-–—]?\s*((?:[А-ЯЁ][\w-]+)(?:\s+[А-ЯЁ][\w-]+)*)", re.I),
    re.compile(r"\bI am ([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)"),
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


@dataclass(frozen=True)
class Card:
    """A character as a prompt describes it. `rare` are the stems of words that are this card's own."""

    text: str
    name: str
    language: str
    facts: tuple[Fact, ...]
    things: tuple[str, ...]
    rare: frozenset[str]
    known: frozenset[str]


@lru_cache(maxsize=256)
def read_card(text: str, name: str = "") -> Card:
    """The card in `text`; `name` where the prompt told it, else the best guess."""
    language = language_of(text)
    stop = PATTERNS[language].STOP
    said = words(text)
    own = [w for w in said if len(w) >= 4 and w not in stop and stem(w) not in _common_stems(language)]
    called = name or guess_name(text)
    return Card(
        text=text,
        name=called,
        language=language,
        facts=facts_of(text, called, language),
        things=_things(text, called, language),
        rare=frozenset(stem(w) for w in own),
        known=frozenset(said),
    )


@lru_cache(maxsize=8)
def vocabulary(language: str) -> frozenset[str]:
    """All words of the language's patterns, misspelt ones left out."""
    pattern = PATTERNS[language]
    parts = (
        pattern.REACT,
        pattern.ACTIONS,
        pattern.TELL_OWN,
        pattern.TELL_HEARSAY,
        pattern.TELL_ENTRY,
        pattern.COLOUR,
    )
    more = (
        pattern.CLOSE,
        pattern.BLAND,
        pattern.BLAND_MORE,
        pattern.PARROT,
        pattern.PARROT_ECHO,
        pattern.REFUSALS,
    )
    known = {w for part in (*parts, *more) for sentence in _flat(part) for w in words(sentence)}
    return frozenset(known | pattern.STOP)


@lru_cache(maxsize=8)
def _common_stems(language: str) -> frozenset[str]:
    return frozenset(stem(w) for w in vocabulary(language))


def _flat(part: Mapping[str, tuple[str, ...]] | tuple[str, ...]) -> list[str]:
    return [s for group in part.values() for s in group] if isinstance(part, Mapping) else list(part)


def guess_name(text: str) -> str:
    """The character's name: a short first line by itself, else as a phrase of introduction gives it, else the capitalised word most often inside a sentence."""
    heading = re.match(r"([^\n.,;:!?]{2,50})\n\s*\n", text)
    if heading and heading.group(1)[0].isupper() and len(heading.group(1).split()) <= 5:
        return heading.group(1).strip()
    for pattern in NAMES:
        found = pattern.search(text)
        if found and found.group(1)[:1].isupper():
            return found.group(1).strip(' ."“”')
    inside = re.findall(r"(?<=[\w,] )[A-ZА-ЯЁ][a-zа-яё]{2,}", text)
    return Counter(inside).most_common(1)[0][0] if inside else ""


DETERMINED = re.compile(
    r"\b(?:the|a|an|my|your|his|her|its|their)\s+((?:[\w'-]+[ ]?){1,4})([,.;:)\n]|$)?", re.I
)
NO_THING_WORDS = """
    surname mother father son thought torment round head forehead hands mark
    twice alive anyway short shut alone once true ten fourth second third
    first kind sake moment life work sort size way clever blue fake day
"""
NO_THING = frozenset(NO_THING_WORDS.split())
NAMED_RU = re.compile(
    r"(?<=[а-яё,»] )(?<!\bв )(?<!\bс )(?<!\bу )(?<!\bк )(?<!\bо )«?([А-ЯЁ][а-яё]{3,}(?:-\d+)?)"
)


def _things(text: str, name: str, language: str) -> tuple[str, ...]:
    """Noun phrases of an English card, without their article; of a Russian one the names in it, as they need no declension in quotes."""
    if language == "ru":
        return tuple(
            dict.fromkeys(
                n
                for n in NAMED_RU.findall(text)
                if n not in name and not re.search(r"(?:ой|ей|ом|ем|ам|ах|ого|ый|ий|ые|ие|е)$", n)
            )
        )
    things = []
    for found in DETERMINED.finditer(text):
        if re.search(r"(?:,|\b(?:is|am|are|was|were|as)) $", text[max(0, found.start() - 6) : found.start()]):
            continue  # what somebody is, not what somebody has
        run = found.group(1).split()
        after = next((i for i, word in enumerate(run) if word.lower() in patterns_en.STOP), None)
        joined = run[after].lower() in ("and", "or") if after is not None else found.group(2) == ","
        if after is None and found.group(2) is None:
            continue  # the phrase may go on
        run = run[:after]
        if (
            not 1 <= len(run) <= 2
            or (joined and len(run) < 2)
            or not all(w.isascii() and w[0].islower() for w in run)
        ):
            continue
        last = run[-1]
        verbal = last.endswith(("ed", "ing", "ly", "est")) or (len(run) == 2 and last.endswith("s"))
        if not verbal and last not in NO_THING and len(last) > 2 and not last.endswith("'s"):
            things.append(" ".join(run))
    return tuple(dict.fromkeys(things))


def card_of(call: Call) -> Card:
    """The card a player has been given: in the system message, or merged into the first user message."""
    first = call.messages[0].content
    card = _between_rules(first)
    if card is None:
        begins = CARD_BEGINS.search(first)
        card = first[begins.end() :] if begins else first
        ends = CARD_ENDS.search(card)
        card = card[: ends.start()] if ends else card
    name = guess_name(first[:400])
    return read_card(card.strip(), name)


def _between_rules(text: str) -> str | None:
    parts = re.split(r"^={5,}\s*$", text, flags=re.M)
    return parts[1].strip() if len(parts) >= 3 else None


def last_said(call: Call) -> str:
    """The other side's last message; of a first message that holds merged instructions, its last paragraph."""
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


def transcript_of_scene(call: Call) -> Transcript:
    """What an interrogator that rates as well has been sent: the card between two lines of `=====`, and the dialogue so far in turns."""
    text = next((card for m in call.messages if (card := _between_rules(m.content))), "")
    turns: list[Exchange] = []
    user = ""
    for speaker, said in scene_of(call).said:
        if speaker == "user":
            user = said
        else:
            turns.append(Exchange(len(turns) + 1, user, said))
    return Transcript(read_card(text), tuple(turns))


def transcript_of(call: Call) -> Transcript | None:
    """The card between two lines of `=====` and the turns after it; None where the prompt holds no turns."""
    for message in call.messages:
        first = TURN.search(message.content) if message.role != "assistant" else None
        if first:
            card = _between_rules(message.content[: first.start()]) or ""
            return Transcript(read_card(card), _turns(message.content[first.start() :]))
    return None


def _turns(text: str) -> tuple[Exchange, ...]:
    marks = list(TURN.finditer(text))
    turns = []
    for mark, end in zip(marks, _ends(marks, text), strict=True):
        inside = (
            AFTERWORDS.sub("", text[mark.end() : end].rstrip())
            if end == len(text)
            else text[mark.end() : end]
        )
        said = dict(_lines(inside))
        turns.append(Exchange(int(mark.group(1)), said.get("user", ""), said.get("player", "")))
    return tuple(turns)


def _lines(text: str) -> list[tuple[str, str]]:
    """(speaker, utterance) pairs of lines `user: …` and `player: …` or `assistant: …`; an utterance may run over lines."""
    marks = list(SPEAKER.finditer(text))
    pairs = []
    for mark, end in zip(marks, _ends(marks, text), strict=True):
        speaker = "user" if mark.group(1).lower() == "user" else "player"
        pairs.append((speaker, text[mark.end() : end].strip()))
    return pairs


def _ends(marks: list[re.Match[str]], text: str) -> list[int]:
    """Where the part after each mark ends: at the next mark, or with the text."""
    return [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)


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
    text = next(
        (m.content for m in reversed(call.messages) if m.role != "assistant" and SITUATION.search(m.content)),
        call.asked,
    )
    begins = re.search(
        r"^.*\b(?:conversation|dialogue|chat|разговор|диалог)\b[^:\n]*:[ \t]*$", text, re.I | re.M
    )
    said = _lines(text[begins.end() :]) if begins else []
    if said:
        speaker, last = said[-1]
        said[-1] = (speaker, AFTERWORDS.sub("", last).strip())
    found = SITUATION.search(text)
    situation = found.group(1).strip() if found else text
    return Scene(situation, tuple(said), language_of(situation))


def fields_asked(call: Call) -> Mapping[str, Any]:
    """The fields of the reply at the top level, by name; empty where no schema was sent."""
    if call.schema is None:
        return {}
    fields = resolve(call.schema, call.schema).get("properties", {})
    return fields if isinstance(fields, dict) else {}
