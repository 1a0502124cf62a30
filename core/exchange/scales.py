"""The scale of a criterion: given by the user, or deduced from people's scores."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from core.errors import ImportRefused
from core.rating import Scale, points

MOST_ANSWERS = 21
"""Whole numbers over a wider range than this are a continuous scale."""


def deduced(scores: Collection[float]) -> Scale:
    """The scale of scores: whole numbers from the least to the greatest, else the range between them.

    A single value gets a neighbour, because a scale needs two answers.
    """
    low, high = min(scores), max(scores)
    whole = all(score == int(score) for score in scores)
    if low == high:
        low = low - 1 if low >= 1 else low
        high = high if high > low else high + 1
    if whole and high - low < MOST_ANSWERS:
        return points(int(low), int(high))
    return Scale((low, high), (f"{low:g}", f"{high:g}"), continuous=True)


def told(option: str) -> tuple[str, Scale]:
    """“fluency=1-5” or “fluency=1:bad,2:fair,3:good” as criterion and scale. Raises ImportRefused."""
    criterion, _, answers = option.rpartition("=")
    wholes = re.fullmatch(r"\s*(-?\d+)\s*(?:-|\.\.)\s*(-?\d+)\s*", answers)
    try:
        if not criterion.strip():
            raise ValueError
        if wholes:
            return criterion.strip(), points(int(wholes[1]), int(wholes[2]))
        pairs = [answer.partition(":") for answer in answers.split(",")]
        values = tuple(float(value) for value, _, _ in pairs)
        if not all(map(math.isfinite, values)):
            raise ValueError
        labels = tuple(label.strip() or value.strip() for value, _, label in pairs)
        return criterion.strip(), Scale(values, labels)
    except ValueError:
        raise ImportRefused(
            f"--scale {option} is not understood. Write criterion=1-5, or criterion=1:bad,2:fair,3:good with "
            "the answers rising."
        ) from None
