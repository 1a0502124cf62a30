"""What several tests take from `test_trajectories`: DAYS, KEYS, PLANS, TALKS, simulated."""

from __future__ import annotations

from dataclasses import replace

from concord.benchmarks.stss.tasks import values_of
from concord.conversation import Conversation, Message
from tests.stss.made import CAFE, HALL, lived, party, talk

DAYS = (
    f"Ada | 1 09:00 – 2 21:00 | having a party | {CAFE}",
    f"Ben | 1 09:00 – 2 18:30 | working | {HALL}",
    f"Ben | 2 19:00 – 2 21:00 | enjoying the *party*\u2028 | {CAFE}",
    f"Cem | 1 09:00 – 2 21:00 | sleeping | {HALL}",
)


TALKS = (talk("1 10:00", "Ada", "Cem", "Come to my party!\n", "Да."),)


PLANS = [{"time": "2023-02-14 00:00:00", "agent": "Ben", "actions": [["00:00", 1440, "working", HALL]]}]


KEYS = ("stss/GA/0", "stss/GA+TDP/0")


def simulated(key):
    """Ben came to the party of GA+TDP and stayed at work in that of GA."""
    architecture = key.split("/")[1]
    happened = lived(
        *(DAYS if architecture == "GA+TDP" else (DAYS[0], DAYS[1].replace("18:30", "21:00"), DAYS[3])),
        talks=TALKS,
    )
    happened = replace(happened, extra={"plans": PLANS})
    return Conversation(
        "stss",
        key,
        "model",
        (Message("assistant", "Come to my party!\n", {"time": "2023-02-13 10:00:00"}),),
        facets={
            "task": "party",
            "type": "public",
            "architecture": architecture,
            "performer": "Ada",
            "town": "lost",
        },
        context={"_task": values_of(party())},
        meta={"residents": "r"},
        trajectory=happened.as_stored(),
    )
