"""Scales of a study in its report: who is switched off by whom, and what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from concord.errors import NotFound
from concord.estimate import Estimate
from concord.questions import categories, points
from concord.rating import Criterion
from concord.reports.agreement_report import AgreementReport, Options, report_of
from concord.table import Table
from tests.reports.agreement_report_helpers import CRITERIA, FEW, frame, measured


def study() -> dict[tuple[str, str], list[list[float]]]:
    """People on 2 to 5; judge j gives one 1, k none."""
    people = {("human", n): [[2 + (i * k) % 4, 2 + i % 4] for i in range(36)] for k, n in enumerate("ABC", 1)}
    k = [[float(2 + i % 4), float(2 + i % 4)] for i in range(36)]
    return {**people, ("judge", "j"): [[1.0, 2.0], *k[1:]], ("judge", "k"): k}


def guessed(scores: dict[tuple[str, str], list[list[float]]], options: Options = FEW) -> AgreementReport:
    found = measured(frame(scores))
    scale = replace(points(2, 5), guessed=True)
    of = replace(
        found.data, study=replace(found.data.study, criteria=tuple(replace(c, scale=scale) for c in CRITERIA))
    )
    return report_of(of, options)


def figures(table: Table, name: str) -> dict[object, float | None]:
    return {row["rater"]: cell.value for row in table.rows if isinstance(cell := row[name], Estimate)}


def test_one_judges_1_on_peoples_2_to_5_switches_nothing_off() -> None:
    report = guessed(study())
    for criterion in ("wit", "final"):
        tables = report.tables(criterion)
        for name, figure in (("judges", "bias"), ("judges", "mae"), ("alt_test", "omega")):
            assert None not in figures(tables[name], figure).values(), (criterion, name)
    assert report.scale("wit") == points(1, 5)
    assert report.answers("wit").tolist() == [1, 2, 3, 4, 5]
    assert "scale guessed: 1 to 5" in report.agreement.criteria["wit"].basis
    assert "scale guessed: 2 to 5" in report.agreement.criteria["care"].basis
    assert "wit: scale guessed: 1 to 5" in report.agreement.criteria["final"].basis


def test_a_judge_on_another_scale_has_no_level_on_that_criterion() -> None:
    scores = study()
    scores["judge", "j"] = [[2 * wit, care] for wit, care in scores["judge", "k"]]
    report = guessed(scores)
    bias = figures(report.tables("wit")["judges"], "bias")
    assert (bias["j"], bias["Avg(j, k)"]) == (None, None)
    assert bias["k"] is not None
    assert None not in figures(report.tables("care")["judges"], "bias").values()
    assert figures(report.tables("final")["judges"], "bias")["j"] is None
    assert figures(report.tables("wit")["alt_test"], "omega")["k"] is not None
    assert (
        "no figures of level: annotators answer 2 to 5, j 4 to 10" in report.agreement.criteria["wit"].basis
    )


def test_a_scale_declared_for_the_report_stands_above_the_guess() -> None:
    scores = study()
    scores["judge", "j"] = [[2 * wit, care] for wit, care in scores["judge", "k"]]
    declared = guessed(scores, replace(FEW, scales=(("wit", points(1, 10)),)))
    assert declared.scale("wit") == points(1, 10)
    assert declared.ratings.no_level("wit", ["j"]) == ""
    assert "guessed" not in declared.agreement.criteria["wit"].basis
    everywhere = guessed(scores, replace(FEW, scales=(("", points(1, 5)),)))
    assert everywhere.scale("care") == everywhere.scale("final") == points(1, 5)
    assert everywhere.ratings.no_level("wit", ["j"]) == "27 of 36 answers of j are off the scale 1 to 5"
    with pytest.raises(NotFound, match="no criterion “wut”"):
        guessed(scores, replace(FEW, scales=(("wut", points(1, 5)),)))


def test_the_scale_of_judges_is_another_where_it_is_declared_so() -> None:
    found = measured(frame(study()))
    asked = (Criterion("wit", "", judged=points(0, 6)), CRITERIA[1])
    report = report_of(replace(found.data, study=replace(found.data.study, criteria=asked)), FEW)
    assert report.ratings.no_level("wit", ["j"]) == "judges answer on 0 to 6, annotators on 1 to 5"
    assert report.ratings.no_level("care", ["j"]) == ""


def test_categories_are_put_to_the_alt_test_by_equal_answers_alone() -> None:
    found = measured(frame(study()))
    asked = (replace(CRITERIA[0], scale=categories("abcdef")), CRITERIA[1])
    report = report_of(replace(found.data, study=replace(found.data.study, criteria=asked)), FEW)
    table = report.section("alt-test", "wit")["alt_test"]
    assert "scored by equal answers" in table.notes[0]
    table = guessed(study(), FEW).section("alt-test", "wit")["alt_test"]
    assert "scored by the distance of answers" in table.notes[0]
