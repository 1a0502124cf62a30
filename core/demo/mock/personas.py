"""The mock models: who there is, and who answers a request.

Each benchmark's slice brings its own models in a module `mock`: their names in `MODELS`, and `answer`, which
replies to the requests that the slice's prompts make, or gives None for any other request.
"""

from __future__ import annotations

import json
from functools import cache
from types import ModuleType

from core.benchmarks import SLICES, part
from core.demo.mock import fixed
from core.demo.mock.call import Answer, Call
from core.demo.mock.schemas import fill

FIXED = "mock-fixed"


@cache
def parts() -> tuple[ModuleType, ...]:
    """The slices' mock modules."""
    return tuple(found for name in SLICES if (found := part(name, "mock")))


@cache
def models() -> tuple[str, ...]:
    """The names of all mock models."""
    return tuple(dict.fromkeys([name for found in parts() for name in found.MODELS] + [FIXED]))


def reply(call: Call) -> str:
    """What the model that the call names replies. Every model answers every request, even one it is not made
    for.
    """
    if call.model == FIXED:
        return fixed.reply(call)
    answers = (found.answer(call) for found in parts())
    said: Answer = next((answer for answer in answers if answer is not None), None)
    if said is None and not call.wants_json:
        return "I have nothing to say to that."
    if isinstance(said, str):
        return said
    rng = call.rng("filled")
    rest = {
        name: fill(schema, rng, call.schema)
        for name, schema in call.fields.items()
        if name not in (said or {})
    }
    text = json.dumps({**(said or {}), **rest}, ensure_ascii=False)
    return f"```json\n{text}\n```" if call.replies == "text" else text
