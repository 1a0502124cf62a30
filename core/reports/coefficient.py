"""How well one judge or panel agrees with people, by the coefficient that suits the question."""

from __future__ import annotations

from collections.abc import Sequence

from concord.errors import check_known
from concord.estimate import Estimate, undefined
from concord.reports.evidence import Evidence
from concord.statistics.alpha import Metric
from concord.statistics.coefficients import COEFFICIENTS, Name, coefficient, target_of
from concord.statistics.figures import Figure, estimates
from concord.statistics.ratings import Ratings


def metric_of(evidence: Evidence, criterion: str) -> Metric:
    """The level of measurement of a criterion, for alpha; *final*, a mean, is of interval level."""
    question = evidence.criterion(criterion)
    return question.scale.kind.level if question else "interval"


def default_coefficient(evidence: Evidence, criterion: str) -> Name:
    """The coefficient of a criterion where none is asked for: kappa of two answers and of categories, else
    Spearman's ρ.
    """
    return evidence.lead(criterion)


def coefficient_words(evidence: Evidence, criterion: str, name: Name) -> str:
    """A coefficient in words: “Cohen's κ with the majority of people”."""
    return f"{COEFFICIENTS[name]} with the {target_of(name, metric_of(evidence, criterion))}"


def leading(evidence: Evidence, criterion: str, members: Sequence[str]) -> Estimate:
    """The usual coefficient of a judge or a panel, for a table of both."""
    name = default_coefficient(evidence, criterion)
    return with_people(evidence, criterion, members, [name])[name]


def with_people(
    evidence: Evidence, criterion: str, members: Sequence[str], names: Sequence[Name]
) -> dict[Name, Estimate]:
    """Coefficients of a judge or a panel with people, on the same draws of items.

    Undefined where an order is asked of categories. Raises NotFound for a criterion or a judge that the
    study does not have.
    """
    ratings = evidence.ratings
    check_known("criterion", [criterion], evidence.criteria)
    check_known("judge", members, ratings.judges)
    metric = metric_of(evidence, criterion)

    def figures(table: Ratings) -> list[Figure]:
        figures: list[Figure] = []
        for name in names:
            if ratings[criterion].ordered or name in ("kappa", "alpha"):
                figures.append(coefficient(table, criterion, members, name, metric))
            else:
                figures.append(undefined("the answers are categories, which have no order"))
        return figures

    results = estimates(
        figures(ratings), ratings, criterion=criterion, **evidence.resampling, recompute=figures
    )
    return dict(zip(names, results, strict=True))
