"""Tables with several rows an item: runs, judges named row by row; criteria of one rater in each of two
files.
"""

import numpy as np
import pytest

import concord
from concord.errors import ImportRefused
from concord.reading import labels
from tests.reading.twelve import HUMAN, IDS, JUDGE, OTHER, SECOND, checked, kappa, passes, rho, taken


def rows(found):
    return {row["rater"]: row for row in found.report.section("judges", found.report.main)["judges"].rows}


RUNS = {"id": [*IDS] * 2, "run": [1] * 12 + [2] * 12, "human": [*HUMAN] * 2, "judge_score": [*JUDGE, *SECOND]}


@pytest.mark.parametrize("name", ["run", "trial", "iteration"])
def test_runs_of_a_judge_in_rows_are_its_repeats(name):
    table = {name if column == "run" else column: cells for column, cells in RUNS.items()}
    found = checked(table)
    mean = [(a + b) / 2 for a, b in zip(JUDGE, SECOND, strict=True)]
    assert rows(found)["judge_score"]["spearman"].value == pytest.approx(rho(HUMAN, mean))
    assert taken(found, "run") == [name]


def test_the_screen_says_on_how_many_items_runs_differ(tmp_path):
    from click.testing import CliRunner

    from concord.cli import main

    file = tmp_path / "runs.csv"
    lines = zip(*RUNS.values(), strict=True)
    file.write_text(",".join(RUNS) + "\n" + "\n".join(",".join(map(str, line)) for line in lines))
    number = sum(a != b for a, b in zip(JUDGE, SECOND, strict=True))
    screen = " ".join(CliRunner().invoke(main, ["check", str(file)]).output.split())
    assert f"judge_score is unstable on {number} of 12 items" in screen


def test_runs_that_people_answer_differently_are_items():
    found = checked({**RUNS, "human": [*HUMAN, *OTHER]})
    assert rows(found)["judge_score"]["n"] == 24


@pytest.mark.parametrize("name", ["judge", "judge_model", "llm", "evaluator_name"])
def test_a_column_may_name_the_judge_of_each_row(name):
    table = {"id": [*IDS] * 2, name: ["gpt-5"] * 12 + ["opus"] * 12, "human_score": [*HUMAN] * 2}
    found = checked(table | {"judge_score": [*JUDGE, *SECOND]})
    figures = rows(found)
    assert figures["gpt-5"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    assert figures["opus"]["spearman"].value == pytest.approx(rho(HUMAN, SECOND))


def test_rows_of_a_model_and_a_criterion_are_told_apart():
    table = {
        "id": [*IDS] * 4,
        "model_id": (["m1"] * 12 + ["m2"] * 12) * 2,
        "dimension": ["a"] * 24 + ["b"] * 24,
    }
    found = checked(table | {"human_score": [*HUMAN, *OTHER] * 2, "judge_score": [*JUDGE, *SECOND] * 2})
    assert taken(found, "criteria") == ["a", "b"]
    assert found.report.section("judges", "a")["judges"].rows[0]["n"] == 24


@pytest.mark.parametrize(
    ("positive", "negative"),
    [("truthful", "not_truthful"), ("toxic", "non-toxic"), ("relevant", "irrelevant")],
)
def test_a_word_and_its_negation_are_two_answers(positive, negative):
    def said(scores):
        return [positive if word == "pass" else negative for word in passes(scores)]

    table = {"id": IDS, "true_label": said(HUMAN), "predicted_label": said(JUDGE)}
    table["predicted_label"][3] = "parsing_error"
    found = checked(table)
    assert taken(found, "label") == [f"{positive} or {negative}"]
    answered = [at for at in range(12) if at != 3]
    same = kappa(np.array(said(HUMAN))[answered], np.array(said(JUDGE))[answered])
    assert rows(found)["predicted_label"]["kappa"].value == pytest.approx(same)
    assert any("1 cell cannot be read" in warning for warning in found.notes)


def test_the_mean_of_an_empty_column_is_the_annotator():
    table = {"id": IDS, "third_reviewer": [None] * 12, "human_mean": HUMAN, "judge": JUDGE}
    assert rows(checked(table))["judge"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_two_files_with_a_column_a_criterion_are_two_raters():
    judge = {"id": IDS, "Subject": JUDGE, "Color": SECOND}
    people = {"id": IDS[::-1], "Subject": HUMAN[::-1], "Color": OTHER[::-1]}
    found = concord.check(judge, labels=people, resamples=0)
    assert taken(found, "criteria") == ["Subject", "Color"]
    figures = {name: found.report.section("judges", name)["judges"].rows[0] for name in ("Subject", "Color")}
    assert figures["Subject"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    assert figures["Color"]["spearman"].value == pytest.approx(rho(OTHER, SECOND))


def test_several_annotators_answer_criteria_in_a_second_file():
    judge = {"id": IDS, "Subject": JUDGE, "Color": SECOND}
    people = {"id": [*IDS] * 2, "annotator": ["ann"] * 12 + ["bob"] * 12}
    people |= {"Subject": [*HUMAN, *OTHER], "Color": [*OTHER, *HUMAN]}
    found = concord.check(judge, labels=people, resamples=0)
    assert taken(found, "annotators") == ["human 1", "human 2"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("Subject", "Composition", "Color"), "criteria that one rater answered"),
        (("fluency", "tone"), "criteria that one rater answered"),
        (("x1", "x2", "x3"), "If each column is a rater"),
    ],
)
def test_columns_of_one_rater_lead_to_the_other_file(names, said):
    table = {"id": IDS, **dict(zip(names, (HUMAN, OTHER, JUDGE), strict=False))}
    with pytest.raises(ImportRefused) as refused:
        checked(table)
    assert said in str(refused.value)
    assert "--labels LABELS.csv" in str(refused.value)


def test_entries_of_one_name_by_an_annotator_and_a_judge_stay_apart():
    rows = [
        {"id": f"t{n}", "scores": [{"name": "tone", "value": a, "source": "ANNOTATION"}]}
        for n, a in enumerate((1, 2, 3, 4, 5, 3))
    ]
    for row, answer in zip(rows, (2, 2, 3, 5, 5, 1), strict=True):
        row["scores"].append({"name": "tone", "value": answer, "source": "EVAL"})
    data = labels.read(rows).data
    by_kind = {
        kind: [float(score) for score in data.column("score")[data.column("kind") == kind]]
        for kind in ("human", "judge")
    }
    assert by_kind == {"human": [1, 2, 3, 4, 5, 3], "judge": [2, 2, 3, 5, 5, 1]}
