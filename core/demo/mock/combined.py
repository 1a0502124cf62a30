"""The mock of PingPong's version 1: it rates the player's last reply and goes on as the visitor, in one reply."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from core.demo.mock.call import Call
from core.demo.mock.interrogator import utterance
from core.demo.mock.judges import PLAIN, features_in, field_of, opinions_of
from core.demo.mock.reading import fields_asked, transcript_of_scene
from core.demo.mock.schemas import fill

NEXT = "next_user_utterance"
OWN_NAMES = {
    "stay_in_character": "in_character",
    "language_fluency": "fluency",
    "entertainment": "entertaining",
}
"""What version 1 calls a criterion → what the judges here know it as."""
FIELDS = (
    "is_refusal_explanation",
    "is_refusal",
    *(f"{name}_{part}" for name in OWN_NAMES for part in ("explanation", "score")),
)
TEN = {"type": "integer", "minimum": 1, "maximum": 10}


def rate_and_ask(call: Call) -> str:
    """The last reply's scores on 1–10 with reasons, null before there is one, and the next utterance."""
    transcript, asked = transcript_of_scene(call), fields_asked(call)
    reply: dict[str, Any] = {name: _nothing(name) for name in FIELDS}
    if transcript.turns:
        chance = random.Random(
            f"{call.seed}|{call.own_seed}|{call.model}|{transcript.card.text}|{transcript.turns}"
        )
        points, features = opinions_of(transcript, PLAIN, chance)[-1], features_in(transcript)[-1]
        for name in FIELDS:
            known = re.sub("|".join(OWN_NAMES), lambda m: OWN_NAMES[m.group()], name)
            reply[name] = field_of(
                known,
                TEN,
                transcript.turns[-1],
                features,
                points,
                bool(features.refusal),
                chance,
                call.schema,
            )
    reply[NEXT] = utterance(call)
    for name, schema in asked.items():
        reply.setdefault(name, fill(schema, call.rng(name), call.schema))
    return json.dumps(reply, ensure_ascii=False)


def _nothing(name: str) -> Any:
    """What is said of a reply that is not there yet."""
    if name.endswith("_explanation"):
        return "nothing said yet"
    return None if name.endswith("_score") else False
