"""Rows that people did not get at random: read by a weight or by strata, in commands and the library."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import concord
from concord.cli import main
from concord.errors import ImportRefused, NotFound
from concord.reading import drawn
from concord.reading.drawn import LabelSource
from concord.reading.options import TableOptions

N = 2000


def labelled_rows():
    """True answers, the judge's, and which rows are labelled: 100 of each of the judge's answers."""
    rng = np.random.default_rng(8)
    truth = rng.random(N) < 0.1
    judge = np.where(truth, rng.random(N) < 0.8, rng.random(N) > 0.95)
    drawn = np.zeros(N, dtype=bool)
    for answer in (True, False):
        drawn[rng.choice(np.flatnonzero(answer == judge), 100, replace=False)] = True
    return truth, judge, drawn


TRUTH, JUDGE, DRAWN = labelled_rows()
WEIGHTS = np.where(JUDGE, JUDGE.sum() / 100, (~JUDGE).sum() / 100)


def words(values):
    return np.where(values, "yes", "no")


def judged(**more):
    return pd.DataFrame({"id": range(N), "topic": ["a", "b"] * (N // 2), "judge": words(JUDGE)} | more)


def table(**more):
    return judged(human=np.where(DRAWN, words(TRUTH), ""), **more)


def row(of):
    (of_judge,) = of.report.section("glance", of.report.main)["decisions"].rows
    return of_judge


def true_kappa():
    by_chance = TRUTH.mean() * JUDGE.mean() + (~TRUTH).mean() * (~JUDGE).mean()
    return ((TRUTH == JUDGE).mean() - by_chance) / (1 - by_chance)


def test_strata_of_a_judge_weigh_figures_back_to_all_rows():
    plain, of = (concord.check(table(), resamples=200, strata=name) for name in ("", "judge"))
    assert row(plain)["people"].value == pytest.approx(TRUTH[DRAWN].mean())
    assert row(plain)["people"].value > 2 * TRUTH.mean()
    by_hand = np.average(TRUTH[DRAWN], weights=WEIGHTS[DRAWN])
    assert row(of)["people"].value == pytest.approx(by_hand)
    assert row(of)["corrected"].low < TRUTH.mean() < row(of)["corrected"].high
    hits = TRUTH[DRAWN] & JUDGE[DRAWN]
    sensitivity = WEIGHTS[DRAWN][hits].sum() / WEIGHTS[DRAWN][TRUTH[DRAWN]].sum()
    assert row(of)["sensitivity"].value == pytest.approx(sensitivity)
    kappa = of.judges["judge"]["kappa"]
    assert kappa.low < true_kappa() < kappa.high
    assert abs(kappa.value - true_kappa()) < abs(plain.judges["judge"]["kappa"].value - true_kappa())


def test_a_column_of_weights_gives_the_figures_of_its_strata():
    weights = np.where(DRAWN, WEIGHTS, np.nan)
    by_column = concord.check(table(w=weights), weight="w", resamples=50)
    by_strata = concord.check(table(), strata="judge", resamples=50)
    for name in ("people", "corrected", "sensitivity"):
        assert row(by_column)[name].value == pytest.approx(row(by_strata)[name].value)
    figures = [of.judges["judge"]["kappa"].value for of in (by_column, by_strata)]
    assert figures[0] == pytest.approx(figures[1])
    assert not any("w" in line.split(": ")[1].split(", ") for line in by_column.taken if "group" in line[:5])


def test_equal_weights_change_nothing():
    plain = concord.check(table(), resamples=50)
    equal = concord.check(table(w=3), weight="w", resamples=50)
    assert row(equal)["corrected"].value == pytest.approx(row(plain)["corrected"].value)
    for name in ("kappa", "spearman"):
        one, other = (of.judges["judge"][name] for of in (plain, equal))
        assert (one.value, one.interval) == (pytest.approx(other.value), pytest.approx(other.interval))


def test_strata_may_be_a_column_of_groups():
    table_of, _ = drawn.read(table(), TableOptions(), LabelSource(strata="topic"))
    rows = table().assign(drawn=DRAWN)
    for topic, own in rows.groupby("topic"):
        unit = next(u for u, key in table_of.keys.items() if int(key) == own[own.drawn].id.iloc[0])
        assert table_of.data.weights[unit] == pytest.approx(len(own) / own.drawn.sum()), topic


def test_a_stratum_that_nobody_labelled_is_said():
    human = np.where(DRAWN & JUDGE, words(TRUTH), "")
    table_of, _ = drawn.read(judged(human=human), TableOptions(), LabelSource(strata="judge"))
    assert any("no row with judge" in line for line in table_of.warnings)


def test_weights_may_stand_in_the_file_of_labels():
    people = pd.DataFrame({"id": range(N), "human": words(TRUTH), "weight": WEIGHTS})[DRAWN]
    of = concord.check(judged(), labels=people, weight="weight", resamples=50)
    same = concord.check(table(w=np.where(DRAWN, WEIGHTS, np.nan)), weight="w", resamples=50)
    assert row(of)["corrected"].value == pytest.approx(row(same)["corrected"].value)


@pytest.mark.parametrize(
    ("frame", "source", "error", "says"),
    [
        (table(), LabelSource(weight="w", strata="judge"), ImportRefused, "either --weight or --strata"),
        (table(), LabelSource(weight="nope"), NotFound, "nope"),
        (table(), LabelSource(strata="nope"), NotFound, "nope"),
        (table(w=np.where(TRUTH, 0, 1)), LabelSource(weight="w"), ImportRefused, "no weight above 0"),
        (table(w=np.where(TRUTH, -2, 1)), LabelSource(weight="w"), ImportRefused, "no weight above 0"),
        (table(w=np.where(TRUTH, np.nan, 1)), LabelSource(weight="w"), ImportRefused, "no weight above 0"),
        (table(w=np.where(TRUTH, "many", "1")), LabelSource(weight="w"), ImportRefused, "“many”"),
    ],
)
def test_what_is_no_weight_is_a_sentence(frame, source, error, says):
    with pytest.raises(error, match=says):
        drawn.read(frame, TableOptions(), source)


def test_a_plan_is_labelled_and_checked(tmp_path):
    """What `concord plan` draws by the judge's answer comes back, and says what is true of all rows."""
    judged().to_csv(tmp_path / "judged.csv", index=False)

    def call(*words):
        return CliRunner().invoke(main, [*map(str, words)])

    out, file = tmp_path / "rows.csv", tmp_path / "judged.csv"
    assert call("plan", file, "--labels", 200, "--draw", "by_answer", "--out", out).exit_code == 0
    rows = pd.read_csv(out)
    rows["human"] = words(TRUTH[rows.id])
    rows.to_csv(out, index=False)
    for how in (("--weight", "weight"), ("--strata", "judge")):
        done = call("check", file, "--labels", out, *how, "--format", "json", "--resamples", 50)
        assert done.exit_code == 0, done.output
        (found,) = json.loads(done.stdout)["screen"]["decisions"]["rows"]
        low, high = found["corrected"]["ci"]
        assert low < TRUTH.mean() < high
    passed = call("gate", file, "--labels", out, "--strata", "judge", "--min-agreement", 0.3)
    assert passed.exit_code == 0, passed.output


def test_labels_that_the_judge_chose_are_said_unless_their_draw_is_stated():
    warned, _ = drawn.read(table())
    assert any(
        "not a random sample. If judge chose them, add --strata judge" in line for line in warned.warnings
    )
    stated, _ = drawn.read(table(), TableOptions(), LabelSource(strata="judge"))
    assert not any("no random draw" in line for line in stated.warnings)
    first = judged(human=np.where(np.arange(N) < 200, words(TRUTH), ""))
    assert not any("no random draw" in line for line in drawn.read(first)[0].warnings)
