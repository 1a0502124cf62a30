"""The ratings of a table by column, and one preference for a pair that was asked in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from concord.questions import categories
from concord.reading.criterion import CriterionReading
from concord.reading.layouts import Voice, Voices
from concord.statistics.position import sides

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
TIE = "tie"


class AskedOrder(NamedTuple):
    """A voice's answers to items in one order; `straight`: the first of the two was shown first."""

    voice: int
    straight: bool
    item: Ints
    score: Floats


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The ratings of a table by column: of each its item, the place of its voice, and its score."""

    voices: Voices
    readings: Mapping[str, CriterionReading]
    item: Ints
    voice: Ints
    score: Floats
    row: Ints
    orders: tuple[AskedOrder, ...] = ()
    """The answers to pairs for which it is known what was shown first."""
    sampled: bool = False
    """Whether only some of the items that people did not answer are among them."""

    @property
    def names(self) -> dict[str, str]:
        """What each criterion is called."""
        return {
            name: name or ("label" if reading.scale.named else "score")
            for name, reading in self.readings.items()
        }


def one_a_pair(scored: ScoredTable) -> ScoredTable:
    """A table in which each rater has one preference for a pair: where its order is known, that of both
    orders.

    As in core/statistics/pairwise: of two orders that differ it is a tie. Of a judge that was asked about
    some pair in both, those that it answered in both count.
    """
    for name, reading in scored.readings.items():
        if any(voice.criterion == name and voice.straight is not None for voice in scored.voices.voices):
            scored = _one_a_pair(scored, name, reading)
    return scored


def _one_a_pair(scored: ScoredTable, name: str, reading: CriterionReading) -> ScoredTable:
    voices_found = scored.voices
    labels = reading.scale.labels
    preferences = sides(labels)
    if preferences is None:
        return scored
    if 0.5 not in preferences.shares:
        labels = (*labels, TIE)
        described = f"{reading.description}; {TIE} where both orders differ"
        reading = replace(reading, scale=categories(labels), description=described)
        preferences = sides(labels) or preferences
    tie = float(preferences.shares.index(0.5))
    by_rater: dict[tuple[str, str, int], list[int]] = {}
    for place, voice in enumerate(voices_found.voices):
        if voice.criterion == name and voice.straight is not None:
            by_rater.setdefault((voice.kind, voice.rater, voice.repeat // 2), []).append(place)
    rest = np.ones(len(scored.voice), dtype=bool)
    blocks = []
    orders = [*scored.orders]
    voices = [*voices_found.voices]
    tied = False
    for places in by_rater.values():
        rest &= ~np.isin(scored.voice, places)
        first, *_ = places
        block, answers, differ = _preference(scored, voices, places, tie)
        tied |= differ
        blocks.append((first, *block))
        orders += answers
        voices[first] = replace(voices[first], repeat=voices[first].repeat // 2, straight=None)
    if not tied and len(labels) > len(scored.readings[name].scale.labels):
        reading = scored.readings[name]
    places_of = [np.full(len(block[1]), block[0], dtype=np.int64) for block in blocks]
    return replace(
        scored,
        voices=replace(voices_found, voices=voices),
        readings={**scored.readings, name: reading},
        item=np.concatenate([scored.item[rest], *(block[1] for block in blocks)]),
        voice=np.concatenate([scored.voice[rest], *places_of]),
        score=np.concatenate([scored.score[rest], *(block[2] for block in blocks)]),
        row=np.concatenate([scored.row[rest], *(block[3] for block in blocks)]),
        orders=tuple(orders),
    )


def _preference(
    scored: ScoredTable, voices: Sequence[Voice], places: Sequence[int], tie: float
) -> tuple[tuple[Ints, Floats, Ints], list[AskedOrder], bool]:
    """One rater's items, preferences and rows, the answers in each order, and whether some differ."""
    size = len(scored.voices.items)
    by_order = np.full((2, size), np.nan)
    row = np.zeros(size, dtype=np.int64)
    for place in places:
        ratings = np.flatnonzero(scored.voice == place)
        by_order[int(not voices[place].straight), scored.item[ratings]] = scored.score[ratings]
        row[scored.item[ratings]] = scored.row[ratings]
    straight, swapped = by_order
    answers = [
        AskedOrder(places[0], is_straight, np.flatnonzero(~np.isnan(scores)), scores[~np.isnan(scores)])
        for is_straight, scores in ((True, straight), (False, swapped))
    ]
    twice = np.isfinite(straight + swapped)
    differ = twice & (straight != swapped)
    one = np.where(np.isnan(straight), swapped, straight)
    preference = np.where(differ, tie, one)
    if voices[places[0]].kind == "judge" and twice.any():
        preference = np.where(twice, preference, np.nan)
    item = np.flatnonzero(~np.isnan(preference))
    return (item, preference[item], row[item]), answers, bool(differ.any())
