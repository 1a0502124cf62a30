"""The cheapest valid reply, always the same: for benchmarks of everything but the model."""

from __future__ import annotations

import json
import random
import re
from functools import cache

from core.demo.mock.call import Call
from core.demo.mock.schemas import fill

LINE = "I keep the lamp and count the ships; sit down, and tell me where you come from."
TURNS = re.compile(r"^Turn (\d+):", re.M)


def reply(call: Call) -> str:
    """One line of text, or JSON that fits the schema; a list of entries with a `turn` has one for each turn
    shown.
    """
    if call.replies == "text":
        return LINE
    if call.schema is None:
        return json.dumps({"next_utterance": LINE, "reply": LINE})
    return _filled(json.dumps(call.schema), tuple(map(int, TURNS.findall(call.asked))))


@cache
def _filled(schema: str, turns: tuple[int, ...]) -> str:
    value = fill(json.loads(schema), random.Random(0))
    for name, field in value.items():
        if name.endswith("utterance"):
            value[name] = LINE
        if turns and isinstance(field, list) and isinstance(field[0], dict) and "turn" in field[0]:
            value[name] = [{**field[0], "turn": turn} for turn in turns]
    return json.dumps(value)
