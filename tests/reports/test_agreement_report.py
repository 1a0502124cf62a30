"""What a researcher reads of a study: figures with the items behind them, and the summary."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from concord.codes import Scope
from concord.questions import YES_NO, points
from concord.rating import Criterion
from concord.reports.agreement_report import Options, report_of
from concord.reports.coefficient import default_coefficient, metric_of
from concord.reports.flags import preferences
from concord.reports.names import short_names
from concord.reports.sections import names_of
from concord.store.studies import Study
from concord.studies.studies import StudyRatings
from concord.table import as_values
from tests.reports.agreement_report_helpers import CRITERIA, FEW, frame, measured, simulated


def test_a_judge_that_prefers_its_own_family_is_found():
    """Cedar is of the judge's family, which gives it half a point more; birch has none and is left out."""
    table = simulated(items=90, judge_noise=0.3, person_noise=0.3)
    table.loc[(table.kind == "judge") & (table.player == "cedar"), "score"] += 0.5
    table = table.assign(model=np.where(table.kind == "judge", "oak-2", ""))
    families = (("amber", "pine"), ("cedar", "oak"), ("oak-2", "oak"))
    report = measured(table, options=Options(resamples=200, families=families))
    [row] = report.section("bias", "final")["feature_bias"].rows
    assert row["feature"] == "the model is of the judge's family"
    assert row["n"] == 60
    assert row["effect"].value == pytest.approx(0.5, abs=0.15)
    assert row["effect"].low > 0
    assert not measured(table).section("bias", "final")
    assert any(
        text.startswith("Compared with annotators, j favours models of its own family by 0.")
        for text in preferences(report, "final")
    )
    assert "amily is not measured" not in " ".join(report.section("bias", "final")["feature_bias"].notes)


def test_where_no_preference_is_shown_the_page_says_so_first() -> None:
    table = simulated(items=60, judge_noise=0.3, person_noise=0.3)
    assert preferences(measured(table), "final") == ["No judge is shown to prefer replies for their length."]
    table = table.assign(model=np.where(table.kind == "judge", "oak-2", ""))
    families = (("amber", "pine"), ("cedar", "oak"), ("oak-2", "oak"))
    report = measured(table, options=Options(resamples=100, families=families))
    assert preferences(report, "final") == [
        "No judge is shown to prefer replies for their length or models of its own family (compared: j)."
    ]


def test_a_table_of_effects_says_why_an_interval_beyond_0_is_no_preference() -> None:
    """The sentence needs more than the interval of one row; the caption counts such rows."""
    table = simulated(items=60, judge_noise=0.3, person_noise=0.3)
    table.loc[(table.kind == "judge") & (table.player == "cedar"), "score"] += 0.25
    table = table.assign(model=np.where(table.kind == "judge", "oak-2", ""))
    families = (("amber", "pine"), ("cedar", "oak"), ("oak-2", "oak"))
    report = measured(table, options=Options(resamples=200, families=families))
    effects = report.section("bias", "final")["feature_bias"]
    beyond = [row for row in effects.rows if row["effect"].low * row["effect"].high > 0]
    assert beyond
    assert preferences(report, "final")[0].startswith("No judge is shown to prefer")
    counted = f"{len(beyond)} of {len(effects.rows)} exclude 0, and 1 of 20 does by chance."
    assert counted in effects.caption
    assert "p is at most 0.001, adjusted for several judges" in effects.caption


def test_who_has_no_figure_of_its_own_family_is_named() -> None:
    """Cedar and oak-2, the model of j, are of one family; elm, the model of k, has none."""
    scores = np.random.default_rng(0).integers(1, 6, size=(3, 30, 2)).tolist()
    table = frame(dict(zip((("person", "A"), ("judge", "j"), ("judge", "k")), scores, strict=True)))
    table = table.assign(model=table.rater.map({"A": "", "j": "oak-2", "k": "elm"}))
    families = (("amber", "pine"), ("cedar", "oak"), ("oak-2", "oak"))
    told = measured(table, options=Options(resamples=20, families=families)).section("bias", "wit")
    note = told["feature_bias"].notes[0]
    assert note == (
        "Own family is not measured of k: no family in models.toml, or not both models of the family and "
        "others."
    )


def test_yes_and_no_begin_with_kappa_and_shares_by_hand() -> None:
    """Of 20 items people pass 12; the judge passes 9 of these and 2 of the others."""
    people = [1.0] * 12 + [0.0] * 8
    judge = [1.0] * 9 + [0.0] * 3 + [1.0] * 2 + [0.0] * 6
    given = [("human", "a", people), ("human", "b", people), ("judge", "j", judge)]
    given += [("judge", "runs", [0.5, *judge[1:]])]
    scores = {(kind, name): [[score, 3.0] for score in of] for kind, name, of in given}
    table = frame(scores).query("criterion == @CRITERIA[0].name")
    asked = (replace(CRITERIA[0], scale=YES_NO),)
    of = StudyRatings(Study("s", asked), table, (asked[0].name,), (asked[0].name,), {}, "mean")
    report = report_of(of, FEW)
    name, tables = asked[0].name, report.section("glance", asked[0].name)
    assert [*tables][:2] == ["decisions", "glance"]
    [row] = tables["decisions"].rows
    assert "Excluded: runs, because not every score is 0 or 1" in tables["decisions"].notes[1]
    # Alike 15 of 20; by chance 0.6 · 11/20 + 0.4 · 9/20 = 0.51.
    figures = {"kappa": (0.75 - 0.51) / 0.49, "accuracy": 0.75, "sensitivity": 9 / 12, "specificity": 6 / 8}
    assert {figure: row[figure].value for figure in figures} == pytest.approx(figures)
    assert row["kappa"].interval is not None
    assert [column.name for column in tables["decisions"].columns][:4] == ["rater", "kappa", "accuracy", "n"]
    assert (default_coefficient(report, name), metric_of(report, name)) == ("kappa", "nominal")
    other = measured(simulated(items=20, judge_noise=0.3, person_noise=0.3))
    assert "decisions" not in other.section("glance", "wit")


def said(table: pd.DataFrame, **named: object) -> str:
    return " ".join(measured(table, **named).summary)  # type: ignore[arg-type]


def test_points_are_the_items_both_rated_with_their_conversations() -> None:
    found = measured(
        frame(
            {
                ("human", "Ada"): [[1, 1], [2, 2], [5, 5]],
                ("human", "Bo"): [[2, 1], [3, 2], [5, 5]],
                ("judge", "j"): [[4, 4], [2, 2]],
            }
        )
    )
    table = found.points("wit", ["j"])
    assert table[["conversation_id", "player", "mean", "score", "people"]].values.tolist() == [
        [100, "amber", 1.5, 4.0, 2],
        [101, "birch", 2.5, 2.0, 2],
    ]
    assert table["difference"].tolist() == [2.5, -0.5]  # 4 − 1.5 and 2 − 2.5, the farthest first


def test_items_at_one_place_are_found_whatever_the_order_of_sums() -> None:
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last place
    tenths = {
        ("human", n): [[a, 1], [b, 1]] for n, a, b in (("Ada", 1.1, 1.3), ("Bo", 1.2, 1.2), ("Chi", 1.3, 1.1))
    }
    table = measured(frame({**tenths, ("judge", "j"): [[2, 2], [2, 2]]})).points("wit", ["j"])
    assert table["mean"].nunique() == 1


def test_shares_count_what_lies_between_two_answers_with_the_nearer_one() -> None:
    found = measured(
        frame(
            {
                ("human", "Ada"): [[1, 1], [1, 1], [2, 2], [5, 5]],
                ("judge", "j"): [[1.4, 1], [1.5, 1], [4.6, 1], [5, 1]],
            }
        )
    )
    table = pd.DataFrame(found.tables("wit")["score_distribution"].rows)
    by = {who: rows.set_index("score").share.to_dict() for who, rows in table.groupby("rater")}
    assert by["Ada"] == {1: 0.5, 2: 0.25, 3: 0, 4: 0, 5: 0.25}
    assert by["j"] == {1: 0.25, 2: 0.25, 3: 0, 4: 0, 5: 0.5}  # 1.5 goes up
    assert list(dict.fromkeys(table.rater)) == ["All annotators", "Ada", "j"]
    assert set(table.n) == {4}


def test_a_judge_off_the_scale_answers_on_another_one() -> None:
    people = {("human", "Ada"): [[1, 1], [2, 2], [5, 5]]}
    same = measured(frame({**people, ("judge", "j"): [[1, 1], [5, 5], [3, 3]]}))
    assert not same.ratings.no_level("wit", ["j"])
    other = measured(frame({**people, ("judge", "j"): [[1, 1], [9, 9], [3, 3]]}))
    assert other.ratings.no_level("wit", ["j"]) == "1 of 3 answers of j are off the scale 1 to 5"
    assert other.answers("wit").tolist() == list(range(1, 10))
    assert "points" not in " ".join(other.summary)


def test_final_has_the_scale_of_its_criteria_if_they_share_one() -> None:
    found = measured(frame({("human", "Ada"): [[1, 1]], ("judge", "j"): [[1, 1]]}))
    assert found.scale("final") == CRITERIA[0].scale
    mixed = StudyRatings(
        Study("s", (CRITERIA[0], Criterion("care", "", points(1, 10)))),
        found.data.table,
        ("wit", "care"),
        ("wit", "care"),
        {},
    )
    assert report_of(mixed).scale("final") is None


def test_panels_are_all_judges_and_every_two() -> None:
    judges = {
        ("judge", name): [[i % 5 + 1, (i * k) % 5 + 1] for i in range(12)] for k, name in enumerate("abc")
    }
    table = frame({("human", "Ada"): [[i % 4 + 1, i % 3 + 1] for i in range(12)], **judges})
    found = measured(table, options=Options(resamples=0))
    panels = [row.members for row in found.agreement.criteria["final"].panels]
    assert sorted(panels) == [("a", "b"), ("a", "b", "c"), ("a", "c"), ("b", "c")]
    assert found.panels == (("a", "b", "c"),)
    assert found.primary_panel == ("a", "b", "c")


def test_without_people_or_judges_figures_stand_without_a_summary() -> None:
    table = simulated(judge_noise=0.5, person_noise=0.5)
    for kind in ("human", "judge"):
        found = measured(table[table.kind == kind])
        assert found.summary == []
        assert set(found.agreement.criteria) >= {"wit", "care"}
        assert found.tables("wit")["score_distribution"].rows


def test_short_names_leave_out_the_words_all_begin_with() -> None:
    assert short_names(["org/judge-a", "org/judge-b"]) == {
        "org/judge-a": "a",
        "org/judge-b": "b",
    }
    # No word is cut in two, and a judge alone keeps its name.
    assert short_names(["strict", "strong"]) == {"strict": "strict", "strong": "strong"}
    assert short_names(["org/judge"]) == {"org/judge": "org/judge"}


def test_the_cut_is_the_middle_of_the_scale_unless_another_is_asked_for():
    """Wit is on 1 to 5, care on 0 to 2: middles 3 and 1; scales of different width have no final."""
    table = simulated(items=30, judge_noise=0.3, person_noise=0.3)
    report = measured(table)
    wide = replace(report.data.study, criteria=(CRITERIA[0], replace(CRITERIA[1], scale=points(0, 2))))
    report = report_of(replace(report.data, study=wide), FEW)
    assert report.criteria == ("wit", "care")
    assert [report.cut(name)[0] for name in report.criteria] == [3, 1]
    # On one scale final's is the mean of both.
    assert measured(table).cut("final")[0] == 3
    other = report_of(report.data, replace(FEW, cuts=(("wit", 4),)))
    assert (other.cut("wit"), other.cut("care")[0]) == ((4, ""), 1)
    assert other.section("thresholds", "wit")["thresholds"].meta["cut"] == 4
    assert report.section("thresholds", "wit")["thresholds"].meta["cut"] == 3


def test_a_study_of_one_criterion_says_nothing_twice() -> None:
    given = {
        ("human", "ann"): [[1 + i % 5] for i in range(20)],
        ("human", "bob"): [[1 + (i + i % 2) % 5] for i in range(20)],
        ("judge", "j"): [[1 + (i * 2) % 5] for i in range(20)],
    }
    wit = StudyRatings(Study("s", CRITERIA[:1]), frame(given), ("wit",), ("wit",), {})
    found = report_of(wit, FEW)
    assert found.criteria == ("wit",)
    assert found.main == "wit"
    text = found.document("table", width=100)
    assert (
        len(re.findall(r"\bWit\b", text))
        == text.count("\nWit ") + text.count("on Wit.") + text.count("On Wit")
        == 3
    )
    assert "by_criterion" not in found.section("criteria", "wit")


def test_each_of_many_annotators_is_compared_with_the_others() -> None:
    people = {("human", f"p{n}"): [[(i + n) % 5 + 1, 3] for i in range(6)] for n in range(14)}
    found = measured(frame(people | {("judge", "j"): [[i % 5 + 1, 2] for i in range(6)]}))
    each = found.section("raters", "wit")["raters"]
    assert {row["rater"] for row in each.rows} == {f"p{n}" for n in range(14)}
    assert all(rho.defined for rho in each.estimates("others"))


def test_json_and_csv_have_every_section_on_every_criterion() -> None:
    scores = {
        ("human", "ann"): [[1 + i % 5, 1 + i % 3] for i in range(12)],
        ("human", "bob"): [[1 + i % 4, 1 + i % 5] for i in range(12)],
        ("judge", "j"): [[1 + (i * 2) % 5, 5 - i % 4] for i in range(12)],
    }
    found = measured(frame(scores), options=Options(resamples=20))
    told = found.as_json()
    assert set(told["sections"]) == {"wit", "care", "final"}
    lines = list(csv.DictReader(io.StringIO(found.document("csv"))))
    for criterion, sections in told["sections"].items():
        assert set(sections) == set(names_of(Scope.CRITERION))
        for name, tables in sections.items():
            for table in tables.values():
                assert table == as_values(found.section(name, criterion)[table["table"]])
        [row] = sections["glance"]["glance"]["rows"]
        for figure in ("judge", "difference", "bias"):
            [line] = [
                line
                for line in lines
                if (line["table"], line["criterion"], line["figure"])
                == ("glance", found.label(criterion), figure)
            ]
            assert line["value"] == ("" if row[figure]["value"] is None else str(row[figure]["value"]))
    text = found.document("table", width=100)
    for sentence in found.summary:
        assert " ".join(sentence.split()) in " ".join(text.split())


@pytest.mark.parametrize(("people", "whom"), [(3, "these"), (5, "like-these")])
def test_the_design_decides_whom_intervals_are_about_unless_asked(people: int, whom: str) -> None:
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, (40, 2))
    scores = {
        (kind, f"{kind} {number}"): (quality + rng.normal(0, 0.5, (40, 2))).tolist()
        for kind, count in (("human", people), ("judge", 1))
        for number in range(count)
    }
    report = measured(frame(scores))
    about = {"these": "for these 3 annotators", "like-these": "for annotators like these 5"}[whom]
    assert report.people == whom
    assert f", 40 items, {about}." in report.verdict().reason
    assert report.as_json()["people"] == whom
    asked = measured(frame(scores), options=replace(FEW, people="these"))
    assert f"for these {people} annotators" in asked.agreement.criteria["final"].basis
