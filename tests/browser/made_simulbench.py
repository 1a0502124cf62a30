"""A small SimulBench workspace made by hand: scripts, replies, scores and comparisons, without a model."""

from __future__ import annotations

from pathlib import Path

from concord.benchmarks.simulbench.targets import QUALITY
from concord.conversation import Conversation, Message, Unit
from concord.rating import Comparison, Judgement, Rater, Rating
from concord.scenario import Scenario
from concord.store import comparisons, conversations, ratings, scenarios
from concord.workspace import Workspace

PLAYERS = ("amber", "birch", "cedar")
JUDGES = ("judge-keen", "judge-mild")
KINDS = ("LastOnly", "FirstChan", "SubseqChan", "FirstChan")
SCRIPTS = 8
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\"> **strong** ![x](http://elsewhere.test/x.png) :red[red]"
)


def make(folder: Path) -> Workspace:
    """Eight scripts × three models × two judges; script 1 has a hostile reply, script 2 an unreadable
    verdict, script 3 an empty reply.
    """
    workspace = Workspace.open(folder)
    with workspace.write() as db:
        ratings.register(db, "simulbench", (QUALITY,))
        for number in range(SCRIPTS):
            scenarios.save(db, [_script(number)])
            for place, player in enumerate(PLAYERS):
                conversations.save(db, answer(number, player))
                for judge, score in zip(JUDGES, scores(number, place), strict=True):
                    ratings.save_judgement(db, _judgement(number, player, judge, score))
            for one, other in ((0, 1), (1, 0)):
                # The judge prefers whatever is shown first in every second script, else amber.
                verdict = "A" if number % 2 or one == 0 else "B"
                keys = [key(number, PLAYERS[i]) for i in (one, other)]
                name = "|".join([*keys, JUDGES[0]])
                comparisons.save(
                    db, Comparison(name, *keys, Rater(JUDGES[0], "judge", "v1"), verdict, "So I say.")
                )
    return workspace


def scores(number: int, place: int) -> tuple[float | None, float]:
    """What the two judges gave: every reply deserves a look, as it is low or the judges are far apart."""
    if number == 2:
        return None, 2
    return (2, 3) if place else (1 + number, 8 if number < 4 else 1)


def key(number: int, player: str) -> str:
    return f"simulbench/v1/s{number}/{player}"


def answer(number: int, player: str) -> Conversation:
    reply = {1: HOSTILE, 3: ""}.get(number, f"bead {number}\n  |-o-|\n" * (1 if number % 2 else 60))
    messages = (
        Message("user", f"Be maker number {number}. My first request: make one."),
        Message("assistant", "One is made."),
        Message("user", "Now make another, harder one."),
        Message("assistant", reply, {"cut": True} if number == 4 else {}),
    )
    return Conversation(
        "simulbench",
        key(number, player),
        player,
        messages,
        facets={
            "task": f"task-{number % 3}",
            "kind": KINDS[number % 4],
            "type": ("stateless", "stateful")[number // 4],
            "script": f"s{number}",
            "ending": {4: "cut", 3: "empty"}.get(number, "whole"),
        },
        context={
            "Task": f"Maker {number}",
            "_challenging": 0 if number % 4 == 0 else 2,
            "_dialogue": f"d{number}",
        },
    )


def _judgement(number: int, player: str, judge: str, score: float | None) -> Judgement:
    conversation = key(number, player)
    given = (
        ()
        if score is None
        else (Rating(Unit(conversation), "quality", score, f"{judge} finds it worth {score}."),)
    )
    failure = "No usable reply after 3 attempts." if score is None else None
    return Judgement(
        f"{conversation}|{judge}|v1|0",
        conversation,
        Rater(judge, "judge", "v1"),
        given,
        failure,
        raw="mumble [[eleven]]",
    )


def _script(number: int) -> Scenario:
    kind = KINDS[number % 4]
    body = {
        "task": f"task-{number % 3}",
        "act": f"Maker {number}",
        "type": ("stateless", "stateful")[number // 4],
        "kind": kind,
        "turn": 2,
        "challenging": 0 if kind == "LastOnly" else 2,
        "dialogue": f"d{number}",
        "history": [{"role": m.role, "content": m.content} for m in answer(number, PLAYERS[0]).messages[:-1]],
    }
    return Scenario("simulbench", "script", f"s{number}", body, "accepted", "by hand", "test")
