"""What mock judges answer to any rubric: marks by the words of the dialogue, leaning as each judge leans."""

import re
from typing import Any

from concord.demo.rules import LEANING, quality, words
from concord.llm.schemas import Schema, bounds, resolve
from concord.questions import LETTERS
from tests.mock.call import Answer, Call

RATED = re.compile(r"^Turn (\d+)(?:, assistant \(to be rated\))?:", re.M)
"""Where a reply to be rated begins; slices write “Turn 1:” for a whole turn."""
_TURN = re.compile(r"^Turn \d+\b.*?:", re.M)
_SIDE = r"^(?:Reply|Conversation) {0}:\n(.*?)^End of (?:reply|conversation) {0}\."
"""One of the two that a pairwise question is about."""
_NOISE = {"noisy": 0.25, "erratic": 0.45}
_REASON = "_reason"


def answer(call: Call) -> Answer:
    """A reply for the answers to a rubric's questions; None where no schema says what is asked."""
    root = call.schema or {}
    listed = _entry(call.fields.get("ratings"), root)
    if listed:
        turns = [int(number) for number in RATED.findall(call.asked)]
        texts = dict(zip(turns, RATED.split(call.asked)[2::2], strict=True))
        return {
            "ratings": [
                {"turn": n, **_answers(call, listed, _TURN.split(text)[0])} for n, text in texts.items()
            ]
        }
    sides = [found[1] for name in "AB" if (found := re.search(_SIDE.format(name), call.asked, re.S | re.M))]
    if len(sides) == 2 and call.fields:
        return _compared(call, *sides)
    if any(name.endswith(_REASON) for name in call.fields) or "Answer the question" in call.asked:
        return _answers(call, call.fields, _TURN.split(call.asked, maxsplit=1)[-1])
    return None


def _compared(call: Call, first: str, second: str) -> dict[str, Any]:
    """Answers to pairwise questions; the one shown first has a small advantage."""
    lead = quality(first) - quality(second) + 0.05
    found: dict[str, Any] = {}
    for name, schema in call.fields.items():
        if name.endswith(_REASON):
            found[name] = f"(mock) A has {words(first)}, B has {words(second)}."
            continue
        noise = next((by for name, by in _NOISE.items() if name in call.model), 0.1)
        by = lead + call.rng("rubric", name).gauss(0, noise)
        better = "A" if by > 0 else "B"
        labels = resolve(schema, call.schema or {}).get("enum", ())
        if not labels:
            found[name] = _order(call, name)
            continue
        if abs(by) < 0.1 and "tie" in labels:
            better = "tie"
        far = f"{better} by far"
        found[name] = far if abs(by) > 0.5 and far in labels else better
    return found


def _order(call: Call, name: str) -> str:
    """The letters of all that are shown, the best first."""
    sides = {
        letter: quality(found[1]) + call.rng("rubric", name, letter).gauss(0, 0.1)
        for letter in LETTERS
        if (found := re.search(_SIDE.format(letter), call.asked, re.S | re.M))
    }
    return " > ".join(sorted(sides, key=sides.__getitem__, reverse=True))


def _entry(field: Any, root: Schema) -> Schema:
    """The fields of an entry of the list of rated turns; empty where the field is none."""
    items = resolve(field or {}, root).get("items")
    fields = resolve(items or {}, root).get("properties", {})
    return fields if "turn" in fields else {}


def _answers(call: Call, fields: Schema, text: str) -> dict[str, Any]:
    good = quality(text)
    lean = sum(by for name, by in LEANING.items() if name in call.model)
    noise = next((by for name, by in _NOISE.items() if name in call.model), 0.1)
    found: dict[str, Any] = {}
    for name, schema in fields.items():
        if name == "turn":
            continue
        rng = call.rng("rubric", name, text)
        if name.endswith(_REASON):
            found[name] = f"(mock) {words(text)} are in it."
        else:
            place = min(max(good + lean + rng.gauss(0, noise), 0.0), 1.0)
            found[name] = _value(resolve(schema, call.schema or {}), place, text, rng.random())
    return found


def _value(schema: Schema, place: float, text: str, chance: float) -> Any:
    """A value at this place, from 0 to 1, of what a schema allows."""
    options = schema.get("anyOf") or [schema]
    schema = next((each for each in options if each.get("type") != "null"), schema)
    if schema.get("enum"):
        values = schema["enum"]
        if all(isinstance(value, int) for value in values):
            return values[round(place * (len(values) - 1))]
        named = [value for value in values if str(value).lower()[:5] in text.lower()]
        return (named or values)[int(chance * len(named or values))]
    if labels := schema.get("items", {}).get("enum"):
        there = [str(label)[:5].lower() in text.lower() for label in labels]
        return [label for label, said in zip(labels, there, strict=True) if said != (chance < 0.2)]
    if schema.get("type") == "array":
        return re.findall(r"\b(?:no|not|never|still|Thanks)\b", text)[:2]  # words of the reply, as quotes
    if schema.get("type") == "boolean":
        return place > 0.5
    if schema.get("type") in ("integer", "number"):
        low, high = bounds(schema)
        return low + round(place * (high - low))
    return "(mock) It is so."
