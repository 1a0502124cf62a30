"""`concord compare-systems`: rows of several systems, paired by id, in every form that a table has."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from concord.cli import main

N = 200


def words(values):
    return np.where(values, "pass", "fail")


def table(rates=(0.8, 0.4), labelled=100, column="model"):
    rng = np.random.default_rng(9)
    drawn = np.arange(N) < labelled
    frames = []
    for name, rate in zip(("zeta", "alpha", "beta"), rates, strict=False):
        truth = rng.random(N) < rate
        judge = np.where(rng.random(N) < 0.9, truth, ~truth)
        frames.append(
            pd.DataFrame(
                {"id": [f"q{i}" for i in range(N)], column: name, "response": "It is.", "judge": words(judge)}
                | {"human": np.where(drawn, words(truth), "")}
            )
        )
    return pd.concat(frames).sample(frac=1, random_state=1)


@pytest.fixture
def call(tmp_path):
    def of(frame, *how):
        frame.to_csv(tmp_path / "t.csv", index=False)
        return CliRunner().invoke(main, ["compare-systems", str(tmp_path / "t.csv"), *map(str, how)])

    return of


def pairs(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["tables"]["system_pairs"]["rows"]


def test_systems_meet_on_the_items_of_one_id(call):
    frame = table()
    (row,) = pairs(call(frame, "--format", "json"))
    wide = frame.assign(judge=frame.judge == "pass", human=frame.human.map({"pass": 1, "fail": 0}))
    wide = wide.pivot(index="id", columns="model", values=["judge", "human"]).astype(float)
    assert (row["first"], row["second"], row["order"], row["paired"]) == ("alpha", "zeta", "lower", True)
    assert row["judge"]["value"] == pytest.approx((wide.judge.alpha - wide.judge.zeta).mean())
    by_people = (wide.human.alpha - wide.human.zeta).dropna()
    assert (row["people"]["value"], row["people"]["n"]) == (pytest.approx(by_people.mean()), 100)
    assert row["corrected"]["ci"][1] < 0


def test_several_systems_scores_and_a_named_column(call):
    frame = table((0.8, 0.4, 0.5), column="variant")
    rows = pairs(call(frame, "--system", "variant", "--format", "json"))
    assert [(row["first"], row["second"]) for row in rows] == [
        ("alpha", "beta"),
        ("alpha", "zeta"),
        ("beta", "zeta"),
    ]
    rows = pairs(call(frame, "--system", "variant", "--against", "beta", "--format", "json"))
    assert [row["first"] for row in rows] == ["alpha", "zeta"]
    rng = np.random.default_rng(10)
    scores = frame.assign(
        judge=rng.integers(1, 6, len(frame)),
        human=np.where(frame.human == "", np.nan, rng.integers(1, 6, len(frame))),
    )
    (first, *_) = pairs(call(scores, "--system", "variant", "--format", "json"))
    assert first["order"] == "inconclusive"


def test_no_labels_and_a_table_of_text(call):
    done = call(table(labelled=0))
    assert done.exit_code == 0, done.output
    assert "not corrected" in done.stdout
    assert "show no order" in done.stdout


@pytest.mark.parametrize(
    ("frame", "words", "says"),
    [
        (table().rename(columns={"model": "x"}), (), "--system COLUMN"),
        (table(), ("--system", "nope"), "nope"),
        (table(), ("--against", "nope"), "nope"),
        (table(), ("--criterion", "nope"), "nope"),
        (table((0.5,)), (), "A comparison needs two systems"),
        (table().assign(judge=np.resize(["red", "green", "blue"], 2 * N), human=""), (), "have no mean"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(call, frame, words, says):
    done = call(frame, *words)
    assert (done.exit_code, isinstance(done.exception, SystemExit)) == (1, True), done.output
    assert says in done.output
