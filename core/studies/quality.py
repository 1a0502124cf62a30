"""Annotation quality: progress, skipped and flagged items, and signs of carelessness."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import pandas as pd

from concord.store.progress import Item

READING = 60.0
"""Characters a second that nobody reads faster: about 700 words a minute."""
TOO_FAST = 0.2
"""The share of items done faster than that from which it is worth a word."""
ONE_ANSWER = 0.9
SAME_ON_ALL = 0.8
FEWEST_ITEMS = 10
"""Below this many items done nothing is said about how somebody rates."""


@dataclass(frozen=True)
class AnnotatorProgress:
    """An annotator's part of a study. `seconds` is the median time of an item done, None if not measured."""

    annotator: str
    items: int
    done: int
    skipped: int
    flagged: int
    seconds: float | None
    last: str | None


def progress(items: Iterable[Item]) -> list[AnnotatorProgress]:
    """Everybody's part, by name."""
    by_name: dict[str, list[Item]] = {}
    for item in items:
        by_name.setdefault(item.annotator, []).append(item)
    return [
        AnnotatorProgress(
            annotator=name,
            items=len(mine),
            done=sum(i.state == "done" for i in mine),
            skipped=sum(i.state == "skipped" for i in mine),
            flagged=sum(bool(i.flag) for i in mine),
            seconds=median(timed)
            if (timed := [i.seconds for i in mine if i.state == "done" and i.seconds])
            else None,
            last=max((i.submitted for i in mine if i.submitted), default=None),
        )
        for name, mine in by_name.items()
    ]


def remarks(items: Iterable[Item]) -> list[Item]:
    """The items somebody skipped or flagged, newest first."""
    noted = [i for i in items if i.state == "skipped" or i.flag]
    return sorted(noted, key=lambda i: i.submitted or "", reverse=True)


def suspicions(items: Sequence[Item], given: pd.DataFrame) -> list[str]:
    """Sentences about people whose way of rating deserves a look; empty where nothing stands out.

    `given` is the long frame of the study. Named are people with at least ten items done who gave one answer
    to a criterion in more than nine items of ten, the same answer to all criteria in more than eight of ten
    (of three criteria or more), or who were faster than anybody reads in more than two of ten conversations.
    """
    people = given[given.kind == "human"]
    found = []
    for name in dict.fromkeys([i.annotator for i in items] + list(people.rater)):
        theirs = people[people.rater == name]
        found += [
            f"{name} {what}"
            for what in [
                *_one_answer(theirs),
                *_same_on_all(theirs),
                *_too_fast([i for i in items if i.annotator == name]),
            ]
        ]
    return found


def judged(given: pd.DataFrame) -> int:
    """How many people rated so many items that `suspicions` may name them."""
    people = given[given.kind == "human"]
    return int((people.groupby("rater").unit.nunique() >= FEWEST_ITEMS).sum())


def _one_answer(given: pd.DataFrame) -> Iterable[str]:
    for criterion, rows in given.groupby("criterion", sort=False):
        share = rows.score.value_counts(normalize=True)
        if len(rows) >= FEWEST_ITEMS and share.iloc[0] > ONE_ANSWER:
            yield f"answered {share.index[0]:g} on {criterion} in {share.iloc[0]:.0%} of {len(rows)} items."


def _same_on_all(given: pd.DataFrame) -> Iterable[str]:
    by_item = given.groupby("unit").score.agg(["count", "nunique"])
    by_item = by_item[by_item["count"] >= 3]
    share = (by_item["nunique"] == 1).mean()
    if len(by_item) >= FEWEST_ITEMS and share > SAME_ON_ALL:
        yield f"gave all criteria the same answer in {share:.0%} of {len(by_item)} items."


def _too_fast(mine: Sequence[Item]) -> Iterable[str]:
    # An item that is one turn of a conversation is not read alone: what a fair time for it is depends on the
    # turns before.
    timed = [i for i in mine if i.state == "done" and i.seconds and i.turn is None]
    fast = sum(i.seconds < i.reply_chars / READING for i in timed)
    if len(timed) >= FEWEST_ITEMS and fast > TOO_FAST * len(timed):
        yield (
            f"was faster than the replies can be read in {fast} of {len(timed)} items ({READING:g} "
            "characters a second)."
        )
