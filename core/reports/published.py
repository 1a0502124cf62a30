"""Figures that others published, compared with those of a study: alpha, the panel's ρ, the best judge's ρ."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from concord.codes import PublishedMeasure
from concord.errors import ConfigError
from concord.estimate import Estimate, undefined
from concord.files import SHIPPED, listed_tables
from concord.messages import PUBLISHED_MEASURES
from concord.reports.evidence import Evidence
from concord.reports.features import languages
from concord.statistics.alpha import point, value_counts, why_undefined
from concord.statistics.correlation import rank_correlation
from concord.statistics.ratings import Bools, panel_name
from concord.table import Cell, Column, Table

FILE = SHIPPED / "data" / "published.toml"


class PublishedFigure(NamedTuple):
    """A figure of others: what it measures, its value, its language, its benchmarks, and where it stands."""

    measure: PublishedMeasure
    value: float
    language: str
    benchmarks: tuple[str, ...]
    source: str


def published(benchmark: str) -> list[PublishedFigure]:
    """The published figures of a benchmark. Raises ConfigError for a file that is broken."""
    figures = [_figure(entry) for entry in listed_tables(FILE, "figures")]
    return [figure for figure in figures if benchmark in figure.benchmarks]


def _figure(entry: Mapping[str, Any]) -> PublishedFigure:
    try:
        values = {**entry, "measure": PublishedMeasure(entry["measure"]), "value": float(entry["value"])}
        return PublishedFigure(**{**values, "benchmarks": tuple(entry["benchmarks"])})
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{FILE}: a published figure is broken: {error}.") from error


def compared(evidence: Evidence) -> Table:
    """Each published figure of the study's benchmark compared with the study's own, on its items in the same
    language: of *final* where there is one, else of the main criterion.
    """
    spoken = languages(evidence.feature_columns, evidence.ratings.units)
    rows: list[dict[str, Cell]] = []
    for figure in published(evidence.data.study.benchmark):
        items = np.array([language == figure.language for language in spoken])
        measure = MEASURES.get(figure.measure)
        if measure is not None and items.any():
            figure_here = measure(evidence, items)
            row: dict[str, Cell] = {"measure": figure.measure.value, "language": figure.language}
            row |= {"published": figure.value, "own": figure_here, "n": figure_here.n}
            rows.append({**row, "source": figure.source})
    columns = (
        Column("measure", "Figure", words=PUBLISHED_MEASURES),
        Column("language"),
        Column("published", "published by others", digits=3),
        Column("own", "this study", digits=3),
        Column("n", help="Items of this study."),
        Column("source"),
    )
    notes = (
        "The published figures are for other models, conversations and annotators. A reproduction would "
        "need the same ones.",
    )
    return Table("published", "Published figures, compared", columns, tuple(rows), notes=notes)


def _criterion(evidence: Evidence) -> str:
    return "final" if "final" in evidence.ratings.criteria else evidence.main


def _alpha(evidence: Evidence, items: Bools) -> Estimate:
    """Ordinal alpha of annotators on these items."""
    scores = evidence.ratings[_criterion(evidence)]
    members = items[scores.item]
    counts, values = value_counts(scores.item[members], scores.score[members], scores.items)
    n = int((np.asarray(counts.sum(axis=1)).ravel() >= 2).sum())
    reason = scores.unlinked or why_undefined(counts)
    return undefined(reason, n=n) if reason else Estimate(point(counts, values, "ordinal"), n=n)


def _rho(evidence: Evidence, items: Bools, members: Sequence[str]) -> Estimate:
    scores = evidence.ratings[_criterion(evidence)]
    scores_here = np.where(items, scores.panel(members), np.nan)
    return rank_correlation(scores_here, scores.target, panel_name(members), "people's mean")


def _panel(evidence: Evidence, items: Bools) -> Estimate:
    """ρ of the panel of all judges."""
    if not evidence.panels:
        return undefined("the study has no panel")
    return _rho(evidence, items, evidence.panels[0])


def _best_judge(evidence: Evidence, items: Bools) -> Estimate:
    """The highest ρ of a single judge."""
    figures = [_rho(evidence, items, (judge,)) for judge in evidence.judges]
    defined = [figure for figure in figures if figure.defined]
    if defined:
        return max(defined, key=float)
    return figures[0] if figures else undefined("the study has no judge")


MEASURES: Mapping[PublishedMeasure, Callable[[Evidence, Bools], Estimate]] = {
    PublishedMeasure.ALPHA: _alpha,
    PublishedMeasure.PANEL: _panel,
    PublishedMeasure.BEST_JUDGE: _best_judge,
}
"""How a study's own figure is found; a leaderboard has the others."""
