"""Rankings of the same players: how far several agree, and the ranks that are open."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from concord.estimate import Estimate, undefined
from concord.statistics.correlation import FEWEST, midranks, rank_correlation, spearman_p, too_few
from concord.statistics.figures import PointEstimate, measured
from concord.statistics.intervals import bounded
from concord.statistics.pairwise import Row
from concord.statistics.ratings import Floats
from concord.statistics.resampling import mean


def orders(given: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The ranks (rater × player, 1 the best, ties at their mean) by group of three players or more.

    `given` has the columns scenario, one, other, rater and outcome. A rank is one more than the number of
    players that are better, and a half more for each that is as good. Whoever has no outcome for every two of
    a group is left out of it.
    """
    turned = given.rename(columns={"one": "other", "other": "one"}).assign(outcome=-given.outcome)
    both = pd.concat([given, turned])
    groups = {}
    for scenario, rows in both.groupby("scenario"):
        n = rows.one.nunique()
        losses = rows.assign(lost=(1 - rows.outcome) / 2).pivot_table("lost", "rater", "one", "sum")
        whole = rows.groupby("rater").size() == n * (n - 1)
        if n >= FEWEST and whole.any():
            groups[str(scenario)] = 1 + losses[whole]
    return groups


def among(groups: Iterable[Floats], **draws: int) -> Row:
    """Agreement of several orders of each group (raters × players): the mean over groups of Spearman's rho of
    every two of them.
    """
    rhos = [_over([_rho(x, y) for x, y in combinations(of, 2)]) for of in groups if len(of) > 1]
    return {"rho": _mean(rhos, **draws)}


def beside(groups: Iterable[tuple[Floats, Floats]], **draws: int) -> Row:
    """Agreement of two sides' orders of each group: the mean over groups of Spearman's rho of mean ranks."""
    return {"rho": _mean([_rho(a.mean(axis=0), b.mean(axis=0)) for a, b in groups], **draws)}


def _rho(x: Floats, y: Floats) -> float:
    """Spearman's rho; nan where one of the two has only ties."""
    x, y = midranks(x), midranks(y)
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread else float("nan")


def _over(values: Sequence[float]) -> float:
    """The mean of those that are defined."""
    there = [value for value in values if not np.isnan(value)]
    return sum(there) / len(there) if there else float("nan")


def _mean(values: Sequence[float], *, resamples: int = 0, seed: int = 0) -> Estimate:
    """The mean over groups, which are resampled; nan is left out."""
    n = int((~np.isnan(values)).sum())
    figure = PointEstimate(
        mean(np.array(values, float)),
        n,
        reason="no group of three or more was put in order by both",
        kind=bounded(-1, 1),
    )
    [of] = measured([figure], len(values), resamples=resamples, seed=seed)
    return of if resamples or not of.defined else Estimate(of.value, n=n)


def against(here: Floats, there: Floats) -> tuple[Estimate, Estimate]:
    """Spearman's rho of two scores of the same models, and its p.

    Undefined for fewer than three models or equal scores. p is scipy's, by Student's t with n − 2 degrees of
    freedom.
    """
    rho, n = rank_correlation(here, there, "here", "there"), len(here)
    if rho.defined:
        return rho, spearman_p(rho)
    why = too_few(n, "model") if n < FEWEST else "one of the two scores them all alike"
    return undefined(why, n=n), undefined(why, n=n)


def open_places(scores: Sequence[Floats]) -> list[str]:
    """The ranks that each player may have, such as “1 or 2”, by the scores of its conversations; best first.

    A player is behind another whose mean is significantly greater, by Welch's t at 5% shared by Bonferroni
    over its comparisons with all others. The set holds the true rank in 95% of samples at least (Mogstad,
    Romano, Shaikh and Wilhelm, “Inference for Ranks with Applications to Mobility across Neighbourhoods and
    Academic Achievement across Countries”, Review of Economic Studies 2024, with Bonferroni in place of their
    bootstrap). A player with fewer than two conversations may have every rank.
    """
    if len(scores) < 2:
        return ["1"] * len(scores)
    n = np.array([len(of) for of in scores], float)
    means = np.array([of.mean() for of in scores])
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.array([of.var(ddof=1) if len(of) > 1 else np.inf for of in scores]) / n
        gap, error = means[:, None] - means, spread[:, None] + spread
        freedom = error**2 / (spread[:, None] ** 2 / (n[:, None] - 1) + spread**2 / (n - 1))
        limit = stdtrit(np.nan_to_num(freedom, nan=1.0, posinf=1.0), 1 - 0.025 / (len(scores) - 1))
        apart = gap > limit * np.sqrt(error)
    np.fill_diagonal(apart, False)
    ahead, behind = apart.sum(axis=0), apart.sum(axis=1)
    return [
        str(first) if first == last else f"{first} {'or' if last == first + 1 else 'to'} {last}"
        for first, last in zip((1 + ahead).tolist(), (len(scores) - behind).tolist(), strict=True)
    ]
