"""How a rater turns features into an answer: feature_bias, use of the scale, and noise."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.demo.mock.features import Features, quality


@dataclass(frozen=True)
class Taste:
    """A rater. An opinion is (quality + likes − dislikes), drawn towards its mean over criteria by `halo`, stretched by `gain` about 0.5,
    shifted by `bias` (in points of a five-point scale), and blurred by noise."""

    bias: float = 0.0
    gain: float = 1.0
    halo: float = 0.2
    likes: Mapping[str, float] = field(default_factory=dict)
    """Weight by name of a feature; the feature counts from 0.5 up and down."""
    blur_turn: float = 0.0
    """Standard deviation of the noise in a single turn, in points."""
    blur_whole: float = 0.0
    """Standard deviation of the noise that stays through a conversation, in points."""
    unsure: Mapping[str, float] = field(default_factory=dict)
    """More noise of the same kind, by name of a criterion."""


def leaning(f: Features, taste: Taste) -> dict[str, float]:
    """The taste's opinion of a turn per criterion, in points 1 to 5 (and beyond), before noise."""
    plain = quality(f)
    extra = sum(weight * (getattr(f, name) - 0.5) for name, weight in taste.likes.items())
    mean = sum(plain.values()) / len(plain)
    points = {}
    for criterion, value in plain.items():
        seen = (
            (1 - taste.halo) * value + taste.halo * mean + (extra if criterion != "fluency" else 0.3 * extra)
        )
        points[criterion] = 1 + 4 * (0.5 + taste.gain * (seen - 0.5)) + taste.bias
    return points


def answer(points: float, low: int = 1, high: int = 5) -> int:
    """The nearest answer of the scale, for an opinion in points 1 to 5."""
    return max(low, min(high, round(low + (points - 1) / 4 * (high - low))))


def blur(rng: random.Random, sd: float) -> float:
    """Noise in points."""
    return rng.gauss(0.0, sd) if sd else 0.0
