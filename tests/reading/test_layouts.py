"""Tables as people lay them out: rows that sum up, names in two lines, runs, copies of scores."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from concord.errors import ImportRefused
from concord.reading import labels
from tests.reading.twelve import HUMAN, IDS, JUDGE, MEAN, OTHER, SECOND, checked, kappa, rho, taken

PLAIN = {"id": IDS, "human": HUMAN, "judge": JUDGE}


def figures(found, criterion=""):
    """The ρ and n of each judge on a criterion, else on the only one."""
    judges = found[criterion].judges if criterion else found.judges
    return {name: (round(of["spearman"].value, 9), of["spearman"].n) for name, of in judges.items()}


def expected(people, judge):
    return round(rho(people, judge), 9), len(people)


SUMMARIES = {
    "a mean": [["Average", "3.0", "2.9"]],
    "blank rows between": [["", "", ""], ["Total", "36", "35"], ["Cohen's kappa", "0.6", ""]],
    "what pandas describes": [[name, "3", "3"] for name in ("count", "mean", "std", "min", "25%", "max")],
    "in German": [["Mittelwert", "3", "3"]],
}


@pytest.mark.parametrize("below", SUMMARIES.values(), ids=SUMMARIES)
def test_rows_that_sum_up_a_table_are_excluded(tmp_path, below):
    file = tmp_path / "table.csv"
    file.write_text(pd.DataFrame(PLAIN).to_csv(index=False) + "".join(",".join(row) + "\n" for row in below))
    assert [*figures(checked(file)).values()] == [expected(HUMAN, JUDGE)]
    [warning] = labels.read(file).warnings
    assert "up the table and" in warning
    assert f"({below[-1][0]})" in warning


def test_criteria_and_ids_called_as_a_sum_are_no_summaries():
    rows = [
        {"criterion": name, "id": key, "human": a, "judge": b}
        for name in ("fluency", "total")
        for key, a, b in zip(IDS, HUMAN, JUDGE, strict=True)
    ]
    assert labels.read(rows).warnings == ()
    letters = {**PLAIN, "id": [*"cdefghijklmn"]}
    assert labels.read(letters).warnings == ()
    assert len(labels.read(letters).keys) == len(IDS)


MERGED = {
    "raters above criteria": [
        ["", "Human", "", "GPT-4o", ""],
        ["ID", "Fluency", "Tone", "Fluency", "Tone"],
    ],
    "with a note": [
        ["ID", "Human", "", "GPT-4o", "", ""],
        ["", "Fluency", "Tone", "Fluency", "Tone", "Note"],
    ],
}
ANSWERS = [*zip(IDS, HUMAN, OTHER, JUDGE, SECOND, strict=True)]


@pytest.mark.parametrize("head", MERGED.values(), ids=MERGED)
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_names_over_several_columns_are_joined_with_those_below(tmp_path, head, suffix):
    file = tmp_path / f"table.{suffix}"
    width = len(head[0])
    rows = pd.DataFrame([*head, *([*row, *[""] * (width - 5)] for row in ANSWERS)])
    rows.to_csv(file, header=False, index=False) if suffix == "csv" else rows.replace("", None).to_excel(
        file, header=False, index=False
    )
    found = checked(file)
    assert [*figures(found, "Fluency").values()] == [expected(HUMAN, JUDGE)]
    assert [*figures(found, "Tone").values()] == [expected(OTHER, SECOND)]


def test_an_unnamed_column_is_no_second_line_of_names(tmp_path):
    file = tmp_path / "table.csv"
    words = np.where(np.array(JUDGE) > 2, "pass", "fail")
    body = "".join(f"{key},{word},x{key},{word}\n" for key, word in zip(IDS, words, strict=True))
    file.write_text(f"id,human,,judge\n{body}")
    assert len(labels.read(file).keys) == len(IDS)
    assert taken(checked(file), "annotators") == ["human"]


COPIES = {
    "z-scores": lambda x: round((x - 3.1) / 1.37, 3),
    "from 0 to 1": lambda x: (x - 1) / 4,
    "percent": lambda x: 20 * x,
}


@pytest.mark.parametrize("scale", COPIES.values(), ids=COPIES)
def test_answers_on_another_scale_are_no_second_criterion(scale):
    copies = {f"{who}_b": [scale(score) for score in of] for who, of in (("human", HUMAN), ("judge", JUDGE))}
    table = {"id": IDS, "human_a": HUMAN, "judge_a": JUDGE, **copies}
    read = labels.read(table)
    assert "human_b has the answers of human_a on another scale and is excluded" in read.warnings
    assert "judge_b has the answers of judge_a on another scale and is excluded" in read.warnings
    assert [*figures(checked(table)).values()] == [expected(HUMAN, JUDGE)]


def test_criteria_with_equal_answers_stay_criteria():
    columns = {"human_fluency": HUMAN, "human_tone": HUMAN, "judge_fluency": JUDGE, "judge_tone": SECOND}
    assert "criteria: fluency, tone" in labels.read({"id": IDS, **columns}).columns


def test_a_mean_over_criteria_is_no_criterion():
    means = {
        f"{who}_avg": np.mean(of, axis=0).round(2)
        for who, of in (("human", (HUMAN, OTHER)), ("gpt", (JUDGE, SECOND)))
    }
    columns = {"human_a1": HUMAN, "human_b1": OTHER, "gpt_a1": JUDGE, "gpt_b1": SECOND}
    read = labels.read({"id": IDS, **means, **columns})
    assert "criteria: a1, b1" in read.columns
    assert "human_avg is the mean of human_a1, human_b1 and is excluded" in read.warnings


def test_columns_of_which_a_known_column_is_the_mean_are_annotators():
    mean = [(a + b) / 2 for a, b in zip(HUMAN, OTHER, strict=True)]
    read = labels.read({"id": IDS, "ann_mean": mean, "mario": HUMAN, "vga": OTHER, "gpt4": JUDGE})
    assert "annotators: mario, vga" in read.columns
    assert "ann_mean is the mean of mario, vga and is excluded" in read.warnings


RUNS = {"gpt4": ("gpt4_run1", "gpt4_run2"), "judge": ("judge seed 7", "judge seed 11")}


@pytest.mark.parametrize(("judge", "names"), RUNS.items(), ids=RUNS)
def test_runs_in_columns_are_repeats_of_one_judge(judge, names):
    table = {"id": IDS, "human": HUMAN, names[1]: SECOND, names[0]: JUDGE}
    assert figures(checked(table)) == {judge: expected(HUMAN, np.mean([JUDGE, SECOND], axis=0))}
    assert f"runs of {judge}: {', '.join(names)}" in labels.read(table).columns


@pytest.mark.parametrize("names", [("gpt4_zero_shot", "gpt4_cot"), ("gpt@temp0", "gpt@temp1")])
def test_prompts_and_temperatures_are_judges(names):
    found = checked({"id": IDS, "human": HUMAN, **dict(zip(names, (JUDGE, SECOND), strict=True))})
    assert sorted(found.judges) == sorted(names)


def test_a_temperature_is_no_judge():
    table = {"human": [int(s > 2) for s in HUMAN], "gpt": [int(s > 2) for s in JUDGE]}
    assert [*checked({**table, "gpt_temperature": [0, 1] * 6}).judges] == ["gpt"]
    assert [*checked({**table, "gpt_temp_1": [1] * 12}).judges] == ["gpt"]


def test_a_row_twice_counts_once_and_other_answers_are_asked_about():
    rows = pd.DataFrame(PLAIN)
    twice = pd.concat([rows, rows.iloc[[2, 5]]])
    assert [*figures(checked(twice)).values()] == [expected(HUMAN, JUDGE)]
    assert "2 rows repeat an earlier one and are excluded" in labels.read(twice).warnings
    twice.iloc[-1, 2] = 1
    with pytest.raises(ImportRefused, match="2 ids occur"):
        checked(twice)


@pytest.mark.parametrize("columns", [("variable", "value"), ("name", "score")])
def test_a_cell_a_row_is_read_as_the_table_it_was(columns):
    wide = {"id": IDS, "human_fluency": HUMAN, "human_tone": OTHER, "gpt_fluency": JUDGE, "gpt_tone": SECOND}
    long = pd.DataFrame(wide).melt("id", var_name=columns[0], value_name=columns[1])
    found = checked(long)
    assert [*figures(found, "fluency").values()] == [expected(HUMAN, JUDGE)]
    assert [*figures(found, "tone").values()] == [expected(OTHER, SECOND)]


def test_a_row_a_rater_and_criterion_with_items_as_columns():
    rows = [("human", "flu", HUMAN), ("human", "tone", OTHER), ("llm", "flu", JUDGE), ("llm", "tone", SECOND)]
    frame = pd.DataFrame([[who, name, *of] for who, name, of in rows], columns=["rater", "criterion", *IDS])
    found = checked(frame)
    assert [*figures(found, "flu").values()] == [expected(HUMAN, JUDGE)]
    assert [*figures(found, "tone").values()] == [expected(OTHER, SECOND)]


JUDGE_COLUMNS = {"by name": ("gpt4_score", {}), "stated": ("verdict_of_it", {"judge": ["verdict_of_it"]})}


@pytest.mark.parametrize(("column", "options"), JUDGE_COLUMNS.values(), ids=JUDGE_COLUMNS)
def test_a_judge_may_stand_beside_ratings_in_rows(column, options):
    """As in a batch file of MTurk that was merged with a judge's scores."""
    rows = [
        {"HITId": key, "WorkerId": who, "Answer.score": score, column: judge}
        for key, a, b, judge in zip(IDS, HUMAN, OTHER, JUDGE, strict=True)
        for who, score in (("A1", a), ("A2", b))
    ]
    found = checked(pd.DataFrame(rows), **options)
    assert taken(found, "annotators") == ["A1", "A2"]
    assert figures(found) == {column: expected(MEAN, JUDGE)}


def test_models_around_records_by_id_are_groups():
    document = {
        model: {key: {"human": a, "judge": b} for key, a, b in zip(IDS[:6], of, other, strict=True)}
        for model, of, other in (("llama", HUMAN[:6], JUDGE[:6]), ("qwen", HUMAN[6:], JUDGE[6:]))
    }
    assert [*figures(checked(document)).values()] == [expected(HUMAN, JUDGE)]


def test_a_list_of_answers_on_criteria_is_of_a_rater_each():
    """As in SummEval."""
    rows = [
        {
            "id": key,
            "expert_annotations": [{"flu": a, "tone": b}, {"flu": c, "tone": a}],
            "gpt": {"flu": d, "tone": e},
        }
        for key, a, b, c, d, e in zip(IDS, HUMAN, OTHER, OTHER, JUDGE, SECOND, strict=True)
    ]
    found = checked(rows)
    assert len(taken(found, "annotators")) == 2
    assert [*figures(found, "flu").values()] == [expected(MEAN, JUDGE)]


def test_cells_that_are_objects_of_criteria_are_columns(tmp_path):
    cells = [
        json.dumps({"fluency": {"score": a, "reason": "x"}, "tone": {"score": b, "reason": "y"}})
        for a, b in zip(JUDGE, SECOND, strict=True)
    ]
    file = tmp_path / "table.csv"
    columns = {"id": IDS, "human_fluency": HUMAN, "human_tone": OTHER, "judge": cells}
    pd.DataFrame(columns).to_csv(file, index=False)
    found = checked(file)
    assert [*figures(found, "fluency").values()] == [expected(HUMAN, JUDGE)]
    assert [*figures(found, "tone").values()] == [expected(OTHER, SECOND)]


def test_labels_in_another_order_in_each_column_are_one_set():
    words = {1: "none", 2: "insult", 3: "threat", 4: "threat", 5: "toxic;insult"}
    swapped = {**words, 5: "insult;toxic"}
    table = {"human": [words[s] for s in HUMAN], "judge": [swapped[s] for s in JUDGE]}
    found = checked(table).judges["judge"]["kappa"]
    assert found.value == pytest.approx(kappa(table["human"], [words[s] for s in JUDGE]))


def test_turns_of_a_conversation_are_items():
    table = {"conversation_id": [f"c{n // 3}" for n in range(12)], "turn": [0, 1, 2] * 4}
    found = checked({**table, "human_score": HUMAN, "judge_score": JUDGE})
    assert [*figures(found).values()] == [expected(HUMAN, JUDGE)]


def test_a_text_called_after_the_reference_is_no_answer():
    table = {
        "id": IDS,
        "reference_answer": [f"The {key}" for key in IDS],
        "model_answer": [f"A {key}" for key in IDS],
    }
    table |= {"reference_score": HUMAN, "predicted_score": JUDGE}
    many = {name: [*cells, *cells] for name, cells in table.items()}
    many = {**many, "id": range(24), "reference_answer": [f"The {n}" for n in range(24)]}
    many["model_answer"] = [f"A {n}" for n in range(24)]
    assert [*figures(checked(many)).values()] == [(round(rho(HUMAN * 2, JUDGE * 2), 9), 24)]


def test_the_question_shows_a_column_that_a_name_hides_and_sides_by_letter():
    thumbs = {
        "id": IDS,
        "user_feedback": ["👍" if s > 2 else "👎" for s in HUMAN],
        "judge": [s > 2 for s in JUDGE],
    }
    with pytest.raises(ImportRefused, match="--human user_feedback"):
        checked(thumbs)
    with pytest.raises(ImportRefused, match="--human h1,h2 --judge m1,m2"):
        checked({"id": IDS, "h1": HUMAN, "h2": OTHER, "m1": JUDGE, "m2": SECOND})


def test_an_annotator_who_gives_halves_is_one_more_annotator():
    halves = [score + 0.5 * (n % 4 == 0) for n, score in enumerate(OTHER)]
    table = {"id": IDS, "human_anna": HUMAN, "human_ben": halves, "judge": [s + 0.5 for s in JUDGE]}
    assert taken(checked(table), "annotators") == ["human_anna", "human_ben"]


def test_a_weighted_mean_of_judges_is_no_judge():
    weighted = [round(0.6 * a + 0.4 * b, 2) for a, b in zip(JUDGE, SECOND, strict=True)]
    read = labels.read({"id": IDS, "human": HUMAN, "judge_a": JUDGE, "judge_b": SECOND, "judge_w": weighted})
    assert "judges: judge_a, judge_b" in read.columns
    assert "judge_w is the weighted mean of judge_a, judge_b and is excluded" in read.warnings


def test_rounded_answers_are_no_second_criterion():
    fine = {
        f"{who}_score": [s + n / 50 for n, s in enumerate(of)]
        for who, of in (("human", HUMAN), ("gpt", JUDGE))
    }
    rounded = {name.replace("score", "rounded"): np.round(of) for name, of in fine.items()}
    found = checked({"id": IDS, **fine, **rounded})
    assert [*figures(found).values()] == [expected(fine["human_score"], fine["gpt_score"])]


def test_a_list_of_judges_by_name_is_a_column_each():
    rows = [
        {
            "id": key,
            "human_rating": a,
            "evaluations": [{"judge": "m1", "rating": b}, {"judge": "m2", "rating": c}],
        }
        for key, a, b, c in zip(IDS, HUMAN, JUDGE, SECOND, strict=True)
    ]
    assert [*figures(checked(rows)).values()] == [expected(HUMAN, JUDGE), expected(HUMAN, SECOND)]


def test_items_beside_any_facts_are_the_rows(tmp_path):
    file = tmp_path / "table.json"
    rows = [{"id": key, "human": a, "judge": b} for key, a, b in zip(IDS, HUMAN, JUDGE, strict=True)]
    for name in ("items", "records", "events", "content"):
        file.write_text(json.dumps({"name": "mine", name: rows}))
        assert [*figures(checked(file)).values()] == [expected(HUMAN, JUDGE)]


def test_runs_may_be_numbered_by_any_name_of_a_run():
    rows = [
        {"item_id": key, "judge_model": judge, "run_idx": run, "human_score": a, "judge_score": score}
        for key, a, b, c in zip(IDS, HUMAN, JUDGE, SECOND, strict=True)
        for judge, run, score in (("gpt", 0, b), ("gpt", 1, c), ("claude", 0, c), ("claude", 1, c))
    ]
    figure = figures(checked(pd.DataFrame(rows)))
    assert figure == {
        "gpt": expected(HUMAN, np.mean([JUDGE, SECOND], axis=0)),
        "claude": expected(HUMAN, SECOND),
    }


def test_judges_beside_rows_may_answer_several_criteria():
    rows = [
        {"HITId": key, "WorkerId": who, "Answer.flu": x, "Answer.tone": y, "gpt4_flu": c, "gpt4_tone": d}
        for key, a, b, c, d in zip(IDS, HUMAN, OTHER, JUDGE, SECOND, strict=True)
        for who, x, y in (("A1", a, b), ("A2", b, a))
    ]
    found = checked(pd.DataFrame(rows))
    assert figures(found, "Answer.flu") == {"gpt4": expected(MEAN, JUDGE)}
    assert figures(found, "Answer.tone") == {"gpt4": expected(MEAN, SECOND)}


def test_a_file_without_names_of_columns_is_said_to_be_one(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("".join(f"{key},{n % 5},{n % 5}\n" for n, key in enumerate(IDS)))
    with pytest.raises(ImportRefused, match="The first line must name the columns") as error:
        labels.read(file)
    assert "sed '1i column_1,column_2,column_3'" in str(error.value)
