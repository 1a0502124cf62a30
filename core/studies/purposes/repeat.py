"""Repeats: rated items that come again to who rated them, later and unannounced."""

import random
from collections.abc import Collection, Iterable, Sequence
from math import nan

from sqlite_utils import Database

from concord.errors import StudyError
from concord.statistics.hidden import Twice, annotator_retest
from concord.store import access, exclusions, known, placements, studies
from concord.store.known import Pair
from concord.store.placements import Placed
from concord.table import Table

AFTER = 20
"""How many other items lie between an item and its repeat, unless told otherwise."""


def settings_of(study: studies.Study) -> tuple[float, int]:
    """The share of everybody's items that comes again, and after how many others."""
    kept = study.meta.get("repeats", {})
    return kept.get("share", 0.0), kept.get("after", AFTER)


def lay(db: Database, name: str, gone: Collection[str], *, strictly: bool = False) -> None:
    """Place a study's repeats on everybody's desk; those that lie there and fit stay.

    Those that nobody has begun are taken from the desks of those in `gone`, and repeats of what was taken
    back from everywhere. Raises StudyError where `strictly` as many as were asked for are to fit, and do not.
    """
    study = studies.get(db, name)
    part, after = settings_of(study)
    for person, queue in placements.desks(db, name).items():
        rater = access.annotator_id(db, person)
        rng = random.Random(f"{study.seed} {name} {person}")
        there = placements.unrated(db, name, rater, "repeat")
        count = 0 if person in gone else round(part * len(queue))
        if strictly and count > (fitting := max(0, len(queue) - after)):
            raise StudyError(
                f"{person} has {len(queue)} items: {fitting} of them, not {count}, can come again after "
                f"{after} others. Possible is --repeat-after {max(1, len(queue) - count)}."
            )
        _repeat(db, rater, queue, there, count, after, rng)


def _repeat(
    db: Database,
    rater: int,
    queue: Sequence[Placed],
    there: Sequence[Placed],
    count: int,
    after: int,
    rng: random.Random,
) -> None:
    """Let `count` items of a queue come again, each after at least `after` others."""
    place_of = {item.item: place for place, item in enumerate(queue)}
    at = [item.position for item in queue]

    def fits(item: Placed) -> bool:
        if item.item not in place_of:
            return False
        return sum(at[place_of[item.item]] < position < item.position for position in at) >= after

    kept = [item for item in there if item.begun or fits(item)]
    free = [item for item in kept if not item.begun]
    surplus = free[len(free) - min(len(free), max(0, len(kept) - count)) :]
    kept = [item for item in kept if item not in surplus]
    placements.remove(db, [item.id for item in there if item not in kept])
    taken = {item.item for item in kept}
    open_to = [place for place in range(len(queue) - after) if queue[place].item not in taken]
    chosen = sorted(rng.sample(open_to, min(len(open_to), max(0, count - len(kept)))))
    last, first_free = len(queue) - 1, placements.reached(queue) - 1
    positions = [at[rng.randint(max(place + after, first_free), last)] + rng.random() for place in chosen]
    new = [(queue[place].item, position) for place, position in zip(chosen, positions, strict=True)]
    placements.place(db, rater, "repeat", new)


def tables(db: Database, name: str) -> list[Table]:
    """Test–retest on the mean of the counted criteria, where a study has any."""
    study, out = studies.get(db, name), [*exclusions.excluded(db, name)]
    ordered = [c.name for c in study.criteria if c.counted and c.scale.ordered]
    pairs = answered_twice(known.pairs(db, name), ordered)
    return [annotator_retest(pairs, excluded=out)] if pairs else []


def answered_twice(pairs: Iterable[Pair], criteria: Collection[str]) -> dict[str, Twice]:
    """The first and the second answers of each annotator to the items that came again, and the judge's scores
    that were shown (nan: none), by name.

    An answer to an item is the mean of these criteria; items without all of them twice are left out.
    """
    by_item: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        if pair.criterion in criteria:
            by_item.setdefault((pair.annotator, pair.unit), []).append(pair)
    by_person: dict[str, Twice] = {}
    for (annotator, _), given in by_item.items():
        if len(given) == len(criteria):
            first, second, shown = by_person.setdefault(annotator, ([], [], []))
            first.append(sum(pair.first for pair in given) / len(given))
            second.append(sum(pair.second for pair in given) / len(given))
            shown.append(sum(nan if pair.shown is None else pair.shown for pair in given) / len(given))
    return by_person
