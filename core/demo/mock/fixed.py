"""The cheapest valid reply there is, always the same one: for benchmarks of everything but the model."""

from __future__ import annotations

import json
import random
import re
from functools import lru_cache

from core.demo.mock.call import Call
from core.demo.mock.reading import fields_asked
from core.demo.mock.schemas import fill

LINE = "I keep the lamp and count the ships; sit down, and tell me where you come from."
TURNS = re.compile(r"^Turn (\d+):", re.M)


def reply(call: Call) -> str:
    """One line of text, or JSON that fits the schema; a list whose entries have a `turn` gets one for every turn in the prompt."""
    if call.replies == "text":
        return LINE
    if call.schema is None:
        return json.dumps({"next_utterance": LINE, "reply": LINE})
    turns = TURNS.findall(call.asked) if "scores" in fields_asked(call) else []
    return _filled(json.dumps(call.schema), tuple(map(int, turns)))


@lru_cache(maxsize=256)
def _filled(schema: str, turns: tuple[int, ...]) -> str:
    value = fill(json.loads(schema), random.Random(0))
    if turns:
        entry = value["scores"][0]
        value["scores"] = [{**entry, "turn": turn} if "turn" in entry else entry for turn in turns]
    for name in ("next_utterance", "next_user_utterance"):
        if name in value:
            value[name] = LINE
    return json.dumps(value)
