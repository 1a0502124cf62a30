"""Studies of pairs for tests: made, dealt and answered as on the desk."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlite_utils import Database

from concord.rating import Rater, Verdict
from concord.store import access, conversations, desk, placements, ratings, studies
from concord.store.placements import Placement
from concord.studies import dealing, pairings

PAIRS = "pairs"
"""The name of a study in which the benchmark's question is asked."""
SCORES = {"A": 1, "B": -1, "C": 0, None: None}


def deal(
    db: Database,
    people: Sequence[str],
    n: int | None = None,
    *,
    study: str = PAIRS,
    benchmark: str = "simulbench",
    overlap: int = 0,
    **how: Any,
) -> dict[str, int]:
    """Deal a study of pairs, which is made of `n` pairs unless it is there; returns everybody's number."""
    if study not in studies.names(db, pairs=True):
        pairings.new(db, study, None, benchmark, n, overlap=overlap, **how)
    return dealing.deal_study(db, study, people, overlap=overlap)


def on_desk(db: Database, person: str, study: str = PAIRS) -> list[Placement]:
    """A person's pairs in their order."""
    rater = access.annotator_id(db, person)
    return [placements.numbered(db, rater, number) for number, *_ in placements.on_desk(db, rater, study)]


def answered(
    n: int, item: int, verdict: Verdict | None, comment: str = "", question: str = ""
) -> dict[str, Any]:
    """An answer as a browser reports it."""
    score = SCORES[verdict]
    return {"n": n, "item": item, "do": "answer", "criterion": question, "score": score, "text": comment}


def compare(
    db: Database,
    person: str,
    prefers: Callable[[str, str], Verdict],
    *,
    study: str = PAIRS,
    question: str = "",
    simulated: bool = False,
) -> list[tuple[int, int]]:
    """Answer all pairs on a desk by the players shown as A and B; returns the conversations as shown."""
    rater = ratings.rater_id(db, Rater(person, "human", simulated=simulated))
    shown = []
    for pair in on_desk(db, person, study):
        first, second = pair.shown
        a, b = (conversations.load(db, number).player for number in pair.shown)
        event = answered(len(shown) + 1, pair.id, prefers(a, b), question=question)
        assert not desk.apply(db, rater, "tab", [event])[1]
        shown.append((first, second))
    return shown
