"""Means of items with percentile intervals over resampled items."""

from __future__ import annotations

import numpy as np

from core.agreement.ratings import DIGITS, Floats
from core.agreement.resampling import draws, resampled
from core.estimate import Estimate, estimate, undefined


def mean_estimates(
    sums: Floats, counts: Floats | None = None, *, resamples: int, seed: int, of: str
) -> list[Estimate]:
    """The mean of each column of `sums` (items × columns), rounded to DIGITS.

    `counts` says how many values each sum is of (one each, unless given): a mean is the sum of sums over the
    sum of counts. Items are resampled, all columns by the same draws. `of` is what an item is called in
    reasons.
    """
    items, columns = sums.shape
    if not items:
        return [undefined(f"no {of} to average", n=0)] * columns
    counts = np.ones_like(sums) if counts is None else counts
    means = (sums.sum(axis=0) / counts.sum(axis=0)).round(DIGITS)
    if items == 1:
        return [estimate(mean, n=items, reason=f"one {of} has no spread") for mean in means]
    parts = [(w.T @ sums) / (w.T @ counts) for w in draws(items, resamples, seed)]
    drawn = np.concatenate([np.empty((0, columns)), *parts]).round(DIGITS)
    return [resampled(mean, column, n=items) for mean, column in zip(means, drawn.T, strict=True)]
