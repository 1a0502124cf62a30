"""The mock models: who there is, and who answers a request.

Each benchmark has its own models in a package here: their names in `MODELS`, and `answer`, which replies to
the requests that its prompts make, or gives None for any other request. `mock-fixed` always gives the same
cheap reply, for benchmarks of everything but the model.
"""

import json
import random
import re
from functools import cache

from concord.llm.schemas import fill
from tests.mock import pingpong, rubrics, simulbench, stss
from tests.mock.call import Answer, Call

PARTS = (pingpong, simulbench, stss)
FIXED = "mock-fixed"
LINE = "I keep the lamp and count the ships; sit down, and tell me where you come from."
ECHO = re.compile(r"Reply with the JSON object (\{.*\}) and nothing else", re.S)
"""What a check of the connection asks for."""


@cache
def models() -> tuple[str, ...]:
    """The names of all mock models."""
    return tuple(dict.fromkeys([name for found in PARTS for name in found.MODELS] + [FIXED]))


def reply(call: Call) -> str:
    """What the named model replies. Every model answers every request, even one it is not made for."""
    if echo := ECHO.search(call.asked):
        return echo[1]
    if call.model == FIXED:
        return _fixed(call)
    answers = (answer(call) for answer in (*(found.answer for found in reversed(PARTS)), rubrics.answer))
    said: Answer = next((answer for answer in answers if answer is not None), None)
    if said is None and not call.wants_json:
        return "I have nothing to say to that."
    if isinstance(said, str):
        return said
    rng, known = call.rng("filled"), dict(said or {})
    rest = {name: fill(s, rng, call.schema) for name, s in call.fields.items() if name not in known}
    text = json.dumps(known | rest, ensure_ascii=False)
    return f"```json\n{text}\n```" if call.replies == "text" else text


def _fixed(call: Call) -> str:
    """One line, or JSON that fits the schema; a list of entries with a `turn` has one for each turn shown."""
    if call.replies == "text":
        return LINE
    if call.schema is None:
        return json.dumps({"next_utterance": LINE, "reply": LINE})
    return _filled(json.dumps(call.schema), tuple(map(int, rubrics.RATED.findall(call.asked))))


@cache
def _filled(schema: str, turns: tuple[int, ...]) -> str:
    value = fill(json.loads(schema), random.Random(0))
    for name, field in value.items():
        if name.endswith("utterance"):
            value[name] = LINE
        if turns and isinstance(field, list) and isinstance(field[0], dict) and "turn" in field[0]:
            value[name] = [{**field[0], "turn": turn} for turn in turns]
    return json.dumps(value)
