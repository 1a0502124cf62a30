"""How well one judge or panel agrees with people, by the coefficient that suits the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from concord.agreement.alpha import Metric
from concord.agreement.coefficients import COEFFICIENTS, Name, coefficient, target_of
from concord.agreement.figures import Figure, estimates
from concord.agreement.ratings import FINAL, Ratings
from concord.errors import not_found
from concord.estimate import Estimate, undefined

if TYPE_CHECKING:
    from concord.reports.agreement_report import AgreementReport


def every_criterion(report: AgreementReport) -> tuple[str, ...]:
    """The criteria of a report, those whose answers are categories included."""
    return (*report.criteria, *(report.unordered.criteria if report.unordered else ()))


def metric_of(report: AgreementReport, criterion: str) -> Metric:
    """The level of measurement of a criterion, for alpha; *final*, a mean, is of interval level.

    Yes and no are taken in order: nominal and ordinal alpha of two answers are equal.
    """
    asked = report.criterion(criterion)
    if report.options.nominal or (asked and asked.scale.nominal):
        return "nominal"
    return "interval" if criterion == FINAL or (asked and asked.scale.continuous) else "ordinal"


def usual(report: AgreementReport, criterion: str) -> Name:
    """The coefficient of a criterion where none is asked for: kappa of categories, else Spearman's ρ."""
    return "kappa" if metric_of(report, criterion) == "nominal" else "spearman"


def said_of(report: AgreementReport, criterion: str, name: Name) -> str:
    """A coefficient in words: “Cohen's κ with the majority of people”."""
    return f"{COEFFICIENTS[name]} with the {target_of(name, metric_of(report, criterion))}"


def with_people(
    report: AgreementReport, criterion: str, members: Sequence[str], names: Sequence[Name]
) -> dict[Name, Estimate]:
    """Coefficients of a judge or a panel with people, on the same draws of items.

    Undefined where an order is asked of categories. Raises NotFound for a criterion or a judge that the
    study does not have.
    """
    apart = report.unordered if report.unordered and criterion in report.unordered.criteria else None
    ratings = apart or report.ratings
    if criterion not in ratings.criteria:
        raise not_found("criterion", criterion, every_criterion(report))
    for judge in members:
        if judge not in ratings.judges:
            raise not_found("judge", judge, ratings.judges)
    metric = metric_of(report, criterion)

    def made(table: Ratings) -> list[Figure]:
        return [
            undefined("the answers are categories, which have no order")
            if metric == "nominal" and name not in ("kappa", "alpha")
            else coefficient(table, criterion, members, name, metric)
            for name in names
        ]

    found = estimates(made(ratings), ratings, **report.drawing, again=made)
    return dict(zip(names, found, strict=True))
