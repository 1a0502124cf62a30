"""What a judge can be expected to reach: a person who is held out, and the reliability of people's mean.

Reliability of a mean after Spearman and Brown (1910), the correction for attenuation after Spearman (1904).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.agreement.alpha import alpha, value_counts
from core.agreement.basis import Figures, basis
from core.agreement.correlation import FEWEST, correlation, pairs
from core.agreement.judges import Clusters
from core.agreement.panels import called, contenders
from core.agreement.ratings import Ratings, read_ratings
from core.agreement.reliability import spearman_brown
from core.agreement.resampling import Statistic, bootstrap, everything, interval, mean_defined

WEAK = 0.4
"""Below this alpha a correlation corrected for attenuation says more about people's noise than about the judge."""


def held_out(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    clusters: Clusters = None,
) -> Figures:
    """Each judge beside a held-out person: does it agree with the others as well as that person does?

    For every person, the mean of the others is the target, and both the judge's and the person's Spearman with it are taken
    on the items that the person, somebody else and the judge rated. A person compared with a mean of which they are part
    looks up to 0.4 better than they are; here they are not part of it.

    `rows` has one line per judge and panel: rater, members, people (how many could be compared), judge and person (means over
    people), difference (judge less person) with low and high, at_par (people whom the judge equals or passes), reason. The interval is
    paired: both correlations rest on the same draws of items; the people are taken as they are. In a resample where somebody's
    correlation is undefined, the mean is over the rest. `detail` has a line per judge and person, with n.

    Undefined: no two people on an item; people who are not persons; nobody with three items to compare.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    groups = None if clusters is None else table.facet(clusters)[0]
    raters = contenders(table, panels)
    people = [] if scores.unlinked else scores.people.tolist()
    statistics: list[Statistic] = []
    ahead: list[tuple[tuple[str, ...], str, int]] = []
    for members in raters:
        judge = scores.panel(members)
        for person in people:
            own, others = scores.of(person), scores.others(person)
            shared = np.where(np.isnan(own) | np.isnan(judge), np.nan, others)
            n = int((~np.isnan(shared)).sum())
            ahead.append((members, table.people[person], n))
            statistics += [correlation(pairs(judge, shared)), correlation(pairs(own, shared))]
    now, drawn = bootstrap(
        statistics, scores.items, resamples=resamples, seed=seed, among=table.rated, clusters=groups
    )
    enough = np.array([n >= FEWEST for _, _, n in ahead], dtype=bool)
    judge_rho, person_rho = now[::2], now[1::2]
    gap = drawn[::2] - drawn[1::2]
    detail = pd.DataFrame(
        {
            "rater": [called(members) for members, _, _ in ahead],
            "members": [members for members, _, _ in ahead],
            "person": [person for _, person, _ in ahead],
            "n": [n for _, _, n in ahead],
            "judge": np.where(enough, judge_rho, np.nan),
            "held_out": np.where(enough, person_rho, np.nan),
        }
    )
    detail["difference"] = detail["judge"] - detail["held_out"]
    rows = []
    for place, members in enumerate(raters):
        block = slice(place * len(people), (place + 1) * len(people))
        part = detail[block]
        compared = part["difference"].notna().to_numpy()
        row: dict[str, Any] = {"rater": called(members), "members": members, "people": int(compared.sum())}
        row |= dict.fromkeys(("judge", "person", "difference", "low", "high"), np.nan) | {"at_par": 0}
        if not compared.any():
            reason = (
                scores.unlinked
                or "nobody has three items to compare, rated by somebody else and the judge, that vary"
            )
            rows.append(row | {"reason": reason})
            continue
        ends = interval(mean_defined(gap[block][compared]))
        row |= {
            "judge": part["judge"][compared].mean(),
            "person": part["held_out"][compared].mean(),
            "difference": part["difference"].mean(),
            "low": np.nan if ends.low is None else ends.low,
            "high": np.nan if ends.high is None else ends.high,
            "at_par": int((part["difference"] >= 0).sum()),
        }
        rows.append(row | {"reason": f"interval: {ends.reason}" if ends.reason else ""})
    target = "against the mean of the others, one person held out at a time"
    based = basis(table, scores, resamples=resamples, seed=seed, clustered=groups is not None, target=target)
    return Figures(pd.DataFrame(rows), based, detail)


def ceilings(
    ratings: pd.DataFrame | Ratings, criterion: str, *, panels: Iterable[Sequence[str]] | None = None
) -> Figures:
    """How high a correlation people's noise allows, one row per judge and panel; description, not evidence.

    rater, members, n, spearman (with the mean of people), reliability (of that mean: Spearman–Brown from interval alpha, for the
    harmonic mean of people per item), attainable (its square root, what a judge who knew the truth would reach), corrected (spearman ÷
    attainable; above 1 only by chance), weak (alpha below 0.4: do not read corrected), reason. Undefined where alpha is, or is not above 0.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    counts, values = value_counts(scores.item, scores.score, scores.items)
    whole = everything(scores.items)
    single = float(alpha(counts, values, "interval")(whole)[0])
    present = scores.present[scores.present > 0]
    people = len(present) / (1 / present).sum() if len(present) else 0.0
    reliability = float(spearman_brown(single, people)) if single > 0 else np.nan
    attainable = np.sqrt(reliability)
    rows = []
    for members in contenders(table, panels):
        pair = pairs(scores.panel(members), scores.target)
        n = int(pair.gather.sum())
        rho = float(correlation(pair)(whole)[0]) if n >= FEWEST else np.nan
        why = f"{n} items in common, or equal scores" if np.isnan(rho) else ""
        why = "people do not agree beyond chance, or cannot be compared" if np.isnan(reliability) else why
        rows.append(
            {
                "rater": called(members),
                "members": members,
                "n": n,
                "spearman": rho,
                "reliability": reliability,
                "attainable": attainable,
                "corrected": rho / attainable,
                "weak": bool(single < WEAK),
                "reason": why,
            }
        )
    note = f"reliability for {people:.3g} people per item (harmonic mean)"
    return Figures(pd.DataFrame(rows), basis(table, scores, notes=(note,)))
