"""People's labels in a second table: joined by id, and what did not match is counted, asked or refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import concord
from concord.cli import main
from concord.errors import ImportRefused, NotFound
from concord.reading import joined
from concord.reading.options import NO_OPTIONS, TableOptions

N = 60


def answers():
    rng = np.random.default_rng(3)
    people = rng.random(N) < 0.6
    return people, np.where(rng.random(N) < 0.85, people, ~people)


PEOPLE, JUDGE = answers()


def judged(ids=range(N)):
    return pd.DataFrame({"id": [*ids], "response": "It is.", "judge": np.where(JUDGE, "pass", "fail")})


def labels(ids=range(N), name="label", **more):
    return pd.DataFrame({"id": [*ids], name: np.where(PEOPLE, "pass", "fail"), **more})


def met(table, people, options=NO_OPTIONS, **how):
    return joined.join_labels(table, people, options, how.get("labels_id", ""))


def equal_share(table, join):
    """The share of items on which people and the judge answer alike."""
    rows = table.data.table.pivot(index="unit", columns="kind", values="score").dropna()
    return (rows.human == rows.judge).mean(), len(rows), join


WHOLE = (PEOPLE == JUDGE).mean()


@pytest.mark.parametrize(
    ("table", "people", "alike"),
    [
        (judged(), labels(), 0),
        (judged(), labels([f" {i} " for i in range(N)]), 0),
        (judged(), labels([float(i) for i in range(N)]), 0),
        (judged([f"{i:03}" for i in range(N)]), labels(), N),
        (judged([f"Q{i}" for i in range(N)]), labels([f"q{i}" for i in range(N)]), N),
        (judged(), labels([f"{i}.0" for i in range(N)]), N),
        (judged(), labels().rename(columns={"id": "ID"}), 0),
        (judged().rename(columns={"id": "prompt_id"}), labels(), 0),
        (judged(), labels(name="score"), 0),
        (judged().assign(human=""), labels(name="human"), 0),
        (judged().assign(prompt_id="p"), labels(prompt_id="p"), 0),
        (judged(), labels(judge=np.where(JUDGE, "pass", "fail")), 0),
    ],
)
def test_labels_meet_their_rows(table, people, alike):
    share, n, join = equal_share(*joined.read(table, people))
    assert (share, n) == (WHOLE, N)
    assert (join.labelled, len(join.alike), join.unknown) == (N, alike, ())


def test_what_does_not_match_is_counted_with_examples():
    ids = [*range(N - 4), "x1", "x2", "", None]
    whole, join = joined.read(judged(), labels(ids))
    assert (join.rows, join.labelled, join.unknown, join.without_id) == (N, N - 4, ("x1", "x2"), 2)
    assert any("“x1”, “x2”" in line for line in whole.warnings)
    assert join.as_json()["unknown"] == {"n": 2, "examples": ["x1", "x2"]}


def test_ids_that_may_mean_two_rows_are_asked():
    both = [*range(N - 1), "007"]
    with pytest.raises(ImportRefused, match=r"“0007” is ambiguous with “7”, “007”"):
        met(judged(both), labels(["0007", *range(8, N + 7)]))
    with pytest.raises(ImportRefused, match="“007” is ambiguous"):
        met(judged(), labels([*range(N - 1), "007"]))


def test_one_label_twice_counts_once_and_two_labels_are_refused():
    again = pd.concat([labels(), labels().iloc[:2]])
    assert met(judged(), again)[2].repeated == ("0", "1")
    other = labels().iloc[:1].replace({"pass": "fail", "fail": "pass"})
    with pytest.raises(ImportRefused, match="“0” has two labels in label"):
        met(judged(), pd.concat([labels(), other]))


def test_annotators_in_rows_become_raters_each():
    two = pd.concat([labels(annotator="ann"), labels(annotator="bob").iloc[: N // 2]])
    table, join = joined.read(judged(), two)
    people = table.data.table.query("kind == 'human'")
    assert people.groupby("rater").size().to_dict() == {"ann": N, "bob": N // 2}
    assert join.labelled == N


def test_criteria_in_rows_or_columns_meet_those_of_judges():
    scores = pd.DataFrame({"id": range(N), "fluency_judge": JUDGE * 1, "safety_judge": PEOPLE * 1})
    wide = pd.DataFrame({"id": range(N), "fluency_human": PEOPLE * 1, "safety_human": PEOPLE * 1})
    long = pd.concat(
        pd.DataFrame({"id": range(N), "annotator": "ann", "criterion": name, "score": PEOPLE * 1})
        for name in ("fluency", "safety")
    )
    for people in (wide, long):
        rows = joined.read(scores, people)[0].data.table
        assert set(rows.criterion) == {"fluency", "safety"}
        assert len(rows) == 4 * N


def test_a_table_with_a_rating_a_row_gets_rows():
    rows = [
        pd.DataFrame({"id": range(N), "rater": name, "score": of * 1}) for name, of in (("gpt-x", JUDGE),)
    ]
    long = pd.concat([*rows, rows[0].assign(rater="claude", score=PEOPLE * 1)])
    table, join = joined.read(long, labels())
    assert table.data.table.groupby(["kind", "rater"]).size().to_dict() == {
        ("human", "label"): N,
        ("judge", "claude"): N,
        ("judge", "gpt-x"): N,
    }
    assert (join.rows, join.labelled) == (N, N)
    kinds = long.assign(type="judge")
    kinds = pd.concat([kinds, rows[0].assign(rater="bob", type="human").iloc[:30]])
    table, _ = joined.read(kinds, labels())
    assert table.data.table.query("kind == 'human'").groupby("rater").size().to_dict() == {
        "bob": 30,
        "label": N,
    }


def test_people_of_both_tables_stay_people():
    table, _ = joined.read(judged().assign(human_1=np.where(PEOPLE, "pass", "fail")), labels())
    assert sorted(set(table.data.table.query("kind == 'human'").rater)) == ["human_1", "label"]


def test_rows_of_one_id_need_what_tells_them_apart():
    two = pd.concat([judged().assign(model="a"), judged().assign(model="b")])
    with pytest.raises(ImportRefused, match=r"stands in 2 rows.*Add the column model to the labels"):
        met(two, labels())
    _, _, join, _ = met(two, labels(model="b"))
    assert (join.rows, join.labelled) == (2 * N, N)


@pytest.mark.parametrize(
    ("table", "people", "how", "error", "says"),
    [
        (judged(), labels([f"x{i}" for i in range(N)]), {}, ImportRefused, "none of its 60 ids"),
        (judged(), labels(), {"labels_id": "nope"}, NotFound, "There is no column “nope”"),
        (judged(), labels().drop(columns="label"), {}, ImportRefused, "no column has annotators' answers"),
        (judged(), labels().iloc[:0], {}, ImportRefused, "no readable row"),
        (judged(), labels().rename(columns={"id": "who"}), {}, ImportRefused, "--labels-id"),
        (judged().rename(columns={"id": "who"}), labels(), {}, ImportRefused, "--id"),
        (judged(), labels().assign(label=""), {}, ImportRefused, "no column has annotators' answers"),
        (judged().assign(label=["pass", "fail"] * 30), labels(), {}, ImportRefused, "Rename one"),
    ],
)
def test_what_cannot_be_joined_is_a_sentence(table, people, how, error, says):
    with pytest.raises(error, match=says):
        met(table, people, **how)


def test_an_id_column_of_none_cannot_join():
    with pytest.raises(ImportRefused, match="joined by id"):
        met(judged(), labels(), TableOptions(id="none"))


def test_the_command_and_the_library_give_one_answer(tmp_path):
    judged().to_csv(tmp_path / "judged.csv", index=False)
    labels(["x", *range(1, N)]).to_json(tmp_path / "labels.jsonl", orient="records", lines=True)
    words = ["check", "judged.csv", "--labels", "labels.jsonl", "--resamples", "50"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(main, [*words, "--format", "json"])
        wrong = CliRunner().invoke(main, ["check", "judged.csv", "--labels", "none.csv"])
    assert done.exit_code == 0, done.output
    whole = json.loads(done.output)
    assert (whole["join"]["labelled"], whole["join"]["unknown"]["examples"]) == (N - 1, ["x"])
    assert wrong.exit_code == 1
    assert "none.csv" in wrong.output
    found = concord.check(judged(), labels=labels(["x", *range(1, N)]), resamples=50)
    assert found.judges["judge"]["kappa"].value == whole["screen"]["glance"]["rows"][0]["kappa"]["value"]
