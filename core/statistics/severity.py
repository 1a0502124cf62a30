"""How severe each annotator and judge is, in points, and how far that moves the means of players."""

from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, estimate, undefined, value_of
from concord.glossary import explain
from concord.statistics.figures import Drawing, cluster_codes, empty, tabulate
from concord.statistics.intervals import student
from concord.statistics.ratings import Bools, CriterionScores, Facet, Floats, Ints, Ratings, divide, sums
from concord.statistics.resampling import own_clusters
from concord.table import Column, Table

FEWEST_ITEMS = 8
"""Fewer items with two answers or more do not tell severity from chance."""

RATERS = empty(
    "raters",
    "Severity of raters",
    Column("rater", "Annotator or judge"),
    Column("kind"),
    Column("n", "Answers"),
    Column("severity", "Severity", interval="ends", signed=True, help=explain("severity")),
    caption="In points of the scale: above 0 a rater gives lower scores than the average annotator does to "
    "the same items. How consistent a rater is, the correlation with the others says.",
)


@dataclass(frozen=True, eq=False)
class Additive:
    """People's answers as the sum of an item's place, a person's severity (subtracted) and chance.

    `severity` by person sums to 0 over those who are linked by common items, and is nan for others. `place`
    is each item's score as an annotator of severity 0 would give it, nan where none of them rated it.
    `several` counts the items with two answers. `item`, `person` and `left` are the residual of each answer,
    and `inverse` (people × people) turns sums of residuals into errors of severities.
    """

    severity: Floats
    place: Floats
    several: int
    item: Ints
    person: Ints
    left: Floats
    inverse: Floats

    def influence(self, of: Floats) -> Floats:
        """How far each item moves a sum of severities with these weights (by person)."""
        return -sums(self.item, self.left * (self.inverse @ of)[self.person], len(self.place))


def additive(scores: CriterionScores, people: int) -> Additive:
    """Fit severities by least squares, items and people as factors (Scheffé 1959, two-way layout).

    Only items that two linked people rated tell anything. People who share no item, even by way of others,
    with the largest linked set have no severity.
    """
    from scipy.sparse import csr_array  # slow to import

    size = (scores.items, people)
    linked = _linked(csr_array((np.ones(len(scores.item)), (scores.item, scores.person)), size))
    kept = linked[scores.person]
    item, person, score = scores.item[kept], scores.person[kept], scores.score[kept]
    count = np.bincount(item, minlength=scores.items)
    several = count[item] > 1
    centre = divide(sums(item, score, scores.items), count)
    above = np.where(several, score - centre[item], 0)
    rated = csr_array((several.astype(float), (item, person)), size)
    share = csr_array((several / count[item], (item, person)), size)
    normal = np.diag(rated.sum(axis=0)) - (rated.T @ share).toarray()
    inverse = np.linalg.pinv(normal, hermitian=True)
    severity = -inverse @ sums(person, above, people)
    of_items = divide(sums(item, severity[person], scores.items), count)
    left = np.where(several, above + severity[person] - of_items[item], 0)
    return Additive(
        np.where(linked, severity, np.nan),
        centre + of_items,
        int((count > 1).sum()),
        item,
        person,
        left,
        inverse,
    )


def _linked(rated: Any) -> Bools:
    """The largest set of people who share items, directly or by way of others, as a mask."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    _, sets = connected_components((rated.T @ rated), directed=False)
    sizes = np.bincount(sets, rated.sum(axis=0)) if len(sets) else np.zeros(1)
    return np.asarray(sets == sizes.argmax())


def raters(table: Ratings, criterion: str, players: Facet | None = None, **drawing: Unpack[Drawing]) -> Table:
    """The severity of people and judges; the first note says how far it moves the means of players.

    People make the scale; a judge's severity is the mean of the items' adjusted scores less its own, on the
    items that people rated, and moves nobody else's. An interval is Student's, of the spread over items (or
    clusters of them) of what each adds to the severity; with two raters of the same items it is that of the
    paired t-test, halved.

    Undefined, with the reason: one person alone, raters not linked to the others by common items, fewer than
    eight items with two answers, all answers equal, judges on another scale, people without names.
    """
    scores, people = table[criterion], len(table.people)
    codes = cluster_codes(table, drawing.get("clusters"))
    clusters = None if codes is None else own_clusters(codes)
    fitted = additive(scores, people)
    reason = _too_little(scores, fitted)
    rows: list[dict[str, Any]] = []
    for person in scores.people.tolist() if not scores.unlinked else []:
        answers = int((scores.person == person).sum())
        value = float(fitted.severity[person])
        why = reason or ("" if np.isfinite(value) else "shares no item with the others, by way of nobody")
        influence = fitted.influence(np.eye(people)[person])
        shared = fitted.item[fitted.person == person]
        severity = undefined(why, n=answers) if why else _student(value, influence, shared, clusters, answers)
        rows.append({"rater": table.people[person], "kind": "person", "n": answers, "severity": severity})
    place = fitted.place if not reason else scores.target
    for judge, given in scores.judges.items():
        answers = int((~np.isnan(given)).sum())
        other = table.no_level(criterion, [judge])
        severity = _judge(place - given, fitted if not reason else None, clusters)
        if other:
            severity = undefined(other, n=answers)
        rows.append({"rater": judge, "kind": "judge", "n": answers, "severity": severity})
    rows.sort(key=lambda row: -value_of(row["severity"]))
    over = "items" if clusters is None else "clusters of items"
    notes = (f"Student's t over {over}",)
    severities = tabulate(RATERS, table, criterion, rows, target="", notes=notes, **drawing)
    moved = [] if reason else _moved(table, place - scores.target, players or {})
    return replace(severities, notes=(*moved, *severities.notes))


def _too_little(scores: CriterionScores, fitted: Additive) -> str:
    if scores.unlinked:
        return scores.unlinked
    if len(scores.people) < 2:
        return "severity needs two raters who share items"
    if fitted.several < FEWEST_ITEMS:
        return f"{fitted.several} items have two answers or more, at least {FEWEST_ITEMS} are needed"
    return "all answers are equal" if np.ptp(scores.score) == 0 else ""


def _moved(table: Ratings, shift: Floats, players: Facet) -> list[str]:
    """How far the mean of a player moves at most where each item is scored as by an annotator of severity 0;
    nothing where fewer than two players were rated. `shift` is the move of each item, nan where nobody rated.
    """
    codes, names = table.facet(players)
    known = (codes >= 0) & ~np.isnan(shift)
    means = divide(
        sums(codes[known], shift[known], len(names)), np.bincount(codes[known], minlength=len(names))
    )
    if np.isfinite(means).sum() < 2:
        return []
    most = int(np.nanargmax(np.abs(means)))
    return [
        "Were all annotators equally severe, people's mean of a player would move by at most "
        f"{abs(means[most]):.2f} points ({names[most]})."
    ]


def _judge(difference: Floats, fitted: Additive | None, clusters: Ints | None) -> Estimate:
    """A judge's severity: the mean over items of what people would give less what the judge gave."""
    both = ~np.isnan(difference)
    n = int(both.sum())
    if n < FEWEST_ITEMS:
        return undefined(f"{n} answers on items that people rated, at least {FEWEST_ITEMS} are needed", n=n)
    value = float(difference[both].mean())
    influence = np.where(both, difference - value, 0) / n
    if fitted is not None:
        count = np.bincount(fitted.item, minlength=len(both))
        of_answer = np.where(both, divide(np.ones(len(both)), count), 0)[fitted.item]
        influence = influence + fitted.influence(sums(fitted.person, of_answer, len(fitted.inverse)) / n)
    return _student(value, influence, np.flatnonzero(both), clusters, n)


def _student(value: float, influence: Floats, items: Ints, clusters: Ints | None, n: int) -> Estimate:
    """A sum of what items or clusters add, with Student's t interval; it rests on `items`."""
    units = len(np.unique(items if clusters is None else clusters[items]))
    if clusters is not None:
        influence = sums(clusters, influence, int(clusters.max(initial=-1)) + 1)
    if units < 2:
        return estimate(value, n=n, reason="no interval: one cluster of items has no spread")
    half = student(units - 1) * float(np.sqrt((influence**2).sum() * units / (units - 1)))
    over = "items" if clusters is None else "clusters of items"
    return estimate(value, value - half, value + half, n=n, method=f"Student's t over {over}")
