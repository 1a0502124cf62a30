"""Repeats: rated items that come again to who rated them, later and unannounced."""

import random
from collections.abc import Callable, Collection, Iterable
from math import nan

from sqlite_utils import Database

from concord.statistics.hidden import Twice, annotator_retest
from concord.store import known, placements, studies
from concord.store.known import Pair
from concord.store.placements import QueueEntry
from concord.studies.purposes import Desk, DeskLayout
from concord.table import Table

AFTER = 20
"""How many other items lie between an item and its repeat, where somebody has twice as many; else half."""
AT_HAND = 2
"""How many open items may be before somebody now: these are not taken back."""
MOST_SHARE = 0.5
"""The greatest share of somebody's items that comes again."""


def lay(_db: Database, study: studies.Study) -> Callable[[Desk], DeskLayout]:
    """A study's share of somebody's items, each well after it came first.

    Those that fit stay, and those that may be before somebody now.
    """

    def layout_of(desk: Desk) -> DeskLayout:
        count = 0 if desk.departed else round(study.repeats * len(desk.queue))
        after = min(AFTER, len(desk.queue) // 2)
        return _layout(desk, count, after, random.Random(f"{study.seed} {study.name} {desk.person}"))

    return layout_of


def _layout(desk: Desk, count: int, after: int, rng: random.Random) -> DeskLayout:
    queue = desk.queue
    place_of = {item.item: place for place, item in enumerate(queue)}
    positions_of_queue = [item.position for item in queue]

    def fits(item: QueueEntry) -> bool:
        """Whether enough items lie between the first rating of an item and this one."""
        if item.item not in place_of:
            return False
        first_position = positions_of_queue[place_of[item.item]]
        between = [position for position in positions_of_queue if first_position < position < item.position]
        return len(between) >= after

    positions_at_hand = sorted(item.position for item in [*queue, *desk.entries] if not item.begun)[:AT_HAND]
    fixed: set[int] = set()
    retained: list[QueueEntry] = []
    for item in desk.entries:
        at_hand = not desk.departed and item.position in positions_at_hand
        if item.begun or at_hand:
            fixed.add(item.id)
        if item.id in fixed or fits(item):
            retained.append(item)
    free = [item for item in retained if item.id not in fixed]
    surplus = free[len(free) - min(len(free), max(0, len(retained) - count)) :]
    retained = [item for item in retained if item not in surplus]
    repeated_items = {item.item for item in retained}
    open_to = [place for place in range(len(queue) - after) if queue[place].item not in repeated_items]
    places = sorted(rng.sample(open_to, min(len(open_to), max(0, count - len(retained)))))
    last = len(queue) - 1
    first_free = placements.reached(queue) - 1
    new: list[tuple[int, float]] = []
    for place in places:
        before = rng.randint(max(place + after, first_free), last)
        new.append((queue[place].item, positions_of_queue[before] + rng.random()))
    return DeskLayout(retained, new)


def tables(db: Database, name: str) -> list[Table]:
    """Test–retest on the mean of the counted criteria, where a study has any."""
    ordered = [c.name for c in studies.get(db, name).criteria if c.counted and c.scale.ordered]
    pairs = answered_twice(known.pairs(db, name), ordered)
    return [annotator_retest(pairs)] if pairs else []


def answered_twice(pairs: Iterable[Pair], criteria: Collection[str]) -> dict[str, Twice]:
    """The first and the second answers of each annotator to the items that came again, and the judge's scores
    that were shown (nan: none), by name.

    An answer to an item is the mean of these criteria; items without all of them twice are excluded.
    """
    by_item: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        if pair.criterion in criteria:
            by_item.setdefault((pair.annotator, pair.unit), []).append(pair)
    by_person: dict[str, Twice] = {}
    for (annotator, _), pairs_of_item in by_item.items():
        if len(pairs_of_item) == len(criteria):
            first, second, changed_answers = by_person.setdefault(annotator, ([], [], []))
            first.append(sum(pair.first for pair in pairs_of_item) / len(pairs_of_item))
            second.append(sum(pair.second for pair in pairs_of_item) / len(pairs_of_item))
            changed_answers.append(
                sum(nan if pair.shown is None else pair.shown for pair in pairs_of_item) / len(pairs_of_item)
            )
    return by_person
