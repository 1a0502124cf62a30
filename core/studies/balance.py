"""Evens out who rates what: pairs of annotators share equally many units, each has equally many of a kind.

Exchanges (annotator a gives unit u to b and gets unit w from b) lower the sum of squared numbers of units
that pairs share, then that of the numbers of units of a kind (a player, a scenario) that each annotator has.
They leave the load of each annotator and the raters of each unit as many as they were.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

PAIRS_FIRST = 10**6
"""What one step of evenness between pairs is worth in steps of evenness between kinds."""
LOOKED_AT = 32
"""How many units of each annotator are looked at for an exchange, those that gain most alone."""


def even_out(has: Flags, free: Flags, barred: Flags, kinds: Sequence[Ints]) -> Flags:
    """Who has which `free` unit after exchanges that each make the deal more even, as long as there is one.

    Who has a unit, whose unit may move, and who may not get it, are units × annotators; `kinds` are codes of
    the units' values, one array a variable.
    """
    has, free = has.copy(), free.copy()
    better = True
    while better:
        better = False
        for a, b in combinations(range(has.shape[1]), 2):
            while _exchanged(has, free, barred, kinds, a, b):
                better = True
    return free


def _exchanged(has: Flags, free: Flags, barred: Flags, kinds: Sequence[Ints], a: int, b: int) -> bool:
    """Make the best exchange that is seen between two annotators; False where none makes it more even."""
    gives, gets = (
        np.flatnonzero(free[:, one] & ~has[:, other] & ~barred[:, other]) for one, other in ((a, b), (b, a))
    )
    if not len(gives) or not len(gets):
        return False
    # Whole numbers, as floats, whose products numpy computes faster.
    had = has.astype(np.float64)
    ahead = had.T @ (had[:, b] - had[:, a])
    ahead[[a, b]] = 0.0
    given, got = (2 * PAIRS_FIRST * (had[rows].sum(axis=1) - 1) for rows in (gives, gets))
    given += 2 * PAIRS_FIRST * (had[gives] @ ahead)
    got -= 2 * PAIRS_FIRST * (had[gets] @ ahead)
    for kind in kinds:
        of_a, of_b = (np.bincount(kind[has[:, one]], minlength=kind.max() + 1) for one in (a, b))
        given += 2 * (of_b - of_a)[kind[gives]]
        got -= 2 * (of_b - of_a)[kind[gets]]
    first, second = (np.argsort(gain, kind="stable")[:LOOKED_AT] for gain in (given, got))
    gives, gets = gives[first], gets[second]
    change = given[first][:, None] + got[second] - 4 * PAIRS_FIRST * (had[gives] @ had[gets].T)
    for kind in kinds:
        change += 4 * (kind[gives][:, None] != kind[gets])
    best = int(change.argmin())
    if change.flat[best] >= 0:
        return False
    for rows, giver, getter in ((gives[best // len(gets)], a, b), (gets[best % len(gets)], b, a)):
        for of in (has, free):
            of[rows, giver], of[rows, getter] = False, True
    return True
