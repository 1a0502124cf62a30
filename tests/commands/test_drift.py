"""`concord drift` and `concord gate FILE`: exit codes, annotations, and the fixture of pytest."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import concord
from concord.cli import main
from concord.codes import DriftOutcome
from concord.statistics.drift import drift

ROOT = Path(__file__).parent.parent.parent
N = 200


def table(flipped=0, seed=0):
    rng = random.Random(seed)
    human = [rng.random() < 0.6 for _ in range(N)]
    judge = [value if rng.random() < 0.9 else not value for value in human]
    for place in range(flipped):
        judge[place] = True
    return pd.DataFrame(
        {"id": range(N), "response": [f"Reply {i}" for i in range(N)], "label": human, "verdict": judge}
    )


@pytest.fixture
def files(tmp_path):
    def write(name, of):
        of.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return write


def call(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def outcomes(*words):
    return json.loads(call("drift", *words, "--format", "json").stdout)["outcomes"]


def test_the_same_scores_pass_and_moved_ones_are_named(files):
    old = files("old.csv", table())
    same = call("drift", old, files("same.csv", table().sample(frac=1, random_state=1)))
    assert same.exit_code == 0
    [outcome] = outcomes(old, files("same.csv", table().sample(frac=1, random_state=1)))
    assert (outcome["outcome"], outcome["value"], outcome["passed"]) == (DriftOutcome.UNCHANGED, 0, True)
    moved = call("drift", old, files("new.csv", table(flipped=100)))
    changed = table().verdict.ne(table(flipped=100).verdict)
    assert moved.exit_code == 2
    [outcome] = outcomes(old, files("new.csv", table(flipped=100)))
    assert (outcome["outcome"], outcome["n"], outcome["passed"]) == (DriftOutcome.MOVED, N, False)
    assert outcome["value"] == pytest.approx(changed.sum() / N)
    assert outcome["ci"][0] < outcome["value"] < outcome["ci"][1]
    assert f"{outcome['value']:+.3f}" in moved.stderr
    assert f"{changed.mean():.1%} of {N} items changed." in moved.stderr
    first = changed.idxmax()
    assert f"{first}: false → true  Reply {first}" in moved.stdout
    assert len(moved.stdout.splitlines()) == 11


def test_too_few_items_in_common_are_not_the_same(files):
    old, new = table().iloc[:100], table().iloc[95:]
    old_file, new_file = files("old.csv", old), files("new.csv", new)
    assert call("drift", old_file, new_file).exit_code == 2
    [outcome] = outcomes(old_file, new_file)
    assert (outcome["outcome"], outcome["n"], outcome["value"]) == (DriftOutcome.TOO_FEW, 5, None)


def test_tables_without_people_drift_too(files):
    of = table().drop(columns="label")
    assert call("drift", files("old.csv", of), files("new.csv", of)).exit_code == 0


def test_two_columns_of_one_table_are_two_times(files):
    of = table().rename(columns={"verdict": "judge_may"})
    of["judge_june"] = table(flipped=100).verdict
    file = files("two.csv", of)
    moved = call("drift", file, "--judge", "judge_may,judge_june")
    shift = table(flipped=100).verdict.mean() - table().verdict.mean()
    assert moved.exit_code == 2
    [outcome] = outcomes(file, "--judge", "judge_may,judge_june")
    assert (outcome["name"], outcome["outcome"]) == ("judge_may → judge_june on label", DriftOutcome.MOVED)
    assert outcome["value"] == pytest.approx(shift)
    assert call("drift", file).stderr == moved.stderr  # as the columns stand
    back = call("drift", file, "--judge", "judge_june,judge_may")
    assert f"mean change {-shift:+.3f}" in back.stderr
    three = call("drift", files("three.csv", of.assign(judge_july=of.judge_may)))
    assert (three.exit_code, "3 judges to compare" in three.output) == (1, True)


def stream(n, accuracy, labelled, seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.6
    judge = np.where(rng.random(n) < accuracy, truth, ~truth)
    people = np.where(rng.random(n) < labelled, np.where(truth, "pass", "fail"), "")
    times = pd.date_range("2026-01-01", periods=n, freq="h").astype(str)
    return pd.DataFrame(
        {"id": [f"{seed}-{i}" for i in range(n)], "at": times, "human": people}
        | {"judge": np.where(judge, "pass", "fail")}
    )


OLD, SAME = stream(400, 0.9, 1, 1), stream(2000, 0.9, 0.3, 2)
FALLEN = pd.concat([stream(1000, 0.9, 0.3, 3), stream(3000, 0.7, 0.3, 4).assign(at="2027-01-01")])


def states(done):
    return {row["figure"]: row["state"] for row in json.loads(done.stdout)["rows"]}


def test_a_stream_is_followed_against_an_older_table(files):
    old = files("old.csv", OLD)
    same = call("drift", old, files("same.csv", SAME), "--follow", "--format", "json")
    assert same.exit_code == 0
    assert not {"outside", "changed"} & {*states(same).values()}
    fallen = call("drift", old, files("fallen.csv", FALLEN), "--follow", "--format", "json")
    assert (fallen.exit_code, states(fallen)["agreement"]) == (2, "outside")
    row = json.loads(fallen.stdout)["rows"][0]
    assert row["since"].startswith("4-")
    text = call("drift", old, files("fallen.csv", FALLEN), "--follow")
    assert text.exit_code == 2
    assert f"shown with item {row['since']}." in text.stderr


def test_a_stream_is_followed_against_stated_ranges_in_the_order_of_time(files):
    file = files("mixed.csv", FALLEN.sample(frac=1, random_state=1))
    done = call("drift", file, "--follow", "--time", "at", "--min-agreement", 0.85, "--format", "json")
    assert (done.exit_code, states(done)["agreement"]) == (2, "outside")
    assert json.loads(done.stdout)["rows"][0]["since"].startswith("4-")
    rate = call("drift", files("same.csv", SAME), "--follow", "--pass-rate", "0.1..0.3", "--format", "json")
    assert (rate.exit_code, states(rate)["judge_mean"]) == (2, "outside")
    none = call("drift", files("same.csv", SAME), "--follow", "--format", "json")
    assert (none.exit_code, states(none)["judge_mean"]) == (0, "no_range")


def test_what_cannot_be_followed_exits_with_1(files):
    old, same = files("old.csv", OLD), files("same.csv", SAME)
    for words, says in (
        ((same, "--min-agreement", 0.8), "needs --follow"),
        ((old, same, "--follow", "--min-agreement", 0.8), "Use either a table OLD"),
        ((same, "--follow", "--time", "human"), "is not a time"),
        ((same, "--follow", "--time", "nope"), "There is no column “nope”"),
        ((same, "--follow", "--pass-rate", "0.7"), "is not a range"),
        ((same, "--follow", "--pass-rate", "0.7..0.6"), "is not a range"),
        ((files("other.csv", OLD.rename(columns={"judge": "llm"})), same, "--follow"), "no judge judge"),
        ((same, "--follow", "--criterion", "nope"), "There is no criterion “nope”"),
    ):
        done = call("drift", *words)
        assert (done.exit_code, says in done.output) == (1, True), done.output


def test_what_cannot_run_exits_with_1(files, tmp_path):
    file = files("old.csv", table())
    assert call("drift", file, tmp_path / "none.csv").exit_code == 1
    one = call("drift", file)
    assert (one.exit_code, "1 judge to compare" in one.output) == (1, True)
    assert call("gate", file, "--min-agreement", "high").exit_code == 1
    assert call("gate", "--min-agreement", 0.5).exit_code == 1
    other = files("other.csv", table().rename(columns={"verdict": "llm"}))
    done = call("drift", file, other)
    assert done.exit_code == 1
    assert "have no judge in common: verdict and llm." in done.output


def test_a_file_passes_the_gate_by_its_lower_end(files):
    file = files("labels.csv", table())
    figure = concord.check(file).judges["verdict"]["kappa"]
    passed = call("gate", file, "--min-agreement", figure.low - 0.001)
    assert (passed.exit_code, passed.stderr) == (0, "")
    assert f"κ with the majority of people {figure.value:.3f}" in passed.stdout
    assert call("gate", file, "--min-agreement", figure.low + 0.001).exit_code == 2


@pytest.mark.parametrize("least", [0.1, 0.99])
def test_results_for_continuous_integration(files, least):
    file = files("labels.csv", table())
    done = call("gate", file, "--min-agreement", least)
    failed = least > 0.9
    assert done.exit_code == 2 * failed
    assert (done.stderr if failed else done.stdout).startswith("Not passed" if failed else "Passed")
    told = json.loads(call("gate", file, "--min-agreement", least, "--format", "json").stdout)
    assert told["outcomes"][0]["passed"] is not failed


@pytest.mark.parametrize("least", [0.1, 0.99])
def test_a_pull_request_is_told_in_markdown(files, least):
    words = ("gate", files("a_b*c.csv", table()), "--min-agreement", least)
    outcome = json.loads(call(*words, "--format", "json").stdout)["outcomes"][0]
    comment = call(*words, "--format", "markdown")
    assert comment.exit_code == (0 if outcome["passed"] else 2)
    heading, blank, line = comment.stdout.rstrip().split("\n")
    assert heading.startswith("### ✅" if outcome["passed"] else "### ❌")
    assert heading.endswith(f"{outcome['passed']:d} of 1 passed")
    assert not blank
    assert line.replace("\\", "").endswith(outcome["message"])
    assert "a\\_b\\*c.csv" in line


def test_a_stream_is_told_in_markdown(files):
    old, fallen = files("old.csv", OLD), files("fallen.csv", FALLEN)
    done = call("drift", old, fallen, "--follow", "--format", "markdown")
    assert done.exit_code == 2
    assert done.stdout.startswith("### ❌ concord drift")
    assert "| " in done.stdout


def test_the_fixture_of_pytest(files, tmp_path):
    files("labels.csv", table())
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_good(concord_check): concord_check('labels.csv').agrees(at_least=0.5)\n"
        "def test_bad(concord_check):\n"
        "    with pytest.raises(AssertionError, match='the lower end is below 0.99'):\n"
        "        concord_check('labels.csv').agrees(at_least=0.99)\n"
    )
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([sys.executable, *words, "."], cwd=tmp_path, capture_output=True, text=True)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_plugin_costs_other_tests_nothing():
    code = "import sys, concord.library.pytest_plugin; print({'numpy', 'pandas', 'scipy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_same_is_shown_by_an_interval_within_the_margin():
    rng = np.random.default_rng(0)
    old = rng.integers(1, 6, 400).astype(float)
    new = np.clip(old + rng.choice([-1, 0, 0, 0, 1], 400), 1, 5)
    found = drift(old, new, 0.4, (1.0, 5.0))
    assert found.outcome == DriftOutcome.UNCHANGED
    assert drift(old, new, 0.01, (1.0, 5.0)).outcome == DriftOutcome.INCONCLUSIVE
    assert found.shift.value == pytest.approx((new - old).mean())
    assert drift(old, np.clip(old + 1, 1, 5), 0.4, (1.0, 5.0)).outcome == DriftOutcome.MOVED
