"""What the best of many judges or panels is worth."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from concord.estimate import too_few, undefined
from concord.statistics import columns
from concord.statistics.correlation import correlation, point
from concord.statistics.figures import (
    WEIGHED,
    Drawing,
    cluster_codes,
    count_clusters,
    described,
    effective,
    empty,
    tabulate,
)
from concord.statistics.intervals import (
    CORRELATION,
    DIFFERENCE,
    resampled,
    simultaneous,
    simultaneous_differences,
)
from concord.statistics.ratings import Bools, CriterionScores, Floats, Ratings, called
from concord.statistics.resampling import Statistic, bootstrap, mean_defined
from concord.table import Column, Table

SEARCH = empty(
    "search",
    "Search for the best panel",
    columns.RATER,
    columns.N,
    columns.SPEARMAN,
    Column("chosen", "Best in", percent=True, help="Share of the resamples in which it is the best."),
    Column(
        "worth",
        "ρ on other items",
        digits=3,
        interval="ends",
        help="Chosen on one part of the items, measured on the rest.",
    ),
    Column("lead", "Lead over the second", digits=3, interval="ends", signed=True),
    caption="The ρ of a panel that was searched for is too high: on other items it is lower. The intervals "
    "of all candidates hold together, and that of the lead holds for every two of them.",
)
BEST_JUDGE = replace(SEARCH, name="best_judge", title="Search for the best judge")


def best_panel(
    table: Ratings,
    criterion: str,
    candidates: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """The candidates (default: every pair of judges), best first, and what the best is worth.

    `chosen` is the share of resamples in which a candidate was the best. The first row also has `worth`, the
    mean over resamples of the Spearman that the panel chosen on the drawn items reaches on the items left
    out, with the standard error of its Spearman, and `lead`, its Spearman less the second's: a winner's
    figure flatters it. The intervals of all candidates' Spearman hold together (`simultaneous`), that of the
    lead together with those of every two candidates' difference. Where all candidates are single judges,
    the table is called `best_judge`.

    All candidates are compared on the same items: those that every judge of any candidate, and a person,
    rated. Items count as `table.counts` says. With `people` “like-these” the variance of annotators, left out
    one at a time, is part of every interval. Undefined with fewer than two candidates or ten such items.
    """
    scores = table[criterion]
    chosen = list(combinations(table.judges, 2) if candidates is None else map(tuple, candidates))
    members = sorted({judge for candidate in chosen for judge in candidate})
    stacked = np.array([scores.panel([judge]) for judge in members] + [scores.target])
    complete = np.asarray(~np.isnan(stacked).any(axis=0))
    n = int(complete.sum())
    target = np.where(complete, scores.target, np.nan)
    given = [scores.panel(candidate) for candidate in chosen]
    statistics = [correlation(score, target) for score in given]
    counts = table.counts
    own = _points(given, target, counts)
    if len(chosen) < 2:
        why = "fewer than two candidates"
    elif n < 10:
        why = too_few(n, of="rated by all of them and a person")
    else:
        why = "a candidate's or people's scores are all equal" if np.isnan(own).any() else ""
    order = np.argsort(-own, kind="stable").tolist()
    rows: list[dict[str, Any]] = [{"rater": called(chosen[place]), "n": n} for place in order]
    method = described([CORRELATION], **drawing)
    resamples, seed = drawing.get("resamples", 1000), drawing.get("seed", 0)
    people = drawing.get("people", "these")
    codes = cluster_codes(table, drawing.get("clusters"))
    if why:
        nothing = dict.fromkeys(("spearman", "chosen", "worth", "lead"), undefined(why, n=n))
        rows = [row | nothing for row in rows]
    else:
        both = [*statistics, *(_on_the_rest(statistic, counts) for statistic in statistics)]
        _, drawn = bootstrap(
            both,
            scores.items,
            resamples=resamples,
            seed=seed,
            among=table.rated,
            clusters=codes,
            counts=counts,
        )
        drawn, left_out = np.split(drawn, 2)
        winner = np.where(np.isnan(drawn), -np.inf, drawn).argmax(axis=0)
        worth = float(mean_defined(left_out[winner, np.arange(len(winner))][:, None])[0])

        compared = np.flatnonzero(complete)
        units = min(count_clusters(codes, compared), effective(counts, compared))
        of = partial(resampled, n=n, method=method, units=units)
        widened = simultaneous(drawn, units, CORRELATION)
        without = _without_each(scores, given, complete, counts) if people == "like-these" else None
        of_each = [None] * len(given) if without is None else list(without.T)
        for row, place in zip(rows, order, strict=True):
            row["spearman"] = of(
                own[place], drawn[place], kind=CORRELATION, widened=widened, without_each=of_each[place]
            )
            row["chosen"] = float((winner == place).mean()) if len(winner) else None
        best, second = order[:2]
        why = "no resamples were drawn" if np.isnan(worth) else ""
        # The worth is about as uncertain as the Spearman of the best, whichever that is.
        about = np.clip(drawn[best] - own[best] + worth, -1, 1)
        moved = None if without is None else np.clip(without[:, best] - own[best] + worth, -1, 1)
        rows[0]["worth"] = (
            undefined(why, n=n)
            if why
            else of(worth, about, kind=CORRELATION, widened=widened, without_each=moved)
        )
        rows[0]["lead"] = of(
            own[best] - own[second],
            drawn[best] - drawn[second],
            kind=DIFFERENCE,
            widened=simultaneous_differences(drawn),
            without_each=None if without is None else without[:, best] - without[:, second],
        )
    meta = {"candidates": len(chosen), "resamples": resamples, "seed": seed}
    notes = (f"{len(chosen)} candidates searched, their intervals hold together (max-t)", method)
    form = BEST_JUDGE if all(len(candidate) == 1 for candidate in chosen) else SEARCH
    return tabulate(form, table, criterion, rows, notes=notes, meta=meta, weighed=WEIGHED, people=people)


def _points(given: Sequence[Floats], target: Floats, counts: Floats | None) -> Floats:
    """Each candidate's Spearman on all items, each once or as `counts` says."""
    if counts is None:
        return np.array([point(score, target) for score in given])
    return np.array([correlation(score, target)(counts[:, None])[0] for score in given])


def _without_each(
    scores: CriterionScores, given: Sequence[Floats], complete: Bools, counts: Floats | None
) -> Floats:
    """Each candidate's Spearman without each annotator in turn: annotators × candidates."""
    targets = (scores.without(person).target for person in scores.people.tolist())
    return np.array([_points(given, np.where(complete, target, np.nan), counts) for target in targets])


def _on_the_rest(statistic: Statistic, counts: Floats | None) -> Statistic:
    """A statistic of the items that a resample left out; each counts once, or as `counts` says."""
    each = 1.0 if counts is None else counts[:, None]
    return lambda weights: statistic((weights == 0) * each)
