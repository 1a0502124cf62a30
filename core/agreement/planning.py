"""How many more items must people rate for an interval of a wanted width?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from core.agreement.alpha import alpha, value_counts
from core.agreement.basis import Basis, basis
from core.agreement.correlation import correlation, pairs
from core.agreement.ratings import Ratings, read_ratings
from core.agreement.resampling import Interval, Statistic, draws, interval

FEWEST_ITEMS, FARTHEST = 10, 20
"""No forecast below ten items, and none beyond this many times the items there are."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """`needed` items in all give an interval of the wanted width, if further items are like the `items` there are and rated by as many.

    None, with a reason, where it cannot be said. `rows` are the sizes looked at: items, low, high, width.
    """

    basis: Basis
    items: int
    width: float
    now: Interval
    needed: int | None = None
    reason: str = ""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def more(self) -> int | None:
        """Items still to be rated; 0 if the interval is narrow enough now."""
        return None if self.needed is None else max(self.needed - self.items, 0)


def needed(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    members: Sequence[str] = (),
    *,
    width: float = 0.2,
    resamples: int = 1000,
    seed: int = 0,
) -> Forecast:
    """The number of items for which the 95% interval is `width` wide from end to end, found by drawing resamples of other sizes.

    `members` are a judge or a panel, whose Spearman with people's mean is meant; nobody: people's ordinal alpha. The first guess lets
    the width fall with the square root of the number, and is corrected by what resamples of that size show. Undefined where the
    figure is, and beyond 20 times the items there are.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    statistic: Statistic
    if members:
        pair = pairs(scores.panel(members), scores.target)
        statistic, usable = correlation(pair), ~np.isnan(scores.panel(members)) & (scores.present > 0)
    else:
        counts, values = value_counts(scores.item, scores.score, scores.items)
        statistic, usable = alpha(counts, values, "ordinal"), scores.present > 0
    items = np.flatnonzero(usable)
    figure = "Spearman with the mean of people" if members else "alpha (ordinal) of people"
    based = basis(table, scores, resamples=resamples, seed=seed, target=figure)

    def at(size: int) -> Interval:
        drawn = [
            statistic(weights) for weights in draws(scores.items, resamples, seed, among=items, size=size)
        ]
        return interval(np.concatenate([np.empty(0), *drawn]))

    now = at(len(items))
    forecast = Forecast(based, len(items), width, now)
    if now.low is None or now.high is None:
        return replace(forecast, reason=now.reason)
    guess = max(int(np.ceil(len(items) * ((now.high - now.low) / width) ** 2)), FEWEST_ITEMS)
    if guess > FARTHEST * len(items):
        return replace(forecast, reason=f"more than {FARTHEST} times the items there are")
    then = at(guess)
    if then.low is None or then.high is None:
        return replace(forecast, reason=then.reason)
    found = int(np.ceil(guess * ((then.high - then.low) / width) ** 2))
    return replace(forecast, needed=max(found, FEWEST_ITEMS), rows=_rows({len(items): now, guess: then}))


def _rows(tried: dict[int, Interval]) -> pd.DataFrame:
    rows = [{"items": size, "low": ends.low, "high": ends.high} for size, ends in sorted(tried.items())]
    frame = pd.DataFrame(rows)
    frame["width"] = frame["high"] - frame["low"]
    return frame
