"""`concord plan`: what to label, from a judge's scores alone or a pilot, and the rows to label."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from concord.cli import main

N = 2000


def answers():
    rng = np.random.default_rng(4)
    people = rng.random(N) < 0.1
    return people, np.where(rng.random(N) < 0.93, people, ~people)


PEOPLE, JUDGE = answers()


def table(labelled=0, **more):
    human = np.where(np.arange(N) < labelled, np.where(PEOPLE, "yes", "no"), "")
    return pd.DataFrame(
        {"id": range(N), "response": [f"Reply {i}" for i in range(N)], "human": human}
        | {"judge": np.where(JUDGE, "yes", "no")}
        | more
    )


@pytest.fixture
def call(tmp_path):
    def of(frame, *words):
        frame.to_csv(tmp_path / "t.csv", index=False)
        return CliRunner().invoke(main, ["plan", str(tmp_path / "t.csv"), *map(str, words)])

    return of


def tables(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["tables"]


def test_judges_scores_alone_are_enough(call):
    of = tables(call(table().drop(columns="human"), "--format", "json"))
    assert (of["plan_random"]["expected"], of["plan_random"]["goals"]) == (pytest.approx(0.7), {})
    assert [row["labels"] for row in of["plan_random"]["rows"]] == [25, 50, 100, 200, 400, 800, 1600]
    assert of["plan_by_answer"]["rows"][3]["agreement"] < of["plan_random"]["rows"][3]["agreement"]


def test_a_pilot_sets_what_is_expected(call):
    of = tables(call(table(300), "--width", 0.1, "--format", "json"))["plan_random"]
    equal = (PEOPLE == JUDGE)[:300].mean()
    by_chance = sum((PEOPLE[:300] == a).mean() * (a == JUDGE).mean() for a in (True, False))
    assert of["expected"] == pytest.approx((equal - by_chance) / (1 - by_chance), abs=0.05)
    stated = tables(call(table(300), "--width", 0.1, "--expect", 0.5, "--format", "json"))["plan_random"]
    assert stated["expected"] == pytest.approx(0.5)
    assert stated["goals"]["by_answer"] < stated["goals"]["random"]


def test_goals_are_answered_first_with_what_they_cost(call):
    words = ("--for", "rate", "--width", 0.03, "--price", 0.5, "--seconds", 36, "--annotators", 2)
    goal = tables(call(table(), *words, "--format", "json"))["plan_random"]["goals"]["random"]
    first = call(table(), *words).stdout.splitlines()[0]
    assert first.startswith(f"Label {goal:,} rows at random")
    assert f"{goal * 2 * 36 / 3600:,.1f} h, {goal:,.2f} for labels" in first


def test_a_part_of_the_log_is_judged_against_all(call):
    words = ("--for", "rate", "--labels", 400, "--rows", 10_000_000, "--price", 1, "--judge-price", 0.002)
    rows = tables(call(table(), *words, "--format", "json"))["plan_judging"]["rows"]
    by = {row["judged"]: row for row in rows}
    assert (by[20_000]["judging"], by[10_000_000]["judging"]) == (pytest.approx(40), pytest.approx(20_000))
    assert by[20_000]["total"] == pytest.approx(440)
    assert 0 < by[20_000]["beyond"] < 0.03


def test_rows_to_label_are_blind_and_come_back_as_labels(call, tmp_path):
    out = tmp_path / "out.csv"
    done = call(table(model=["a", "b"] * (N // 2)), "--labels", 200, "--out", out, "--draw", "by_answer")
    assert done.exit_code == 0, done.output
    with out.open(newline="") as stream:
        rows = [*csv.DictReader(stream)]
    assert [*rows[0]] == ["id", "model", "response", "human", "weight"]
    assert len(rows) == 200
    assert {row["human"] for row in rows} == {""}
    of_judge = [JUDGE[int(row["id"])] for row in rows]
    assert np.mean(of_judge) > 2 * JUDGE.mean()
    assert sum(float(row["weight"]) for row in rows) == pytest.approx(N, rel=1e-4)
    again = call(table(), "--out", out)
    assert (again.exit_code, "exists" in again.output) == (1, True)


def test_scores_and_categories_are_planned_too(call):
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, N)
    scores = table().drop(columns="human").assign(judge=np.clip(people + rng.integers(-1, 2, N), 1, 5))
    of = tables(call(scores, "--for", "rate", "--width", 0.1, "--format", "json"))
    assert of.keys() == {"plan_random"}
    assert of["plan_random"]["goals"]["random"] > 100
    words = np.array(["red", "green", "blue", "grey"])
    colours = table().drop(columns="human").assign(judge=words[rng.integers(0, 4, N)])
    of = tables(call(colours, "--width", 0.1, "--format", "json"))
    assert "rate" not in of["plan_random"]["rows"][0]
    annotators = call(colours, "--for", "annotator", "--annotators", 3)
    assert annotators.stdout.startswith("Label ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--width", 0.1, "--bar", 0.5), "Give either --width"),
        (("--for", "annotator"), "--annotators 2"),
        (("--for", "annotator", "--annotators", 2, "--width", 0.1), "Remove"),
        (("--judge", "nope"), "nope"),
        (("--criterion", "nope"), "nope"),
        (("--width", 0), "0"),
        (("--for", "annotator", "--annotators", 2, "--expect", 0), "hardly agree"),
        (("--out", "/nonexistent/rows.csv"), "cannot be written"),
    ],
)
def test_what_cannot_be_planned_is_a_sentence(call, words, says):
    done = call(table(), *words)
    assert done.exit_code in (1, 2)
    assert isinstance(done.exception, SystemExit)
    assert says in done.output


def test_too_few_answers_of_a_judge_are_a_sentence(call):
    done = call(table().iloc[:5].drop(columns="human"))
    assert (done.exit_code, "fewer than 8 rows" in done.output) == (1, True)
    one = call(table().drop(columns="human").assign(judge="yes"))
    assert isinstance(one.exception, SystemExit | None)
