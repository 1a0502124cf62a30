"""The registry of sections: page, command, JSON, report and documentation walk it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from concord.codes import AnswerLevel, Scope
from concord.reports.agreement_report import OVERVIEW, Options, agreement_report
from concord.reports.page import BEGINNING, of_study
from concord.reports.sections import REGISTRY, SECTIONS, Section, lacks, level, names_of
from concord.store import studies

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"
ENTRIES = dict(re.findall(r"^## `([\w-]+)`: (.+)$", PAGE.read_text(encoding="utf-8"), re.M))


def test_every_section_has_a_documented_entry_by_its_question():
    assert {each.name: each.question for each in REGISTRY} == ENTRIES
    assert list(ENTRIES) == list(SECTIONS), "in the order of the registry"


@pytest.mark.parametrize("section", REGISTRY, ids=lambda section: section.name)
def test_a_section_is_complete(section: Section):
    assert section.question.endswith("?")
    assert section.levels
    always = Section.__dataclass_fields__["has"].default
    assert (section.has is always) == (not section.lacking_tables), "what needs data says which it lacks"


def test_names_are_unique_and_each_is_in_one_scope():
    assert len(SECTIONS) == len(REGISTRY)
    assert sorted([*names_of(Scope.CRITERION), *names_of(Scope.STUDY)]) == sorted(SECTIONS)
    assert set(OVERVIEW) < set(SECTIONS)


def test_the_report_walks_the_registry(demo_workspace):
    """Every section that is in the report, and has data, is a heading of it, with its question."""
    with demo_workspace.read() as db:
        report = agreement_report(db, studies.names(db)[0], Options(resamples=20))
        text = of_study(db, report, date_made=date(2026, 1, 1))
    shown = re.findall(r'<h2 id="([\w-]+)">', text)
    wanted = [
        each.name
        for each in REGISTRY
        if each.in_report and each.name not in BEGINNING and report.section(each.name, report.main)
    ]
    assert shown == wanted
    assert len(shown) > 3
    assert all(SECTIONS[name].question in text for name in shown)


def test_a_level_that_a_section_does_not_measure_is_said(demo_workspace):
    with demo_workspace.read() as db:
        report = agreement_report(db, studies.names(db)[0], Options(resamples=20))
    for criterion in report.criteria:
        kind = level(report, criterion)
        for each in REGISTRY:
            if kind not in each.levels:
                assert lacks(report, each.name, criterion)
                assert not report.section(each.name, criterion)
    assert {level(report, criterion) for criterion in report.criteria} <= set(AnswerLevel)


def test_the_command_lists_the_sections_without_a_study(fresh, run):
    done = run(fresh, "agreement", "--sections")
    assert done.exit_code == 0, done.output
    assert all(re.search(rf"^{name} ", done.stdout, re.M) for name in SECTIONS)
