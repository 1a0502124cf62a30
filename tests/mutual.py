"""Fills a workspace with models that play and judge each other under two interrogators: every score chosen,
none random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.runs.registry import get
from concord.store import conversations, placements, ratings, studies
from tests.filled import assigned

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
    people: str = "",
) -> None:
    """`repeats` conversations of every player and interrogator, one turn each; `people` names a judge whom a
    person always follows.
    """
    criteria = get("pingpong").criteria
    ratings.register(db, "pingpong", criteria)
    players = list(next(iter(given.values())))
    ids = []
    for place, interrogator in enumerate(interrogators):
        for player in players:
            for repeat in range(repeats):
                key = f"{interrogator}/{player}/{repeat}"
                said = (Message("user", "Who goes there?"), Message("assistant", "A tree, as you see."))
                facets = {"character": "tree", "situation": f"s{repeat}", "interrogator": interrogator}
                ids.append(
                    (
                        conversations.save(db, Conversation("pingpong", key, player, said, "en", facets)),
                        place,
                        player,
                    )
                )
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
    if people:
        _study(db, ids, given[people])


def _study(db: Database, ids: Sequence[tuple[int, int, str]], scores: Mapping[str, float]) -> None:
    asked = tuple(c for c in get("pingpong").criteria if c.counted)
    studies.create(db, studies.Study("grove", asked, "A grove"))
    units = studies.add_units(db, "grove", [(number, None, "") for number, _, _ in ids])
    rater = ratings.rater_id(db, Rater("Ada", "human"))
    placements.assign(db, rater, units)
    for task, (_, place, player) in zip(assigned(db, rater, "grove"), ids, strict=True):
        score = scores[SWAPPED.get(player, player) if place else player]
        for criterion in asked:
            placements.answer(db, rater, task[0], criterion.name, float(score))
        placements.submit(db, rater, task[0])
