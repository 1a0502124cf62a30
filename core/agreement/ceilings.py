"""What a judge can be expected to reach: a held-out annotator, and the reliability of people's mean.

Reliability of a mean after Spearman and Brown (1910), the correction for attenuation after Spearman (1904).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pandas as pd

from core.agreement.alpha import people_alpha
from core.agreement.correlation import FEWEST, correlation, point
from core.agreement.figures import RATER, SPEARMAN, Drawing, N, PointEstimate, tabulate
from core.agreement.judges import against_people
from core.agreement.panels import called, contenders
from core.agreement.ratings import Floats, Ratings, read_ratings
from core.agreement.reliability import spearman_brown
from core.agreement.resampling import Statistic, Weights, mean_defined
from core.glossary import explain
from core.table import Column, Table

WEAK = 0.4
"""Below this alpha a corrected correlation says more about people's noise than about the judge."""


def held_out(
    ratings: pd.DataFrame | Ratings,
    criterion: str,
    *,
    panels: Iterable[Sequence[str]] | None = None,
    **drawing: Unpack[Drawing],
) -> Table:
    """Each judge beside a held-out annotator: does it agree with the others as well as that annotator does?

    For every person, the mean of the others is the target, and both the judge's and the person's Spearman
    with it are taken on the items that the person, somebody else and the judge rated. A person compared with
    a mean of which they are part looks up to 0.4 better than they are; here they are not part of it.

    One row per judge and panel: people (how many could be compared), judge and person (means over people),
    difference (judge less person), at_par (people whom the judge equals or passes). The interval is paired:
    both correlations rest on the same draws of items; the people are taken as they are. In a resample where
    somebody's correlation is undefined, the mean is over the rest. `meta["by_person"]` has a row per judge
    and person.

    Undefined: no two people on an item; people who are not persons; nobody with three items to compare.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    people = [] if scores.unlinked else scores.people.tolist()
    nobody = (
        scores.unlinked
        or "nobody has three items to compare, rated by somebody else and the judge, that vary"
    )
    rows: list[dict[str, Any]] = []
    by_person: list[dict[str, Any]] = []
    for members in contenders(table, panels):
        judge = scores.panel(members)
        found, gaps = [], []
        for person in people:
            own, others = scores.of(person), scores.others(person)
            shared = np.where(np.isnan(own) | np.isnan(judge), np.nan, others)
            n = int((~np.isnan(shared)).sum())
            of_judge, of_person = point(judge, shared)[0], point(own, shared)[0]
            by_person.append(
                {"rater": called(members), "person": table.people[person], "n": n}
                | {"judge": _or_none(of_judge), "held_out": _or_none(of_person)}
            )
            if n >= FEWEST and not np.isnan(of_judge - of_person):
                found.append((of_judge, of_person, of_judge - of_person))
                gaps.append(_gap(judge, own, shared))
        judge_rho, person_rho, difference = np.mean(found, axis=0).tolist() if found else [np.nan] * 3
        why = "" if found else nobody
        rows.append(
            {
                "rater": called(members),
                "people": len(found),
                "judge": PointEstimate(None, value=judge_rho, why=why),
                "person": PointEstimate(None, value=person_rho, why=why),
                "difference": PointEstimate(_mean_of(gaps) if found else None, value=difference, why=why),
                "at_par": sum(gap >= 0 for _, _, gap in found),
            }
        )
    return tabulate(
        table,
        criterion,
        "held_out",
        "Held-out annotator",
        (
            RATER,
            Column("people", help="Annotators who could be held out and compared."),
            Column("judge", "ρ of the judge", digits=3),
            Column("person", "ρ of the held-out annotator", digits=3),
            Column("difference", "Difference", digits=3, interval="ends", signed=True),
            Column("at_par", "At par with", help="Annotators whom the judge equals or passes."),
        ),
        rows,
        caption="One annotator at a time is held out, and judge and annotator are compared with the mean of "
        "the others on the same items. Where the paired interval of the difference leaves out 0, the judge "
        "agrees better (+) or worse (−) than an annotator.",
        target="against the mean of the others, one person held out at a time",
        meta={"by_person": by_person},
        **drawing,
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _gap(judge: Floats, own: Floats, target: Floats) -> Statistic:
    of_judge, of_person = correlation(judge, target), correlation(own, target)
    return lambda weights: of_judge(weights) - of_person(weights)


def _mean_of(parts: Sequence[Statistic]) -> Statistic:
    def on(weights: Weights) -> Floats:
        return mean_defined(np.array([part(weights) for part in parts]))

    return on


def ceilings(
    ratings: pd.DataFrame | Ratings, criterion: str, *, panels: Iterable[Sequence[str]] | None = None
) -> Table:
    """How high a correlation people's noise allows, one row per judge and panel; a description, not evidence.

    spearman (with the mean of people), reliability (of that mean: Spearman–Brown from interval alpha, for the
    harmonic mean of people per item), attainable (its square root, what a judge who knew the truth would
    reach), corrected (spearman ÷ attainable; above 1 only by chance), weak (alpha below 0.4: do not read
    corrected). Undefined where alpha is, or is not above 0.
    """
    table = read_ratings(ratings)
    scores = table[criterion]
    alpha = people_alpha(scores, "interval").value
    single = np.nan if alpha is None else alpha
    present = scores.present[scores.present > 0]
    people = len(present) / (1 / present).sum() if len(present) else 0.0
    reliability = float(spearman_brown(single, people)) if single > 0 else np.nan
    noise = "people do not agree beyond chance, or cannot be compared" if np.isnan(reliability) else ""
    attainable = float(np.sqrt(reliability))
    rows = []
    for members in contenders(table, panels):
        rho = replace(against_people(scores, members), on=None)
        corrected = np.nan if rho.value is None else rho.value / attainable
        rows.append(
            {"rater": called(members), "n": rho.n, "spearman": rho}
            | {"reliability": PointEstimate(None, value=reliability, why=noise)}
            | {"attainable": PointEstimate(None, value=attainable, why=noise)}
            | {"corrected": PointEstimate(None, rho.n, corrected, noise or rho.why)}
            | {"weak": bool(single < WEAK)}
        )
    return tabulate(
        table,
        criterion,
        "ceilings",
        "Attainable correlation",
        (
            RATER,
            N,
            SPEARMAN,
            Column("reliability", "Reliability of people's mean", help=explain("Spearman–Brown formula")),
            Column("attainable", "Attainable ρ", help="Square root of the reliability of people's mean."),
            Column("corrected", "ρ corrected for attenuation", help=explain("disattenuated correlation")),
            Column("weak", help="Alpha is below 0.4: do not read the corrected ρ."),
        ),
        rows,
        caption="How high a correlation people's noise allows: a description, not evidence.",
        notes=(f"reliability for {people:.3g} people per item (harmonic mean)",),
    )
