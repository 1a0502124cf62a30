"""Answers to twelve items, and the figures that they have, computed the plain way."""

import numpy as np
from scipy.stats import spearmanr

import concord

IDS = [f"q{n}" for n in range(1, 13)]
HUMAN = [5, 2, 4, 1, 3, 5, 2, 4, 1, 3, 4, 2]
OTHER = [5, 1, 4, 2, 3, 4, 2, 5, 1, 2, 4, 3]
JUDGE = [4, 2, 5, 1, 3, 5, 1, 4, 2, 2, 4, 3]
SECOND = [5, 3, 4, 1, 2, 5, 2, 3, 2, 3, 5, 1]
MEAN = [(a + b) / 2 for a, b in zip(HUMAN, OTHER, strict=True)]


def rho(x, y):
    return spearmanr(x, y)[0]


def kappa(x, y):
    """Cohen's kappa by its definition."""
    same = np.mean([a == b for a, b in zip(x, y, strict=True)])
    chance = sum(np.mean([a == c for a in x]) * np.mean([b == c for b in y]) for c in {*x, *y})
    return (same - chance) / (1 - chance)


def passes(scores):
    return ["pass" if score > 2 else "fail" for score in scores]


def checked(table, **options):
    return concord.check(table, resamples=0, **options)


def taken(found, title):
    lines = dict(line.split(": ", 1) for line in found.taken)
    return lines.get(title, "").split(", ")
