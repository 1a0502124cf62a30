"""The agreement report of a study: what page, command, JSON and bundle show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import fill
from typing import Any

from sqlite_utils import Database

from concord.arrays import Columns, coded
from concord.codes import Scope
from concord.errors import check_known, not_found
from concord.files.plain import plain_line
from concord.rating import Criterion, conditions_in_words
from concord.reports.evidence import Evidence
from concord.reports.evidence import Options as Options
from concord.reports.figure_cache import FigureCache, stamp
from concord.reports.flags import flags_of
from concord.reports.names import renamed
from concord.reports.obstacles import missing
from concord.reports.sections import REGISTRY, SECTIONS, lacks, names_of, section
from concord.reports.verdict import Assessment, verdict
from concord.scores import no_final
from concord.statistics.ratings import FINAL
from concord.store import frames
from concord.store.figures import StoredFigures
from concord.studies import studies
from concord.studies.studies import StudyRatings
from concord.table import (
    SCHEMA,
    Column,
    Table,
    as_document,
    as_figures_csv,
    as_values,
    markdown_text,
)

WIDTH = 110
"""Columns of a terminal whose width is not known."""
BY_WEIGHT = (
    "Rated items are weighted, so figures describe all items. n counts items; intervals use the effective "
    "number of items."
)
AS_DRAWN = (
    "Strata were drawn with unequal probabilities and are not weighted: figures describe the "
    "sample, not all items."
)
OVERVIEW = tuple(registered.name for registered in REGISTRY if registered.in_overview)
"""The sections that `concord agreement` prints, or that its sentences rest on."""
RESAMPLING = ("resamples", "seed", "clusters", "people")
"""How resamples were drawn, as JSON has it."""


@dataclass(frozen=True, eq=False)
class AgreementReport(Evidence):
    """Evidence with its tables and sentences, which are made when asked for, and kept."""

    assessment_cache: MutableMapping[str, Assessment] = field(default_factory=dict)
    """The assessment on each criterion, made once."""

    def section(self, name: str, criterion: str) -> dict[str, Table]:
        """The tables of a section on one criterion, by name: see `concord.reports.sections.section`."""
        return section(self, name, criterion)

    def lacks(self, name: str, criterion: str) -> str:
        """What the study lacks for a section on one criterion, as the end of a sentence; else “”."""
        return lacks(self, name, criterion)

    def _section_names(self, sections: Sequence[str], criterion: str) -> list[str]:
        """The names of these sections, “all” being every one.

        Raises NotFound for an unknown section or criterion.
        """
        for name in sections:
            if name not in (*SECTIONS, "all"):
                raise not_found("section", name, [*SECTIONS, "all"])
        if criterion and criterion not in self.criteria:
            raise not_found("criterion", criterion, self.criteria)
        all_names = [name for name in SECTIONS if "all" in sections]
        return [*dict.fromkeys([*all_names, *(name for name in sections if name != "all")])]

    def tables_of(self, sections: Sequence[str], criterion: str = "") -> list[Table]:
        """The tables of these sections (“all”: of every one) on a criterion, else on the main one.

        Raises NotFound for an unknown section or criterion.
        """
        names = self._section_names(sections, criterion)
        return [
            table
            for section_name in names
            for table in self.section(section_name, criterion or self.main).values()
        ]

    def missing_sections(self, sections: Sequence[str], criterion: str = "") -> list[str]:
        """A sentence for each of these sections that has no figures on a criterion, else on the main one.

        It names the criteria on which there are some. Raises NotFound as `tables_of` does.
        """
        sentences = []
        key = criterion or self.main
        for name in self._section_names([name for name in sections if name != "all"], criterion):
            if reason := self.lacks(name, key):
                place = "" if SECTIONS[name].scope == Scope.STUDY else f" on {self.label(key)}"
                sentence = f"Section {name}{place} has no figures: {reason}."
                if other_criteria := [
                    criterion_name for criterion_name in self.criteria if not self.lacks(name, criterion_name)
                ]:
                    sentence += f" It has figures with --criterion {' or '.join(other_criteria)}."
                sentences.append(sentence)
        return sentences

    def tables(self, criterion: str) -> dict[str, Table]:
        """The tables on one criterion of all sections, by name; those over all criteria on the main one."""
        section_names = names_of(*Scope) if criterion == self.main else names_of(Scope.CRITERION)
        return {
            name: table
            for section_name in section_names
            for name, table in self.section(section_name, criterion).items()
        }

    def verdict(self, criterion: str = "") -> Assessment:
        """The assessment on one criterion, else on the main one. Raises StudyError for an unknown
        criterion.
        """
        name = criterion or self.main
        if name not in self.assessment_cache:
            self.assessment_cache[name] = verdict(self, name)
        return self.assessment_cache[name]

    @cached_property
    def summary(self) -> list[str]:
        """The assessment in sentences: what to do, why, what is not known, and the most serious flags.

        Empty without people or judges, as `missing` says then.
        """
        assessment = self.verdict()
        return assessment.sentences if assessment.members and self.ratings.people else []

    @cached_property
    def limits(self) -> list[str]:
        """Sentences on single raters who mislead, and on scales, over all criteria."""
        return [flag.text for flag in flags_of(self)]

    @cached_property
    def missing(self) -> list[str]:
        """What keeps the study from answering how far its judges can be trusted, with the remedies."""
        return missing(self)

    @property
    def notes(self) -> list[str]:
        """What a reader of the figures has to know."""
        return _notes(self.data, len(self.ratings.units))

    def as_json(self) -> dict[str, Any]:
        """All figures and sentences as plain values: the tables over all criteria, and of every section on
        every one.
        """

        def plain(name: str, criterion: str) -> dict[str, Any]:
            return {table.name: as_values(table) for table in self.section(name, criterion).values()}

        study = self.agreement.study
        drawing = self.agreement.drawing
        values: dict[str, Any] = {"schema": SCHEMA, "study": study, "items": self.agreement.items}
        values |= {name: drawing[name] for name in RESAMPLING if drawing[name] is not None}
        values |= {name: plain(name, self.main) for name in names_of(Scope.STUDY)}
        values |= {"verdicts": {c: self.verdict(c).as_json() for c in self.criteria}}
        values |= {"summary": self.summary, "missing": self.missing, "notes": self.notes}
        values |= {"limits": self.limits, "left_out": self.left_out}
        values["partial"] = [
            {**one.judge._asdict(), "rated": one.rated, "of": one.total, "lacks": len(one.lacks)}
            for one in self.partial
        ]
        values["excluded"] = [
            {"annotator": one.annotator, "reason": one.reason, "decided": one.excluded}
            for one in self.data.excluded
        ]
        sections = {c: {name: plain(name, c) for name in names_of(Scope.CRITERION)} for c in self.criteria}
        return values | {"main": self.main, "sections": sections}

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """On how many units judges are not compared, why, and by the word of which judge (units by name)."""
        reasons = Counter(self.data.left_out.values())
        return [
            {"reason": reason, "units": n, "by": dict(self.data.refused_by)} for reason, n in reasons.items()
        ]

    def document(
        self, form: str, *, sections: Sequence[str] = (), criterion: str = "", width: int = WIDTH
    ) -> str:
        """The report in one of `concord.table.FORMS`: the summary, and the figures of the main criterion.

        JSON has everything, CSV every figure on a line of its own. With names of `sections` (“all” for every
        one), their tables on `criterion` (else the main one). Text is made for a terminal of `width` columns.
        Raises NotFound for an unknown section or criterion.
        """
        if sections:
            tables = self.tables_of(sections, criterion)
        elif form == "json":
            return json.dumps(self.as_json(), ensure_ascii=False, indent=2) + "\n"
        elif form == "csv":
            return as_figures_csv(_figures(self))
        else:
            tables = self.tables_of(OVERVIEW)
        if form in ("json", "csv"):
            return as_document(tables, form)
        renamed_tables = [renamed(table, self.names) for table in tables]
        if sections:
            return as_document(renamed_tables, form, width=width)
        sentences = dict.fromkeys([*self.summary, *self.limits, *self.notes])
        text = _listed([*sentences], form, width) + as_document(renamed_tables, form, width=width)
        names = f"{', '.join(SECTIONS)} or all"
        hidden_tables = [
            f"More: `--section NAME`, where NAME is {names}. "
            "`concord agreement --sections` says what each answers."
        ]
        return text if form != "table" else f"{text}\n{_listed(hidden_tables, form, width)}"


def agreement_report(
    db: Database, study: str, options: Options = Options(), figures: Path | None = None
) -> AgreementReport:
    """The report of a study. Its figures are read from the file `figures`, and stored there, if one is named.

    Raises NotFound for an unknown study, StudyError for a study without any rating.
    """
    ratings = studies.ratings_for_agreement(
        db,
        study,
        exclude_refused=options.exclude_refused,
        cluster_by=options.cluster_by,
    )
    features = frames.feature_rows(db, study)
    report = report_of(ratings, options, features)
    return report if figures is None else _from_file(report, figures)


def _from_file(report: AgreementReport, figures: Path) -> AgreementReport:
    """A report that was read just now, with the figures that a file has of the same ratings and options."""
    # Of the looks at a verdict only their number counts: that it was read again changes no figure.
    looks = {criterion: report.look(criterion) for criterion in report.criteria}
    with suppress(TypeError):
        key = stamp(replace(report.data, looks={}), looks, report.options, report.feature_columns)
        texts = StoredFigures(figures, key)
        return replace(
            report,
            table_cache=FigureCache(texts, "tables"),
            flag_cache=FigureCache(texts, "flags"),
            agreement_cache=FigureCache(texts, "agreement"),
            assessment_cache=FigureCache(texts, "assessment"),
        )
    return report


def report_of(
    ratings: StudyRatings, options: Options = Options(), features: Columns | None = None
) -> AgreementReport:
    """The report of ratings that were read: see `concord.reports.evidence.Evidence.read`.

    Raises NotFound for a cut of an unknown criterion.
    """
    for criterion, _ in options.cuts:
        check_known("criterion", criterion, (*ratings.criteria, FINAL))
    return AgreementReport.read(ratings, options, features)


def _notes(ratings: StudyRatings, units: int) -> list[str]:
    """What a reader of the figures has to know: what is excluded, what is simulated, what final is."""
    sentences = [
        f"Excluded: {decision.annotator} on {decision.excluded[:10]}: {decision.reason.removesuffix('.')}."
        for decision in ratings.excluded
    ]
    sentences += [
        f"Judges' figures exclude {n} of {units} items: {reason}. Annotators' own figures include all. To "
        "include all for judges, use the switch “Count conversations in which a judge saw a refusal” on the "
        "page, or --keep-refused of the command."
        for reason, n in Counter(ratings.left_out.values()).items()
    ]
    if ratings.too_few:
        sentences.append(ratings.too_few)
    if ratings.study.lab_rubric:
        sentences.append(
            "The judge lab divided this study, and these figures include its sealed part. If you choose a "
            "judge by them, no unseen items are left to test it."
        )
    if ratings.simulated:
        sentences.append(
            f"Rule-based mock models (not people, not language models): {', '.join(ratings.simulated)}."
        )
    if ratings.weights:
        sentences.append(BY_WEIGHT)
    if ratings.drawn_unequally:
        sentences.append(AS_DRAWN)
    if n := len(coded(ratings.extra["unit"])[1]) if ratings.extra else 0:
        sentences.append(
            f"{n} items have an extra rating because their first annotators differed. Agreement is "
            "measured without extra ratings; with them, it would be too low."
        )
    covering = ratings.covering(ratings.judges)
    if len(set(ratings.models_of_judges.values())) < len(ratings.models_of_judges):
        sentences.append(
            "If a judge answered several versions of the prompt, “all judges” includes its last version "
            f"that covers the study: {', '.join(covering)}."
        )
    sentences += [_depends(ratings, c) for c in ratings.study.criteria if c.when]
    sentences += [one.sentence(ratings.study) for one in ratings.partial(ratings.judges)]
    if ratings.study.anonymous:
        sentences.append("Annotators have no names, so no figure compares one annotator with another.")
    questions = [c for c in ratings.study.criteria if c.name in ratings.final_criteria and c.scale.ordered]
    if no_final_reason := no_final(questions):
        sentences.append(no_final_reason)
    elif 1 < len(questions) < len([c for c in ratings.study.criteria if c.counted]):
        names = ", ".join(c.name for c in questions)
        sentences.append(
            f"The overall score is the mean of the criteria that annotators and judges rated: {names}."
        )
    return sentences


def _depends(ratings: StudyRatings, criterion: Criterion) -> str:
    """On which items the figures of a question rest that depends on an answer."""
    counts = []
    for kind, noun in (("human", "annotators"), ("judge", "judges")):
        rows = ratings.column("kind") == kind
        rows_of_criterion = rows & (ratings.column("criterion") == criterion.name)
        units = [len(coded(ratings.column("unit")[mask])[1]) for mask in (rows_of_criterion, rows)]
        if units[1]:
            counts.append(f"{noun} were asked on {units[0]} of {units[1]} items")
    condition = conditions_in_words(criterion, ratings.study.criteria)
    return (
        f"{criterion.label} is asked only where {condition}. Its figures use the items on "
        "which both raters "
        f"were asked: {', '.join(counts)}."
    )


def _figures(report: AgreementReport) -> list[Table]:
    """The tables that hold every figure, the criterion's name in every row."""
    tables_of_study = [
        table for name in names_of(Scope.STUDY) for table in report.section(name, report.main).values()
    ]
    for criterion in report.criteria:
        tables = (
            table for name in names_of(Scope.CRITERION) for table in report.section(name, criterion).values()
        )
        tables_of_study += [_with_criterion(table, report.label(criterion)) for table in tables]
    return tables_of_study


def _with_criterion(table: Table, criterion: str = "") -> Table:
    """A table of one criterion with the criterion's name in every row."""
    rows = tuple({"criterion": criterion, **row} for row in table.rows)
    return replace(table, columns=(Column("criterion"), *table.columns), rows=rows)


def _listed(sentences: Sequence[str], form: str, width: int) -> str:
    """Sentences as a list in a form for readers."""
    if not sentences:
        return ""
    if form == "latex":
        return "\n".join([*(f"% {plain_line(sentence)}" for sentence in sentences), "", ""])
    if form == "markdown":
        return "\n".join([*(f"- {markdown_text(sentence)}" for sentence in sentences), "", ""])
    return "\n".join([*(fill(s, width, subsequent_indent="  ") for s in map(plain_line, sentences)), "", ""])
