"""Tables of each kind that people report trouble with: names, scales, cells, words, layouts, forms."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import concord
from concord.errors import ImportRefused
from concord.messages import failed_beside
from concord.reading import delimited, labels, sources
from concord.reading.cells import read_cells
from concord.reading.criterion import known_order
from tests.reading.twelve import HUMAN, IDS, JUDGE, MEAN, OTHER, SECOND, checked, kappa, passes, rho, taken

ABOUT = {
    "of physicians": {
        "physician_score": HUMAN,
        "physician_specialty": ["cardio", "onco"] * 6,
        "ai_score": JUDGE,
    }
    | {"ai_prob": [0.1, 0.9] * 6},
    "of times": {
        "annotator_1": HUMAN,
        "annotator_1_time": range(10, 22),
        "llm": JUDGE,
        "llm_total_tokens": range(12),
    },
    "of confidence": {"human": HUMAN, "human_confidence": SECOND, "judge": JUDGE, "judge_confidence": OTHER},
    "of differences": {
        "human": HUMAN,
        "judge": JUDGE,
        "diff": [a - b for a, b in zip(HUMAN, JUDGE, strict=True)],
    },
    "of versions": {
        "human": HUMAN,
        "judge": JUDGE,
        "judge_prompt_version": [2] * 12,
        "judge_valid": [True] * 12,
    },
}


@pytest.mark.parametrize("columns", ABOUT.values(), ids=ABOUT)
def test_what_is_about_an_answer_is_no_rater(columns):
    found = checked(pd.DataFrame({"id": IDS, **columns}))
    assert len(taken(found, "annotators")) == len(taken(found, "judges")) == 1
    [judge] = found.judges.values()
    assert judge["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


@pytest.mark.parametrize("name", ["human_mean", "human_z"])
def test_a_column_computed_from_others_is_no_rater(name):
    """By its name, or by arithmetic alone."""
    columns = {"human_x": HUMAN, "human_y": OTHER, name: MEAN, "judge": JUDGE}
    read = labels.read({"id": IDS, **columns})
    assert "annotators: human_x, human_y" in read.columns
    assert f"{name} is the mean of human_x, human_y and is excluded" in read.warnings


CRITERIA = {
    "single letters": ("a_human", "a_judge", "b_human", "b_judge"),
    "digits": ("human_c1", "judge_c1", "human_c2", "judge_c2"),
    "humps": ("humanFluency", "judgeFluency", "humanTone", "judgeTone"),
    "brackets": ("Q1 (human)", "Q1 (judge)", "Q2 (human)", "Q2 (judge)"),
    "models": ("human_gpt4", "judge_gpt4", "human_claude", "judge_claude"),
    "numbers": ("1_human", "1_judge", "2_human", "2_judge"),
}


@pytest.mark.parametrize("names", CRITERIA.values(), ids=CRITERIA)
def test_criteria_are_what_names_share(names):
    columns = dict(zip(names, (HUMAN, JUDGE, OTHER, SECOND), strict=True))
    found = checked(pd.DataFrame({"id": IDS, **columns}))
    first, second, *_ = found.criteria
    for criterion, pair in ((first, (HUMAN, JUDGE)), (second, (OTHER, SECOND))):
        [figures] = found[criterion].judges.values()
        assert figures["spearman"].value == pytest.approx(rho(*pair))


def test_numbers_behind_both_kinds_are_raters():
    columns = {"human_1": HUMAN, "judge_1": JUDGE, "human_2": OTHER, "judge_2": SECOND}
    found = checked(pd.DataFrame({"id": IDS, **columns}))
    assert taken(found, "annotators") == ["human_1", "human_2"]
    assert taken(found, "judges") == ["judge_1", "judge_2"]


@pytest.mark.parametrize(
    ("people", "judge"),
    [
        ([0, 0, 1, 0, 3, 0, 1, 0, 0, 0, 2, 0], [0, 1, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0]),
        ([1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 2, 0, 1, 1, 0, 1, 0, 0, 1, 0]),
        ([0, 1, -1, 0, 1, 1, -1, 0, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, -1, 0, -1, 1, 1, 0]),
    ],
)
def test_counts_of_which_most_are_0_or_1_are_numbers(people, judge):
    figures = checked({"human": people, "judge": judge}).judges["judge"]
    assert figures["spearman"].value == pytest.approx(rho(people, judge))


@pytest.mark.parametrize(
    "scale", [lambda x: x / 5 - 0.03, lambda x: 20 * x, lambda x: float(x > 3), lambda x: (x - 3) / 2 - 0.01]
)
def test_a_judge_on_another_range_has_no_bias(scale):
    judge = [scale(score) for score in JUDGE]
    figures = checked({"human": HUMAN, "judge": judge}).judges["judge"]
    assert figures["spearman"].value == pytest.approx(rho(HUMAN, judge))
    assert not figures["bias"].defined


CELLS = {
    "named": lambda x: f"Score: {x}",
    "doubled brackets": lambda x: f"[[{x}]]",
    "Python": lambda x: f"np.float64({x}.0)",
    "fence": lambda x: f'```json\n{{"rating": {x}}}\n```',
    "long reason": lambda x: json.dumps({"reason": "long " * 300, "score": x}),
    "signs": lambda x: "★" * x + "☆" * (5 - x),
    "reason after": lambda x: f"{x}/5 because of {x}",
    "out of": lambda x: f"{x} out of 5",
    "bold": lambda x: f"**{x}**",
    "sentence": lambda x: f"The score is {x}.",
    "numbered": lambda x: f"{x} - word{x}",
    "unit": lambda x: f"{x}分",
}


@pytest.mark.parametrize("form", CELLS.values(), ids=CELLS)
def test_a_number_in_signs_or_words(form):
    figures = checked({"human": HUMAN, "judge": [form(score) for score in JUDGE]}).judges["judge"]
    assert figures["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    assert figures["spearman"].n == 12


VERDICTS = {
    "member": "Verdict.{}",
    "reasoned": "{}. It covers the point {}",
    "dash": "{} - it lacks {}",
    "object": '{{"verdict": "{}", "reasoning": "x"}}',
    "bold": "**{}**: because {}",
    "doubled brackets": "[[{}]]",
}


@pytest.mark.parametrize("form", VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_in_signs_or_words(form):
    judge = [form.format(word.upper(), n) for n, word in enumerate(passes(JUDGE))]
    figures = checked({"human": passes(HUMAN), "judge": judge}).judges["judge"]
    assert figures["kappa"].value == pytest.approx(kappa(passes(HUMAN), passes(JUDGE)))


def test_class_names_with_numbers_are_no_scores():
    cells = [f"label {n}" for n in range(9)]
    assert read_cells(cells, [1] * 9).cores == tuple(cells)


@pytest.mark.parametrize(
    "words",
    [
        ("bad", "okay", "good"),
        ("no", "maybe", "yes"),
        ("incorrect", "partial", "correct"),
        ("unsafe", "unsure", "safe"),
        ("none", "mild", "severe"),
    ],
)
def test_a_middle_is_an_answer_of_its_own(words):
    people, judge = ([words[score % 3] for score in scores] for scores in (HUMAN, JUDGE))
    figures = checked({"human": people, "judge": judge}).judges["judge"]
    assert figures["kappa"].value == pytest.approx(kappa(people, judge))
    assert figures["kappa"].n == 12


def test_known_orders_of_words():
    assert known_order(["good", "poor", "excellent"]) == ("poor", "good", "excellent")
    assert known_order(["A", "C", "B"]) == ("c", "b", "a")
    assert known_order(["none", "critical", "minor"]) == ("none", "minor", "critical")
    assert known_order(["red", "blue"]) == ()


def test_an_order_makes_words_a_scale_and_categories_make_numbers_names():
    words = dict(enumerate(["poor", "fair", "good", "great", "best"], 1))
    table = {"human": [words[s] for s in HUMAN], "judge": [words[s] for s in JUDGE]}
    figures = checked(table, order="poor<fair<good<great<best").judges["judge"]
    assert figures["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    named = checked({"human": HUMAN, "judge": JUDGE}, categories=[1, 2, 3, 4, 5]).judges["judge"]
    assert named["kappa"].value == pytest.approx(kappa(HUMAN, JUDGE))


@pytest.mark.parametrize("value", [-1, -999, 99])
def test_a_value_far_off_everybody_elses_scale_is_asked_about(value):
    table = {"human": HUMAN, "judge": [value, 2, value, *JUDGE[3:]]}
    with pytest.raises(ImportRefused, match=f"If so, add --missing {value}. If not, add --missing none"):
        checked(table)
    figures = checked(table, missing=[value]).judges["judge"]
    assert figures["spearman"].n == 10
    assert checked(table, missing="none").judges["judge"]["spearman"].n == 12


def test_two_zeros_beside_errors_are_asked_about_and_a_usual_answer_is_not():
    errors = {"judge_error": ["timeout", None, "timeout", *[None] * 9]}
    with pytest.raises(ImportRefused, match="next to an error in judge_error"):
        checked({"human": HUMAN, "judge": [0, 2, 0, *JUDGE[3:]], **errors})
    read = labels.read({"human": HUMAN, "judge": JUDGE, **errors})
    assert "2 of 12 answers of judge stand next to an error in judge_error" in read.warnings


def rating_rows(item="item", rater="rater", score="score", people="human", judge="gpt-4"):
    return [
        {item: key, rater: who, score: value}
        for key, a, b in zip(IDS, HUMAN, JUDGE, strict=True)
        for who, value in ((people, a), (judge, b))
    ]


LAYOUTS = {
    "spans": rating_rows("span_id", "annotator_kind", "score", "HUMAN", "LLM"),
    "any names": rating_rows("sample", "judge_or_human", "stars", "human", "judge"),
    "by id": {key: {"human": a, "judge": b} for key, a, b in zip(IDS, HUMAN, JUDGE, strict=True)},
    "by rater": {"human": dict(zip(IDS, HUMAN, strict=True)), "claude": dict(zip(IDS, JUDGE, strict=True))},
    "split": json.loads(pd.DataFrame({"human": HUMAN, "judge": JUDGE}, index=IDS).to_json(orient="split")),
    "inside": {
        "meta": {"v": 1},
        "runs": {"a": [{"human": a, "judge": b} for a, b in zip(HUMAN, JUDGE, strict=True)]},
    },
    "lists of raters": {
        who: [{"id": key, "score": value} for key, value in zip(IDS, of, strict=True)]
        for who, of in (("human", HUMAN), ("gpt-4", JUDGE))
    },
}


@pytest.mark.parametrize("document", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_is_read_whatever_its_names(tmp_path, document):
    file = tmp_path / "table.json"
    file.write_text(json.dumps(document))
    [figures] = checked(file).judges.values()
    assert figures["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    assert figures["spearman"].n == 12


def test_columns_of_a_rating_a_row_can_be_stated():
    rows = rating_rows("question", "by_whom", "points_given", "human", "judge")
    found = checked(rows, rater="by_whom", score="points_given", id="question")
    assert found.judges["judge"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_a_row_a_rater_with_items_as_columns(tmp_path):
    file = tmp_path / "table.csv"
    rows = (("human_1", HUMAN), ("human_2", OTHER), ("gpt-4", JUDGE))
    lines = ["," + ",".join(IDS), *(f"{who}," + ",".join(map(str, of)) for who, of in rows)]
    file.write_text("\n".join(lines))
    assert checked(file).judges["gpt-4"]["spearman"].value == pytest.approx(rho(MEAN, JUDGE))


def test_levels_of_names_are_joined(tmp_path):
    columns = {
        ("q1", "human"): HUMAN,
        ("q1", "judge"): JUDGE,
        ("q2", "human"): OTHER,
        ("q2", "judge"): SECOND,
    }
    frame = pd.DataFrame(columns, index=pd.Index(IDS, name="id"))
    frame.to_csv(tmp_path / "levels.csv")
    for source in (frame, tmp_path / "levels.csv"):
        found = checked(source)
        assert found["q1"].judges["judge"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


BASE = "id,human,judge\n" + "\n".join(f"{i},{a},{b}" for i, a, b in zip(IDS, HUMAN, JUDGE, strict=True))
FORMS = {
    "sep line and bars": "sep=|\n" + BASE.replace(",", "|"),
    "two comments": "# made\n# twice\n\n" + BASE,
    "a title": "Results of March,,\n" + BASE,
    "a title alone": "My results\n\n" + BASE,
    "commas at the end": BASE.replace("\n", ",,\n"),
    "UTF-16": BASE.encode("utf-16"),
    "short rows": BASE.replace("id,human,judge", "id,human,judge,Approve,Reject"),
    "tildes": BASE.replace(",", "~"),
    "a header in a comment": "#" + BASE,
    "a comment at the end": BASE + "\n# end",
    "spaces": BASE.replace(",", " ; "),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_a_form_of_file(tmp_path, content):
    file = tmp_path / "table.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    figures = checked(file).judges["judge"]
    assert (figures["spearman"].value, figures["spearman"].n) == (pytest.approx(rho(HUMAN, JUDGE)), 12)


def test_a_workbook_with_a_title_and_several_sheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Nothing here"])
    sheet = book.create_sheet("Labels")
    for cells in (["Results of March"], ["id", "human", "judge"], *zip(IDS, HUMAN, JUDGE, strict=True)):
        sheet.append([*cells])
    book.save(tmp_path / "book.xlsx")
    found = checked(tmp_path / "book.xlsx")
    assert found.judges["judge"]["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))
    assert "sheet: Labels, of Notes, Labels" in found.taken


@pytest.mark.parametrize(
    ("people", "judge"),
    [
        ("Mensch", "Richter"),
        ("evaluador_humano", "modelo_juez"),
        ("人工评分", "模型评分"),
        ("оценка_эксперта", "оценка_модели"),
        ("人間の評価", "LLMの評価"),
    ],
)
def test_names_in_other_languages(people, judge):
    [figures] = checked({people: HUMAN, judge: JUDGE}).judges.values()
    assert figures["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_a_column_that_only_may_be_a_judges_needs_answers_that_people_give():
    table = {"human": HUMAN, "source_model": ["gpt", "claude"] * 6, "zephyr": JUDGE}
    with pytest.raises(ImportRefused, match="Candidates: zephyr"):
        checked(table)


def test_no_advice_names_an_id_or_a_time():
    table = {"url": [f"https://x/{i}" for i in IDS], "time": range(1700000000, 1700000012)}
    with pytest.raises(ImportRefused, match=r"Candidates: zephyr\. Add: --judge zephyr"):
        checked({**table, "crowd": HUMAN, "zephyr": JUDGE, "row": range(12)})


def test_series_arrays_and_ordered_categoricals():
    wanted = pytest.approx(rho(HUMAN, JUDGE))
    assert checked((pd.Series(HUMAN), pd.Series(JUDGE))).judges["judge"]["spearman"].value == wanted
    assert concord.check(HUMAN, JUDGE, resamples=0).judges["judge"]["spearman"].value == wanted
    array = checked(np.array([HUMAN, JUDGE]), human="1", judge="2")
    assert array.judges["2"]["spearman"].value == wanted
    names = [*"edcba"]
    frame = pd.DataFrame(
        {
            name: pd.Categorical([names[score - 1] for score in scores], names, ordered=True)
            for name, scores in (("human", HUMAN), ("judge", JUDGE))
        }
    )
    assert checked(frame).judges["judge"]["spearman"].value == wanted
    with pytest.raises(ImportRefused, match="int is not a table"):
        checked(3)


WIDE = np.resize([1, 3, 5, 2, 4, 2, 5], (50, 2000))
TOO_MUCH = {
    "2,000 columns": (pd.DataFrame(WIDE, columns=[f"c{n}" for n in range(2000)]), "--human c0 --judge c1"),
    "1,000 judges": (
        pd.DataFrame(WIDE, columns=[f"{who}_{n}" for who in ("human", "judge") for n in range(1000)]),
        "--judge judge_0,judge_1",
    ),
    "10,000 categories": (
        pd.DataFrame({who: [f"label {n % 10000}" for n in range(20000)] for who in ("human", "judge")}),
        "at most 20 can be categories",
    ),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_too_much_is_refused_within_seconds(case):
    table, says = TOO_MUCH[case]
    began = time.process_time()
    with pytest.raises(ImportRefused, match=says):
        labels.read(table)
    assert time.process_time() - began < 5


def test_of_a_million_rows_without_people_some_are_measured(monkeypatch):
    monkeypatch.setattr(labels, "MOST_UNRATED", 50)
    people = [score if n % 10 == 0 else None for n, score in enumerate(HUMAN * 50)]
    read = labels.read({"human": people, "judge": JUDGE * 50})
    kind = read.data.column("kind")
    assert (kind == "human").sum() == 60
    assert (kind == "judge").sum() == 60 + 50
    assert "50 random items of the 540 without annotators' answers are used" in read.warnings


@pytest.mark.parametrize(
    "header",
    [
        "id,human,human,judge",
        "id;human;judge;judge",
        'id,"human, first","human, first",judge',
        "id\thuman/a&b\thuman/a&b\tjudge",
        "id,human,human,human 2,judge",
        "id,it's,it's,judge",
    ],
)
def test_equal_names_come_with_a_command_to_rename_one(tmp_path, header):
    """What the sentence says to type makes a copy that is read, with each of its answers."""
    sign = next(sign for sign in "\t;," if sign in header)
    names = header.count(sign) + 1 - header.count(", ")
    rows = [
        sign.join([f"r{row}", *(str(1 + (row + at // 2) % 4) for at in range(names - 1))]) for row in range(8)
    ]
    file = tmp_path / "table.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(ImportRefused) as refused:
        labels.read(file)
    command = str(refused.value).partition("Rename one of them: ")[2]
    subprocess.run(["bash", "-c", command], check=True)
    copy = tmp_path / "table-renamed.csv"
    assert copy.read_text().splitlines()[1:] == rows
    assert len({*delimited.form_of(copy).header}) == names


def equal_names(kind, file):
    """A file with two columns of one name, in a form that no sed reads."""
    names, rows = ["id", "human", "human", "judge"], [[n, n % 5, (n + 1) % 5, n % 4] for n in range(12)]
    if kind == "excel":
        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = "It's labels"
        for row in (["A title"], names, *rows):
            book.active.append(row)
        book.save(file)
        return
    names = [f"{name}\n(1 to 5)" for name in names] if kind == "lines" else names
    names = [f"{name} {'of a long name ' * 20}".strip() for name in names] if kind == "long" else names
    with file.open("w", encoding="utf-16" if kind == "utf-16" else "utf-8", newline="") as text:
        csv.writer(text).writerows([names, *rows])


@pytest.mark.parametrize("kind", ["excel", "utf-16", "lines", "long"])
def test_every_form_with_equal_names_has_a_command(tmp_path, kind):
    file = tmp_path / ("of label's.xlsx" if kind == "excel" else "of label's.csv")
    equal_names(kind, file)
    with pytest.raises(ImportRefused) as refused:
        labels.read(file)
    command = str(refused.value).partition("Rename one of them: ")[2]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-c", command], check=True, env={**os.environ, "PATH": path})
    [copy] = tmp_path.glob("*-renamed.*")
    source = sources.read(copy)
    assert source.size == 12
    assert [name.split()[0] for name in source.columns] == ["id", "human", "human", "judge"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_its_mark_and_without(tmp_path, encoding):
    file = tmp_path / "table.csv"
    lines = [f"{n},{n % 5},{(n + 1) % 4}" for n in range(12)]
    file.write_text("\n".join(["id,human,judge", *lines]), encoding=encoding)
    assert sources.read(file).size == 12


def test_text_of_windows_has_a_command(tmp_path):
    file = tmp_path / "table.csv"
    lines = [f"{n},café,{n % 5},{(n + 1) % 4}" for n in range(12)]
    file.write_bytes("\n".join(["id,answer,human,judge", *lines]).encode("cp1252"))
    with pytest.raises(ImportRefused) as refused:
        sources.read(file)
    subprocess.run(["bash", "-c", str(refused.value).partition("Text of Windows: ")[2]], check=True)
    assert sources.read(tmp_path / "table-utf8.csv").columns["answer"].cell(0) == "café"


def test_a_number_of_answers_agrees_with_its_noun():
    assert (
        failed_beside("judge", "status", 1, 12) == "1 of 12 answers of judge stands next to an error in "
        "status"
    )
    assert failed_beside("judge", "status", 2, 12).startswith("2 of 12 answers of judge stand ")
