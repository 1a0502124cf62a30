"""What several tests take from `test_agreement`: NAME, Score, WIT, fill, varied."""

from __future__ import annotations

from collections.abc import Callable

from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import conversations, ratings, studies, summaries
from concord.store.ratings import Row
from concord.store.studies import Study

NAME = "the <b>study</b> *of* oddities"


WIT = Criterion("wit", "It is witty.")


Score = Callable[[int], float | None]


def varied(shift: int = 0) -> Score:
    return lambda item: float(1 + (item * (3 + shift) + item // 4) % 5)


def fill(
    db: Database,
    people: dict[str, Score],
    judges: dict[str, Score],
    *,
    criteria: tuple[Criterion, ...] = (WIT,),
    items: int = 12,
    turns: tuple[int | None, ...] = (None,),
    repeats: int = 1,
    facets: Callable[[int], dict[str, str]] = lambda _: {},
    **study: object,
) -> None:
    ratings.register(db, "odd", criteria)
    studies.create(db, Study(NAME, criteria, per_turn=turns != (None,), **study))  # type: ignore[arg-type]
    found = studies.study_id(db, NAME)
    said = tuple(m for _ in turns for m in (Message("user", "?"), Message("assistant", "!")))
    ids = [
        conversations.save(db, Conversation("odd", f"c{i}", f"player {i % 3}", said, facets=facets(i)))
        for i in range(items)
    ]
    studies.add_units(db, NAME, [(i, turn, "") for i in ids for turn in turns])
    rows = []
    for name, score in people.items():
        rater = ratings.rater_id(db, Rater(name, "human"))
        rows += [
            Row(c, turn, k.name, rater, 0, found, given, "", None, "")
            for n, c in enumerate(ids)
            for turn in turns
            for k in criteria
            if (given := score(n)) is not None
        ]
    ratings.insert_rows(db, rows)
    summaries.refresh(db, ids)
    for name, score in judges.items():
        for repeat in range(repeats):
            for n in range(items):
                given = score(n + repeat)
                if given is not None:
                    about = [Rating(Unit(f"c{n}", turn), k.name, given) for turn in turns for k in criteria]
                    ratings.save_judgement(
                        db,
                        Judgement(
                            f"{name}{n}{repeat}", f"c{n}", Rater(name, "judge"), tuple(about), repeat=repeat
                        ),
                    )
