"""Evens out who rates what: pairs of annotators share equally many units, each has equally many of a kind.

A balanced incomplete block design is a deal in which every two annotators share the same number of units.
Where units, annotators and overlap allow none, the nearest deal has numbers that differ by one. Exchanges
(annotator a gives unit u to b and gets unit w from b) lower the sum of squared numbers shared by pairs, then
that of the numbers of units of a kind (a player, a scenario) that each annotator has. They leave the load of
each annotator and the raters of each unit as many as they were.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

PAIRS_FIRST = 10**6
"""What one step of evenness between pairs is worth in steps of evenness between kinds."""
WORK = 100_000
"""Units × annotators² × fresh starts that are tried for an even number of shared units."""
FRESH_STARTS = 12
LOOKED_AT = 32
"""How many units of each annotator are looked at for an exchange, those that gain most alone."""


@dataclass(frozen=True)
class Incidence:
    """Who has which unit, as units × annotators: all, those that may move, and who may not get it."""

    has: Flags
    free: Flags
    barred: Flags

    @property
    def shared(self) -> Ints:
        """How many units every two annotators share; 0 on the diagonal."""
        has = self.has.astype(np.int64)
        counts: Ints = has.T @ has
        np.fill_diagonal(counts, 0)
        return counts

    @property
    def unevenness(self) -> int:
        """The sum over pairs of annotators of the squared number of units that they share."""
        return int((self.shared**2).sum()) // 2

    @property
    def least(self) -> int:
        """What `unevenness` is where the numbers of all pairs differ by one at most; it is never lower."""
        people = self.has.shape[1]
        pairs = int(people * (people - 1) // 2)
        if not pairs:
            return 0
        each, more = divmod(int(self.shared.sum()) // 2, pairs)
        return (pairs - more) * each**2 + more * (each + 1) ** 2


def even_out(dealt: Incidence, kinds: Sequence[Ints], seed: int) -> Incidence:
    """Exchange units until no exchange makes the deal more even: pairs first, then kinds.

    `kinds` are codes of the units' values, one array a variable. Where pairs are not as even as can be,
    seeded exchanges start anew from a worse deal, as often as `WORK` allows.
    """
    n, people = dealt.has.shape
    dealt = _descend(dealt, [])
    rng = random.Random(seed)
    for _ in range(min(FRESH_STARTS, WORK // max(1, n * people**2))):
        if dealt.unevenness == dealt.least:
            break
        other = _descend(_shaken(dealt, rng), [])
        if other.unevenness <= dealt.unevenness:
            dealt = other
    return _descend(dealt, kinds) if kinds else dealt


def _descend(dealt: Incidence, kinds: Sequence[Ints]) -> Incidence:
    """The deal after exchanges that each make it more even, as long as there is one."""
    dealt = replace(dealt, has=dealt.has.copy(), free=dealt.free.copy())
    better = True
    while better and (kinds or dealt.unevenness > dealt.least):
        better = False
        for a, b in combinations(range(dealt.has.shape[1]), 2):
            while _exchanged(dealt, kinds, a, b):
                better = True
    return dealt


def _exchanged(dealt: Incidence, kinds: Sequence[Ints], a: int, b: int) -> bool:
    """Make the best exchange found between two annotators; False where none makes the deal more even."""
    gives, gets = _movable(dealt, a, b), _movable(dealt, b, a)
    if not len(gives) or not len(gets):
        return False
    # Whole numbers, as floats, whose products numpy computes faster.
    has = dealt.has.astype(np.float64)
    ahead = has.T @ (has[:, b] - has[:, a])
    ahead[[a, b]] = 0.0
    given, got = (2 * PAIRS_FIRST * (has[rows].sum(axis=1) - 1) for rows in (gives, gets))
    given += 2 * PAIRS_FIRST * (has[gives] @ ahead)
    got -= 2 * PAIRS_FIRST * (has[gets] @ ahead)
    for kind in kinds:
        of_a, of_b = (np.bincount(kind[dealt.has[:, one]], minlength=kind.max() + 1) for one in (a, b))
        given += 2 * (of_b - of_a)[kind[gives]]
        got -= 2 * (of_b - of_a)[kind[gets]]
    first, second = (np.argsort(gain, kind="stable")[:LOOKED_AT] for gain in (given, got))
    gives, gets = gives[first], gets[second]
    change = given[first][:, None] + got[second] - 4 * PAIRS_FIRST * (has[gives] @ has[gets].T)
    for kind in kinds:
        change += 4 * (kind[gives][:, None] != kind[gets])
    best = int(change.argmin())
    if change.flat[best] >= 0:
        return False
    _exchange(dealt, a, b, int(gives[best // len(gets)]), int(gets[best % len(gets)]))
    return True


def _movable(dealt: Incidence, a: int, b: int) -> Ints:
    """The units that a may give to b."""
    units: Ints = np.flatnonzero(dealt.free[:, a] & ~dealt.has[:, b] & ~dealt.barred[:, b])
    return units


def _exchange(dealt: Incidence, a: int, b: int, given: int, got: int) -> None:
    for of in (dealt.has, dealt.free):
        of[given, a], of[given, b], of[got, a], of[got, b] = False, True, True, False


def _shaken(dealt: Incidence, rng: random.Random) -> Incidence:
    """The deal after some exchanges by chance."""
    dealt = replace(dealt, has=dealt.has.copy(), free=dealt.free.copy())
    people = range(dealt.has.shape[1])
    for _ in range(max(2, len(people) // 2)):
        a, b = rng.sample(people, 2)
        gives, gets = _movable(dealt, a, b), _movable(dealt, b, a)
        if len(gives) and len(gets):
            _exchange(dealt, a, b, int(rng.choice(gives)), int(rng.choice(gets)))
    return dealt
