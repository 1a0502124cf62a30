"""Who answers to which name: an explicit dict from a model's name to its persona, and what a persona does when asked something else.

A persona decides by what it is sent. A new family (another benchmark's simulator or resident) is a module of its own, a recogniser in
`task_of`, an entry in `ANYBODY` for models that are not made for it, and its names in `PERSONAS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Literal

from core.demo.mock import (
    combined,
    fixed,
    interrogator,
    judges,
    players,
    simulbench_judges,
    simulbench_players,
    stss_goals,
    stss_residents,
)
from core.demo.mock.call import Call
from core.demo.mock.reading import fields_asked
from core.demo.mock.schemas import fill
from core.demo.mock.simulbench_reading import Question, question_of
from core.demo.mock.stss_reading import thought_of

Persona = Callable[[Call], str]
Task = Literal["judge", "interrogate", "rate and interrogate", "play", "think", "goals", "other"] | Question
IN_WORDS: tuple[Task, ...] = ("play", "simulate", "challenge", "rate", "compare")
"""What is answered in plain text, not in JSON."""


def task_of(call: Call) -> Task:
    """What is being asked: by the fields of the schema, or where there is none by the fields that the prompt names."""
    question = question_of(call)
    if question is not None:
        return question
    thought = thought_of(call)
    if thought is not None:
        return "goals" if thought == "goals" else "think"
    fields = fields_asked(call)
    if fields:
        if combined.NEXT in fields:
            return "rate and interrogate"
        if "next_utterance" in fields:
            return "interrogate"
        return "judge" if "scores" in fields else "other"
    if re.search(rf"\b{combined.NEXT}\b", call.asked):
        return "rate and interrogate"
    if re.search(r"\bnext_utterance\b", call.asked):
        return "interrogate"
    if re.search(r"\b\w+_score\b", call.asked) and re.search(r"\bscores\b", call.asked):
        return "judge"
    return "play" if call.replies == "text" else "other"


def anything(call: Call) -> str:
    """A valid reply to a question that no mock understands."""
    return json.dumps(fill(call.schema or {"type": "object"}, call.rng("anything")), ensure_ascii=False)


ANYBODY: Mapping[Task, Persona] = {
    "judge": judges.plain,
    "interrogate": interrogator.ask,
    "rate and interrogate": combined.rate_and_ask,
    "play": players.bland,
    "request": simulbench_players.request,
    "simulate": simulbench_players.simulator(simulbench_players.HASTY),
    "challenge": simulbench_judges.challenge,
    "rate": simulbench_judges.rate,
    "compare": simulbench_judges.compare,
    "propose": simulbench_players.propose,
    "think": stss_residents.anybody,
    "goals": stss_goals.verdict,
    "other": anything,
}
"""How a model answers what it is not made for."""


def made_for(task: Task, does: Persona) -> Persona:
    """A persona that does one task its own way and every other as anybody would."""

    def answer(call: Call) -> str:
        asked = task_of(call)
        reply = (does if asked == task else ANYBODY[asked])(call)
        return f"```json\n{reply}\n```" if call.replies == "text" and asked not in IN_WORDS else reply

    return answer


PERSONAS: dict[str, Persona] = {
    "mock-vivid": made_for("play", players.vivid),
    "mock-bland": made_for("play", players.bland),
    "mock-parrot": made_for("play", players.parrot),
    "mock-refuser": made_for("play", players.refuser),
    "mock-typist": made_for("play", players.typist),
    "mock-user": made_for("interrogate", interrogator.ask),
    "mock-judge-strict": made_for("judge", judges.strict),
    "mock-judge-lenient": made_for("judge", judges.lenient),
    "mock-judge-noisy": made_for("judge", judges.noisy),
    "mock-judge-erratic": made_for("judge", judges.erratic),
    "mock-sim-steady": made_for("simulate", simulbench_players.simulator(simulbench_players.STEADY)),
    "mock-sim-chatty": made_for("simulate", simulbench_players.simulator(simulbench_players.CHATTY)),
    "mock-sim-forgetful": made_for("simulate", simulbench_players.simulator(simulbench_players.FORGETFUL)),
    "mock-sim-hasty": made_for("simulate", simulbench_players.simulator(simulbench_players.HASTY)),
    "mock-resident": made_for("think", stss_residents.anybody),
    "mock-outgoing": made_for("think", stss_residents.outgoing),
    "mock-reserved": made_for("think", stss_residents.reserved),
    "mock-fixed": fixed.reply,
}
