"""Rankings of the same players: how far two agree, and the ranks that are open."""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from concord.estimate import Estimate, undefined
from concord.statistics.correlation import FEWEST, rank_correlation, spearman_p, too_few
from concord.statistics.ratings import Floats


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
