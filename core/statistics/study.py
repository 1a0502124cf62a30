"""How far people agree with each other, and judges and panels with people, on every criterion of a study."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from concord.estimate import Estimate, value_of
from concord.glossary import explain
from concord.scores import FINAL, OVERALL
from concord.statistics import columns
from concord.statistics.alpha import people_alpha
from concord.statistics.correlation import rank_correlation, spearman_p
from concord.statistics.figures import (
    Drawing,
    Figure,
    PointEstimate,
    basis,
    count_clusters,
    described,
    empty,
    estimates,
    population_words,
    tabulate,
)
from concord.statistics.intervals import BIAS, CORRELATION, PILED_UP
from concord.statistics.judges import against_people
from concord.statistics.kinds import is_large
from concord.statistics.ratings import Facet, Panels, Ratings, divide, sums
from concord.statistics.resampling import mean
from concord.table import Cell, Column, Note, Table

SEVERITY = empty(
    "raters",
    "Severity of annotators",
    Column("rater", "Annotator"),
    columns.N,
    Column("severity", interval="ends", signed=True, help=explain("severity")),
    Column("others", "ρ with the others", help="With the mean of the other annotators, on the same items."),
    caption="In points of the scale: above 0, the annotator scores lower than the others on the same "
    "items. An annotator who shares items only with lenient annotators looks severe.",
)

LEAST_MOVE = 0.005
"""A mean that moves by less stays the same in two digits."""


class RaterAgreement(NamedTuple):
    """A judge or a panel against the mean of people."""

    name: str
    members: tuple[str, ...]
    spearman: Estimate

    @property
    def p(self) -> Estimate:
        """The p of Spearman's ρ."""
        return spearman_p(self.spearman)


@dataclass(frozen=True, eq=False)
class CriterionAgreement:
    """The figures of one criterion: people's alpha by metric, judges, panels, and what they rest on.

    `people` is the number of those who rated it, on so many `items`; they may be no persons.
    """

    people: int
    items: int
    alpha: Mapping[str, Estimate]
    judges: tuple[RaterAgreement, ...]
    panels: tuple[RaterAgreement, ...]
    basis: Note

    @property
    def raters(self) -> tuple[RaterAgreement, ...]:
        """The judges, then panels."""
        return (*self.judges, *self.panels)

    def rater(self, members: Sequence[str]) -> RaterAgreement | None:
        """The judge or panel of these members; None where there is none."""
        return next((row for row in self.raters if set(row.members) == set(members)), None)


@dataclass(frozen=True)
class StudyAgreement:
    """The figures of a study; `drawing` is how resamples were drawn, its `clusters` their number."""

    study: str
    items: int
    criteria: Mapping[str, CriterionAgreement]
    drawing: Mapping[str, Any]


def study_agreement(
    table: Ratings, *, panels: Panels = None, study: str = "", **drawing: Unpack[Drawing]
) -> StudyAgreement:
    """The figures of a study, called `study` in titles, on the criteria whose answers have an order.

    `panels` (default: `default_panels`) are sets of judges, read as their mean on the items that all of them
    rated. Judges are compared with the mean of all people present on an item. A figure that is undefined in
    more than 5% of the draws has no interval. Raises StudyError for a panel of unknown judges.
    """
    if panels is not None:
        panels = list({frozenset(panel): tuple(dict.fromkeys(panel)) for panel in panels}.values())
    in_order = {name: scores for name, scores in table.criteria.items() if scores.ordered}
    raters = {name: scores.contenders(panels) for name, scores in in_order.items()}

    def figures(names: Sequence[str], table: Ratings) -> list[Figure]:
        all_figures: list[Figure] = []
        for name in names:
            all_figures += [people_alpha(table[name], "ordinal"), people_alpha(table[name], "interval")]
            all_figures += [against_people(table[name], rater) for rater in raters[name]]
        return all_figures

    # Items of few kinds on each criterion may be of many kinds on all.
    by_criterion = is_large(len(table.rated), drawing.get("resamples", 1000))
    results: list[Estimate] = []
    for names in [[name] for name in in_order] if by_criterion else [[*in_order]]:
        criterion = names[0] if len(names) == 1 else ""
        make = partial(figures, names)
        results += estimates(make(table), table, criterion=criterion, **drawing, recompute=make)
    remaining = iter(results)
    criteria = {}
    for name, scores in in_order.items():
        alpha = {"ordinal": next(remaining), "interval": next(remaining)}
        rows = tuple(RaterAgreement(rater.name, rater.members, next(remaining)) for rater in raters[name])
        population = population_words(table, name, drawing.get("people", "these"))
        method = "; ".join(filter(None, [described([CORRELATION], **drawing), population]))
        rests_on = basis(table, name, method=method)["text"]
        items = int((scores.present > 0).sum())
        judges = len(scores.judges)
        # Unnamed people's *final* is a mean of means, without ratings of its own.
        people = len(scores.people) if len(scores.item) or not items else len(table.people)
        criteria[name] = CriterionAgreement(people, items, alpha, rows[:judges], rows[judges:], rests_on)
    clusters = drawing.get("clusters")
    cluster_count = None if clusters is None else count_clusters(table.facet(clusters)[0], table.rated)
    resampling = {"resamples": 1000, "seed": 0, "people": "these", **drawing, "clusters": cluster_count}
    return StudyAgreement(study, len(table.units), criteria, resampling)


def with_others(table: Ratings, criterion: str) -> dict[str, Estimate]:
    """Spearman of every person with the mean of the others, on the items that another annotator rated too.

    Empty for one person alone, and for people without names.
    """
    scores = table[criterion]
    compared = [] if scores.unlinked or len(scores.people) < 2 else scores.people.tolist()
    return {
        table.people[person]: rank_correlation(
            scores.scores_of(person), scores.mean_of_others(person), table.people[person], "the others' mean"
        )
        for person in compared
    }


def title(criterion: str) -> str:
    """A criterion's name as a heading."""
    return OVERALL if criterion == FINAL else criterion.replace("_", " ").capitalize()


Labels = Callable[[str], str]
"""A criterion's name to the label that readers see."""


def judges_table(study: StudyAgreement, label: Labels = title) -> Table:
    """Judges and panels × criteria: Spearman with the mean of people; `label` gives a criterion's heading.

    Criteria are rows where they are more than judges and panels, so that the table stays narrow.
    """
    raters: dict[str, dict[str, Cell]] = {}
    for criterion, part in study.criteria.items():
        for row in part.raters:
            raters.setdefault(row.name, {"rater": row.name})[criterion] = row.spearman
    notes = [] if raters or not study.criteria else ["The study has no judges."]
    layout: dict[str, Any] = {"digits": 3, "interval": "ends"}
    columns_: tuple[Column, ...] = (columns.RATER, *(Column(c, label(c), **layout) for c in study.criteria))
    rows: list[dict[str, Cell]] = [*raters.values()]
    if len(study.criteria) > len(raters) > 0:
        columns_ = (Column("criterion"), *(Column(f"of {name}", name, **layout) for name in raters))
        rows = [
            {"criterion": label(c), **{f"of {name}": row.get(c) for name, row in raters.items()}}
            for c in study.criteria
        ]
    sampling_words = _sampling_words(study)
    return Table(
        "by_criterion",
        f"Judges and panels: Spearman's ρ with the mean of annotators{_title_suffix(study)}",
        columns_,
        tuple(rows),
        "Here each judge is compared with the mean of all annotators. “Held-out annotator” compares the "
        "judge and an annotator with the same mean, that of the others.",
        (*notes, "; ".join(filter(None, [f"{study.items} items", sampling_words]))),
    )


def p_table(study: StudyAgreement, label: Labels = title) -> Table:
    """Judges and panels × criteria: the two-sided p of each Spearman's ρ, as tables of papers star it."""
    raters: dict[str, dict[str, Cell]] = {}
    for criterion, part in study.criteria.items():
        for row in part.raters:
            raters.setdefault(row.name, {"rater": row.name})[criterion] = row.p
    p_columns = [Column(c, label(c), digits=4, least=0.0001) for c in study.criteria]
    return Table(
        "p_by_criterion",
        f"Judges and panels: p of Spearman's ρ{_title_suffix(study)}",
        (columns.RATER, *p_columns),
        tuple(raters.values()),
        notes=("By Student's t approximation. Some papers mark values of 0.0001 or more with a star.",),
    )


def people_table(study: StudyAgreement, label: Labels = title) -> Table:
    """People on each criterion: how many, on how many items, and their alpha.

    Another annotator stands beside each judge in “Held-out annotator”, where both have the same targets.
    """
    return Table(
        "people_by_criterion",
        f"Annotators{_title_suffix(study)}",
        (
            Column("criterion"),
            Column("people", "annotators"),
            Column("items", help="Rated items."),
            Column("alpha_ordinal", "Krippendorff's alpha, ordinal", digits=3, interval="ends"),
            Column("alpha_interval", "Krippendorff's alpha, interval", digits=3, interval="ends"),
        ),
        tuple(
            {f"alpha_{metric}": alpha for metric, alpha in part.alpha.items()}
            | {"criterion": label(name), "people": part.people, "items": part.items}
            for name, part in study.criteria.items()
        ),
        notes=tuple(filter(None, [_sampling_words(study), _piled_up(study)]))
        if study.items
        else ("The study has no ratings.",),
    )


def _piled_up(study: StudyAgreement) -> str:
    """That an interval of alpha is too narrow, where one is; else nothing."""
    alphas = (alpha for part in study.criteria.values() for alpha in part.alpha.values())
    return PILED_UP if any(PILED_UP in alpha.method for alpha in alphas) else ""


def _sampling_words(study: StudyAgreement) -> str:
    """How the intervals of correlations and alphas were found, in words."""
    return described([CORRELATION], **study.drawing)


def severities(
    table: Ratings, criterion: str, players: Facet | None = None, **drawing: Unpack[Drawing]
) -> Table:
    """The mean of the others less each annotator's own score, on items that somebody else rated too, and
    Spearman's ρ of the two; the most severe first. No rows of people without names. The caption begins with
    how far severity moves the means of players, where two or more were rated.
    """
    scores = table[criterion]
    rows: list[dict[str, Any]] = []
    correlations = with_others(table, criterion)
    for person in [] if scores.unlinked else scores.people.tolist():
        gap = scores.mean_of_others(person) - scores.scores_of(person)
        items = ~np.isnan(gap)
        n = int(items.sum())
        reason = "has no item in common with another annotator"
        severity = PointEstimate(mean(gap), n, reason=reason, kind=BIAS, items=items)
        name = table.people[person]
        rows.append({"rater": name, "n": n, "severity": severity, "others": correlations.get(name)})
    of_annotators = tabulate(SEVERITY, table, criterion, rows, target="", **drawing)
    ordered = tuple(sorted(of_annotators.rows, key=lambda row: -value_of(row["severity"])))
    moved = moved_by_severity(table, criterion, players or {})
    return replace(of_annotators, rows=ordered, caption=f"{moved} {SEVERITY.caption}".strip())


def moved_by_severity(table: Ratings, criterion: str, players: Facet) -> str:
    """How far people's mean of a player would move at most, were all annotators equally severe: a sentence,
    empty where fewer than two players were rated.

    An annotator is taken to score lower by the mean of all less their own score, over the items of several.
    """
    scores = table[criterion]
    codes, names = table.facet(players)
    move = np.zeros(scores.items)
    for person in scores.people.tolist():
        gap = (scores.target - scores.scores_of(person))[scores.present > 1]
        lower = gap[~np.isnan(gap)].mean() if np.isfinite(gap).any() else np.nan
        move += np.where(np.isnan(scores.scores_of(person)), 0, lower)
    usable = (codes >= 0) & (scores.present > 0) & np.isfinite(move)
    of_items = sums(codes[usable], move[usable] / scores.present[usable], len(names))
    moves = divide(of_items, np.bincount(codes[usable], minlength=len(names)))
    if scores.unlinked or np.isfinite(moves).sum() < 2:
        return ""
    largest = int(np.nanargmax(np.abs(moves)))
    if abs(moves[largest]) < LEAST_MOVE:
        return f"Severity hardly matters: correcting for it moves no model's mean by {LEAST_MOVE:g} points."
    return (
        f"Correcting for severity moves a model's mean by at most {abs(moves[largest]):.2f} points "
        f"({names[largest]})."
    )


def _title_suffix(study: StudyAgreement) -> str:
    return f" of study {study.study}" if study.study else ""
