"""Studies that hold too little, or the wrong thing: every section, in every form, answers or says why."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from concord.errors import StudyError
from concord.estimate import Estimate
from concord.questions import categories
from concord.reports.agreement_report import AgreementReport, Options, report_of
from concord.reports.sections import SECTIONS
from concord.table import FORMS
from tests.reports.agreement_report_helpers import frame, measured

Answers = list[list[float | None]]


def quality():
    """What both criteria of 40 items deserve."""
    return np.random.default_rng(5).integers(1, 6, (40, 2)).astype(float)


QUALITY = quality()


def scores(seed: int, items: int = 40) -> Answers:
    noise = np.random.default_rng([5, seed]).normal(0, 1, (items, 2))
    return np.clip(np.round(QUALITY[:items] + noise), 1, 5).tolist()


def constant(answer: float, items: int = 40) -> Answers:
    return [[answer, answer]] * items


def some(chosen: range, answers: Answers) -> Answers:
    return [row if item in chosen else [None, None] for item, row in enumerate(answers)]


def people(**answers: Answers) -> dict[tuple[str, str], Answers]:
    return {("human", name): rows for name, rows in answers.items()}


def judges(**answers: Answers) -> dict[tuple[str, str], Answers]:
    return {("judge", name): rows for name, rows in answers.items()}


def sparse(annotators: int = 200) -> dict[tuple[str, str], Answers]:
    """Each of many annotators on two items."""
    return people(**{f"p{n}": some(range(n % 38, n % 38 + 2), scores(100 + n)) for n in range(annotators)})


INVERTED: Answers = [[6 - (a or 0), 6 - (b or 0)] for a, b in QUALITY.tolist()]
ADA = scores(1)
STUDIES: dict[str, dict[tuple[str, str], Answers]] = {
    "one annotator": people(Ada=ADA) | judges(j=scores(2), k=scores(3)),
    "one item": people(Ada=scores(4, 1), Bo=scores(5, 1)) | judges(j=scores(6, 1), k=scores(7, 1)),
    "two items": people(Ada=scores(8, 2), Bo=scores(9, 2), Chi=scores(10, 2))
    | judges(j=scores(11, 2), k=scores(12, 2)),
    "no overlap of people": people(Ada=some(range(20), ADA), Bo=some(range(20, 40), ADA))
    | judges(j=scores(13)),
    "no overlap with judges": people(Ada=some(range(20), ADA), Bo=some(range(20), scores(14)))
    | judges(j=some(range(20, 40), scores(15)), k=some(range(30, 40), scores(16))),
    "all constant": people(Ada=constant(3), Bo=constant(3)) | judges(j=constant(3), k=constant(4)),
    "a constant judge": people(Ada=ADA, Bo=scores(17), Chi=scores(18)) | judges(j=constant(5), k=scores(19)),
    "a constant annotator": people(Ada=constant(2), Bo=scores(20), Chi=scores(21)) | judges(j=scores(22)),
    "all missing of a judge": people(Ada=ADA, Bo=scores(23)) | judges(j=some(range(0), ADA), k=scores(24)),
    "judges only": judges(j=scores(25), k=scores(26), l=scores(27)),
    "people only": people(Ada=ADA, Bo=scores(28), Chi=scores(29)),
    "an inverted judge": people(Ada=ADA, Bo=scores(30), Chi=scores(31)) | judges(j=INVERTED, k=scores(32)),
    "duplicates": people(Ada=ADA, Bo=ADA, Chi=ADA) | judges(j=ADA, k=ADA, l=ADA),
    "different criteria": people(Ada=ADA, Bo=scores(33), Chi=scores(34))
    | judges(j=[[a, None] for a, _ in scores(35)], k=[[None, b] for _, b in scores(36)]),
    "another scale": people(Ada=ADA, Bo=scores(37), Chi=scores(38))
    | judges(j=[[20, 1]] * 20 + [[90, 2]] * 20),
    "200 sparse annotators": sparse() | judges(j=scores(39), k=scores(40)),
}
NOTHING_TO_SAY = {"people only", "judges only"}


MANY = "200 sparse annotators"
FEWER = sorted(set(STUDIES) - {MANY})
"""Studies whose every section on every criterion takes no time to measure."""


@pytest.fixture(params=sorted(STUDIES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


MEASURED: dict[str, AgreementReport] = {}
"""Reports keep the sections they have computed: each is computed once for all tests."""


@pytest.fixture
def report(name: str) -> Iterator[AgreementReport]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Folders that pages of other tests left are removed whenever memory is collected.
        warnings.simplefilter("ignore", ResourceWarning)
        if name not in MEASURED:
            MEASURED[name] = measured(frame(STUDIES[name]), options=Options(resamples=10))
        yield MEASURED[name]


def test_every_section_answers_or_says_why(report: AgreementReport) -> None:
    for section in SECTIONS:
        for table in report.section(section, report.main).values():
            assert table.notes or table.rows, section
            for row in table.rows:
                for cell in row.values():
                    # An Estimate without a value has a reason; what is none is never nan.
                    assert isinstance(cell, Estimate) or cell == cell, (section, row)


@pytest.mark.parametrize(
    ("name", "form"),
    [*((name, form) for name in FEWER for form in FORMS), (MANY, "table")],
    indirect=["name"],
)
def test_the_report_is_written_in_every_form(report: AgreementReport, form: str) -> None:
    for sections in ([], ["all"]):
        written = report.document(form, sections=sections)
        assert written.strip()
        if form == "json":
            json.loads(written, parse_constant=pytest.fail)


@pytest.mark.parametrize("name", [MANY], indirect=True)
def test_many_annotators_are_listed_without_their_pairs(report: AgreementReport) -> None:
    """200 · 199 / 2 = 19,900 pairs: tables grow with the annotators alone."""
    each = report.section("raters", report.main)["raters"]
    assert len(each.rows) == 200
    assert all(len(table.rows) < 2_000 for table in report.tables_of(["all"]))
    assert each in report.tables_of(["all"])


def test_the_study_is_summed_up_or_what_is_missing_is_said(report: AgreementReport, name: str) -> None:
    said = [*report.summary, *report.missing]
    assert said
    assert not any("nan" in sentence.split() for sentence in said)
    assert bool(report.missing) or name not in NOTHING_TO_SAY


@pytest.mark.parametrize("name", FEWER, indirect=True)
def test_answers_as_categories_too(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        of = measured(frame(STUDIES[name])).data
        asked = tuple(replace(c, scale=categories("abcdef")) for c in of.study.criteria)
        found = report_of(replace(of, study=replace(of.study, criteria=asked)), Options(resamples=10))
        for form in FORMS:
            assert found.document(form).strip()


def test_a_study_without_any_score_is_refused_with_a_sentence() -> None:
    nothing = frame({("human", "Ada"): [[np.nan, np.nan]]})
    assert pd.isna(nothing.score).all()
    try:
        said = measured(nothing, options=Options(resamples=20)).missing
    except StudyError as error:
        said = [str(error)]
    assert said
