"""Annotators and judges of one criterion on the axis of the many-facet Rasch model, or why they are not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from concord.agreement import rasch
from concord.agreement.rasch import Answers, Fitted
from concord.agreement.ratings import FINAL, Floats, Ints, Ratings
from concord.agreement.resampling import own_clusters
from concord.estimate import Estimate, estimate, undefined

FEWEST_ITEMS = 8
"""Fewer items with two answers or more do not tell severity from chance."""
MOST_STEPS = 11
"""A finer scale is read as one of eleven answers; an answer between two counts as part of each."""
FARTHEST_LEFT = 0.1
"""A search that ended farther from the maximum, in sampling errors, has found nothing."""
TOGETHER = "the annotators (unnamed)"


@dataclass(frozen=True, eq=False)
class Scales:
    """The scale of each criterion read as places 0 … steps − 1."""

    low: Floats
    unit: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class Placed:
    """A rater on the axis, or why there is none; `posterior` is what is known of items with these answers."""

    name: str
    kind: str
    answers: Answers
    severity: Estimate
    posterior: Floats | None = None


@dataclass(frozen=True, eq=False)
class Axis:
    """The fitted model with everybody on its axis; `reason` says why there is none."""

    scales: Scales
    raters: tuple[Placed, ...]
    fitted: Fitted | None
    reason: str = ""
    of_people: bool = True
    named: bool = True


def placed(
    table: Ratings, criterion: str, answers: Mapping[str, Floats], groups: Ints, clusters: Ints | None
) -> Axis:
    """Everybody on the axis of one criterion; on *final*, of the answers to every counted criterion.

    `groups` numbers the players of items, `clusters` (−1: alone) the items that depend on each other.
    People make the axis, and each judge is placed on it by its answers to the items that they rated. Without
    two people who share items, judges and people make it together.
    """
    if clusters is not None:
        clusters = own_clusters(clusters)
    parts = list(table.counted) if criterion == FINAL and table.counted else [criterion]
    grids = [answers[name] for name in parts]
    steps = min(max(2, *(len(grid) for grid in grids)), MOST_STEPS)
    low = np.array([grid.min() for grid in grids])
    span = np.array([np.ptp(grid) for grid in grids])
    scales = Scales(low, np.where(span > 0, span, 1) / (steps - 1), steps)
    unlinked = any(table[name].unlinked for name in parts)

    def gathered(entries: list[tuple[int, Ints, Ints, Floats]], count: int) -> Answers:
        """Entries of (criterion, rater, item, score)."""
        which = np.concatenate([np.full(len(item), c) for c, _, item, _ in entries] or [np.empty(0)])
        rater, item, score = (np.concatenate([e[k] for e in entries] or [np.empty(0)]) for k in (1, 2, 3))
        which = which.astype(np.int64)
        step = np.clip((score - scales.low[which]) / scales.unit[which], 0, steps - 1)
        return Answers(
            item.astype(np.int64), rater.astype(np.int64), which, step, steps, groups, count, len(parts)
        )

    people = ["" if unlinked else name for name in table.people]
    given = [(c, table[name].person, table[name].item, table[name].score) for c, name in enumerate(parts)]
    if unlinked:
        people = [TOGETHER]
        given = [(c, np.zeros_like(person), item, score) for c, person, item, score in given]
    of_people = gathered(given, len(people))
    present = np.unique(of_people.rater)
    of_judges = {}
    for judge in table.judges:
        items = [np.flatnonzero(~np.isnan(table[name].judges[judge])) for name in parts]
        entries = [(c, np.zeros_like(i), i, table[parts[c]].judges[judge][i]) for c, i in enumerate(items)]
        of_judges[judge] = gathered(entries, 1)
    other = {judge: table.no_level(criterion, [judge]) for judge in table.judges}
    if (unlinked and len(of_people.item)) or len(present) > 1:
        return _by_people(other, scales, people, of_people, of_judges, clusters, named=not unlinked)
    return _together(other, scales, people, of_people, of_judges, clusters)


def _by_people(
    other: Mapping[str, str],
    scales: Scales,
    people: list[str],
    given: Answers,
    of_judges: Mapping[str, Answers],
    clusters: Ints | None,
    *,
    named: bool,
) -> Axis:
    """People make the axis, judges are placed on it."""
    fitted, rows, reason = _fit(people, ["person"] * len(people), given, clusters)
    if not named:
        rows = [
            replace(row, severity=estimate(0.0, n=row.severity.n)) if row.severity.defined else row
            for row in rows
        ]
    for judge, answers in of_judges.items():
        rows.append(_judge(other[judge], fitted, judge, answers, clusters, reason))
    return Axis(scales, tuple(rows), fitted, reason, named=named)


def _judge(
    other: str, fitted: Fitted | None, judge: str, answers: Answers, clusters: Ints | None, reason: str
) -> Placed:
    n = len(answers.item)

    def without(why: str) -> Placed:
        return Placed(judge, "judge", answers, undefined(why, n=n))

    if fitted is None:
        return without(reason)
    if other:
        return without(other)
    seen = np.zeros(answers.items, dtype=bool)
    seen[fitted.answers.item] = True
    answers = answers.of(seen[answers.item])
    n = len(answers.item)
    if n < FEWEST_ITEMS:
        return without(f"{n} answers on items that people rated, at least {FEWEST_ITEMS} are needed")
    if end := _end(answers):
        return without(end)
    severity, variance, posterior = rasch.place(fitted, rasch.joined([fitted.answers, answers]), clusters)
    return Placed(judge, "judge", answers, _severity(severity, variance, answers, clusters, n), posterior)


def _together(
    other: Mapping[str, str],
    scales: Scales,
    people: list[str],
    given: Answers,
    of_judges: Mapping[str, Answers],
    clusters: Ints | None,
) -> Axis:
    """Judges, and a person where there is one, make the axis together."""
    names, kinds, parts = list(people), ["person"] * len(people), [given]
    for judge, answers in of_judges.items():
        if not other[judge] or not len(given.item):
            parts.append(answers)
            names.append(judge)
            kinds.append("judge")
    fitted, rows, reason = _fit(names, kinds, rasch.joined(parts), clusters)
    return Axis(scales, tuple(rows), fitted, reason, of_people=False)


def _fit(
    names: list[str], kinds: list[str], given: Answers, clusters: Ints | None
) -> tuple[Fitted | None, list[Placed], str]:
    """The model of raters who are linked; all others have a reason."""
    count = np.bincount(given.rater, minlength=len(names))
    why: dict[int, str] = dict.fromkeys(np.flatnonzero(count == 0), "no answer here")
    for number in np.flatnonzero(count):
        if end := _end(given.of(given.rater == number)):
            why[int(number)] = end
    kept = ~np.isin(given.rater, list(why))
    linked = given.of(kept)
    if len(linked.item):
        sets = rasch.connected(linked)
        largest = np.bincount(sets[linked.rater]).argmax()
        apart = [r for r in np.flatnonzero(sets != largest) if int(r) not in why]
        why |= {int(r): "shares no item with the others, not even by way of others" for r in apart}
        linked = linked.of(sets[linked.rater] == largest)
    reason = _too_little(linked, names)
    inside = np.setdiff1d(np.arange(len(names)), list(why))
    rows = [
        Placed(name, kind, given.of(given.rater == r), undefined(why.get(r, reason or "-"), n=int(count[r])))
        for r, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    if reason:
        return None, rows, reason
    numbered = replace(linked, rater=np.searchsorted(inside, linked.rater), raters=len(inside))
    fitted = rasch.fit(numbered, clusters)
    if fitted.left > FARTHEST_LEFT:
        reason = "the search for the model's best parameters did not end"
        return None, [replace(row, severity=undefined(reason, n=row.severity.n)) for row in rows], reason
    for place, r in enumerate(inside.tolist()):
        found = _severity(
            float(fitted.severity[place]),
            float(fitted.variance[place, place]),
            rows[r].answers,
            clusters,
            int(count[r]),
        )
        rows[r] = replace(rows[r], severity=found, posterior=fitted.posterior)
    return fitted, rows, ""


def _end(answers: Answers) -> str:
    """Why a rater who always gives an end of the scale has no severity."""
    for end, which in ((0, "lowest"), (answers.steps - 1, "highest")):
        if (answers.step == end).all():
            return f"always gives the {which} answer, so severity has no bound"
    return ""


def _too_little(answers: Answers, names: list[str]) -> str:
    """Why nothing can be fitted; empty where something can."""
    if len(np.unique(answers.rater)) < 2 and names != [TOGETHER]:
        return "severity needs two raters who share items"
    several = int((np.bincount(answers.item, minlength=1) > 1).sum())
    if several < FEWEST_ITEMS:
        return f"{several} items have two answers or more, at least {FEWEST_ITEMS} are needed"
    return "all answers are equal" if np.ptp(answers.step) == 0 else ""


def _severity(value: float, variance: float, answers: Answers, clusters: Ints | None, n: int) -> Estimate:
    items = np.unique(answers.item)
    free = len(items if clusters is None else np.unique(clusters[items])) - 1
    if free < 1 or not np.isfinite(variance):
        return estimate(value, n=n, reason="no interval: one cluster of items has no spread")
    from scipy.special import stdtrit  # slow to import

    half = float(stdtrit(free, 0.975)) * float(np.sqrt(max(variance, 0)))
    over = "items" if clusters is None else "clusters of items"
    return estimate(value, value - half, value + half, n=n, method=f"Student's t, sandwich over {over}")
