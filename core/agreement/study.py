"""The figures of a study: how far people agree with each other, and judges and panels with people.

After the agreement tables of the PingPong paper, with what it leaves out: intervals, the ceiling, the other coefficients.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.agreement.alpha import alpha, value_counts, why_undefined
from core.agreement.correlation import FEWEST, Pairs, correlation, once, p_value, pairs, spearman
from core.agreement.panels import default_panels
from core.agreement.ratings import DIGITS, FINAL, Floats, Ratings, Scores, read_ratings
from core.agreement.resampling import Interval, Statistic, bootstrap, interval


def study_agreement(
    ratings: pd.DataFrame | Ratings,
    *,
    criteria: Sequence[str] | None = None,
    counted: Sequence[str] | None = None,
    panels: Iterable[Sequence[str]] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    study: str = "",
    anonymous_people: bool = False,
    exclude_units: Iterable[Hashable] | Mapping[Hashable, str] = (),
    clusters: Mapping[Hashable, Hashable] | pd.Series | None = None,
) -> dict[str, Any]:
    """Every figure of a study as plain values, ready for `json.dumps`.

    `ratings` and the arguments about it are those of `read_ratings`. `panels` (default: `default_panels`) are sets of judges,
    read as their mean on the items that all of them rated. Judges are compared with the mean of all people present on an item.

    The result is ``{"study", "items", "resamples", "seed", "criteria": {name: {"humans", "judges", "panels"}}}``, and with
    `clusters` how many of them there are:

    - humans: ``raters`` and ``items`` (how many; items with at least one person), ``alpha`` (Krippendorff, ordinal and interval:
      ``value``, ``ci``), ``pairs`` (Spearman of two people on the ``n`` items both rated), ``each`` (Spearman of a person with the
      mean of all, themselves included, and with the mean of the others: the ceiling; both on the ``n`` items that somebody else
      rated too);
    - judges and panels: ``spearman`` with ``p`` (Student's t, two-sided) and ``ci``, ``kendall`` (tau-b), ``pearson``, ``n``.

    ``items`` counts the study's items, rated by people or not. Intervals are 95% percentile bootstraps: `resamples` draws, with
    replacement, of as many items as people rated, from these, the same draws for every figure; with `clusters` (unit → cluster) whole clusters are drawn. A figure undefined in more than 5% of the draws has
    no interval. What is undefined is None, and a sibling ``reason`` says why: no people, no judges, one person, fewer than three items
    in common, ratings that are all equal. Where figures of one object are undefined for different reasons, the reason names each.

    Raises StudyError for ratings that cannot be read, and for a panel of unknown judges.
    """
    table = read_ratings(
        ratings,
        criteria=criteria,
        counted=counted,
        exclude_units=exclude_units,
        anonymous_people=anonymous_people,
    )
    chosen = default_panels(table.judges) if panels is None else _distinct(panels)
    parts = {name: measured(scores, table.judges, chosen) for name, scores in table.criteria.items()}
    items = len(table.units)
    groups = None if clusters is None else table.facet(clusters)[0]
    statistics = [statistic for part in parts.values() for statistic in part.statistics]
    own, drawn = bootstrap(
        statistics, items, resamples=resamples, seed=seed, among=table.rated, clusters=groups
    )
    figures = iter(zip(own.tolist(), map(interval, drawn), strict=True))
    result: dict[str, Any] = {"study": study, "items": items, "resamples": resamples, "seed": seed}
    if groups is not None:
        # Items of no cluster are drawn one by one.
        drawn_from = groups[table.rated]
        result["clusters"] = len(np.unique(drawn_from[drawn_from >= 0])) + int((drawn_from < 0).sum())
    result["criteria"] = {
        name: _criterion(table, part, list(itertools.islice(figures, len(part.statistics))))
        for name, part in parts.items()
    }
    if not items:
        result["reason"] = "the study has no ratings"
    return result


@dataclass(frozen=True, eq=False)
class Compared:
    """A judge or a panel on one criterion: its members, its score of every item, and the pairs it makes with people's mean."""

    names: tuple[str, ...]
    score: Floats
    pairs: Pairs


@dataclass(frozen=True, eq=False)
class Measured:
    """One criterion's figures as statistics of weights: alpha ordinal, alpha interval, then Spearman of each rater."""

    scores: Scores
    counts: sparse.csr_array
    judges: Sequence[Compared]
    panels: Sequence[Compared]
    statistics: Sequence[Statistic]


def measured(scores: Scores, judges: Sequence[str], panels: Sequence[tuple[str, ...]]) -> Measured:
    """Prepare one criterion's figures."""

    def compared(names: tuple[str, ...]) -> Compared:
        score = scores.panel(names)
        return Compared(names, score, pairs(score, scores.target))

    single, several = [compared((name,)) for name in judges], [compared(panel) for panel in panels]
    counts, values = value_counts(scores.item, scores.score, scores.items)
    statistics = [
        alpha(counts, values, "ordinal"),
        alpha(counts, values, "interval"),
        *(correlation(rater.pairs) for rater in single + several),
    ]
    return Measured(scores, counts, single, several, statistics)


def _distinct(panels: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    return list({frozenset(panel): tuple(dict.fromkeys(panel)) for panel in panels}.values())


Figure = tuple[float, Interval]


def _criterion(table: Ratings, part: Measured, figures: Sequence[Figure]) -> dict[str, Any]:
    people, figures = figures[:2], figures[2:]
    judges = zip(part.judges, figures[: len(part.judges)], strict=True)
    panels = zip(part.panels, figures[len(part.judges) :], strict=True)
    result: dict[str, Any] = {
        "humans": _humans(table, part, people),
        "judges": [{"rater": one.names[0], **_rater(part.scores, one, *figure)} for one, figure in judges],
        "panels": [
            {"judges": list(one.names), **_rater(part.scores, one, *figure)} for one, figure in panels
        ],
    }
    if not part.judges:
        result["reason"] = "the study has no judges"
    return result


def _humans(table: Ratings, part: Measured, figures: Sequence[Figure]) -> dict[str, Any]:
    scores = part.scores
    found = why_undefined(part.counts)
    linked = not (scores.unlinked and not len(scores.item))
    reason = found if linked else scores.unlinked
    result: dict[str, Any] = {
        "raters": len(scores.people) if linked else len(table.people),
        "items": int((scores.present > 0).sum()),
        "alpha": {
            metric: _alpha(*figure, reason)
            for metric, figure in zip(("ordinal", "interval"), figures, strict=True)
        },
        "pairs": [],
        "each": [],
    }
    if not result["items"]:
        result["raters"] = 0
        final = scores.criterion == FINAL and table.counted
        result["reason"] = (
            f"no person rated {'every criterion that enters final' if final else 'this criterion'}"
        )
    elif scores.unlinked:
        result["reason"] = scores.unlinked
    elif len(scores.people) < 2:
        result["reason"] = "one person alone cannot be compared"
    else:
        result["pairs"] = _pairs(table.people, scores)
        result["each"] = [_each(table.people[person], scores, person) for person in scores.people.tolist()]
    return result


def _alpha(value: float, ends: Interval, reason: str) -> dict[str, Any]:
    if reason:
        return {"value": None, "ci": None, "reason": reason}
    return {"value": value, "ci": ends.ends} | ({"reason": f"ci: {ends.reason}"} if ends.reason else {})


def _pairs(names: Sequence[str], scores: Scores) -> list[dict[str, Any]]:
    """Spearman of every two people on the items both rated. One rater's row of codes at a time keeps it small."""
    people = scores.people.tolist()
    table = np.stack([scores.of(person) for person in people])
    rows = []
    for first, person in enumerate(people[:-1]):
        item, own = scores.by(person)
        theirs = table[first + 1 :, item]
        for other, score in zip(people[first + 1 :], theirs, strict=True):
            both = ~np.isnan(score)
            x, y = own[both], score[both]
            row = {"a": names[person], "b": names[other], "spearman": _number(spearman(x, y)), "n": len(x)}
            rows.append(row | _because(row["spearman"], x, y, names[person], names[other]))
    return rows


def _each(name: str, scores: Scores, person: int) -> dict[str, Any]:
    others = scores.others(person)
    shared = np.flatnonzero(~np.isnan(others))
    own, rest, everyone = scores.of(person)[shared], others[shared], scores.target[shared]
    all_, rest_ = _number(spearman(own, everyone)), _number(spearman(own, rest))
    row = {"rater": name, "vs_all": all_, "vs_others": rest_, "n": len(shared)}
    if rest_ is None:
        return row | _because(None, own, rest, name, "the others' mean")
    return row | _because(all_, own, everyone, name, "the mean of all")


def _rater(scores: Scores, rater: Compared, rho: float, ends: Interval) -> dict[str, Any]:
    both = ~np.isnan(rater.score) & ~np.isnan(scores.target)
    x, y = rater.score[both], scores.target[both]
    n = len(x)
    figures = ("spearman", "p", "ci", "kendall", "pearson")
    undefined: dict[str, Any] = dict.fromkeys(figures) | {"n": n}
    if not (scores.present > 0).any():
        return undefined | {"reason": "no person's rating to compare with"}
    called = rater.names[0] if len(rater.names) == 1 else "the panel"
    if np.isnan(rater.score).all():
        nothing = (
            "no item was rated by every member" if len(rater.names) > 1 else f"{called} rated nothing here"
        )
        return undefined | {"reason": nothing}
    if n < FEWEST or math.isnan(rho):
        return undefined | _because(None, x, y, called, "people's mean")
    p, why_p = p_value(rho, n)
    tau, r = _number(once(rater.pairs, "kendall")), _number(once(rater.pairs, "pearson"))
    row = dict(zip((*figures, "n"), (rho, p, ends.ends, tau, r, n), strict=True))
    reasons = [f"{what}: {why}" for what, why in (("p", why_p), ("ci", ends.reason)) if why]
    return row | ({"reason": "; ".join(reasons)} if reasons else {})


def _because(value: Any, x: Floats, y: Floats, a: str, b: str) -> dict[str, str]:
    """The sibling “reason” of a correlation that is None; nothing for one that is not."""
    if value is not None:
        return {}
    if len(x) < FEWEST:
        few = "no item" if not len(x) else "one item" if len(x) == 1 else f"{len(x)} items"
        return {"reason": f"{few} in common, at least {FEWEST} are needed"}
    constant = [name for name, scores in ((a, x), (b, y)) if len(np.unique(np.round(scores, DIGITS))) < 2]
    return {
        "reason": f"{' and '.join(constant)} {'are' if len(constant) > 1 else 'is'} constant on the items in common"
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
