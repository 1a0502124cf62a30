"""The mock models of STSS: residents in three manners, and judges of conversations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.benchmarks.stss.mock import days, goals, talk
from core.benchmarks.stss.mock.reading import thought_of
from core.demo.mock.call import Answer, Call

MODELS = (*talk.MANNERS,)
THOUGHTS: Mapping[str, Callable[[Call], dict[str, Any]]] = {
    "outline": days.outline,
    "schedule": days.schedule,
    "revision": days.revision,
    "approach": talk.approach,
    "utterance": talk.utterance,
    "summary": talk.summary,
    "tdp_plan": days.tdp_plan,
    "tdp_day": days.tdp_day,
    "tdp_talk": days.tdp_talk,
    "goals": goals.verdict,
}


def answer(call: Call) -> Answer:
    """The reply to a request of STSS's prompts."""
    thought = thought_of(call)
    return THOUGHTS[thought](call) if thought else None
