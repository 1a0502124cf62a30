"""Mock residents of the town: who answers which thought, in which manner."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.demo.mock import stss_days, stss_talk
from core.demo.mock.call import Call
from core.demo.mock.stss_reading import Thought, thought_of
from core.demo.mock.stss_talk import OUTGOING, RESERVED, RESIDENT, Manner

DAYS: Mapping[Thought, Callable[[Call], str]] = {
    "outline": stss_days.outline,
    "schedule": stss_days.schedule,
    "revision": stss_days.revision,
    "tdp_plan": stss_days.tdp_plan,
    "tdp_day": stss_days.tdp_day,
    "tdp_talk": stss_days.tdp_talk,
}
TALK: Mapping[Thought, Callable[[Call, Manner], str]] = {
    "approach": stss_talk.approach,
    "utterance": stss_talk.utterance,
    "summary": stss_talk.summary,
}


def resident(manner: Manner) -> Callable[[Call], str]:
    """A resident with this manner in company."""

    def think(call: Call) -> str:
        thought = thought_of(call)
        assert thought is not None, "asked for what is no thought of a resident"
        return TALK[thought](call, manner) if thought in TALK else DAYS[thought](call)

    return think


outgoing, reserved, anybody = resident(OUTGOING), resident(RESERVED), resident(RESIDENT)
