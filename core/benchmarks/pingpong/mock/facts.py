"""Sentences of a card that its character can say of itself: in the first person, or turned into it where that
is safe.
"""

from __future__ import annotations

import re

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
TO_ME = {
    r"\byou are\b": "I am",
    r"\byou're\b": "I'm",
    r"\byou were\b": "I was",
    r"\byourself\b": "myself",
    r"\byours\b": "mine",
    r"\byour\b": "my",
    r"\byou\b": "I",
}
SOFT = dict(zip("бпвмфдзтс", ("бл", "пл", "вл", "мл", "фл", "ж", "ж", "ч", "ш"), strict=True))


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
    if language == "ru":
        return re.sub(r"[А-Яа-яЁё]+", lambda word: _mine(word[0]), sentence)
    if re.search(r"\b(?:and|but|or)\b[^.]*\bare\b", sentence):
        return ""
    sentence = OBJECT.sub(r"\1 me", sentence)
    for yours, mine in TO_ME.items():
        sentence = re.sub(yours, mine, sentence, flags=re.I)
    return sentence[0].upper() + sentence[1:]


def _mine(word: str) -> str:
    """A Russian word in the first person: “тебя” → “меня”, “водишь” → “вожу”; others stay as they are."""
    lower = word.lower()
    mine: str = load("pingpong", "ru", "language")["first_person"].get(lower, "")
    if not mine and re.search(r"[еиё]шь(ся)?$", lower) and len(lower) > 4:
        mine = _first_person(lower)
    return (mine.capitalize() if word[0].isupper() else mine) or word


def _first_person(verb: str) -> str:
    """“знаешь” → “знаю”: the first person of a regular verb in its second."""
    back = verb.endswith("ся")
    root, vowel = verb.removesuffix("ся")[:-3], verb.removesuffix("ся")[-3]
    if vowel == "и":
        root = root[:-2] + "щ" if root.endswith("ст") else root[:-1] + SOFT.get(root[-1], root[-1])
        ending = "у" if root[-1] in "жшчщ" else "ю"
    else:
        ending = "ю" if root[-1] in "аеёиоуыэюял" else "у"
    return root + ending + ("сь" if back else "")
