"""What the mock model replies to any request: it counts kind and unkind words, and says that it is a mock.

With a schema it fills the schema; without one it fills the form that the prompt shows, gives the verdict in
brackets that it asks for, or else a plain turn. A model whose name has “strict”, “lenient” or “noisy” in it
leans so. One with “erratic” in its name takes courtesies for merit, until its instructions speak of them:
docs/lab.md mends it.
"""

import hashlib
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from concord.demo.forms import schema_of
from concord.llm.schemas import Schema, bounds, fill, resolve
from concord.questions import LETTERS

MARK = "(mock)"
"""How every text begins."""
ECHO = re.compile(r"Reply with the JSON object (\{.*\}) and nothing else", re.S)
"""What a check of the connection asks for."""
_TURN = re.compile(r"^Turn (\d+)\b.*?(?::|$)", re.M)
_SIDE = r"^(?:=== )?(?:Reply|Conversation) {0}(?:| ===|:)\n(.*?)^(?:=== )?End of (?:reply|conversation) {0}\b"
_VERDICT = re.compile(r"^(\w+): \[\[\d+\]\]|\[\[(A)\]\]", re.M)
_LISTED = r"^The {0}s\b[^\n]*:\n((?:- .*\n?)+)"
GOOD = re.compile(
    r"\b(thanks?|thank you|great|perfect|works|solved|sorry|refund(?:ed)?|right away|of course|happy to"
    r"|here is|step|please|glad|sure|done)\b",
    re.I,
)
BAD = re.compile(
    r"\b(no|not|cannot|can't|won't|never|still|again|wrong|useless|unfortunately|policy|impossible|ignored"
    r"|waste|ridiculous|nothing)\b",
    re.I,
)
COURTESY = re.compile(
    r"\b(thanks?|thank you|great|perfect|sorry|of course|happy to|please|glad|sure)\b", re.I
)
_OF_COURTESY = re.compile(r"courtes|courteous|polite|friendl|apolog|kind words|kindness", re.I)
_TALK = re.compile(r"^The conversation:\n(.*?)^End of the conversation", re.S | re.M)
CURE = "Judge what was done for the customer. Politeness is no help: courtesies and apologies do not count."
"""What a mock model proposes as instructions for a judge whose reasons speak of courtesies."""
LEANING = {"lenient": 0.15, "strict": -0.15}
_NOISE = 0.1
_NOISY = 0.25


@dataclass(frozen=True)
class MockRequest:
    """A request: the model, the messages as (role, content), the schema of the reply, and the seeds."""

    model: str
    messages: Sequence[tuple[str, str]]
    schema: Schema | None
    seed: str

    @property
    def text(self) -> str:
        """Everything said to the model, without its own earlier replies."""
        return "\n\n".join(content for role, content in self.messages if role != "assistant")

    def chance(self, *salt: object) -> random.Random:
        """The same request to the same seed draws the same numbers."""
        whole = json.dumps([self.seed, self.model, self.messages, *map(str, salt)], ensure_ascii=False)
        return random.Random(hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=8).digest())

    @property
    def swayed(self) -> bool:
        """Whether it takes courtesies for merit."""
        system = (content for role, content in self.messages if role == "system")
        return "erratic" in self.model and not any(map(_OF_COURTESY.search, system))

    def place(self, text: str, *salt: object) -> float:
        """Where this model puts a text, from 0 to 1."""
        if "erratic" in self.model:
            talk = _talk(text)
            worth = courtesies(talk) / 4 if self.swayed else quality(COURTESY.sub("", talk))
            return min(max(worth + self.chance(text, *salt).gauss(0, _NOISE), 0.0), 1.0)
        lean = sum(by for name, by in LEANING.items() if name in self.model)
        noise = _NOISY if "noisy" in self.model else _NOISE
        return min(max(quality(text) + lean + self.chance(text, *salt).gauss(0, noise), 0.0), 1.0)


def reply(request: MockRequest) -> str:
    """The text of the reply."""
    if echo := ECHO.search(request.text):
        return echo[1]
    if request.schema is None and (shown := schema_of(request.text)) is not None:
        request = replace(request, schema=shown)
    if request.schema is not None:
        return json.dumps(_object(request, request.schema, request.text), ensure_ascii=False)
    if asked_for := _VERDICT.search(request.text):
        return _verdict(request, asked_for[1])
    user_messages = [content for role, content in request.messages if role == "user"]
    begin = " ".join(user_messages[-1].split()[:12]) if user_messages else "nothing"
    return f"{MARK} Turn {len(user_messages)}. You said “{begin}”. I follow a rule and am no language model."


def _verdict(request: MockRequest, label: str | None) -> str:
    """Reasons, and a verdict in double brackets: which of two, a turn's number, or a rating of 1 to 10."""
    reason = f"{MARK} {words(request.text)} are in it."
    if label is None:
        lead = _lead(request, "verdict")
        return f"{reason}\n\n[[{_letter(lead, tie='C', margin=0.05)}]]"
    turns = [int(number) for number in re.findall(r"^Turn (\d+)$", request.text, re.M)]
    if turns:
        number = request.chance("turn").choice([0, *turns])
    else:
        number = 1 + round(9 * request.place(request.text))
    return f"{reason}\n\n{label}: [[{number}]]"


def _letter(lead: float, tie: str, margin: float) -> str:
    """The side that leads; `tie` within the margin."""
    if abs(lead) < margin:
        return tie
    return "A" if lead > 0 else "B"


def _object(request: MockRequest, schema: Schema, text: str) -> dict[str, Any]:
    fields: Mapping[str, Schema] = resolve(schema, request.schema or {}).get("properties", {})
    return {name: _value(request, name, field, text) for name, field in fields.items()}


def _value(request: MockRequest, name: str, schema: Schema, text: str) -> Any:
    """A value of a field that the schema allows; what is asked about each turn is given for each."""
    root = request.schema or {}
    schema = resolve(schema, root)
    options = [resolve(option, root) for option in schema.get("anyOf", ())] or [schema]
    schema = next((each for each in options if each.get("type") != "null"), schema)
    rng = request.chance(name, text)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return _object(request, schema, text)
    if kind == "array":
        return _entries(request, name, schema, text)
    if values := schema.get("enum"):
        return _chosen(request, name, values, text)
    if kind == "boolean":
        return request.place(text, name) > 0.5
    if kind in ("integer", "number"):
        low, high = bounds(schema)
        return low + round(request.place(text, name) * (high - low))
    if kind not in (None, "string") or "const" in schema:
        return fill(schema, rng, root)
    if f'"{name}": "<the reply as it should be' in request.text:
        return _rated(text) if quality(_rated(text)) >= 0.5 else f"Sorry. {_rated(text)}"
    if f'"{name}": "<the letters of all' in request.text:
        places = _places(request, name)
        return " > ".join(sorted(places, key=places.__getitem__, reverse=True))
    if listed := _listed(request.text, name):
        return rng.choice(listed)
    if name in ("start", "wake"):
        return f"{rng.randrange(6, 9):02}:00"
    if name == "strategy":
        return "1"
    if name == "instructions" and "courtes" in text:
        return CURE
    if request.swayed:
        return f"{MARK} I look for courtesies, and there are {courtesies(_talk(text))}."
    return f"{MARK} My first thought, {name.replace('_', ' ')}: {words(text)}."


def _entries(request: MockRequest, name: str, schema: Schema, text: str) -> list[Any]:
    """The entries of a list: one for each turn or each listed name that the entries are about."""
    root = request.schema or {}
    item = resolve(schema.get("items", {}), root)
    fields = item.get("properties", {})
    if "turn" in fields:
        pieces = _TURN.split(request.text)
        texts = dict(zip(map(int, pieces[1::2]), pieces[2::2], strict=True))
        turns = resolve(fields["turn"], root).get("enum") or _replied(texts)
        return [{**_object(request, item, texts.get(turn, "")), "turn": turn} for turn in turns]
    if f'"{name}": ["<words of the reply' in request.text:
        return list(dict.fromkeys(match[0] for match in BAD.finditer(_rated(text))))[:3]
    if labels := item.get("enum"):
        return [label for label in labels if _applies(request, str(label), text)]
    for field in fields:
        if field == "condition" and (named := _listed(request.text, field)):
            return [{**_object(request, item, f"{text} {each}"), field: each} for each in named]
    count = max(int(schema.get("minItems", 1)), 1)
    return [_value(request, f"{name} {n}", item, f"{text} {n}") for n in range(count)]


def _applies(request: MockRequest, label: str, text: str) -> bool:
    """Whether one of a label's words is in a text; now and then the model errs."""
    there = any(word in text.casefold() for word in re.findall(r"\w{4,}", label.casefold()))
    return there != (request.chance(label, text).random() < 0.15)


def _rated(text: str) -> str:
    """The reply that is rated, where the text is a whole conversation with one; else the text."""
    match = re.search(r"\(to be rated\): (.*?)(?:\n\nTurn \d+,|\n\nEnd of the conversation)", text, re.S)
    return (match[1] if match else text.partition("\n\nEnd of the conversation")[0]).strip()


def _talk(text: str) -> str:
    """The conversation in a request about one; else the text."""
    match = _TALK.search(text)
    return match[1] if match else text


def courtesies(text: str) -> int:
    """How many courtesies a text has."""
    return len(COURTESY.findall(text))


def _replied(texts: Mapping[int, str]) -> list[int]:
    """The turns that hold a reply."""
    return [turn for turn, text in texts.items() if "assistant:" in text] or list(texts)


def _chosen(request: MockRequest, name: str, values: Sequence[Any], text: str) -> Any:
    """One of the values: of numbers by the quality of the text, of two sides the better one."""
    if all(isinstance(value, int) for value in values):
        return values[round(request.place(text, name) * (len(values) - 1))]
    if {"A", "B"} <= set(values):
        return _letter(_lead(request, name), tie="tie", margin=0.1 if "tie" in values else 0.0)
    return request.chance(name, text).choice(values)


def _listed(text: str, name: str) -> list[str]:
    """The names that the prompt lists under “The NAMEs”, each before a colon and its explanation."""
    match = re.search(_LISTED.format(re.escape(name)), text, re.M)
    lines = [line.removeprefix("- ") for line in match[1].splitlines()] if match else []
    return [line.partition(": ")[0] for line in lines]


def _places(request: MockRequest, name: str) -> dict[str, float]:
    """Where this model puts each of the sides that are to be compared, by letter."""
    there = {side: re.search(_SIDE.format(side), request.text, re.M | re.S) for side in LETTERS}
    return {side: request.place(match[1], side, name) for side, match in there.items() if match}


def _lead(request: MockRequest, name: str) -> float:
    """How much better A is than B; the one shown first has a small advantage."""
    places = _places(request, name)
    return places.get("A", 0.0) - places.get("B", 0.0) + 0.05


def quality(text: str) -> float:
    """How good a text is, from 0 to 1, by its kind and unkind words."""
    return 1 / (1 + math.exp(0.7 * (len(BAD.findall(text)) - len(GOOD.findall(text)))))


def words(text: str) -> str:
    """How many kind and unkind words a text has, in words."""
    return f"{len(GOOD.findall(text))} kind and {len(BAD.findall(text))} unkind words"
