"""The mock models of PingPong: players, an interrogator, judges, version 1's rating interrogator."""

import re
from collections.abc import Callable, Mapping

from tests.mock.call import Answer, Call
from tests.mock.pingpong import judges, players
from tests.mock.pingpong.reading import plays

PLAYERS: Mapping[str, Callable[[Call], str]] = {
    "mock-vivid": players.vivid,
    "mock-bland": players.bland,
    "mock-parrot": players.parrot,
    "mock-refuser": players.refuser,
    "mock-typist": players.typist,
}
MODELS = (*PLAYERS, "mock-user", *judges.JUDGES)
RATED = "next_user_utterance"
"""The field that version 1's interrogator writes the next message into."""


def answer(call: Call) -> Answer:
    """The reply to a request of PingPong's prompts; a model that is not made for it does it plainly."""
    if call.names(RATED):
        return {**judges.rated_last(call), RATED: players.visitor(call)}
    if call.names("next_utterance"):
        return {"next_utterance": players.visitor(call)}
    if call.names("scores") and (call.fields or re.search(r"\b\w+_score\b", call.asked)):
        return judges.verdict(call)
    if not call.wants_json and plays(call):
        return PLAYERS.get(call.model, players.bland)(call)
    return None
