"""How a rater turns features into an answer: what it likes, how it uses the scale, and noise."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.benchmarks.pingpong.mock.features import Features, quality


@dataclass(frozen=True)
class Taste:
    """A rater. `bias` and noise are in points of a five-point scale."""

    bias: float = 0.0
    gain: float = 1.0
    """How far opinions are stretched about the middle of the scale."""
    halo: float = 0.2
    """How far the opinion on a criterion is drawn to the mean over criteria."""
    likes: Mapping[str, float] = field(default_factory=dict)
    """Weight by name of a feature; the feature counts from 0.5 up and down."""
    noise_turn: float = 0.0
    """Standard deviation of the noise in a single turn."""
    noise_whole: float = 0.0
    """Standard deviation of the noise that stays through a conversation."""
    unsure: Mapping[str, float] = field(default_factory=dict)
    """More noise of the second kind, by name of a criterion."""


def leaning(f: Features, taste: Taste) -> dict[str, float]:
    """The taste's opinion of a turn per criterion, in points 1 to 5 (and beyond), before noise."""
    plain = quality(f)
    extra = sum(weight * (getattr(f, name) - 0.5) for name, weight in taste.likes.items())
    mean = sum(plain.values()) / len(plain)
    points = {}
    for criterion, value in plain.items():
        seen = (1 - taste.halo) * value + taste.halo * mean + extra * (0.3 if criterion == "fluency" else 1)
        points[criterion] = 1 + 4 * (0.5 + taste.gain * (seen - 0.5)) + taste.bias
    return points


def answer(points: float, low: int = 1, high: int = 5) -> int:
    """The nearest answer of the scale, for an opinion in points 1 to 5."""
    return max(low, min(high, round(low + (points - 1) / 4 * (high - low))))


def noise(rng: random.Random, sd: float) -> float:
    """Noise in points."""
    return rng.gauss(0.0, sd) if sd else 0.0
