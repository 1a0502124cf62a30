"""`concord check FILE`: tables in other people's forms are read rightly, wrong ones told in a sentence."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shlex
import subprocess
import sys
import zipfile
from datetime import date
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import concord
from bench import situations
from concord.cli import main
from concord.errors import ImportRefused
from concord.reading import labels
from concord.reading.cells import number_of
from concord.reading.options import TableOptions
from concord.reports import page
from concord.reports.agreement_report import Options, agreement_report
from concord.store import studies

ROOT = Path(__file__).parent.parent.parent
N = 60


def truth(n=N, answers=(0, 1), seed=1):
    rng = random.Random(seed)
    return [rng.choice(answers) for _ in range(n)]


def noisy(values, answers, share=0.2, seed=2):
    rng = random.Random(seed)
    return [rng.choice(answers) if rng.random() < share else value for value in values]


def words(values, passes="pass", fails="fail"):
    return [passes if value else fails for value in values]


PEOPLE = truth()
JUDGED = noisy(PEOPLE, (0, 1))
STARS = truth(answers=(1, 2, 3, 4, 5))


def check(file, *options):
    return CliRunner().invoke(main, ["check", str(file), "--resamples", "50", *map(str, options)])


def kappa(file, *options, judge=0):
    done = check(file, "--format", "json", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["screen"]["glance"]["rows"][judge]


def by_hand(x, y):
    """Cohen's kappa of two lists."""
    same = np.mean([a == b for a, b in zip(x, y, strict=True)])
    chance = sum(np.mean(np.array(x) == a) * np.mean(np.array(y) == a) for a in {*x, *y})
    return (same - chance) / (1 - chance)


def sparse():
    human = [word if place % 2 else "" for place, word in enumerate(words(PEOPLE, "Pass", "F"))]
    human[1] = "passed "
    return pd.DataFrame(
        {"id": [f"q{i}" for i in range(N)], "model": ["a", "b", "c"] * (N // 3), "response": ["It is."] * N}
        | {"label": human, "verdict": words(JUDGED), "reason": ["because"] * N}
    )


def test_a_wide_table_of_pass_and_fail_with_sparse_people(tmp_path):
    file = tmp_path / "results.csv"
    table = sparse()
    table.loc[3, "label"] = "maybe?"
    table.to_csv(file, index=False)
    rated = [place for place in range(1, N, 2) if place != 3]
    human = [1 if table.label[i].strip()[0] in "Pp" else 0 for i in rated]
    judge = [JUDGED[i] for i in rated]
    row = kappa(file)
    assert row["kappa"]["value"] == pytest.approx(by_hand(human, judge))
    assert row["n"] == len(rated)
    whole = json.loads(check(file, "--format", "json").output)
    of = whole["screen"]["decisions"]["rows"][0]
    pairs = list(zip(human, judge, strict=True))
    counts = [pairs.count(pair) for pair in ((1, 1), (0, 1), (1, 0), (0, 0))]
    assert [of[name] for name in ("both_pass", "judge_only", "people_only", "both_fail")] == counts
    assert of["sensitivity"]["value"] == pytest.approx(counts[0] / (counts[0] + counts[2]))
    assert of["specificity"]["value"] == pytest.approx(counts[3] / (counts[3] + counts[1]))
    assert of["judge"]["value"] == pytest.approx(np.mean(JUDGED))
    assert of["corrected"]["ci"][0] < of["corrected"]["value"] < of["corrected"]["ci"][1]
    assert whole["not_read"] == ["1 cell cannot be read and counts as missing: line 5, label: “maybe?”"]
    assert "annotators: label" in whole["taken"]
    assert "judges: verdict" in whole["taken"]
    assert "group: model" in whole["taken"]


def test_the_answer_is_a_screen(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    file = tmp_path / "results.csv"
    sparse().to_csv(file, index=False)
    done = check(file)
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert len(lines) <= 24
    assert max(len(line) for line in lines if str(file) not in line) <= 100
    assert not list(tmp_path.glob("*/"))


def three_people(names=("ann1", "ann2", "ann3"), judges=("gpt-4o", "claude-3")):
    given = {"item": range(N)}
    given |= {name: noisy(STARS, range(1, 6), 0.3, place) for place, name in enumerate(names)}
    given |= {name: noisy(STARS, range(1, 6), 0.3, 10 + place) for place, name in enumerate(judges)}
    return pd.DataFrame(given)


def test_three_people_and_two_judges_on_a_scale(tmp_path):
    file = tmp_path / "stars.csv"
    table = three_people()
    table.to_csv(file, index=False)
    whole = json.loads(check(file, "--format", "json").output)
    rows = {row["name"]: row for row in whole["screen"]["glance"]["rows"]}
    mean = table[["ann1", "ann2", "ann3"]].mean(axis=1)
    for judge in ("gpt-4o", "claude-3"):
        assert rows[judge]["spearman"]["value"] == pytest.approx(table[judge].corr(mean, method="spearman"))
        assert rows[judge]["bias"]["value"] == pytest.approx((table[judge] - mean).mean())
        assert 0 < rows[judge]["person"]["value"] < 1
    assert any("whole numbers from 1 to 5 (guessed" in line for line in whole["taken"])


def test_names_that_say_nothing_are_asked_for_with_the_option_to_add(tmp_path):
    file = tmp_path / "stars.csv"
    three_people(("alice", "bob", "cleo")).to_csv(file, index=False)
    done = check(file)
    assert done.exit_code == 1
    assert "which columns are annotators? Candidates: alice, bob, cleo." in done.output
    option = done.output.rpartition("Add: ")[2].split()
    assert option == ["--human", "alice,bob,cleo"]
    assert check(file, *option).exit_code == 0


def test_numbers_between_0_and_1(tmp_path):
    file = tmp_path / "scores.tsv"
    rng = np.random.default_rng(0)
    human = rng.random(N)
    table = pd.DataFrame({"human_score": human, "llm_score": (human + rng.random(N)) / 2})
    table.to_csv(file, index=False, sep="\t")
    row = kappa(file)
    rho = table.human_score.corr(table.llm_score, method="spearman")
    assert row["spearman"]["value"] == pytest.approx(rho)


@pytest.mark.parametrize("named", [True, False])
def test_a_rating_a_row(tmp_path, named):
    file = tmp_path / "long.csv"
    table = three_people(("p1", "p2", "p3"), ("m1", "m2")).melt(
        "item", var_name="annotator", value_name="score"
    )
    if named:
        table["type"] = ["human" if name[0] == "p" else "model" for name in table.annotator]
    table.to_csv(file, index=False)
    options = () if named else ("--human", "p1,p2,p3", "--judge", "m1,m2")
    if not named:
        assert "--human p1,p2,p3,m1 --judge m2" in check(file).output
    wide = three_people(("p1", "p2", "p3"), ("m1", "m2"))
    rho = wide[["p1", "p2", "p3"]].mean(axis=1).corr(wide.m1, method="spearman")
    rows = json.loads(check(file, "--format", "json", *options).output)["screen"]["glance"]["rows"]
    assert next(row for row in rows if row["name"] == "m1")["spearman"]["value"] == pytest.approx(rho)


def promptfoo():
    results = [
        {
            "testIdx": i,
            "prompt": {"raw": f"Question {i}?", "label": "p"},
            "response": {"output": "An answer."},
            "provider": {"id": "openai:gpt"},
            "testCase": {"vars": {}, "metadata": {"human_label": word}},
            "score": JUDGED[i],
            "namedScores": {"llm_rubric": JUDGED[i]},
            "gradingResult": {"pass": bool(JUDGED[i]), "reason": "x"},
        }
        for i, word in enumerate(words(PEOPLE))
    ]
    return {"results": {"version": 3, "results": results}}


def inspect_log():
    samples = [
        {
            "id": i,
            "epoch": 1,
            "input": "Question?",
            "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
            "target": "A",
            "scores": {
                "model_graded_qa": {"value": "CI"[1 - JUDGED[i]], "explanation": "x"},
                "human": {"value": "CI"[1 - PEOPLE[i]]},
            },
        }
        for i in range(N)
    ]
    return {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}


def deepeval():
    cases = [
        {
            "name": f"case {i}",
            "input": "Question?",
            "actualOutput": "Answer.",
            "metricsData": [{"name": "LLM correctness", "score": JUDGED[i], "success": bool(JUDGED[i])}],
            "additionalMetadata": {"human": PEOPLE[i]},
        }
        for i in range(N)
    ]
    return {"testCases": cases}


def mlflow():
    return [
        {
            "trace_id": f"t{i}",
            "request": '"Question?"',
            "response": '"Answer."',
            "assessments": [
                {
                    "assessment_name": "correctness",
                    "source": {"source_type": "HUMAN", "source_id": "ada"},
                    "feedback": {"value": bool(PEOPLE[i])},
                },
                {
                    "assessment_name": "correctness",
                    "source": {"source_type": "LLM_JUDGE", "source_id": "gpt"},
                    "feedback": {"value": bool(JUDGED[i])},
                },
            ],
        }
        for i in range(N)
    ]


@pytest.mark.parametrize("form", [promptfoo, inspect_log, deepeval, mlflow], ids=lambda form: form.__name__)
def test_exports_of_other_tools(tmp_path, form):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(form()))
    options = ("--judge", "namedScores.llm_rubric") if form is promptfoo else ()
    assert kappa(file, *options)["kappa"]["value"] == pytest.approx(by_hand(PEOPLE, JUDGED))


def test_parquet_json_lines_and_a_frame_have_the_same_figures(tmp_path):
    table = sparse()
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    found = [kappa(tmp_path / f"t.{end}")["kappa"] for end in ("csv", "parquet", "jsonl")]
    assert found[0] == found[1] == found[2]
    read = labels.read(table)
    assert sorted(read.data.column("score").tolist()) == sorted(
        labels.read(tmp_path / "t.csv").data.column("score").tolist()
    )


def test_a_sheet_of_excel(tmp_path):
    sparse().to_excel(tmp_path / "t.xlsx", index=False)
    sparse().to_csv(tmp_path / "t.csv", index=False)
    assert kappa(tmp_path / "t.xlsx") == kappa(tmp_path / "t.csv")
    (tmp_path / "broken.xlsx").write_bytes(b"PK\3\4")
    assert "cannot be read as a spreadsheet" in check(tmp_path / "broken.xlsx").output


def test_without_the_extra_a_sheet_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK\3\4")
    assert (
        "install Concord with its extra “excel”, or save the sheet as CSV"
        in check(tmp_path / "t.xlsx").output
    )


def test_several_criteria_in_the_names_of_columns(tmp_path):
    file = tmp_path / "two.csv"
    stars = noisy(STARS, range(1, 6))
    pd.DataFrame(
        {"fluency_human": STARS, "fluency_judge": stars, "safe.human": PEOPLE, "safe.judge": JUDGED}
    ).to_csv(file, index=False)
    whole = json.loads(check(file, "--format", "json").output)
    assert "criteria: fluency, safe" in whole["taken"]
    assert not any(line.startswith("ignored") for line in whole["taken"])
    assert f"concord check {file} --criterion fluency" in check(file).output
    assert "On Fluency," in check(file, "--criterion", "fluency").output
    assert list(whole["sections"]) == ["fluency", "safe"]
    assert whole["sections"]["fluency"]["judges"]["judges"]["rows"][0]["spearman"]["value"] == pytest.approx(
        pd.Series(STARS).corr(pd.Series(stars), method="spearman")
    )


def test_categories_have_kappa(tmp_path):
    file = tmp_path / "tones.csv"
    tones = truth(answers=("warm", "cold", "flat"))
    judged = noisy(tones, ("warm", "cold", "flat"))
    pd.DataFrame({"human": tones, "judge": judged}).to_csv(file, index=False)
    assert kappa(file)["kappa"]["value"] == pytest.approx(by_hand(tones, judged))


BAD = {
    "no person": (
        pd.DataFrame({"id": range(9), "judge": [1, 0, 1] * 3}),
        "no columns are recognised as annotators.*Add a column with answers of annotators.",
    ),
    "no judge": (
        pd.DataFrame({"id": range(9), "human": [1, 0, 1] * 3}),
        "no columns are recognised as judges.*Add a column with answers of judges.",
    ),
    "ids twice": (
        pd.DataFrame({"id": [1, 1, 2], "human": [1, 0, 1], "judge": [1, 0, 0]}),
        "1 id occurs in several rows of the column id, such as “1”.*--id none",
    ),
    "a probability": (
        pd.DataFrame({"human": ["pass", "fail", "pass"], "judge": [0.9, 0.2, 0.4]}),
        "Say from which number on an answer passes. Add: --pass-from 0.55",
    ),
    "stars of people, words of a judge": (
        pd.DataFrame({"human": [1, 3, 5, 4, 2], "judge": ["fail", "fail", "pass", "pass", "fail"]}),
        "human numbers from 1 to 5. Say from which number on an answer passes. Add: --pass-from 3",
    ),
    "columns that should be rows": (
        pd.DataFrame([{f"{n}.{who}": n % 2 for n in range(60) for who in ("human", "judge")}]),
        "60 columns are read as judges.*at most 40",
    ),
    "free text": (
        pd.DataFrame({"human": [f"word {i}" for i in range(30)], "judge": [f"other {i}" for i in range(30)]}),
        "have no answer in common",
    ),
    "empty people": (pd.DataFrame({"human": [None] * 4, "judge": [1, 0, 1, 1]}), "an annotator"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_told_in_a_sentence(tmp_path, case):
    table, says = BAD[case]
    file = tmp_path / "bad.csv"
    table.to_csv(file, index=False)
    done = check(file)
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    with pytest.raises(ImportRefused, match=says):
        labels.read(file)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"human": [1], "judge": [1]}),
        pd.DataFrame({"human": ["pass"] * 20, "judge": ["pass"] * 20}),
        pd.DataFrame({"human": ["pass", "fail"] * 20, "judge": ["pass"] * 40}),
        pd.DataFrame({"human": STARS, "judge": [20 * star for star in STARS]}),
    ],
    ids=["one row", "all equal", "one answer", "other scales"],
)
def test_what_cannot_be_measured_is_said_on_the_screen(tmp_path, table):
    file = tmp_path / "odd.csv"
    table.to_csv(file, index=False)
    done = check(file)
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) <= 24


def test_a_judge_that_equals_the_person_is_said(tmp_path):
    file = tmp_path / "copy.csv"
    pd.DataFrame({"human": PEOPLE, "judge": PEOPLE}).to_csv(file, index=False)
    said = " ".join(check(file).output.split())
    assert "judge gives the same answers as human to all" in said
    assert not re.search(r"\bUse\b", said)


def test_a_judge_right_on_nine_of_ten_rows_is_not_ruled_out(tmp_path):
    file = tmp_path / "ten.csv"
    people = ["pass", "fail"] * 5
    pd.DataFrame({"human": people, "judge": ["fail", *people[1:]]}).to_csv(file, index=False)
    said = " ".join(check(file).output.split())
    assert "Do not use" not in said
    assert "Label about 30 more items" in said


def test_categories_have_no_verdict_made_of_their_numbers(tmp_path):
    file = tmp_path / "tones.csv"
    tones = truth(answers=("warm", "cold", "flat"))
    pd.DataFrame({"human": tones, "judge": noisy(tones, ("warm", "cold", "flat"))}).to_csv(file, index=False)
    assert "ρ" not in check(file).output


def test_a_judge_on_another_scale_is_said(tmp_path):
    file = tmp_path / "scales.csv"
    pd.DataFrame({"human": STARS, "judge": [20 * star for star in STARS]}).to_csv(file, index=False)
    assert "annotators answer 1 to 5, judge 20 to 100: read as different scales" in check(
        file
    ).output.replace("\n", " ")


def test_the_length_of_texts_is_a_feature():
    table = sparse().assign(response=[f"{'word ' * (1 + i % 7)}" for i in range(N)])
    lengths = labels.read(table).features["reply_chars"]
    assert sorted(lengths.tolist()) == sorted(len(text) for text in table.response)


def test_an_answer_given_twice_is_told(tmp_path):
    long = three_people(("p1", "p2"), ("m1",)).melt("item", var_name="annotator", value_name="score")
    long["kind"] = ["human" if name[0] == "p" else "judge" for name in long.annotator]
    twice = pd.concat([long, long.iloc[:1]])
    assert len(labels.read(twice).data.rows["score"]) == len(long)
    other = pd.concat([long, long.iloc[:1].assign(score=6)])
    with pytest.raises(ImportRefused, match="p1 answers “0” twice"):
        labels.read(other)


def test_formulas_and_markup_are_no_answers(tmp_path):
    file = tmp_path / "formulas.csv"
    table = sparse()
    table.loc[5, "label"] = '=HYPERLINK("http://x")'
    table.to_csv(file, index=False)
    said = " ".join(check(file).output.split())
    assert "cell cannot be read and counts as missing: line 7, label: “=HYPERLINK" in said


@pytest.mark.parametrize("name", ["large.csv", "large.xlsx"])
def test_a_file_that_is_too_large_is_refused(tmp_path, name):
    file = tmp_path / name
    with file.open("wb") as out:
        out.write(b"human,judge\n1,1\n")
        out.truncate(2**31)
    done = check(file)
    assert done.exit_code == 1
    assert "(2,147,483,648 bytes) is larger than 1,073,741,824 bytes" in done.output


def test_numbers_with_a_decimal_comma(tmp_path):
    people, judges = [0.1, 0.25, 0.5, 0.75, 0.9] * 8, [0.2, 0.2, 0.625, 0.7, 1.0] * 8
    file = tmp_path / "comma.csv"
    pd.DataFrame({"human": people, "judge": judges}).to_csv(file, sep=";", decimal=",", index=False)
    given = labels.read(file).data.column("score").tolist()
    assert sorted(given) == sorted([*people, *judges])
    assert number_of("1,000") is None


def test_stars_of_people_pass_from_a_number_on(tmp_path):
    table = {"human": [1, 3, 5, 4, 2], "judge": ["fail", "fail", "pass", "pass", "fail"]}
    of = labels.read(table, TableOptions(passing=3)).data
    assert sorted(of.column("score").tolist()) == [0.0] * 5 + [1.0] * 5
    assert of.study.criteria[0].scale.labels == ("fail", "pass")


def test_one_star_does_not_pass_beside_people_who_say_0_and_1():
    table = {"human": [1, 0, 1, 0], "judge": [1, 1, 5, 3]}
    of = labels.read(table, TableOptions(passing=3)).data
    by_rater = {"human": [], "judge": []}
    for rater, score in zip(of.column("rater").tolist(), of.column("score").tolist(), strict=True):
        by_rater[next(name for name in by_rater if name in str(rater))].append(score)
    assert sorted(by_rater["human"]) == [0.0, 0.0, 1.0, 1.0]
    assert sorted(by_rater["judge"]) == [0.0, 0.0, 1.0, 1.0]


def test_columns_that_are_not_there_are_told(tmp_path):
    file = tmp_path / "results.csv"
    sparse().to_csv(file, index=False)
    assert "There is no column “lable”. Did you mean “label”?" in check(file, "--human", "lable").output


def test_a_rating_in_concords_own_form_says_whose_it_is_and_what_it_counts(tmp_path):
    file = tmp_path / "own.csv"
    lines = [f"{i},ok,human,ann,{score}" for i, score in enumerate((1, 0, 1, 0))]
    lines += [f"{i},ok,judge,j,{score}" for i, score in enumerate((0.9, 0.2, 0.7, 0.6))]
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score", *lines]))
    done = check(file, "--human", "ann")
    assert done.exit_code == 1
    assert "has the source of each rating in its column rater_type. Remove --human." in one_line(done)
    done = check(file, "--pass-from", "0.7")
    assert done.exit_code == 1
    assert "Write 1 for pass and 0 for fail." in one_line(done)


def test_from_a_number_on_an_answer_passes():
    table = pd.DataFrame({"human": words(PEOPLE), "judge": [0.2 + 0.6 * value for value in JUDGED]})
    read = labels.read(table, TableOptions(passing=0.5))
    kind, score = read.data.column("kind"), read.data.column("score")
    assert score[kind == "judge"].sum() == sum(JUDGED)


def test_it_loads_neither_streamlit_nor_a_benchmark():
    code = "import sys, concord.commands.check, concord.reading.labels, concord.reports.screen;"
    code += "print([m for m in sys.modules if m in ('streamlit', 'openai', 'concord.runs.registry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_example_of_the_readme_prints_what_it_says(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command, printed = re.search(r"\nconcord (check .+?)\n.*?```text\n(.*?)```", readme, re.S).groups()
    done = CliRunner().invoke(main, command.split())
    assert done.output == printed
    assert len(printed.splitlines()) <= 24


def written(folder, answers, words=("no", "yes")):
    """A table of answers that bench/situations.py draws, as a file."""
    raters = {f"human_{place}": row for place, row in enumerate(answers.people)}
    raters |= {f"judge_{place}": row for place, row in enumerate(answers.judges)}
    columns = {name: [words[int(answer)] for answer in row] for name, row in raters.items()}
    frame = pd.DataFrame({"id": range(len(answers.people[0])), **answers.groups, **columns})
    frame.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


def test_the_next_command_checks_what_the_advice_leaves_open(tmp_path):
    """The rest of a table without the group on which a judge fails, and annotators without the one who
    decides.
    """
    file = written(tmp_path, situations.failing_group(np.random.default_rng(1)))
    shown = check(file).output
    assert f"concord check {file} --exclude topic=medical\n" in shown
    rest = json.loads(check(file, "--exclude", "topic=medical", "--format", "json").output)
    assert rest["items"] == 240
    assert rest["verdicts"]["label"]["verdict"] != "worse"
    file = written(tmp_path, situations.careless_two(np.random.default_rng(1)))
    assert check(file).output.rstrip().endswith("--human human_0,human_1")


def test_rare_answers_lead_to_a_plan_that_finds_them(tmp_path):
    file = written(tmp_path, situations.rare(np.random.default_rng(2), 200, 1))
    assert check(file).output.rstrip().endswith(f"concord plan {file} --draw by_answer --out to_label.csv")


@pytest.mark.parametrize(
    ("exclude", "said"),
    [
        ("topic=nothing", "No row holds “nothing” in topic"),
        ("subject=medical", "There is no column “subject”"),
        ("topic", "topic names no group"),
    ],
)
def test_a_group_that_is_not_there_is_refused(tmp_path, exclude, said):
    file = written(tmp_path, situations.failing_group(np.random.default_rng(1)))
    done = CliRunner().invoke(main, ["check", str(file), "--exclude", exclude])
    assert done.exit_code != 0
    assert said in done.output


@pytest.mark.parametrize("words", [("A", "B"), ("left", "right"), ("model_1", "model_2")])
def test_a_choice_of_two_is_called_a_preference(tmp_path, words):
    file = written(tmp_path, situations.position(np.random.default_rng(1)), words)
    assert f"label: preferences {words[0]}, {words[1]}" in " ".join(check(file).output.split())


@pytest.mark.parametrize(
    ("judge", "family"),
    [
        ("judge_gpt-4o", ("gpt-4o", "gpt-4o-mini")),
        ("claude-sonnet judge", ("claude-3-opus", "haiku-4.5")),
        ("judge_qwen2.5", ("Qwen3-32B", "qwq")),
    ],
)
def test_names_say_the_family_that_a_judge_favours(tmp_path, judge, family):
    """Models of the judge's family get 0.9 points more from it, and no more from annotators."""
    rng = np.random.default_rng(3)
    quality, models = rng.normal(3, 1, 240), (*family, "llama-3", "grok-2", "deepseek-v3", "phi-4")
    model = np.array(models)[np.arange(240) % 6]

    def score(noise, more=0.0):
        return np.clip(np.round(quality + more + noise * rng.normal(size=240)), 1, 5).astype(int)

    columns = {"human_a": score(0.6), "human_b": score(0.6), judge: score(0.4, 0.9 * np.isin(model, family))}
    frame = pd.DataFrame({"id": range(240), "model": model, **columns})
    frame.to_csv(tmp_path / "table.csv", index=False)
    whole = json.loads(check(tmp_path / "table.csv", "--judge", judge, "--format", "json").output)
    claims = {flag["claim"] for verdict in whole["verdicts"].values() for flag in verdict["flags"]}
    assert "own_family" in claims


class Seen(HTMLParser):
    """The tags of a page, the addresses in it, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.text = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]

    def handle_data(self, data):
        self.text.append(data)


HOSTILE = '<script>alert(1)</script><img src="http://example.org/x">'


def test_the_report_is_one_file_in_which_nothing_of_the_table_is_markup(tmp_path):
    table = sparse()
    table["response"] = HOSTILE
    table["model"] = ["<b>a</b>", "b", "c"] * (N // 3)
    table = table.rename(columns={"verdict": "judge <i>x</i>"})
    file, report = tmp_path / "results.csv", tmp_path / "report.html"
    table.to_csv(file, index=False)
    done = check(file, "--html", report)
    assert done.exit_code == 0, done.output
    seen = Seen(report.read_text())
    assert seen.links == []
    assert not {"img", "b>a", "i"} & set(seen.tags)
    assert seen.tags.count("script") == 1
    assert "default-src 'none'" in report.read_text()
    text = " ".join(seen.text)
    assert HOSTILE in text
    rated = [i for i in range(N) if i % 2]
    differ = sum((PEOPLE[i] if i != 1 else 1) != JUDGED[i] for i in rated)
    assert f"{differ} answers" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_a_stored_study_has_the_same_report(filled):
    with filled.read() as db:
        report = agreement_report(db, *studies.names(db), Options(resamples=20))
        text = " ".join(Seen(page.of_study(db, report, date_made=date(2026, 1, 2))).text)
    assert all(sentence in text for sentence in report.summary)


MANY = int(os.environ.get("CONCORD_FUZZ", "1500")) // 100
NAMES = (
    "id",
    "label",
    "verdict",
    "gpt-4",
    "ann1",
    "model",
    "response",
    "score",
    "rater",
    "criterion",
    "scenario",
    "rater_type",
    "item_id",
    "fluency_human",
    "fluency_judge",
    "final_human",
    "",
    "\u202ename",
    "length",
    "turn",
)
CELLS = (
    "pass",
    "P",
    "",
    "nan",
    "1",
    "2",
    "0.5",
    "1e400",
    "-3",
    "=1+1",
    "maybe",
    "[1]",
    '{"a": 1}',
    "∞",
    "1_000",
    "x" * 300,
    "a\nb",
    "human",
    "judge",
)


@pytest.mark.parametrize("seed", range(MANY))
def test_any_table_is_answered_or_refused_in_a_sentence(tmp_path, seed):
    """The fuzzing test of tables; `make fuzz` reads 100."""
    rng = random.Random(seed)
    columns = list(dict.fromkeys(["human", "judge", *rng.sample(NAMES, rng.randint(1, 6))]))
    pools = [
        rng.choice([("pass", "fail"), ("1", "2", "5"), ("0", "1", ""), rng.sample(CELLS, 4)]) for _ in columns
    ]
    table = [dict(zip(columns, map(rng.choice, pools), strict=True)) for _ in range(rng.choice((1, 5, 30)))]
    for row in table if seed % 2 else ():
        row[rng.choice(columns)] = rng.choice(
            [None, [1], {"score": "1"}, [{"name": "judge", "score": 1}], True]
        )
    file = tmp_path / ("t.jsonl" if seed % 2 else "t.csv")
    if seed % 2:
        file.write_text("\n".join(map(json.dumps, table)))
    else:
        pd.DataFrame(table).to_csv(file, index=False)
    done = check(file, "--resamples", 5, "--html", tmp_path / "report.html")
    assert done.exit_code in (0, 1), done.output
    assert done.exit_code == 0 or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 0 or done.output.startswith("Error: ")


@pytest.mark.parametrize("told", [(), ("--scale", "0..1")])
def test_floats_from_0_to_1_are_numbers_though_both_ends_occur(tmp_path, told):
    """A clipped score has 0 and 1 among its values, which are no two answers."""
    rng = np.random.default_rng(4)
    people = np.clip(rng.normal(0.5, 0.4, 80), 0, 1).round(3)
    judge = np.clip(people + rng.normal(0, 0.1, 80), 0, 1).round(3)
    assert {0.0, 1.0} <= {*people}
    file = tmp_path / "floats.csv"
    pd.DataFrame({"human": people, "judge": judge}).to_csv(file, index=False)
    done = check(file, *told, "--format", "json")
    [row] = json.loads(done.output)["screen"]["glance"]["rows"]
    assert row["spearman"]["value"] == pytest.approx(
        pd.Series(people).corr(pd.Series(judge), method="spearman")
    )
    assert row["n"] == 80


def test_a_column_of_any_name_says_whose_a_rating_is(tmp_path):
    file = tmp_path / "long.csv"
    long = three_people(("anna", "ben", "cleo"), ("fast", "slow")).melt(
        "item", var_name="evaluator", value_name="value"
    )
    long["source"] = ["llm" if name in ("fast", "slow") else "human" for name in long.evaluator]
    long.to_csv(file, index=False)
    shown = check(file).output
    assert "annotators: anna, ben, cleo" in " ".join(shown.split())
    assert "judges: fast, slow" in " ".join(shown.split())
    long.assign(source="web").to_csv(file, index=False)
    assert "which raters in the column evaluator are annotators?" in check(file).output


def test_a_column_of_raters_names_them_where_no_other_does():
    table = {"id": [1, 2, 3] * 2, "source": ["human"] * 3 + ["llm"] * 3, "score": [1, 3, 5, 2, 3, 4]}
    of = labels.read(table).data
    assert of.judges == ("llm",)
    assert of.column("kind").tolist().count("human") == 3
    assert sorted(of.column("score").tolist()) == [1, 2, 3, 3, 4, 5]


def test_what_does_not_vary_is_not_offered_as_answers(tmp_path):
    file = tmp_path / "table.csv"
    pd.DataFrame({"human": PEOPLE, "checked": JUDGED, "multimodal": False}).to_csv(file, index=False)
    done = check(file)
    assert "which columns are judges? Candidates: checked. Add:" in done.output
    assert check(file, "--judge", "checked").exit_code == 0


def test_scores_of_deepeval_are_a_judges(tmp_path):
    file = tmp_path / "run.json"
    cases = [
        {
            "name": f"case {place}",
            "input": "Why?",
            "actualOutput": "So.",
            "metricsData": [{"name": "Correctness [GEval]", "score": float(judged), "success": bool(judged)}],
            "metadata": {"human_label": word},
        }
        for place, (word, judged) in enumerate(zip(words(PEOPLE), JUDGED, strict=True))
    ]
    file.write_text(json.dumps({"testCases": cases}))
    assert kappa(file)["kappa"]["value"] == pytest.approx(by_hand(PEOPLE, JUDGED))


def test_one_row_is_one_item(tmp_path):
    file = tmp_path / "one.csv"
    pd.DataFrame({"human": ["pass"], "judge": ["fail"]}).to_csv(file, index=False)
    shown = check(file).output
    assert "1 item was rated by annotators and a judge" in shown
    assert "on 100% of 1 item." in shown
    assert "1 items" not in shown
    pd.DataFrame({"id": [1, 1, 2], "human": [1, 2, 3], "judge": [1, 2, 2]}).to_csv(file, index=False)
    assert "1 id occurs in several rows of the column id" in check(file).output


def test_the_table_of_promptfoo_has_a_row_an_output(tmp_path):
    """As CSV: a column a provider and prompt, with Status, Score … and people's own column after it."""
    file = tmp_path / "table.csv"
    names = ("Status", "Score", "Named Scores", "Grader Reason", "Comment", "human")
    lines = [["question", *(cell for by in ("elm", "oak") for cell in (f"[{by}] {{{{question}}}}", *names))]]
    half = N // 2
    for i in range(half):
        line = [f"Why {i}?"]
        for at in (i, half + i):
            status = ("FAIL", "PASS")[JUDGED[at]]
            line += ["So.", status, f"{JUDGED[at]}.00", '{"brief":0.5}', "", "", words(PEOPLE)[at]]
        lines.append(line)
    with file.open("w", newline="") as out:
        csv.writer(out).writerows(lines)
    done = check(file)
    assert "annotators: human · judges: judge · group: model" in " ".join(done.output.split())
    row = kappa(file)
    assert row["n"] == N
    assert row["kappa"]["value"] == pytest.approx(by_hand(PEOPLE, JUDGED))


def test_cells_of_promptfoo_that_begin_with_the_status(tmp_path):
    file = tmp_path / "old.csv"
    cells = [f"[{'PASS' if judged else 'FAIL'}] ({judged}.00)\n\nSo." for judged in JUDGED]
    pd.DataFrame({"question": range(N), "human_label": PEOPLE, "[elm] {{question}}": cells}).to_csv(
        file, index=False
    )
    assert kappa(file)["kappa"]["value"] == pytest.approx(by_hand(PEOPLE, JUDGED))
    assert labels.read(file).texts[1] == "0\n\nSo."


def test_component_results_of_promptfoo_have_judges_and_people(tmp_path):
    file = tmp_path / "eval.json"
    export = promptfoo()
    for i, result in enumerate(export["results"]["results"]):
        del result["testCase"]["metadata"], result["namedScores"]
        result["gradingResult"]["componentResults"] = [
            {"pass": bool(JUDGED[i]), "score": 0.3 + JUDGED[i] / 2, "assertion": {"type": "llm-rubric"}},
            {"pass": bool(PEOPLE[i]), "score": PEOPLE[i], "assertion": {"type": "human"}},
        ]
    file.write_text(json.dumps(export))
    assert "annotators: human 1 · judges: judge llm-rubric" in " ".join(check(file).output.split())
    assert kappa(file)["kappa"]["value"] == pytest.approx(by_hand(PEOPLE, JUDGED))


@pytest.mark.parametrize("on", [None, "tone"])
def test_peoples_annotations_as_a_list_in_each_row(tmp_path, on):
    file = tmp_path / "rows.jsonl"
    metric = {"metric": on} if on else {}
    rows = [
        {
            "id": i,
            "annotations": [
                {"rater": "ann", "score": star, **metric},
                {"rater": "ben", "score": min(5, star + i % 2), **metric},
                {"rater": "gpt-4o", "kind": "llm", "score": max(1, star - i % 3), **metric},
            ][i % 2 :],
        }
        for i, star in enumerate(STARS)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    table = labels.read(file)
    assert table.data.criteria == (on or "score",)
    assert len({*table.data.column("rater").tolist()}) == 3
    kind, score = table.data.column("kind"), table.data.column("score")
    assert score[kind == "judge"].tolist() == [max(1, star - i % 3) for i, star in enumerate(STARS)]
    assert (kind == "human").sum() == N + N // 2


def test_formulas_without_values_are_missing_and_errors_are_told(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    file = tmp_path / "sheet.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["id", "human", "judge"])
    for i in range(30):
        book.active.append([i, PEOPLE[i], JUDGED[i]])
    book.active["B4"], book.active["C6"] = "=IF(A4>1,1,0)", "#REF!"
    book.save(file)
    said = " ".join(check(file).output.split())
    assert "1 cell cannot be read and counts as missing: row 6, judge: “#REF!”" in said
    assert kappa(file)["n"] == 28


def test_a_sheet_that_misstates_its_size_is_read_whole(tmp_path):
    """Some writers state one cell as the dimension; rows may be of unequal length."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["id", "human", "judge", "note"])
    for i in range(30):
        book.active.append([i, PEOPLE[i], JUDGED[i]])
    book.save(tmp_path / "honest.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "honest.xlsx") as honest,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive,
    ):
        for name in honest.namelist():
            text, changed = re.subn(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', honest.read(name))
            assert changed == name.startswith("xl/worksheets/")
            archive.writestr(name, text)
    assert kappa(tmp_path / "t.xlsx") == kappa(tmp_path / "honest.xlsx")
    assert kappa(tmp_path / "t.xlsx")["n"] == 30


def test_no_name_is_proposed_for_a_column_of_free_text(tmp_path):
    file = tmp_path / "texts.csv"
    pd.DataFrame(
        {"human": [f"It is {'very ' * 21}good, {i}" for i in range(30)], "judge": [1, 0, 1] * 10}
    ).to_csv(file, index=False)
    for options in ((), ("--human", "human")):
        done = check(file, *options)
        assert done.exit_code == 1
        assert "--human NAME" not in done.output
        assert "--human human" not in done.output.partition("Add:")[2]
    assert "Give columns that answer" in " ".join(done.output.split())


GOLD = noisy(PEOPLE, (0, 1), 0.1, 7)


def with_gold(name="gold"):
    people = {f"human_{n}": noisy(PEOPLE, (0, 1), 0.2, 20 + n) for n in (1, 2)}
    return pd.DataFrame({"id": range(N), **people, name: GOLD, "judge": JUDGED})


def against_gold(source, **options):
    measured = concord.check(source, resamples=0, **options)
    return {row["rater"]: row for row in measured.report.section("gold-labels", "label")["gold_labels"].rows}


@pytest.mark.parametrize("name", ["gold", "ground_truth", "reference"])
def test_gold_labels_are_neither_a_person_nor_in_a_figure_of_people(name):
    table = with_gold(name)
    rows = against_gold(table)
    assert set(rows) == {"judge", "human_1", "human_2"}
    for rater, row in rows.items():
        assert row["kappa"].value == pytest.approx(by_hand(table[rater], GOLD))
    [note] = concord.check(table, resamples=0).report.section("gold-labels", "label")["gold_labels"].notes
    assert note.startswith("60 items with a gold label · against the gold label on the item")
    with_it, without = (
        concord.check(of, resamples=0).report.section("glance", "label")["glance"].rows
        for of in (table, table.drop(columns=name))
    )
    assert with_it == without, "another annotator is held out of two"


def test_gold_labels_stand_for_a_person_where_nobody_else_rated():
    table = with_gold().drop(columns=["human_1", "human_2"])
    measured = concord.check(table, resamples=0)
    assert "annotators: gold" in measured.taken
    [row] = measured.report.section("glance", "label")["glance"].rows
    assert row["kappa"].value == pytest.approx(by_hand(JUDGED, GOLD))
    own = [("human", "ann", PEOPLE), ("gold", "key", GOLD), ("judge", "j", JUDGED)]
    header = ("item_id", "rater_type", "rater", "score")
    long = [
        dict(zip(header, (f"i{i}", kind, rater, of[i]), strict=True)) | {"criterion": "label"}
        for kind, rater, of in own
        for i in range(N)
    ]
    rows = against_gold(long)
    assert rows["j"]["kappa"].value == pytest.approx(by_hand(JUDGED, GOLD))
    alone = concord.check([row for row in long if row["rater_type"] != "human"], resamples=0)
    assert "gold: key" in alone.taken
    [row] = alone.report.section("glance", "label")["glance"].rows
    assert row["kappa"].value == pytest.approx(by_hand(JUDGED, GOLD))


def test_a_reference_answer_is_no_gold_label():
    table = with_gold().assign(reference=["Paris" if i % 2 else "Rome" for i in range(N)])
    assert "gold: gold" in concord.check(table, resamples=0).taken
    stated = concord.check(table.rename(columns={"gold": "mine"}), gold=["mine"], resamples=0)
    assert "gold: mine" in stated.taken


def one_line(done):
    return " ".join(done.output.split())


def with_places(**columns):
    """Places, which are no labels, then Maria's and two judges' answers."""
    judged = {"gpt_big": words(JUDGED, "good", "bad"), "gpt_tiny": words(PEOPLE, "good", "bad")}
    places = truth(answers=("billing", "account"))
    return pd.DataFrame({"place": places, "maria": words(PEOPLE, "good", "bad"), **judged, **columns})


def test_columns_that_share_no_answer_are_refused_by_name(tmp_path):
    file = tmp_path / "table.csv"
    with_places().to_csv(file, index=False)
    done = check(file, "--human", "place,maria")
    assert done.exit_code == 1
    shared = (
        r"place \((billing, account|account, billing)\) and maria \((good, bad|bad, good)\) have no answer "
        r"in common"
    )
    assert re.search(shared, one_line(done))


def test_a_judge_who_always_says_what_nobody_else_does_is_measured():
    table = {"human": ["mild", "hot", "mild", "hot"], "judge": ["cold"] * 4}
    assert labels.read(table).data.judges == ("judge",)


def test_a_judges_column_of_text_is_ignored_unless_stated(tmp_path):
    file = tmp_path / "table.csv"
    text = [f"Because it helps, I say so {n}" for n in range(N)]
    table = {"human": PEOPLE, "judge_opus": JUDGED, "judge_mini": text, "judge_opus_reason": text}
    pd.DataFrame(table).to_csv(file, index=False)
    assert "ignored: judge_mini, judge_opus_reason" in one_line(check(file))
    done = check(file, "--judge", "judge_opus,judge_mini")
    assert done.exit_code == 1
    assert f"judge_mini ({text[0]}, " in one_line(done)
    assert "have no answer in common" in one_line(done)


def test_case_is_an_id_and_area_a_group(tmp_path):
    file = tmp_path / "table.csv"
    cases = [f"case{n:03}" for n in range(N)]
    table = with_places(case=cases).rename(columns={"place": "area", "maria": "human"})
    table.to_csv(file, index=False)
    done = one_line(check(file))
    assert "id: case" in done
    assert "group: area" in done


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("Maria", "Tom", "gpt-4o"), ("--human", "Maria,Tom")),
        (("Maria", "Tom", "Cleo"), ("--human", "Maria,Tom", "--judge", "Cleo")),
        (("human_1", "human_2", "judge"), ("--exclude", "topic=two words", "--exclude", "topic=b")),
        (("human_1", "human_2", "judge"), ("--id", "none", "--by", "topic", "--missing", "none")),
        (("human_1", "human_2", "judge"), ("--order", "low<high", "--text", "topic")),
        (("human_1", "human_2", "judge"), ("--look", "2", "--gold", "human_2")),
        (("Maria", "Tom", "gpt 4"), ("--human", "Maria,Tom", "--judge", "gpt 4", "--categories", "high,low")),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.35])
def test_the_next_commands_read_the_table_in_the_same_way(names, options, noise, tmp_path):
    file = tmp_path / "my table.csv"
    answers = [noisy(PEOPLE, (0, 1), noise, seed) for seed, _ in enumerate(names)]
    raters = {name: words(those, "high", "low") for name, those in zip(names, answers, strict=True)}
    topics = [("two words", "b", *"aaaaa")[place % 7] for place in range(N)]
    pd.DataFrame({"id": range(N), "topic": topics} | raters).to_csv(file, index=False)
    first = check(file, *options)
    assert first.exit_code == 0, first.output
    commands = first.output.partition("Next:\n")[2].splitlines()
    assert len(commands) >= 2
    for command in map(shlex.split, commands):
        for option, value in pairwise(options):
            assert value in command or (option == "--look" and "plan" in command) or option == value
        targets = {"report.html": str(tmp_path / "report.html"), "to_label.csv": str(tmp_path / "out.csv")}
        done = CliRunner().invoke(main, [targets.get(word, word) for word in command[1:]])
        assert done.exit_code == 0, (command, done.output)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("--categories", value) for value in ("a", "a,a", "A,a")],
        *[("--order", value) for value in ("a", "a<a", "a<b<A")],
        *[("--pass-from", value) for value in ("nan", "inf")],
    ],
)
def test_a_set_of_answers_needs_two_and_a_pass_a_number(option, value):
    done = check(ROOT / "data/examples/ratings.csv", option, value)
    assert done.exit_code == 1
    assert type(done.exception) is SystemExit
    assert done.output.startswith("Error: ")


def test_a_report_that_cannot_be_written_is_an_error_in_words(tmp_path):
    done = check(ROOT / "data/examples/ratings.csv", "--html", tmp_path / "no folder" / "report.html")
    assert type(done.exception) is SystemExit
    assert str(tmp_path / "no folder" / "report.html") in done.output
