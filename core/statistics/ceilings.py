"""What a judge can be expected to reach: a held-out annotator, and the reliability of people's mean.

Reliability of a mean after Spearman and Brown (1910), the correction for attenuation after Spearman (1904).
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from concord.estimate import estimate, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.alpha import people_alpha
from concord.statistics.correlation import FEWEST, correlation, point, together
from concord.statistics.figures import Drawing, PointEstimate, empty, tabulate
from concord.statistics.intervals import CORRELATION
from concord.statistics.judges import against_people
from concord.statistics.ratings import Contender, CriterionScores, Floats, Panels, Ratings
from concord.statistics.reliability import people_per_item, spearman_brown
from concord.statistics.resampling import Statistic, Weights, mean_defined
from concord.table import Column, Table

WEAK = 0.4
"""Below this alpha a corrected correlation says more about people's noise than about the judge."""

HELD_OUT = empty(
    "held_out",
    "Held-out annotator",
    columns.RATER,
    Column("people", help="Annotators who could be held out and compared."),
    columns.N,
    Column("judge", "ρ of the judge", digits=3, interval="ends"),
    Column(
        "person",
        "ρ of the held-out annotator",
        digits=3,
        interval="ends",
        help=explain("human ceiling"),
    ),
    Column("difference", "Difference", digits=3, interval="ends", signed=True),
    Column("at_par", file_only=True),
    Column("par", "At par with", help="Annotators whom the judge equals or passes, of those compared."),
    caption="One annotator at a time is held out, and judge and annotator are compared with the mean of "
    "the others on the same items. Where the paired interval of the difference leaves out 0, the judge "
    "agrees better (+) or worse (−) than an annotator.",
)
CEILINGS = empty(
    "ceilings",
    "Attainable correlation",
    columns.RATER,
    columns.N,
    columns.SPEARMAN,
    Column("people", "People per item", digits=2),
    Column("reliability", "Reliability of people's mean", help=explain("Spearman–Brown formula")),
    Column("attainable", "Attainable ρ", help="Square root of the reliability of people's mean."),
    Column("corrected", "ρ corrected for attenuation", help=explain("disattenuated correlation")),
    Column(
        "weak",
        f"Alpha below {WEAK}",
        help=f"People's interval alpha is below {WEAK}: a corrected ρ, which is not given then, would tell "
        "more of their noise than of the judge.",
    ),
    caption="How high a correlation people's noise allows: a description, not evidence.",
)


def held_out_difference(scores: CriterionScores, judge: Contender) -> Statistic | None:
    """`difference` of `held_out` as a statistic of weights; None where nobody can be compared."""
    pairs = []
    for person in [] if scores.unlinked else scores.people.tolist():
        own = scores.of(person)
        shared = _shared(scores, judge, person, own)
        n = len(together(shared, shared)[0])
        if n >= FEWEST and not np.isnan(point(judge.score, shared) - point(own, shared)):
            pairs.append((correlation(judge.score, shared), correlation(own, shared)))
    return _Both(pairs).part(2) if pairs else None


def _shared(scores: CriterionScores, judge: Contender, person: int, own: Floats) -> Floats:
    """The mean of the others on the items that this person and the judge rated too."""
    return np.where(np.isnan(own) | np.isnan(judge.score), np.nan, scores.others(person))


def held_out(table: Ratings, criterion: str, *, panels: Panels = None, **drawing: Unpack[Drawing]) -> Table:
    """Each judge beside a held-out annotator: does it agree with the others as well as that annotator does?

    For every person, the mean of the others is the target, and both the judge's and the person's Spearman
    with it are taken on the items that the person, somebody else and the judge rated. A person compared with
    a mean of which they are part looks up to 0.4 better than they are; here they are not part of it.

    `judge` and `person` (the human ceiling, on this judge's items) are means over people, each of whom counts
    once, however many items they rated; `difference` is judge less person. Its interval is paired: both
    correlations rest on the same draws of items. In a resample where somebody's correlation is undefined, the
    mean is over the rest. `n` counts the items on which somebody is
    compared. `meta["by_person"]` has a row per judge and person. Undefined: no two people on an item; people
    who are not persons; nobody with three items.
    """
    rows, by_person = _held_out(table, criterion, panels)
    return tabulate(
        HELD_OUT,
        table,
        criterion,
        rows,
        target="against the mean of the others, one person held out at a time; each person counts once",
        meta={"by_person": by_person},
        again=lambda other: _held_out(other, criterion, panels)[0],
        **drawing,
    )


def _held_out(
    table: Ratings, criterion: str, panels: Panels
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of judges and panels, and a row for each of them and each person."""
    scores = table[criterion]
    people = [] if scores.unlinked else scores.people.tolist()
    why = scores.unlinked or (
        "nobody has three items to compare, rated by somebody else and the judge, that vary"
    )
    rows: list[dict[str, Any]] = []
    by_person: list[dict[str, Any]] = []
    for judge in scores.contenders(panels):
        found, pairs = [], []
        used = np.zeros(scores.items, dtype=bool)
        for person in people:
            own = scores.of(person)
            shared = _shared(scores, judge, person, own)
            n = len(together(shared, shared)[0])
            of_judge, of_person = point(judge.score, shared), point(own, shared)
            pair = {"judge": estimate(of_judge).value, "held_out": estimate(of_person).value}
            by_person.append({"rater": judge.name, "person": table.people[person], "n": n} | pair)
            if n >= FEWEST and not np.isnan(of_judge - of_person):
                found.append((of_judge, of_person, of_judge - of_person))
                pairs.append((correlation(judge.score, shared), correlation(own, shared)))
                used |= ~np.isnan(shared)
        row: dict[str, Any] = dict.fromkeys(("judge", "person", "difference"), undefined(why))
        if found:
            of_judges, of_people, difference = np.mean(found, axis=0).tolist()
            both, n = _Both(pairs), int(used.sum())
            row = {
                "judge": PointEstimate(both.part(0), n, of_judges, kind=CORRELATION),
                "person": PointEstimate(both.part(1), n, of_people, kind=CORRELATION),
                "difference": PointEstimate(both.part(2), n, difference),
            }
        at_par = sum(gap >= 0 for _, _, gap in found)
        rows.append(
            {"rater": judge.name, "people": len(found), "n": int(used.sum()), **row}
            | {"at_par": at_par, "par": f"{at_par} of {len(found)}" if found else None}
        )
    return rows, by_person


class _Both:
    """Means over people of the judge's and the person's correlation, and of their difference."""

    def __init__(self, pairs: Sequence[tuple[Statistic, Statistic]]) -> None:
        self._pairs = pairs
        self._known: tuple[Weights, list[Floats]] | None = None

    def part(self, number: int) -> Statistic:
        """One of the three as a statistic; the three share what a draw costs."""
        return lambda weights: self._means(weights)[number]

    def _means(self, weights: Weights) -> list[Floats]:
        """The three in each resample; a person of whom a correlation is undefined there takes no part."""
        if self._known is None or self._known[0] is not weights:
            drawn = np.array([[judge(weights), person(weights)] for judge, person in self._pairs])
            gap = drawn[:, 0] - drawn[:, 1]
            parts = (np.where(np.isnan(gap), np.nan, part) for part in (drawn[:, 0], drawn[:, 1], gap))
            self._known = weights, [mean_defined(part) for part in parts]
        return self._known[1]


def ceilings(table: Ratings, criterion: str, *, panels: Panels = None) -> Table:
    """How high a correlation people's noise allows, one row per judge and panel; a description, not evidence.

    `reliability` of people's mean is Spearman–Brown's from interval alpha, for the harmonic mean of people
    per item, on the items that the judge scored too; `attainable` its square root, what a judge who knew the
    truth would reach; `corrected` is spearman ÷ attainable, above 1 only by chance. Undefined where alpha is,
    or is not above 0; `corrected` also where alpha is below `WEAK`.
    """
    scores = table[criterion]
    rows: list[dict[str, Any]] = []
    weak_on: dict[str, list[str]] = {}
    on_items: dict[bytes, tuple[float | None, float]] = {}
    for judge in scores.contenders(panels):
        scored = ~np.isnan(judge.score)
        if scored.tobytes() not in on_items:
            both = scores if scored.all() else scores.among(scored)
            on_items[scored.tobytes()] = people_alpha(both, "interval").value, people_per_item(both)
        alpha, people = on_items[scored.tobytes()]
        reliability = float(spearman_brown(alpha, people)) if alpha is not None and alpha > 0 else np.nan
        weak = f"people's interval alpha is {_below(alpha)}" if alpha is not None and alpha < WEAK else ""
        noise = "people do not agree beyond chance, or cannot be compared" if np.isnan(reliability) else ""
        attainable = float(np.sqrt(reliability))
        rho = against_people(scores, judge)
        value = np.nan if rho.value is None else rho.value
        ratio = np.nan if weak else value / attainable
        rows.append(
            {"rater": judge.name, "n": rho.n, "spearman": estimate(value, n=rho.n, reason=rho.reason)}
            | {"reliability": estimate(reliability, reason=noise)}
            | {"attainable": estimate(attainable, reason=noise)}
            | {"corrected": estimate(ratio, n=rho.n, reason=noise or weak or rho.reason)}
            | {"weak": bool(weak), "people": people}
        )
        weak_on.setdefault(weak, []).append(judge.name)
    notes = ["reliability for the harmonic mean of people per item, on the items that the judge scored"]
    for weak, names in weak_on.items():
        if weak:
            where = "" if len(weak_on) == 1 else f" on the items of {', '.join(names)}"
            notes.append(f"{weak}{where}: no corrected ρ is given")
    return tabulate(CEILINGS, table, criterion, rows, notes=notes)


def _below(alpha: float) -> str:
    """An alpha below `WEAK`, with as many digits as show that it is."""
    digits = next((d for d in range(2, 7) if round(alpha, d) < WEAK), 7)
    return f"{alpha:z.{digits}f}, below {WEAK}"
