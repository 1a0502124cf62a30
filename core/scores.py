"""What a score is: a rater's final, a panel's score, what a refusal does, and how a rater is labelled.

List, conversation page, leaderboard and agreement all compute their scores here; docs/scores.md states the
rules. Missing scores are nan. Results are rounded to DIGITS where they are stored, compared or shown, and
never before.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import filterfalse
from math import isnan, nan
from operator import add
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from concord.rating import Criterion, Rater, RaterKind

if TYPE_CHECKING:
    import pandas as pd

FINAL = "final"
OVERALL = "Overall score"
"""What readers call it."""
DIGITS = 9
"""Scores are rounded to this many digits before they are compared, so that equal averages are equal."""

LARGEST = 1e9
"""A score farther from 0 is taken for a slip: squares of larger ones leave the precision of a figure."""

Values = TypeVar("Values", float, npt.NDArray[np.float64], "pd.Series[float]")
R = TypeVar("R", bound=Hashable)


def in_play(
    criteria: Sequence[Criterion], answered_names: Collection[str], kind: RaterKind = "human"
) -> tuple[str, ...]:
    """The criteria that the final of one kind of rater consists of. `answered_names` are those that any
    rater of the kind answered.

    A counted criterion is in play even if nobody answered it, unless it is conditional (asked of some
    conversations only). If no criteria are known, all that were answered are in play. None are where their
    scales have different widths: see `no_final`.
    """
    if not criteria:
        return tuple(answered_names)
    in_mean = []
    for criterion in criteria:
        if criterion.counted and (criterion.name in answered_names or not criterion.conditional):
            in_mean.append(criterion)
    if no_final(in_mean, kind):
        return ()
    return tuple(criterion.name for criterion in in_mean)


def no_final(criteria: Sequence[Criterion], kind: RaterKind = "human") -> str:
    """Why people's, or judges', answers to these criteria have no mean; “” where they have one.

    On a wider scale answers lie farther apart, so that it would decide the mean and its order. Widths that
    were guessed from answers are taken for equal.
    """
    widths: dict[float, str] = {}
    for c in criteria:
        scale = c.scale_of(kind)
        if not scale.guessed:
            description = f"“{c.label}” from {scale.low:g} to {scale.high:g}"
            widths.setdefault(scale.high - scale.low, description)
    if len(widths) < 2:
        return ""
    return (
        f"There is no overall score: {' and '.join(list(widths.values())[:2])} have different widths, so "
        "the wider scale would dominate. Count criteria of one scale only."
    )


def final(means: Sequence[Values], weights: Sequence[float] | None = None) -> Values:
    """A rater's final: the weighted mean of their means of the criteria in play; nan where one of these is
    missing.

    Takes numbers (one unit) or arrays (many units).
    """
    if weights is None:
        return panel(means)
    weighted = [criterion_mean * weight for criterion_mean, weight in zip(means, weights, strict=True)]
    total: Values = reduce(add, weighted)
    return total / sum(weights)


def panel(scores: Sequence[Values]) -> Values:
    """A panel's score: the mean over its judges; nan where one of them has none. Takes numbers or arrays."""
    total: Values = reduce(add, scores)
    return total / len(scores)


def complete(finals: Iterable[float]) -> list[float]:
    """The finals that are defined."""
    return list(filterfalse(isnan, finals))


def mean(scores: Collection[float]) -> float | None:
    """The rounded score of a panel of which every judge has a final; None for no judges."""
    if not scores:
        return None
    return round(panel(list(scores)), DIGITS)


def is_refusal(score: float) -> bool:
    """Whether a rater saw a refusal: a score above 0 on the benchmark's criterion for it, at any turn.

    One judge who saw a refusal is enough: the conversation counts as refused, and leaderboards leave it out
    of their means. Agreement leaves it out unless told otherwise. It never changes a conversation's own
    scores.
    """
    return score > 0


Parts = Mapping[R, Sequence[Sequence[int]]]
"""Of which sums, by their place, each rater's mean of each criterion in play is made."""


def parts_of_finals(
    sums: Sequence[tuple[R, RaterKind, str, str]], criteria: Mapping[str, Sequence[Criterion]]
) -> Parts[R]:
    """What finals are made of: the same for all conversations with sums (rater, kind, scope, criterion) like
    these.

    `criteria` maps a scope (a benchmark for judges, a study for people) to what it asks. Somebody who rated
    in several studies has the criteria of all of them in play, and one mean of each. Raters of whom nothing
    counted is asked are excluded.
    """
    answered_names: dict[tuple[str, RaterKind], set[str]] = {}
    for _, kind, scope, criterion in sums:
        answered_names.setdefault((scope, kind), set()).add(criterion)
    names_in_play: dict[tuple[str, RaterKind], tuple[str, ...]] = {}
    for (scope, kind), names in answered_names.items():
        names_in_play[scope, kind] = in_play(criteria.get(scope, ()), names, kind)
    parts: dict[R, dict[str, list[int]]] = {}
    for place, (rater, kind, scope, criterion) in enumerate(sums):
        for name in names_in_play[scope, kind]:
            places_by_name = parts.setdefault(rater, {})
            places = places_by_name.setdefault(name, [])
            if name == criterion:
                places.append(place)
    return {rater: list(places_by_name.values()) for rater, places_by_name in parts.items()}


def finals_of(parts: Parts[R], totals: Sequence[float], counts: Sequence[int]) -> dict[R, float]:
    """The finals that these parts make: each the mean of means that are divided once; nan where one lacks."""
    finals: dict[R, float] = {}
    for rater, places_of_criteria in parts.items():
        means = [_mean(places, totals, counts) for places in places_of_criteria]
        finals[rater] = sum(means) / len(means)
    return finals


def _mean(places: Sequence[int], totals: Sequence[float], counts: Sequence[int]) -> float:
    """The mean of a criterion from the sums at these places; nan where there are none."""
    if not places:
        return nan
    if len(places) == 1:
        return totals[places[0]] / counts[places[0]]
    parts: list[float] = []
    count = 0
    for place in places:
        parts.append(totals[place])
        count += counts[place]
    return sum(parts) / count


@dataclass(frozen=True)
class Line:
    """One criterion (or final): every rater's mean, the judges' mean and people's; None without any."""

    criterion: str
    raters: Mapping[Rater, float]
    judges: float | None
    people: float | None


def scorecard(means: Iterable[tuple[str, Rater, float]], finals: Mapping[Rater, float]) -> list[Line]:
    """What one conversation was given: a line for each criterion in the order they come, then one for final.

    The line of the overall score is omitted if no one has it, and if there is only one criterion.
    """
    means_of: dict[str, dict[Rater, float]] = {}
    for criterion, rater, mean_of_rater in means:
        means_of.setdefault(criterion, {})[rater] = mean_of_rater
    lines: list[Line] = []
    for criterion, by_rater in means_of.items():
        lines.append(_line(criterion, by_rater))
    if finals and len(lines) > 1:
        lines.append(_line(FINAL, finals))
    return lines


def _line(criterion: str, means: Mapping[Rater, float]) -> Line:
    judges: list[float] = []
    people: list[float] = []
    rounded: dict[Rater, float] = {}
    for rater, value in means.items():
        rounded[rater] = round(value, DIGITS)
        if rater.kind == "judge":
            judges.append(value)
        elif rater.kind == "human":
            people.append(value)
    return Line(criterion, rounded, mean(judges), mean(people))


def labels(raters: Iterable[Rater], *, mark_simulated: bool = False) -> dict[Rater, str]:
    """What to call each rater: the name, with the prompt's version where the same name answered several.

    With `mark_simulated` a rater that is neither a person nor a language model is marked where its name does
    not say so.
    """
    distinct_raters = list(dict.fromkeys(raters))
    versions: Counter[tuple[RaterKind, str]] = Counter()
    for rater in distinct_raters:
        versions[rater.kind, rater.name] += 1
    names = {}
    for rater in distinct_raters:
        name = rater.name
        if versions[rater.kind, rater.name] > 1 and rater.variant:
            name = f"{rater.name} {rater.variant}"
        names[rater] = marked(name, mark_simulated and rater.simulated)
    return names


def marked(name: str, simulated: bool) -> str:
    """A name with “(simulated)” behind it where it is simulated and does not say so."""
    if not simulated or "simulated" in name or "mock" in name:
        return name
    return f"{name} (simulated)"


def run_label(label: str, run: int) -> str:
    """What to call one run of a judge that was asked several times; `run` counts from 0."""
    return f"{label} #{run + 1}"
