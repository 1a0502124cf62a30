"""Which items people should rate next: where a judge is expected to err."""

import numpy as np

from concord.statistics.ratings import Floats

FEWEST = 20
"""Fewer items that people and judges scored do not tell where judges err: their disagreement alone does."""

FLOOR = 0.25
"""The share of a draw that is a simple random sample unless told: no item is left out, whatever is
predicted."""


def expected_error(judged: Floats, spread: Floats, people: Floats) -> Floats:
    """How far people's score is expected to lie from what judges' score predicts, for each item; above 0.

    `judged` is the judges' mean, `spread` their standard deviation on the item, `people` people's mean; nan
    where there is none. Where 20 items have all three, people's score is regressed on the judges', and the
    absolute residual on the judges' spread and on how far their score is from its mean (least squares), but
    no item gets less than a quarter of the mean. Else it is the spread and its mean. Items without judges get
    the mean. It makes a draw efficient; no estimate depends on its being right.
    """
    seen = ~np.isnan(judged)
    size = np.ones(len(judged))
    if not seen.any():
        return size
    apart = np.nan_to_num(spread)
    far = np.abs(judged - judged[seen].mean())
    both = seen & ~np.isnan(people)
    if both.sum() >= FEWEST:
        line = np.stack([np.ones(both.sum()), judged[both]], axis=1)
        gap = people[both] - line @ np.linalg.lstsq(line, people[both])[0]
        given = np.stack([np.ones(len(judged)), apart, np.nan_to_num(far)], axis=1)
        expected = given @ np.linalg.lstsq(given[both], np.abs(gap))[0]
        least = np.abs(gap).mean() / 4
        size = np.maximum(expected, least) if least > 1e-9 else size
    elif apart[seen].mean() > 1e-9:
        size = by_disagreement(np.where(seen, apart, np.nan))
    size[~seen] = size[seen].mean()
    return np.asarray(size / size.mean())


def by_disagreement(spread: Floats) -> Floats:
    """Sizes that follow judges' standard deviation on each item (nan: the mean of the others).

    The mean is added, as an item on which judges agree by chance may be one on which people differ from them:
    by the standard deviation alone the interval of people's mean is 5 to 18% wider than that of an even draw
    (`bench/draws.py`), with the mean added 9% narrower to 2% wider.
    """
    usual = float(np.nanmean(spread))
    return np.asarray(np.where(np.isnan(spread), usual, spread) + usual)


def chances(size: Floats, n: float) -> Floats:
    """The probability of each item to be among `n` drawn, proportional to its size.

    An item that would pass 1 is drawn for certain, and the others share the rest. The probabilities sum to n.
    Neyman (1934) for sizes.
    """
    chance = np.zeros(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while not certain.all():
        left = n - certain.sum()
        chance[certain] = 1.0
        chance[~certain] = left * size[~certain] / size[~certain].sum()
        over = ~certain & (chance >= 1)
        if not over.any():
            break
        certain |= over
    return np.minimum(chance, 1.0)
