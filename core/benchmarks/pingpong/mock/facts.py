"""Sentences of a card that its character can say of itself: in the first person, or turned into it where that
is safe.
"""

from __future__ import annotations

import re
from functools import cache

from core.demo.mock.material import load

SHORTEST, LONGEST = 18, 150
INSTRUCTIONS = re.compile(
    r"\b(reply|replies|respond|stay in character|never mention|the "
    r"user|role-?play|json|asterisks|conversation"
    r"|persona|отвечай|не выходи из роли|пользовател\w*|ролев\w+|пиши|говори)\b",
    re.I,
)
SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[A-ZА-ЯЁ«“\"])|;\s+")
HEADING = re.compile(r"^\s*(?:[-*•]|\d+[.)])|^[^\W\d_][^.!?\n]{2,40}?\s*[:=—]\s")
FIRST = {
    "en": re.compile(r"\b(?:I|my|me|mine|I'm)\b"),
    "ru": re.compile(r"\b(?:я|меня|мне|мной|мо[йяеёи]|моего|моей|моих)\b", re.I),
}
SECOND = {
    "en": re.compile(r"\byou(?:rs?)?\b", re.I),
    "ru": re.compile(r"\b(?:ты|теб[яе]|тобой|тво[йяёи]|твоего|твоей|твоих)\b|[еиё]шь(?:ся)?\b", re.I),
}
OBJECT = re.compile(
    r"\b(to|for|with|at|of|from|by|about|like|around|tells?|asks?|lets?|makes?|calls?|gave|gives?|taught|left"
    r"|made|told|on|upon|than|recruited|named|sees?|saw)\s+you\b",
    re.I,
)


def facts_of(text: str, language: str) -> tuple[str, ...]:
    """What the character can say of itself, in the card's order; what only others could say is left out."""
    lines = [line for line in text.splitlines() if not HEADING.match(line)]
    sentences = [s.strip() for line in lines for s in SENTENCE.split(line)]
    good = [s for s in sentences if SHORTEST <= len(s) <= LONGEST and not INSTRUCTIONS.search(s)]
    told = [_own(s, language) for s in good if not re.search(r"[\"«»“”()]", s)]
    return tuple(dict.fromkeys(s + ("" if s[-1] in ".!?…" else ".") for s in told if s))


def _own(sentence: str, language: str) -> str:
    """The sentence in the first person, or nothing."""
    if FIRST[language].search(sentence):
        return sentence
    if not SECOND[language].search(sentence):
        return ""
    if re.search(r"\b(?:and|but|or)\b[^.]*\bare\b", sentence):
        return ""
    table = load("pingpong", language, "language")["first_person"]
    turned = re.sub(
        table_pattern(language),
        lambda found: table[found[0].lower()],
        OBJECT.sub(r"\1 me", sentence),
        flags=re.I,
    )
    return "" if SECOND[language].search(turned) else turned[0].upper() + turned[1:]


@cache
def table_pattern(language: str) -> str:
    """The words that the language's table turns into the first person, the longer ones first."""
    table = load("pingpong", language, "language")["first_person"]
    return rf"\b(?:{'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})\b"
