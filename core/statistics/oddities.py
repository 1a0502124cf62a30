"""Raters that copy another one, and raters that always give the same answer."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from concord.statistics.correlation import rank_correlation
from concord.statistics.ratings import DIGITS, CriterionScores, Floats

FEWEST = 10
"""Common items below which nobody is said to copy."""

COPY, AHEAD = 0.95, 0.2
"""A judge copies a person with whom its ρ is at least this, and higher by so much than with anybody else."""


class Copy(NamedTuple):
    """A judge, the person whose answers it repeats, its ρ with that person, and the highest with another."""

    judge: str
    person: str
    rho: float
    next: float


def copies(scores: CriterionScores, people: Sequence[str]) -> list[Copy]:
    """Judges whose Spearman correlation with one person is near 1 and far above that with anybody else.

    None without two persons who share ten items with the judge: a judge that agrees with everybody that well
    copies nobody.
    """
    if scores.unlinked:
        return []
    own = {people[person]: scores.of(person) for person in scores.people.tolist()}
    found = []
    for judge, score in scores.judges.items():
        known = []
        for person, theirs in own.items():
            if np.isfinite(score + theirs).sum() >= FEWEST:
                rho = rank_correlation(score, theirs, judge, person).value
                known += [] if rho is None else [(rho, person)]
        if len(known) > 1:
            (beyond, _), (rho, person) = sorted(known)[-2:]
            if rho >= COPY and rho - beyond >= AHEAD:
                found.append(Copy(judge, person, rho, beyond))
    return found


def duplicates(scores: CriterionScores, people: Sequence[str]) -> list[tuple[str, ...]]:
    """Persons, and judges, who gave the same answers to the same ten items or more, not all equal."""
    own = {} if scores.unlinked else {people[p]: scores.of(p) for p in scores.people.tolist()}
    return [*_alike(own), *_alike(dict(scores.judges))]


def constants(scores: CriterionScores, people: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Persons who gave one and the same answer to three items or more: the answer, and to how many."""
    if scores.unlinked:
        return {}
    given = {people[person]: scores.by(person)[1] for person in scores.people.tolist()}
    return {
        name: (float(score[0]), len(score))
        for name, score in given.items()
        if len(score) > 2 and np.ptp(score) <= 10**-DIGITS
    }


def _alike(given: dict[str, Floats]) -> list[tuple[str, ...]]:
    groups: dict[bytes, list[str]] = {}
    for name, score in given.items():
        known = score[~np.isnan(score)]
        if len(known) >= FEWEST and np.ptp(known) > 10**-DIGITS:
            groups.setdefault(np.round(score, DIGITS).tobytes(), []).append(name)
    return [tuple(names) for names in groups.values() if len(names) > 1]
