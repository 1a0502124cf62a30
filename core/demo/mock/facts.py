"""Sentences of a character card, reworded so that the character can say them of itself."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple


class Fact(NamedTuple):
    """A sentence of the card: "own" can be said as it stands, "hearsay" is about the character, "entry" is a heading with its text."""

    kind: Literal["own", "hearsay", "entry"]
    text: str
    heading: str = ""


SHORTEST, LONGEST = 18, 150
INSTRUCTIONS = re.compile(
    r"\b(reply|replies|respond|stay in character|never mention|the user|role-?play|json|asterisks|conversation|persona"
    r"|отвечай|не выходи из роли|пользовател\w*|ролев\w+|пиши|говори)\b",
    re.I,
)
ADDRESSED = re.compile(r"\byou(?:r|rs)?\b", re.I)
ENTRY = re.compile(r"^([^\W\d_][^:.!?\n«“\"]{2,32}?)\s*[:=—]\s+(.{12,})$")


def facts_of(text: str, name: str, language: str) -> tuple[Fact, ...]:
    """The facts of a card in their order; instructions and sentences too short or too long are left out."""
    facts = []
    others = len(re.findall(r"\b(?:she|he|her|his|i|my)\b", text, re.I))
    addressed = language == "ru" or len(ADDRESSED.findall(text)) > others
    for line in text.splitlines():
        line = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip()
        entry = ENTRY.match(line)
        if entry:
            heading = entry.group(1).strip().replace("_", " ").lower()
            facts += [
                Fact("entry", s, heading) for s in _sentences(entry.group(2))[:1] if not ADDRESSED.search(s)
            ]
        else:
            facts += [
                _worded(s, name, language) for s in _sentences(line) if addressed or not ADDRESSED.search(s)
            ]
    told = (f for f in facts if f.kind == "own" or not ADDRESSED.search(f.text))
    return tuple(dict.fromkeys(told))


def _sentences(line: str) -> list[str]:
    sentences = re.split(r"(?<=[.!?…])\s+(?=[A-ZА-ЯЁ«“\"])|;\s+", line)
    tidy = [s.strip() for s in sentences]
    good = [s for s in tidy if SHORTEST <= len(s) <= LONGEST and not INSTRUCTIONS.search(s)]
    good = [s for s in good if not re.search(r"[\"«»“”()]", s)]
    return [s[0].upper() + s[1:] + ("" if s[-1] in ".!?…" else ".") for s in good]


def _worded(sentence: str, name: str, language: str) -> Fact:
    own = _own_en(sentence, name) if language == "en" else _own_ru(sentence, name)
    return Fact("own", own) if own else Fact("hearsay", sentence)


# English. Cards speak as "I", to "you" or about "she"; the last two are turned round where that is safe.

OBJECT = re.compile(
    r"\b(to|for|with|at|of|from|by|about|like|around|tells?|asks?|lets?|makes?|calls?|gave|gives?|taught|left|made|told|on|upon|than|recruited|named|sees?|saw)\s+you\b",
    re.I,
)
TO_ME = (
    (r"\byou are\b", "I am"),
    (r"\byou're\b", "I'm"),
    (r"\byou were\b", "I was"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou\b", "I"),
)
VERBS = {
    "is": "am",
    "was": "was",
    "has": "have",
    "does": "do",
    "goes": "go",
    "can": "can",
    "had": "had",
    "will": "will",
}
PAST = re.compile(
    r"^(?:\w+ed|was|had|knew|wore|spoke|went|came|won|lost|found|grew|made|took|said|kept|told|saw|wrote|sold|paid)$"
)


def _own_en(sentence: str, name: str) -> str | None:
    if re.search(r"\b(I|my|me|mine|I'm)\b", sentence):
        return sentence
    if ADDRESSED.search(sentence):
        return None if re.search(r"\b(?:and|but|or)\b[^.]*\bare\b", sentence) else _turned(sentence)
    called = "|".join(re.escape(n) for n in {name, *name.split()} if len(n) > 2)
    about = re.search(
        rf"\b(she|he|her|his|him|hers|herself|himself{'|' + called if called else ''})\b", sentence, re.I
    )
    if not about:
        return (
            sentence
            if re.match(r"(?:the|a|an|there|nobody|everybody|most|some|at|in|on) ", sentence, re.I)
            else None
        )
    first = re.match(
        rf"(?:{called + '|' if called else ''}She|He)\s+(never |always |still |also )?([\w']+)\b(.*)$",
        sentence,
        re.S,
    )
    if not first:
        return None
    adverb, verb, rest = first.group(1) or "", first.group(2), first.group(3)
    if re.search(rf"\b(she|he|him|hers|herself|himself{'|' + called if called else ''})\b", rest, re.I):
        return None
    if verb in VERBS:
        verb = VERBS[verb]
    elif not PAST.match(verb):
        base = _base(verb)
        if base is None or re.search(
            r"(?:,| and| but| or) (?:never |then |still )?(?:[a-z]+s|[a-z]+n't)\b", rest
        ):
            return None
        verb = base
    rest = re.sub(r"\b(?:his|her)(?= [a-z])", "my", rest)
    return None if re.search(r"\b(her|his)\b", rest) else f"I {adverb}{verb}{rest}"


def _base(verb: str) -> str | None:
    """The plain form of “carries”, “watches”, “keeps”; None for a word that is no such form."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if re.search(r"(?:ch|sh|ss|x|zz)es$", verb):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else None


def _turned(sentence: str) -> str:
    sentence = OBJECT.sub(lambda m: f"{m.group(1)} me", sentence)
    for pattern, mine in TO_ME:
        sentence = re.sub(pattern, mine, sentence, flags=re.I)
    return sentence[0].upper() + sentence[1:]


# Russian. "Ты" becomes "я" with its verbs; a sentence about "он" or "она" is told as hearsay, unless it is in the past tense.

SOFT = {"б": "бл", "п": "пл", "в": "вл", "м": "мл", "ф": "фл", "д": "ж", "з": "ж", "т": "ч", "с": "ш"}
PRONOUNS = {
    "ты": "я", "тебя": "меня", "тебе": "мне", "тобой": "мной", "твой": "мой", "твоя": "моя", "твоё": "моё", "твои": "мои",
    "твоего": "моего", "твоей": "моей", "твоих": "моих", "твоим": "моим", "твою": "мою", "твоими": "моими",
}  # fmt: skip
IRREGULAR = {
    "идёшь": "иду", "пьёшь": "пью", "можешь": "могу", "хочешь": "хочу", "живёшь": "живу", "пишешь": "пишу", "ждёшь": "жду",
    "берёшь": "беру", "поёшь": "пою", "даёшь": "даю", "спишь": "сплю", "стоишь": "стою", "боишься": "боюсь", "скажешь": "скажу",
    "бережёшь": "берегу", "зовёшь": "зову", "ешь": "ем", "лжёшь": "лгу", "помнишь": "помню", "ищешь": "ищу", "плачешь": "плачу",
}  # fmt: skip


def _own_ru(sentence: str, name: str) -> str | None:
    said = set(re.findall(r"[а-яё]+", sentence.lower()))
    if said & {"я", "меня", "мне", "мной", "мой", "моя", "моё", "мои"}:
        return sentence
    if said & PRONOUNS.keys() or re.search(r"\b\w+[еиё]шь(?:ся)?\b", sentence):
        return re.sub(r"[А-Яа-яЁё]+", lambda m: _mine(m.group()), sentence)
    if said & {
        "он",
        "она",
        "его",
        "её",
        "ему",
        "ей",
        "им",
        "него",
        "неё",
        "них",
        "нём",
        "ней",
        "себе",
        "себя",
    } or any(n in sentence for n in name.split() if len(n) > 2):
        return None
    return (
        sentence
        if re.search(r"\bв\b|\bна\b|\bу\b", sentence.lower()) and not re.search(r"[ая]ет\b|ит\b", sentence)
        else None
    )


def _mine(word: str) -> str:
    lower = word.lower()
    mine = PRONOUNS.get(lower) or IRREGULAR.get(lower)
    if mine is None and re.search(r"[еиё]шь(ся)?$", lower) and len(lower) > 4:
        mine = _first_person(lower)
    if mine is None:
        return word
    return mine.capitalize() if word[0].isupper() else mine


def _first_person(verb: str) -> str:
    """“водишь” → “вожу”, “знаешь” → “знаю”: the first person of a regular verb in its second."""
    back = verb.endswith("ся")
    root, vowel = (verb.removesuffix("ся")[:-3], verb.removesuffix("ся")[-3])
    if vowel == "и":
        root = root[:-2] + "щ" if root.endswith("ст") else root[:-1] + SOFT.get(root[-1], root[-1])
        ending = "у" if root[-1] in "жшчщ" else "ю"
    else:
        ending = "ю" if root[-1] in "аеёиоуыэюял" else "у"
    return root + ending + ("сь" if back else "")
