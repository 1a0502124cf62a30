"""The figure that stands for a judge or a panel in check, gate, the pytest fixture and on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from concord.codes import Exclusion
from concord.errors import check_known
from concord.estimate import Estimate
from concord.reports.coefficient import coefficient_words, default_coefficient, metric_of, with_people
from concord.reports.evidence import Evidence
from concord.reports.sections import glance_with, section
from concord.statistics.coefficients import Name, target_of
from concord.statistics.exclusions import exclusions
from concord.statistics.glance import agreement_column
from concord.statistics.nominal import MAJORITY
from concord.statistics.ratings import panel_name


class Headline(NamedTuple):
    """An agreement with people, the words of what it measures, and which rated items it excludes."""

    figure: Estimate
    words: str
    excluded: Mapping[Exclusion, int]


def headline(
    evidence: Evidence, criterion: str, members: Sequence[str], statistic: Name | None = None
) -> Headline:
    """The agreement of a judge or a panel with people on one criterion.

    It is the one of the glance: with the other annotators, one of them held out at a time; with all people
    where nobody can be held out. A `statistic` in place of it compares with people's mean or majority. Raises
    NotFound for an unknown criterion or judge.
    """
    ratings = evidence.ratings
    check_known("criterion", [criterion], evidence.criteria)
    check_known("judge", members, ratings.judges)
    members = tuple(judge for judge in ratings.judges if judge in members)
    name = statistic or default_coefficient(evidence, criterion)
    held_out = False
    if statistic is None:
        table = (
            section(evidence, "glance", criterion)["glance"]
            if len(members) < 2 or members in evidence.panels
            else glance_with(evidence, criterion, members)
        )
        column = next(c for c in table.columns if c.name == agreement_column(table))
        row = next(row for row in table.rows if row["rater"] == panel_name(members))
        figure = cast(Estimate, row[column.name])
        held_out = column.name == "judge"
        words = column.title if held_out else coefficient_words(evidence, criterion, name)
    else:
        figure = with_people(evidence, criterion, members, [statistic])[statistic]
        words = coefficient_words(evidence, criterion, statistic)
    majority = target_of(name, metric_of(evidence, criterion)) == MAJORITY
    left = exclusions(ratings, criterion, members, figure.n or 0, held_out=held_out, majority=majority)
    return Headline(figure, words, left)
