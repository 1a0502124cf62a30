"""The sections of an agreement report: the question each answers, and its tables on one criterion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, compress

import numpy as np

from concord import scores as rules
from concord.arrays import Columns, distinct_values
from concord.codes import AnswerLevel, Claim, Scope, Tab
from concord.messages import SINGLE_ROWS, TABS, UNMEASURED, excluded
from concord.reports.coefficient import default_coefficient, leading
from concord.reports.evidence import Evidence
from concord.reports.features import OWN_FAMILY, languages
from concord.reports.published import compared, published
from concord.reports.wording import listed
from concord.statistics import columns
from concord.statistics.alt_test import alt_test
from concord.statistics.claims import CLAIMS, p_above, statable
from concord.statistics.confusion import decisions, decisions_at
from concord.statistics.distribution import score_distribution
from concord.statistics.exclusions import exclusions
from concord.statistics.feature_bias import feature_bias
from concord.statistics.glance import agreement_column, glance
from concord.statistics.group_differences import GroupDifference, differences_table, group_differences
from concord.statistics.held_out import HeldOutMeasure, held_out, without_each
from concord.statistics.hidden import Twice, annotator_retest, gold_hits
from concord.statistics.items import group_agreement
from concord.statistics.judges import judge_figures
from concord.statistics.lone import Lone, lone
from concord.statistics.majority import answer_of_people
from concord.statistics.nominal import nominal
from concord.statistics.overlap import Common, overlap
from concord.statistics.people_pairs import people_pairs
from concord.statistics.preferences import preferences
from concord.statistics.ratings import FINAL, Contender, Floats, panel_name
from concord.statistics.reliability import reliability, retest
from concord.statistics.study import (
    judges_table,
    p_table,
    people_table,
    severities,
)
from concord.statistics.systems import systems
from concord.statistics.versions import VersionedJudge, by_version
from concord.store.answers import ItemAnswer
from concord.studies.purposes import gold, repeat
from concord.studies.purposes.adjudicate import scores_on
from concord.table import Cell, Column, Note, Table

OF_ORDER = ("spearman", "kendall", "pearson", "p")
"""Columns that answers without an order, or of two kinds, are not compared by."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A question about the judges or the annotators of a study, and the tables that answer it.

    The page Agreement, the commands, JSON and the report walk `REGISTRY`; docs/agreement.md has an entry for
    each section, whose heading is its question.
    """

    name: str
    """As `--section` takes it."""
    title: str
    question: str
    tab: Tab
    """Where the page shows it."""
    tables: Callable[[Evidence, str], Iterable[Table]]
    """Its tables on a criterion."""
    levels: frozenset[AnswerLevel] = frozenset(AnswerLevel)
    """The kinds of answers that it measures."""
    scope: Scope = Scope.CRITERION
    """Whether its tables are about one criterion, or compare all criteria of the study."""
    has: Callable[[Evidence, str], object] = lambda _evidence, _criterion: True
    """Whether a study has the data that it needs."""
    lacking_tables: str = ""
    """What a study lacks where it has not, as the end of a sentence."""
    in_report: bool = False
    """Whether the report (HTML) has its tables."""
    in_overview: bool = False
    """Whether `concord agreement` prints it without being asked for a section."""


def _decisions(evidence: Evidence, criterion: str) -> Table:
    """What answers of two kinds are judged by first: kappa, equal answers, sensitivity, specificity."""
    question = evidence.criterion(criterion)
    words = question.scale.labels if question and question.scale.two else ("fail", "pass")
    judge_rows = section(evidence, "judges", criterion)["judges"].rows
    kappas = {str(row["rater"]): row["kappa"] for row in judge_rows}
    return decisions(evidence.ratings, criterion, kappas, words)


def _held_out_measure(evidence: Evidence, criterion: str) -> HeldOutMeasure:
    """How a judge is set beside another annotator: by kappa where that leads, else by order, or level as
    well.
    """
    if default_coefficient(evidence, criterion) == "kappa":
        return "kappa"
    return "absolute" if evidence.options.agreement == "absolute" else "spearman"


def lone_annotators(evidence: Evidence, criterion: str) -> list[Lone]:
    """Each annotator beside the agreement of the others with each other, on one criterion; made once."""
    if criterion not in evidence.lone_cache:
        evidence.lone_cache[criterion] = lone(
            evidence.ratings, criterion, _held_out_measure(evidence, criterion), **evidence.resampling
        )
    return evidence.lone_cache[criterion]


def differing_groups(evidence: Evidence, criterion: str) -> list[GroupDifference]:
    """Differences of judges between groups of items, the surest first, on one criterion; made once."""
    if criterion not in evidence.difference_cache:
        evidence.difference_cache[criterion] = group_differences(
            evidence.ratings,
            criterion,
            evidence.groups,
            evidence.judges,
            nominal=default_coefficient(evidence, criterion) == "kappa",
            clusters=evidence.data.clusters,
            seed=evidence.options.seed,
        )
    return evidence.difference_cache[criterion]


def _without_lone(
    evidence: Evidence, criterion: str, panels: Sequence[tuple[str, ...]]
) -> tuple[str, Table | None]:
    """The annotators who agree with nobody, and judges beside a held-out annotator without them."""
    lone_people = lone_annotators(evidence, criterion)
    sure = statable(Claim.ALONE, [p_above(one.contrast, 0.0) for one in lone_people])
    names = [one.person for one in compress(lone_people, sure)]
    ratings = evidence.ratings
    for name in names:
        ratings = ratings.excluding(ratings.people.index(name))
    measure = _held_out_measure(evidence, criterion)
    left = (
        held_out(ratings, criterion, panels=panels, measure=measure, **evidence.resampling) if names else None
    )
    return listed(names), left


def _glance(evidence: Evidence, criterion: str) -> Iterator[Table]:
    measure = _held_out_measure(evidence, criterion)
    if measure == "kappa" and (decision_table := _decisions(evidence, criterion)).rows:
        yield decision_table
    yield glance_with(evidence, criterion)


def glance_with(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Table:
    """The glance of every judge and of the panel of all, or of the panel named: what each figure excludes
    included.

    Raises StudyError for an unknown judge or criterion.
    """
    tables = section(evidence, "judges", criterion)
    panels = evidence.panels
    if len(members) > 1 and tuple(members) not in panels:
        panels = (tuple(members),)
        tables = {table.name: table for table in _comparison_tables(evidence, criterion, panels)}
    copied = evidence.copied
    table = glance(
        tables["judges"],
        tables["held_out"],
        evidence.names,
        first=panel_name(evidence.primary_panel),
        measure=_held_out_measure(evidence, criterion),
        margin=evidence.options.margin,
        look=evidence.look(criterion),
        without_each=without_each(
            evidence.ratings, criterion, panels, _held_out_measure(evidence, criterion)
        ),
        without_lone=_without_lone(evidence, criterion, panels),
        copies={
            rater.name: listed(dict.fromkeys(copied[judge] for judge in rater.members if judge in copied))
            for rater in evidence.ratings[criterion].contenders(panels)
            if {*rater.members} & {*copied}
        },
    )
    return _with_exclusions(evidence, criterion, table, evidence.ratings[criterion].contenders(panels))


def _with_exclusions(evidence: Evidence, criterion: str, table: Table, raters: Sequence[Contender]) -> Table:
    """The glance with how many rated items each row excludes, in files, and why in a note."""
    agreement_name = agreement_column(table)
    majority = default_coefficient(evidence, criterion) == "kappa"
    rows: list[dict[str, Cell]] = []
    reasons: list[str] = []
    for row, rater in zip(table.rows, raters, strict=True):
        n = row["n"] if isinstance(row["n"], int) else 0
        counts = exclusions(
            evidence.ratings,
            criterion,
            rater.members,
            n,
            held_out=agreement_name == "judge",
            majority=majority,
        )
        rows.append({**row, "excluded": sum(counts.values())})
        if counts:
            reasons.append(f"{row['name']} {excluded(counts)}")
    place = [column.name for column in table.columns].index("n") + 1
    column = Column("excluded", help="Rated items that the figure excludes.", file_only=True)
    columns_ = (*table.columns[:place], column, *table.columns[place:])
    notes = (*table.notes, *([f"Excluded rated items: {'; '.join(reasons)}."] if reasons else []))
    return replace(table, columns=columns_, rows=tuple(rows), notes=notes)


def _criteria(evidence: Evidence, _criterion: str) -> Iterator[Table]:
    # Of one criterion and two judges, the glance and section judges have every row.
    if len(evidence.ordered) > 1 or (evidence.ordered and len(evidence.judges) > 2):
        yield judges_table(evidence.agreement, evidence.label)
        yield p_table(evidence.agreement, evidence.label)
    if evidence.ordered:
        yield people_table(evidence.agreement, evidence.label)


def _versions(evidence: Evidence, _criterion: str) -> Iterator[Table]:
    """Over all items; where these are in several languages, also over those of each."""
    models = evidence.data.models_of_judges
    variants = evidence.data.versions_of_judges
    raters = [
        VersionedJudge(judge, models.get(judge, judge), variants.get(judge, ""))
        for judge in evidence.ratings.judges
    ]
    criteria = {name: evidence.label(name) for name in evidence.ordered}
    yield from by_version(evidence.ratings, raters, criteria)
    spoken = languages(evidence.feature_columns, evidence.ratings.units)
    for language in sorted({*spoken} - {""}) if len({*spoken}) > 1 else ():
        items = np.array([name == language for name in spoken])
        yield from by_version(evidence.ratings, raters, criteria, items, language)


def _published(evidence: Evidence, _criterion: str) -> Iterator[Table]:
    if (table := compared(evidence)).rows:
        yield table


def _judges(evidence: Evidence, criterion: str) -> Iterator[Table]:
    yield from _comparison_tables(evidence, criterion, evidence.panels)


def _comparison_tables(
    evidence: Evidence, criterion: str, panels: Sequence[tuple[str, ...]]
) -> Iterator[Table]:
    """Every judge and the panels beside people, and beside a held-out annotator."""
    table = evidence.ratings
    measure = _held_out_measure(evidence, criterion)
    figures = judge_figures(table, criterion, panels=panels, **evidence.resampling)
    if measure == "kappa":
        raters = table[criterion].contenders(panels)
        rows = zip(figures.rows, raters, strict=True)
        first, n, *rest = (column for column in figures.columns if column.name not in OF_ORDER)
        rest = rest if table[criterion].ordered else []
        figures = replace(
            figures,
            columns=(first, n, columns.KAPPA, *rest),
            rows=tuple(_with_kappa(evidence, criterion, row, judge.members) for row, judge in rows),
        )
    yield figures
    yield held_out(table, criterion, panels=panels, measure=measure, **evidence.resampling)


def _with_kappa(
    evidence: Evidence, criterion: str, row: Mapping[str, Cell], members: Sequence[str]
) -> dict[str, Cell]:
    """A row of judges with kappa in place of correlations, and its number of items."""
    kappa = leading(evidence, criterion, members)
    return {**row, "kappa": kappa, "n": kappa.n}


def _distribution(evidence: Evidence, criterion: str) -> Iterator[Table]:
    scale = None if evidence.ratings.other_scale.get(criterion) else evidence.scale(criterion)
    word = scale.word if scale and scale.named else None
    yield score_distribution(evidence.ratings, criterion, evidence.answers(criterion), word)


def _people(evidence: Evidence, criterion: str) -> Iterator[Table]:
    if _held_out_measure(evidence, criterion) == "kappa":
        question = evidence.criterion(criterion)
        labels = question.scale.labels if question and question.scale.sets else ()
        yield nominal(evidence.ratings, criterion, labels, **evidence.resampling)
    if not evidence.ratings[criterion].ordered:
        return
    yield reliability(evidence.ratings, criterion, **evidence.resampling)
    if len(evidence.ratings[criterion].people) > 1 and not evidence.ratings[criterion].unlinked:
        yield people_pairs(evidence.ratings, criterion)


def _runs(evidence: Evidence, criterion: str) -> dict[str, list[Floats]]:
    """The score of every item (nan: none) in each run of the judges with several."""
    ratings = evidence.ratings
    rows = evidence.data.repeats
    place = {unit: number for number, unit in enumerate(ratings.units)}
    item = np.array([place[unit] for unit in rows["unit"].tolist()], dtype=np.int64)
    parts = ratings.final_criteria if criterion == FINAL and ratings.final_criteria else (criterion,)
    runs: dict[str, list[Floats]] = {}
    for judge in sorted({*rows["rater"].tolist()}):
        for run in np.unique(rows["repeat"][rows["rater"] == judge]):
            stacked = np.full((len(parts), len(ratings.units)), np.nan)
            rows_of_run = (rows["rater"] == judge) & (rows["repeat"] == run)
            for answers, part in zip(stacked, parts, strict=True):
                rows_of_part = rows_of_run & (rows["criterion"] == part)
                answers[item[rows_of_part]] = rows["score"][rows_of_part]
            score = np.where(ratings.open(criterion), rules.final(list(stacked)), np.nan)
            runs.setdefault(judge, []).append(score)
    return runs


def _preferences(evidence: Evidence, criterion: str) -> Iterator[Table]:
    answers = evidence.preferences(criterion)
    orders = evidence.orders(criterion)
    yield preferences(evidence.ratings, criterion, answers, orders=orders, **evidence.panels_and_resampling)


def _overlap(evidence: Evidence, criterion: str) -> Iterator[Table]:
    question = evidence.criterion(criterion)
    ratings = evidence.ratings
    content = question.scale.kind.content if question else None
    assert content
    place = {unit: number for number, unit in enumerate(ratings.units)}
    answers: dict[int, dict[str, str]] = {}
    rows = (evidence.data.column(name).tolist() for name in ("unit", "criterion", "rater", "content"))
    for unit, name, rater, words in zip(*rows, strict=True):
        if name == criterion and (rater not in ratings.judges or unit not in evidence.data.left_out):
            answers.setdefault(place[unit], {})[rater] = words
    pairs = []
    for item, answers_of_item in answers.items():
        for one, second in combinations(answers_of_item, 2):
            with suppress(ValueError):  # words of a file that are no answer
                pairs.append(
                    Common(item, one, second, *content.common(answers_of_item[one], answers_of_item[second]))
                )
    yield overlap(ratings, criterion, pairs, ratings.judges, units=content.units, **evidence.resampling)


def _has_words(evidence: Evidence, criterion: str) -> bool:
    question = evidence.criterion(criterion)
    return bool(question and question.scale.kind.content) and "content" in evidence.data.rows


def _twice(purpose: str) -> Callable[[Evidence, str], dict[str, Twice]]:
    """Everybody's first and second answers to what came again for a purpose."""

    def answers(evidence: Evidence, criterion: str) -> dict[str, Twice]:
        criteria = evidence.data.final_criteria if criterion == FINAL else (criterion,)
        return repeat.answered_twice(evidence.data.repeated_answers.get(purpose, ()), criteria)

    return answers


def _annotator_retest(evidence: Evidence, criterion: str, purpose: str = "repeat") -> Iterator[Table]:
    yield annotator_retest(
        _twice(purpose)(evidence, criterion),
        judged=purpose == "revise",
        nominal=not evidence.ratings[criterion].ordered,
        resamples=evidence.options.resamples,
        seed=evidence.options.seed,
    )


def _against(
    evidence: Evidence, criterion: str, target: str, reference: Mapping[Hashable, float], people: bool = False
) -> Table:
    """The table of judges, with `people` of these too, on the units that have a score of another target."""
    ratings = evidence.ratings
    scores = np.array([reference.get(unit, np.nan) for unit in ratings.units])
    judged = ratings.against(target, criterion, scores, people=people)
    options = replace(evidence.options, people=None)
    table = next(
        _judges(
            replace(
                evidence,
                ratings=judged,
                options=options,
                table_cache={},
                agreement_cache={},
                lone_cache={},
                difference_cache={},
                length_cache={},
            ),
            criterion,
        )
    )
    compared = {*judged.judges, *map(panel_name, evidence.panels)}
    heading = "Judge, panel or person" if people else "Judge or panel"
    return replace(
        table,
        columns=(replace(table.columns[0], heading=heading), *table.columns[1:]),
        rows=tuple(row for row in table.rows if row["rater"] in compared),
    )


def _gold_labels(evidence: Evidence, criterion: str) -> Iterator[Table]:
    empty_answers: dict[str, Mapping[Hashable, float]] = {name: {} for name in evidence.data.final_criteria}
    labels = scores_on(_answers(evidence.data.gold), criterion, empty_answers)
    yield replace(
        _against(evidence, criterion, "gold label", labels, people=True),
        name="gold_labels",
        title="Judges and annotators compared with gold labels",
        caption="Gold labels are excluded from all other figures.",
    )


def _answers(columns_: Columns) -> list[ItemAnswer]:
    if not columns_:
        return []
    columns = (columns_[name].tolist() for name in ("unit", "criterion", "score"))
    return [ItemAnswer(*answer) for answer in zip(*columns, strict=True)]


def _adjudicated(evidence: Evidence, criterion: str) -> dict[Hashable, float]:
    return scores_on(evidence.data.adjudicated, criterion, _means(evidence))


def _adjudication(evidence: Evidence, criterion: str) -> Iterator[Table]:
    scores = _adjudicated(evidence, criterion)
    yield replace(
        _against(evidence, criterion, "mean with adjudicated scores", _in_place(evidence, criterion, scores)),
        name="adjudication",
        title="Judges compared with annotators' mean, with adjudicated scores",
        caption="Section “judges” has the figures before adjudication. All other sections exclude "
        "adjudicated scores.",
    )
    yield replace(
        _against(evidence, criterion, "settled score", scores, people=True),
        name="adjudicated_items",
        title="Judges and annotators compared with adjudicated scores",
        caption="On adjudicated items only. They were chosen because annotators differ on them.",
    )


def _in_place(evidence: Evidence, criterion: str, scores: Mapping[Hashable, float]) -> dict[Hashable, float]:
    """People's mean of each unit (of two answers and of categories what most of them gave), or these scores
    where they have one.
    """
    ratings = evidence.ratings
    kappa = default_coefficient(evidence, criterion) == "kappa"
    means = answer_of_people(ratings[criterion]) if kappa else ratings[criterion].target
    return dict(zip(ratings.units, means.tolist(), strict=True)) | {**scores}


def _means(evidence: Evidence) -> dict[str, Mapping[Hashable, float]]:
    """People's mean of the criteria that count, criterion → unit → mean."""
    ratings = evidence.ratings
    return {
        name: dict(zip(ratings.units, ratings[name].target.tolist(), strict=True))
        for name in evidence.data.final_criteria
        if name in ratings.criteria
    }


def _groups(evidence: Evidence, criterion: str) -> Iterator[Table]:
    yield group_agreement(
        evidence.ratings,
        criterion,
        evidence.groups,
        nominal=default_coefficient(evidence, criterion) == "kappa",
        **evidence.panels_and_resampling,
    )
    share = CLAIMS[Claim.GROUP].share or 0.0
    if differing := differing_groups(evidence, criterion):
        yield differences_table(differing, share)


def _alt_test(evidence: Evidence, criterion: str) -> Iterator[Table]:
    nominal = not evidence.ratings[criterion].ordered
    table = alt_test(
        evidence.ratings,
        criterion,
        panels=evidence.panels,
        score="agreement" if nominal else "distance",
        majority=default_coefficient(evidence, criterion) == "kappa",
    )
    if evidence.data.clusters:
        note = "assumes independent items, although other sections resample related items together"
        first = table.notes[0]
        joined_note = Note(f"{first} · {note}", (*getattr(first, "parts", (first,)), note))
        table = replace(table, notes=(joined_note, *table.notes[1:]))
    yield table


def _thresholds(evidence: Evidence, criterion: str) -> Iterator[Table]:
    cut, note = evidence.cut(criterion)
    yield decisions_at(evidence.ratings, criterion, cut, note=note, **evidence.panels_and_resampling)


def _system(evidence: Evidence, criterion: str) -> Iterator[Table]:
    arguments = evidence.panels_and_resampling
    yield systems(evidence.ratings, criterion, evidence.players, members=evidence.primary_panel, **arguments)


def _bias(evidence: Evidence, criterion: str) -> Iterator[Table]:
    features = evidence.features
    judge_features = {OWN_FAMILY: evidence.own_family}
    players = evidence.players
    panels = evidence.panels
    table = feature_bias(
        evidence.ratings,
        criterion,
        features,
        judge_features=judge_features,
        players=players,
        panels=panels,
        **evidence.resampling,
    )
    effects = [figure for _, figure in table.defined("effect")]
    ends = [figure.interval for figure in effects if figure.interval]
    beyond = sum(low * high > 0 for low, high in ends)
    caption = table.caption
    if beyond:
        share = CLAIMS[Claim.OWN_FAMILY].share
        caption += " " + SINGLE_ROWS.format(beyond=beyond, rows=len(ends), share=share)
    yield replace(table, caption=caption, notes=(*filter(None, [unmeasured(evidence)]), *table.notes))


def unmeasured(evidence: Evidence) -> str:
    """Of which judges the section does not say whether they favour their own family, and why; else “”."""
    families = dict(evidence.options.families)
    models = {*evidence.data.models_of_judges.values()}
    if evidence.own_family:
        unmeasured_judges = ", ".join(judge for judge in evidence.judges if judge not in evidence.own_family)
        reason = "no family in models.toml, or not both models of the family and others"
        return f"Own family is not measured of {unmeasured_judges}: {reason}." if unmeasured_judges else ""
    if models & set(families) and distinct_values(evidence.players) & set(families):
        return "Own family is not measured: no judge rated both models of its own family and other models."
    return (
        "Own family is not measured: models.toml names no families. "
        'Add `family = "…"` to the tables of judges and models.'
    )


ORDERED = frozenset({AnswerLevel.SCORES, AnswerLevel.TWO})

REGISTRY = (
    Section(
        name="glance",
        title="At a glance",
        question="Does each judge agree with annotators as well as another annotator does?",
        tab=Tab.JUDGES,
        tables=_glance,
        in_report=True,
        in_overview=True,
    ),
    Section(
        name="criteria",
        title="Every criterion",
        question="On which criteria do judges agree with annotators?",
        tab=Tab.JUDGES,
        tables=_criteria,
        scope=Scope.STUDY,
        in_report=True,
        in_overview=True,
    ),
    Section(
        name="versions",
        title="Every criterion by version of the prompt",
        question="Which version of a judge's prompt agrees better with annotators, on every criterion?",
        tab=Tab.JUDGES,
        tables=_versions,
        scope=Scope.STUDY,
        has=lambda e, _: e.ordered and e.ratings.judges,
        lacking_tables="no judge answered a question with an order",
    ),
    Section(
        name="published",
        title="Published figures",
        question="How do this study's figures compare with published ones?",
        tab=Tab.JUDGES,
        tables=_published,
        scope=Scope.STUDY,
        has=lambda e, _: e.data.study.benchmark and published(e.data.study.benchmark),
        lacking_tables="data/published.toml has none of its benchmark",
    ),
    Section(
        name="overlap",
        title="Overlap of marked or written text",
        question="How much of what two raters marked or wrote is the same?",
        tab=Tab.RATERS,
        tables=_overlap,
        has=_has_words,
        lacking_tables="answers are numbers alone, without words of the replies",
    ),
    Section(
        name="judges",
        title="Judges and panels compared with annotators",
        question="How close is each judge to annotators, by every coefficient?",
        tab=Tab.JUDGES,
        tables=_judges,
    ),
    Section(
        name="preferences",
        title="Preferences between two",
        question="How often does each judge prefer the one of two that annotators prefer?",
        tab=Tab.JUDGES,
        tables=_preferences,
        has=lambda e, c: e.preferences(c),
        lacking_tables="answers do not say which of two is better",
        in_report=True,
    ),
    Section(
        name="distribution",
        title="Score distribution",
        question="How often does each rater give each answer?",
        tab=Tab.JUDGES,
        tables=_distribution,
    ),
    Section(
        name="groups",
        title="Agreement by group",
        question="For which models, scenarios or other groups of items does a judge fail?",
        tab=Tab.FAILS,
        tables=_groups,
        has=lambda e, _: e.groups,
        lacking_tables="neither models nor a facet, such as a scenario, divide its items into groups",
        in_report=True,
    ),
    Section(
        name="people",
        title="Agreement of annotators with each other",
        question="How far do annotators agree with each other?",
        tab=Tab.RATERS,
        tables=_people,
        in_report=True,
    ),
    Section(
        name="retest",
        title="Test–retest of each judge",
        question="Does a judge give the same scores when it is asked again?",
        tab=Tab.JUDGES,
        tables=lambda e, c: [retest(e.ratings, c, _runs(e, c), **e.resampling)],
        levels=ORDERED,
        has=lambda e, _: e.data.repeats,
        lacking_tables="no judge rated the same items in several runs",
        in_report=True,
    ),
    Section(
        name="annotator-retest",
        title="Test–retest of each annotator",
        question="Does an annotator give the same answers to repeat items?",
        tab=Tab.RATERS,
        tables=_annotator_retest,
        has=_twice("repeat"),
        lacking_tables="no annotator rated a repeat item",
    ),
    Section(
        name="gold",
        title="Gold items and attention checks",
        question="Do annotators give the known answers?",
        tab=Tab.RATERS,
        tables=lambda e, _: [gold_hits(gold.hits(e.data.checks))],
        has=lambda e, _: e.data.checks,
        lacking_tables="there are no gold items",
    ),
    Section(
        name="gold-labels",
        title="Judges and annotators compared with gold labels",
        question="How close are judges and annotators to the gold labels?",
        tab=Tab.RATERS,
        tables=_gold_labels,
        has=lambda e, _: e.data.gold,
        lacking_tables="there are no gold labels",
        in_report=True,
    ),
    Section(
        name="adjudication",
        title="Judges and annotators compared with adjudicated scores",
        question="How close are judges and annotators to adjudicated scores?",
        tab=Tab.RATERS,
        tables=_adjudication,
        has=_adjudicated,
        lacking_tables="no item was adjudicated",
        in_report=True,
    ),
    Section(
        name="anchoring",
        title="Second answers after the judge's score",
        question="Do annotators change their answers towards a judge's score that they see?",
        tab=Tab.RATERS,
        tables=lambda e, c: _annotator_retest(e, c, "revise"),
        has=_twice("revise"),
        lacking_tables="no annotator answered again after seeing only a judge's score",
    ),
    Section(
        name="alt-test",
        title="Alternative annotator test",
        question="Are a judge's answers as close to the other annotators' as an annotator's are?",
        tab=Tab.JUDGES,
        tables=_alt_test,
    ),
    Section(
        name="thresholds",
        title="Pass or fail at a cut of the scale",
        question="If a score decides, does the judge decide as annotators do?",
        tab=Tab.JUDGES,
        tables=_thresholds,
        levels=frozenset({AnswerLevel.SCORES}),
    ),
    Section(
        name="system",
        title="Order of models by judges and by annotators",
        question="If judges rank the models, do they rank them as annotators do?",
        tab=Tab.JUDGES,
        tables=_system,
        levels=ORDERED,
    ),
    Section(
        name="bias",
        title="Feature bias: length, turn, language, own family",
        question="Does a judge prefer long replies, late turns, a language or its own family?",
        tab=Tab.FAVOURS,
        tables=_bias,
        levels=ORDERED,
        has=lambda e, _: e.features or e.own_family,
        lacking_tables="items do not differ in length, turn, language or model family",
        in_report=True,
    ),
    Section(
        name="raters",
        title="Severity of annotators",
        question="Which annotators score lower or higher than others on the same items?",
        tab=Tab.RATERS,
        tables=lambda e, c: [severities(e.ratings, c, e.players, **e.resampling)],
        levels=ORDERED,
    ),
)
"""Every section, in the order in which page, command, files and report show them."""

SECTIONS = {section_.name: section_ for section_ in REGISTRY}
"""Sections by name, as `--section` takes it."""


def level(evidence: Evidence, criterion: str) -> AnswerLevel:
    """What kind of answers a criterion has. Raises StudyError for an unknown criterion."""
    if not evidence.ratings[criterion].ordered:
        return AnswerLevel.CATEGORIES
    return AnswerLevel.TWO if default_coefficient(evidence, criterion) == "kappa" else AnswerLevel.SCORES


def lacks(evidence: Evidence, name: str, criterion: str) -> str:
    """What a study lacks for a section on a criterion, as the end of a sentence; “” where it lacks nothing.

    Raises StudyError for an unknown criterion.
    """
    section_ = SECTIONS[name]
    answers = level(evidence, criterion)
    if answers not in section_.levels:
        return UNMEASURED[answers]
    return "" if section_.has(evidence, criterion) else section_.lacking_tables


def section(evidence: Evidence, name: str, criterion: str) -> dict[str, Table]:
    """The tables of a section on one criterion, by name; made once.

    Raises StudyError for an unknown criterion.
    """
    if (name, criterion) not in evidence.table_cache:
        tables = () if lacks(evidence, name, criterion) else SECTIONS[name].tables(evidence, criterion)
        evidence.table_cache[name, criterion] = {table.name: table for table in tables}
    return evidence.table_cache[name, criterion]


def names_of(*scopes: Scope) -> tuple[str, ...]:
    """The sections with one of these scopes, in the order of the registry."""
    return tuple(section_.name for section_ in REGISTRY if section_.scope in scopes)


def sections_table() -> Table:
    """What each section answers, and on which tab of the page it is."""
    columns_ = (Column("section"), Column("question"), Column("tab", help="Of the page Agreement."))
    rows = tuple({"section": s.name, "question": s.question, "tab": TABS[s.tab]} for s in REGISTRY)
    return Table("sections", "Sections of an agreement report", columns_, rows)
