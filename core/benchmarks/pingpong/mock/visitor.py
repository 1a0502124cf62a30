"""The mock interrogator: reads its situation and the conversation so far, and writes the visitor's next
utterance.
"""

from __future__ import annotations

import re

from core.benchmarks.pingpong.mock.players import echo_of, keyword_of, sentence
from core.benchmarks.pingpong.mock.reading import ACTION, cues, scene_of
from core.demo.mock.call import Call
from core.demo.mock.material import SLOT, load, pick

UNCAPPED = ("tease", "laconic")
"""Situations in which the visitor does not bother with capital letters."""
QUOTING = 0.25
"""How often the visitor takes up words of the player where it can."""


def utterance(call: Call) -> str:
    """What the visitor says next: an opening that suits the situation, then ways to go on, none of them
    twice.
    """
    scene, rng = scene_of(call), call.rng("utterance")
    lines, kind = load("pingpong", scene.language, "visitor"), kind_of(scene.situation, scene.language)
    before = "\n".join(text for speaker, text in scene.said if speaker == "user")
    heard = ACTION.sub(" ", scene.last_reply)
    slots = {"echo": echo_of(heard, scene.language, rng), "word": keyword_of(heard, scene.language, rng)}
    able = lines["go_on" if scene.last_reply else "open"][kind]
    quoting = rng.random() < QUOTING
    suitable = [line for line in able if bool(SLOT.search(line)) == quoting] or able
    said = pick(suitable, rng, slots, before) or pick(able, rng, slots, before)
    if said.lower() in before.lower():
        said = pick(able, rng, slots, before)
    return said if kind in UNCAPPED else sentence(said)


def kind_of(situation: str, language: str) -> str:
    """The kind of situation most of whose words are found in the text; "plain" where none is."""
    kinds = cues(language)["situations"].items()
    found = {kind: len(re.findall(pattern, situation, re.I)) for kind, pattern in kinds}
    best = max(found, key=lambda kind: found[kind])
    return best if found[best] else "plain"
