"""A few scored answers made by hand, without any model."""

from __future__ import annotations

from concord.benchmarks.simulbench.targets import QUALITY
from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.scenario import Scenario
from concord.store import conversations, ratings, scenarios, summaries

FURTHER = [f"s{number}" for number in range(5, 45)]
KINDS = {"s1": "LastOnly", "s2": "FirstChan", "s3": "SubseqChan", "s4": "FirstChan"}
KINDS |= dict.fromkeys(FURTHER, "LastOnly")
TYPES = {"s1": "stateless", "s2": "stateless", "s3": "stateless", "s4": "stateful"}
TYPES |= dict.fromkeys(FURTHER, "stateless")
TASK_OF = {"s1": "maker", "s2": "maker", "s3": "maker", "s4": "keeper"} | dict.fromkeys(FURTHER, "maker")


def key(script, player):
    return f"simulbench/v1/{script}/{player}"


def answer(db, script, player, reply="It is done.", ending="whole"):
    facets = {
        "task": TASK_OF[script],
        "kind": KINDS[script],
        "type": TYPES[script],
        "script": script,
        "ending": ending,
    }
    messages = (
        Message("user", "Be a maker of things. My first request: make one."),
        Message("assistant", reply, {"cut": True} if ending == "cut" else {}),
    )
    return conversations.save(
        db,
        Conversation(
            "simulbench",
            key(script, player),
            player,
            messages,
            facets=facets,
            context={"Task": TASK_OF[script].title()},
        ),
    )


def judge(db, script, player, judge, score):
    """A judgement: a score, or None for a verdict that could not be read."""
    conversation = key(script, player)
    given = () if score is None else (Rating(Unit(conversation), "quality", score, f"I say {score}."),)
    ratings.save_judgement(
        db,
        Judgement(
            f"{conversation}|{judge}|v1|0",
            conversation,
            Rater(judge, "judge", "v1"),
            given,
            failure="No usable reply after 3 attempts." if score is None else None,
            raw="so so",
        ),
    )


def rate_refusal(db, script, player, person, said):
    """What a person says of whether a reply refuses: 1 or 0."""
    here = conversations.find_id(db, key(script, player))
    given = Rating(Unit(key(script, player)), "refusal", said)
    ratings.insert(db, here, ratings.rater_id(db, Rater(person, "human")), [given])
    summaries.refresh(db, [here])


def fill(db, scores, **endings):
    """`scores` maps (script, player) to a list of scores, by judges j1, j2 …; `endings` maps script_player to
    an ending.
    """
    ratings.register(db, "simulbench", (QUALITY,), refusal="refusal")
    for (script, player), given in scores.items():
        answer(db, script, player, ending=endings.get(f"{script}_{player}", "whole"))
        for number, score in enumerate(given, 1):
            judge(db, script, player, f"j{number}", score)


def script(key, **changed):
    body = {
        "task": TASK_OF[key],
        "act": TASK_OF[key].title(),
        "type": TYPES[key],
        "kind": KINDS[key],
        "turn": 1,
        "challenging": 0 if KINDS[key] == "LastOnly" else 1,
        "dialogue": key,
        "history": [{"role": "user", "content": "Be a maker of things. My first request: make one."}],
    }
    return Scenario("simulbench", "script", key, {**body, **changed}, "accepted", "by hand", "test")


def store_scripts(db, *keys):
    scenarios.save(db, [script(k) for k in keys])
