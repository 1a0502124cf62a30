"""The mock interrogator: reads its situation and the conversation so far, and writes the visitor's next utterance."""

from __future__ import annotations

import json
import re
from types import ModuleType

from core.demo.mock import asking_en, asking_ru
from core.demo.mock.call import Call
from core.demo.mock.players import echo_of, keyword_of, sentence
from core.demo.mock.reading import ACTION, PATTERNS, fields_asked, scene_of
from core.demo.mock.schemas import fill

ASKING: dict[str, ModuleType] = {"en": asking_en, "ru": asking_ru}
UNCAPPED = ("tease", "laconic")
"""Situations in which the visitor does not bother with capital letters."""


def ask(call: Call) -> str:
    """The next utterance as `{"next_utterance": …}`; other fields a schema may ask for are filled with anything valid."""
    reply = {"next_utterance": utterance(call)}
    for name, schema in fields_asked(call).items():
        reply.setdefault(name, fill(schema, call.rng(name), call.schema))
    return json.dumps(reply, ensure_ascii=False)


def utterance(call: Call) -> str:
    """What the visitor says next: an opening of the situation's kind, then ways to go on, none of them twice while there are others."""
    scene = scene_of(call)
    asking, patterns = ASKING[scene.language], PATTERNS[scene.language]
    kind = kind_of(scene.situation, asking)
    rng = call.rng("utterance")
    before = "\n".join(text for speaker, text in scene.said if speaker == "user").lower()
    heard = ACTION.sub(" ", scene.last_reply)
    slots = {"echo": echo_of(heard, patterns, rng), "word": keyword_of(heard, patterns, rng)}
    pool = asking.GO_ON[kind] if scene.last_reply else asking.OPEN[kind]
    able = [p for p in pool if all(slots[slot] for slot in re.findall(r"\{(\w+)\}", p))] or [
        p for p in pool if "{" not in p
    ]
    fresh = [p for p in able if max(re.split(r"\{\w+\}", p), key=len).lower() not in before]
    quoting = [p for p in fresh if "{" in p]
    said = rng.choice(quoting if quoting and rng.random() < 0.35 else fresh or able).format(**slots)
    return said if kind in UNCAPPED else sentence(said)


def kind_of(situation: str, asking: ModuleType) -> str:
    """The kind of situation most of whose words are found in the text; "plain" where none is."""
    found = {kind: len(re.findall(cues, situation, re.I)) for kind, cues in asking.SITUATIONS.items()}
    best = max(found, key=lambda kind: found[kind])
    return best if found[best] else "plain"
