"""A report as one page: a glossary, names of cells for narrow screens, long tables folded, few "
"differences."""

from __future__ import annotations

import re
from datetime import date

import pytest

from concord.messages import GLOSSARY
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.page import PRINTED, of_study


@pytest.fixture(scope="module")
def text(demo_once, tmp_path_factory) -> str:
    from shutil import copytree

    from concord.workspace import Workspace

    workspace = Workspace(copytree(demo_once, tmp_path_factory.mktemp("layout") / "demo"))
    with workspace.read() as db:
        return of_study(db, agreement_report(db, "demo", Options(resamples=20)), date_made=date(2026, 1, 1))


def test_three_lines_say_what_the_words_of_the_verdict_mean(text):
    assert len(GLOSSARY) == 3
    assert all(f"<b>{word}</b>" in text for word in GLOSSARY)


def test_each_cell_of_a_table_names_its_column(text):
    """On a phone cells stack, and the head of the table is not shown."""
    bodies = re.findall(r'<table[^>]*class="cells">.*?<tbody>(.*?)</tbody>', text, re.S)
    assert bodies
    for body in bodies:
        assert len(re.findall(r"<td\b", body)) == len(
            re.findall(r"<td data-of=|<td class=\"text\" data-of=", body)
        )


def test_a_table_of_more_rows_than_a_screen_is_folded(text):
    for before, body in re.findall(
        r"(.{0,120})<div class=\"wide\"><table class=\"cells\">(.*?)</table>", text, re.S
    ):
        rows = body.count("<tr>") - 1
        assert ('class="rows"' in before) == (rows > 15 or "not shown to differ" in body)


def test_differences_that_are_not_shown_are_counted_and_folded(text):
    [folded] = re.findall(r'<details class="rows"><summary>(\d+) rows: not shown to differ</summary>', text)
    assert text.count("not shown to differ</td>") == int(folded)


def test_of_many_differences_few_are_in_sight_and_printed(text):
    differences = re.search(r'<table id="disagreements".*?</table>', text, re.S)
    assert differences
    assert differences[0].count("<tr>") - 1 > PRINTED
    assert (
        text.count(f"tr:nth-child(n+{PRINTED + 1}) {{ display: none; }}") == 2
    )  # on the screen, and in print
    assert 'id="all"' in text


def test_scores_have_two_decimals_at_most(text):
    [body] = re.findall(r'<table id="disagreements".*?<tbody>(.*?)</tbody>', text, re.S)
    scores = re.findall(r'data-of="(?:Its answer|People&#39;s|People\'s)">([^<]*)<', body)
    assert scores
    assert not [score for score in scores if re.fullmatch(r"-?\d+\.\d{3,}", score)]
