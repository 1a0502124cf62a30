"""Fills a workspace with models that play and judge each other under two interrogators: every score chosen,
none random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.runs.registry import get
from concord.store import conversations, ratings

GIVEN: Mapping[str, Mapping[str, float]] = {
    "ash": {"ash": 5, "elm": 4, "oak": 3, "yew": 2},
    "elm": {"ash": 3, "elm": 4, "oak": 2, "yew": 1},
    "oak": {"ash": 2, "elm": 4, "oak": 5, "yew": 1},
}
"""What each judge gives each player under the first interrogator."""
SWAPPED = {"oak": "yew", "yew": "oak"}
"""Under the second, these two are rated as the other is under the first."""
INTERROGATORS = ("guest", "stranger")


def fill(
    db: Database,
    given: Mapping[str, Mapping[str, float]] = GIVEN,
    interrogators: Sequence[str] = INTERROGATORS,
    *,
    repeats: int = 3,
) -> None:
    """`repeats` conversations of every player and interrogator, one turn each."""
    criteria = get("pingpong").criteria
    ratings.register(db, "pingpong", criteria)
    players = list(next(iter(given.values())))
    for place, interrogator in enumerate(interrogators):
        for player in players:
            for repeat in range(repeats):
                key = f"{interrogator}/{player}/{repeat}"
                said = (Message("user", "Who goes there?"), Message("assistant", "A tree, as you see."))
                facets = {"character": "tree", "situation": f"s{repeat}", "interrogator": interrogator}
                conversations.save(db, Conversation("pingpong", key, player, said, "en", facets))
                for judge, scores in given.items():
                    score = scores[SWAPPED.get(player, player) if place else player]
                    ratings.save_judgement(
                        db,
                        Judgement(
                            f"{key}|{judge}",
                            key,
                            Rater(judge, "judge"),
                            tuple(
                                Rating(Unit(key, 1), c.name, float(score) if c.counted else 0.0)
                                for c in criteria
                            ),
                        ),
                    )
