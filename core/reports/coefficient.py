"""How well one judge or panel agrees with people, by the coefficient that suits the question."""

from __future__ import annotations

from collections.abc import Sequence

from concord.errors import not_found
from concord.estimate import Estimate, undefined
from concord.reports.evidence import Evidence
from concord.statistics.alpha import Metric
from concord.statistics.coefficients import COEFFICIENTS, Name, coefficient, target_of
from concord.statistics.figures import Figure, estimates
from concord.statistics.ratings import FINAL, Ratings


def every_criterion(evidence: Evidence) -> tuple[str, ...]:
    """The criteria of a report, those whose answers are categories included."""
    return (*evidence.criteria, *(evidence.unordered.criteria if evidence.unordered else ()))


def metric_of(evidence: Evidence, criterion: str) -> Metric:
    """The level of measurement of a criterion, for alpha; *final*, a mean, is of interval level.

    Yes and no are taken in order: nominal and ordinal alpha of two answers are equal.
    """
    asked = evidence.criterion(criterion)
    if evidence.options.nominal or (asked and asked.scale.nominal):
        return "nominal"
    return "interval" if criterion == FINAL or (asked and asked.scale.continuous) else "ordinal"


def usual(evidence: Evidence, criterion: str) -> Name:
    """The coefficient of a criterion where none is asked for: kappa of categories, else Spearman's ρ."""
    return "kappa" if metric_of(evidence, criterion) == "nominal" else "spearman"


def said_of(evidence: Evidence, criterion: str, name: Name) -> str:
    """A coefficient in words: “Cohen's κ with the majority of people”."""
    return f"{COEFFICIENTS[name]} with the {target_of(name, metric_of(evidence, criterion))}"


def with_people(
    evidence: Evidence, criterion: str, members: Sequence[str], names: Sequence[Name]
) -> dict[Name, Estimate]:
    """Coefficients of a judge or a panel with people, on the same draws of items.

    Undefined where an order is asked of categories. Raises NotFound for a criterion or a judge that the
    study does not have.
    """
    apart = evidence.unordered if evidence.unordered and criterion in evidence.unordered.criteria else None
    ratings = apart or evidence.ratings
    if criterion not in ratings.criteria:
        raise not_found("criterion", criterion, every_criterion(evidence))
    for judge in members:
        if judge not in ratings.judges:
            raise not_found("judge", judge, ratings.judges)
    metric = metric_of(evidence, criterion)

    def made(table: Ratings) -> list[Figure]:
        return [
            undefined("the answers are categories, which have no order")
            if metric == "nominal" and name not in ("kappa", "alpha")
            else coefficient(table, criterion, members, name, metric)
            for name in names
        ]

    found = estimates(made(ratings), ratings, **evidence.drawing, again=made)
    return dict(zip(names, found, strict=True))
